//! The quota by evidence, seen from an operation.

use crate::support::{ByHand, Failed};
use retry_core::backoff::Jitter;
use retry_core::{EvidenceRetryStrategy, Failure, RetryStrategy, RetryToken};
use std::time::Duration;

// Rule Q12.
#[test]
fn the_only_operation_of_a_process_makes_three_attempts_however_long_it_waits() {
    for factor in [0.0, 0.5, 1.0] {
        let strategy = EvidenceRetryStrategy::standard().jitter(Jitter::Fixed(factor));
        let clock = ByHand::at(Duration::from_secs(100));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        for retry in 1..=2 {
            let refreshed = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock);
            token = refreshed.unwrap_or_else(|end| panic!("retry {retry} with the factor {factor}: {end:?}"));
            clock.advance(token.delay());
        }
    }
}
