//! A strategy whose tokens contain the ones of a patient strategy.

use super::{Waits, waits_with};
use crate::support::{Failed, secs};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::{DelaySource, ForeignToken, PatientRetryToken};
use retry_core::{Clock, Failure, RetryError, RetryStrategy, RetryToken, Success, retry};
use std::cell::Cell;
use std::future::ready;
use std::time::Duration;

/// A handle to a patient strategy. It does not know the hidden methods.
struct Wrapper(Waits);

struct Token(PatientRetryToken);

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        self.0.attempt()
    }

    fn delay(&self) -> Duration {
        self.0.delay()
    }

    fn delay_source(&self) -> DelaySource {
        self.0.delay_source()
    }

    fn waited(&self) -> Duration {
        self.0.waited()
    }
}

impl RetryStrategy for Wrapper {
    type Token = Token;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Token, RetryError> {
        self.0.acquire_initial_token(clock).map(Token)
    }

    fn refresh_retry_token(&self, token: Token, failure: &Failure, clock: &dyn Clock) -> Result<Token, RetryError> {
        self.0.refresh_retry_token(token.0, failure, clock).map(Token)
    }

    fn record_success(&self, token: Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.0.record_success(token.0, success, clock)
    }

    fn ready(&self, token: &mut Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        self.0.ready(&mut token.0, clock, waker)
    }

    fn release(&self, token: Token) {
        self.0.release(token.0);
    }
}

// Rules U2, U15.
#[tokio::test(start_paused = true)]
async fn an_operation_that_keeps_no_outcome_makes_one_more_attempt_after_a_wait_in_vain() {
    let (strategy, calls) = (Wrapper(waits_with(3)), Cell::new(0));
    let fails = || {
        calls.set(calls.get() + 1);
        ready(Err::<u32, _>(Failed::SAFE))
    };
    let report = retry(&strategy, fails).report().await;
    // A probe after a second, and the last attempt at the end of the wait. The strategy learns of each.
    assert_eq!((report.attempts, calls.get(), report.elapsed), (3, 3, secs(15)));
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
    assert_eq!(strategy.0.waiting_operations(), Some(0));

    // With a time limit, too.
    calls.set(0);
    let report = retry(&strategy, fails).max_time(secs(40)).report().await;
    assert_eq!((report.attempts, report.elapsed), (calls.get(), secs(40)));
    assert_eq!(strategy.0.waiting_operations(), Some(0));
}
