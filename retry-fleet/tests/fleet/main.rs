//! Tests of the parts of a fleet that need no server.

mod limit;
mod model;
mod support;
