//! Functions under `#[retryable]`: what it accepts, and that its expansion does not interfere with the code around it.

mod attribute;
mod blocking;
mod forms;
mod hygiene;
mod strategy_option;

use tests::{script, support};
