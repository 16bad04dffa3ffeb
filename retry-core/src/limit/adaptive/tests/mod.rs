//! Tests of the limiter's arithmetic.

mod vectors;
