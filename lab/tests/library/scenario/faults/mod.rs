//! Servers with faults, and the measures of a fault.

mod outcome;
mod server;
