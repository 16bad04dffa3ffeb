//! What the library does, seen from outside: a module for each behaviour.

mod attribute;
mod support;
