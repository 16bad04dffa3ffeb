//! The arithmetic of the limiter against the reference vectors.

mod vectors;
