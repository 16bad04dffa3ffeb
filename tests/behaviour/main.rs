//! What the library does, seen from outside: a module for each behaviour.

mod adaptive;
mod attribute;
mod blocking;
mod classify;
mod clocks;
mod closure;
mod config;
mod context;
mod derive;
mod erased;
mod events;
mod forms;
mod hygiene;
mod observer;
mod operation;
mod panics;
mod pointers;
mod policy;
mod properties;
mod scoped;
mod script;
mod standard;
mod strategy_option;
mod support;
mod time_limits;
mod vectors;
