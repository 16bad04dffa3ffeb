//! The token of a first attempt: its delay, and its weight.

use crate::support::{Failed, millis};
use futures_util::FutureExt;
use retry_core::drive::{Next, Operation, Settled};
use retry_core::strategy::ForeignToken;
use retry_core::time::ManualTimer;
use retry_core::{Clock, Failure, RetryDirective, RetryError, RetryStrategy, RetryToken, Success, retry, retryable};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

/// A strategy without retries.
#[derive(Default)]
struct Delaying {
    /// The delay of the first token.
    delay: Duration,
    /// The delay of a token whose weight is known.
    weighed: Duration,
    panics: bool,
    released: Cell<u32>,
}

struct Token(Duration);

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        1
    }

    fn delay(&self) -> Duration {
        self.0
    }
}

impl RetryStrategy for Delaying {
    type Token = Token;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Token, RetryError> {
        Ok(Token(self.delay))
    }

    fn refresh_retry_token(&self, _: Token, _: &Failure, _: &dyn Clock) -> Result<Token, RetryError> {
        Err(RetryError::NotRetryable)
    }

    fn record_success(&self, _: Token, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn weigh(&self, token: &mut Token, _: u32) {
        assert!(!self.panics, "weighed");
        *token = Token(self.weighed);
    }

    fn release(&self, _: Token) {
        self.released.set(self.released.get() + 1);
    }
}

#[retryable(strategy = strategy)]
async fn plain(strategy: &Delaying) -> Result<(), Failed> {
    let _ = strategy;
    Ok(())
}

#[retryable(strategy = strategy, weight = 3)]
async fn weighty(strategy: &Delaying) -> Result<(), Failed> {
    let _ = strategy;
    Ok(())
}

/// The waits of an operation that is driven by hand, one after the other.
fn waits(operation: &mut Operation<&Delaying, &ManualTimer>, clock: &ManualTimer) -> Vec<Duration> {
    let mut waits = Vec::new();
    while let Next::Wait(wait) = operation.next(Waker::noop()) {
        waits.push(wait);
        clock.advance(wait);
    }
    operation.sent();
    assert!(matches!(operation.settle(RetryDirective::succeed()), Settled::Done(_)));
    waits
}

// Rules R3, R22.
#[tokio::test(start_paused = true)]
async fn the_delay_of_a_first_token_is_slept_once() {
    let (delay, weighed) = (millis(300), millis(500));
    for (delay, weighed) in [(delay, weighed), (Duration::ZERO, weighed), (delay, Duration::ZERO)] {
        let strategy = Delaying { delay, weighed, ..Delaying::default() };
        let began = Instant::now();
        plain(&strategy).await.unwrap();
        assert_eq!(began.elapsed(), delay);
        retry(&strategy, async || Ok::<_, Failed>(())).run().await.unwrap();
        assert_eq!(began.elapsed(), 2 * delay);

        let began = Instant::now();
        weighty(&strategy).await.unwrap();
        assert_eq!(began.elapsed(), weighed);
        retry(&strategy, async || Ok::<_, Failed>(())).weight(3).run().await.unwrap();
        assert_eq!(began.elapsed(), 2 * weighed);

        let clock = ManualTimer::new();
        let of = |delay: Duration| Some(delay).filter(|delay| !delay.is_zero()).into_iter().collect::<Vec<_>>();
        let mut operation = Operation::builder(&strategy, "get").clock(&clock).begin();
        assert_eq!(waits(&mut operation, &clock), of(delay));
        let mut operation = Operation::builder(&strategy, "get").clock(&clock).weight(3).begin();
        assert_eq!(waits(&mut operation, &clock), of(weighed));
    }
}

// Rule D6.
#[test]
fn a_token_is_released_if_the_strategy_panics_in_weigh() {
    let strategy = Delaying { panics: true, ..Delaying::default() };
    let by_attribute = || weighty(&strategy).now_or_never().is_some();
    let by_closure = || retry(&strategy, async || Ok::<_, Failed>(())).weight(3).run().now_or_never().is_some();
    let by_hand =
        || matches!(Operation::builder(&strategy, "get").weight(3).begin().next(Waker::noop()), Next::Attempt { .. });
    let forms: [&dyn Fn() -> bool; 3] = [&by_attribute, &by_closure, &by_hand];
    for form in forms {
        assert!(catch_unwind(AssertUnwindSafe(form)).is_err());
        assert_eq!(strategy.released.take(), 1);
    }
}
