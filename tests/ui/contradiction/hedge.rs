use retry_core::{RetryInfo, retryable};
use std::pin::Pin;

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = "standard", hedge = "p95")]
async fn not_known_to_be_idempotent() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent = false, hedge = "50ms")]
async fn not_idempotent() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, blocking, hedge = "p95")]
fn blocks() -> Result<(), Failed> {
    Ok(())
}

struct Client(u32);

impl Client {
    #[retryable(strategy = "standard", blocking, hedge = "often")]
    fn all_at_once(&mut self, _buffer: &mut [u8], _pinned: Pin<&mut u32>, _other: Option<&mut u8>) -> Result<(), Failed> {
        Ok(())
    }
}

#[retryable(strategy = "standard", idempotent, hedge = "p95")]
async fn patterns((_left, _): (&mut u32, u32), ref mut _right: u32, _shared: &u32) -> Result<(), Failed> {
    Ok(())
}

// They say that the function must not be executed twice, too.
#[retryable(strategy = "standard", idempotnt = false, hedge = "50ms")]
async fn not_idempotent_misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", not_idempotent, hedge = "50ms")]
async fn word_of_another_library() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", "idempotent = false", hegde = "50ms")]
async fn both_misspelled() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = "standard", idempotant, hedge = "50ms")]
async fn idempotent_misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", non_idempotent = false, hedge = "50ms")]
async fn negated_twice() -> Result<(), Failed> {
    Ok(())
}

fn main() {}

// Rule V11.
