//! Tests of the parts of a fleet that need no server.

mod model;
mod support;
