//! Settings that operators change: configurations and switches.

mod config;
mod switch;

use tests::support;
