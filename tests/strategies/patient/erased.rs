//! Your own strategy whose operations wait for the service, behind an `ErasedStrategy`.

use crate::support::{Failed, millis, secs};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::{DelaySource, ForeignToken};
use retry_core::{Clock, ErasedStrategy, Failure, RetryError, RetryStrategy, RetryToken, Success, retry};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A strategy that answers each attempt in the same way.
struct Waiting {
    answer: Ready,
    released: AtomicU32,
}

/// A token that waits for the service at each attempt.
struct Token(u32);

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        self.0
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }

    fn delay_source(&self) -> DelaySource {
        DelaySource::Service
    }

    fn waited(&self) -> Duration {
        Duration::MAX
    }
}

impl RetryStrategy for Waiting {
    type Token = Token;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Token, RetryError> {
        Ok(Token(1))
    }

    fn refresh_retry_token(&self, token: Token, _: &Failure, _: &dyn Clock) -> Result<Token, RetryError> {
        Ok(Token(token.0 + 1))
    }

    fn record_success(&self, _: Token, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn ready(&self, token: &mut Token, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        // A first attempt does not wait, but is not prevented either.
        if token.0 == 1 && self.answer != Ready::Stop { Ready::Now } else { self.answer }
    }

    fn release(&self, _: Token) {
        self.released.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a call that fails, and returns its attempts, its time and how many tokens were released.
async fn run(answer: Ready) -> (u32, Duration, u32) {
    let strategy = Arc::new(Waiting { answer, released: AtomicU32::new(0) });
    let erased = ErasedStrategy::new(Arc::clone(&strategy));
    let fails = || ready(Err::<u32, _>(Failed::SAFE));
    let report = retry(&erased, fails).max_time(secs(10)).report().await;
    assert_eq!((report.outcome, report.reason), (Err(Failed::SAFE), Some(RetryError::NoRecovery)));
    assert_eq!(report.waited, millis((u32::MAX >> 1).into()), "the longest time of a report");
    (report.attempts, report.elapsed, strategy.released.load(Ordering::Relaxed))
}

// Rules U2, U3.
#[tokio::test(start_paused = true)]
async fn a_first_attempt_is_sent_and_a_wait_in_vain_ends_after_it() {
    assert_eq!(run(Ready::Stop).await, (1, Duration::ZERO, 1));
}

// Rule U3.
#[tokio::test(start_paused = true)]
async fn a_wait_that_is_longer_than_the_time_that_is_left_ends_in_vain() {
    assert_eq!(run(Ready::After(secs(4))).await, (1, secs(8), 1));
}
