//! `weight` and `used` need a value.

use retry_core::retryable;

#[retryable(strategy = STORE, weight, used)]
async fn send() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
