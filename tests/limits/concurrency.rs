//! The limit on requests in flight: the window, the slots that come back, and the order of those who wait.

mod slots;
mod waiters;
mod window;

use crate::script::Error;
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::limit::Ready;
use retry_core::{Failure, Jitter, RetryStrategy, StandardRetryStrategy, Success};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, ConcurrencyRetryToken};

type Outcome = Result<u32, Error>;

/// Returns a strategy with this highest number of requests in flight. Its delays are of 1, 2, 4 and 8 seconds.
fn limited_to(most: u32) -> ConcurrencyRetryStrategy {
    let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));
    ConcurrencyRetryStrategy::with_limiter(standard, ConcurrencyLimiter::new().max_in_flight(most).seed(1))
}

fn in_flight(strategy: &ConcurrencyRetryStrategy) -> u32 {
    strategy.limiter().in_flight()
}

fn limit(strategy: &ConcurrencyRetryStrategy) -> u32 {
    strategy.limiter().limit().unwrap()
}

fn begin(strategy: &ConcurrencyRetryStrategy, clock: &ByHand) -> ConcurrencyRetryToken {
    strategy.acquire_initial_token(clock).unwrap()
}

/// Sends as many requests as may be sent.
fn fill(strategy: &ConcurrencyRetryStrategy, clock: &ByHand) -> Vec<ConcurrencyRetryToken> {
    let mut sent = Vec::new();
    loop {
        let mut token = begin(strategy, clock);
        if strategy.ready(&mut token, clock, None) != Ready::Now {
            strategy.release(token);
            return sent;
        }
        sent.push(token);
    }
}

fn succeed(strategy: &ConcurrencyRetryStrategy, token: ConcurrencyRetryToken, clock: &ByHand) {
    strategy.record_success(token, &Success::default(), clock).unwrap();
}

/// Fails a request, and drops the token of its retry.
fn fail(strategy: &ConcurrencyRetryStrategy, token: ConcurrencyRetryToken, failed: Failed, clock: &ByHand) {
    drop(strategy.refresh_retry_token(token, &Failure::of(&failed), clock));
}

fn at_start() -> ByHand {
    ByHand::at(secs(1000))
}

/// The longest single wait, after which a waiter asks again.
const RECHECK: std::time::Duration = millis(100);
