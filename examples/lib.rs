//! Code shared by the example programs.

pub mod reqwest_errors;
