//! What the library does, seen from outside: a module for each behaviour.

mod attribute;
mod closure;
mod derive;
mod events;
mod operation;
mod pointers;
mod standard;
mod support;
mod vectors;
