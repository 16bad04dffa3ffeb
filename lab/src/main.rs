//! The program over the scenarios.

fn main() {}
