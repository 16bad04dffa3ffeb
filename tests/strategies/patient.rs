//! The patient strategy: which retries wait for the service, when they are sent, and how their waits end.

mod bounds;
mod drops;
mod ends;
mod erased;
mod evidence;
mod foreign;
mod fragile;
mod guard;
mod outages;
mod peers;
mod probes;
mod seen;
mod send;
mod unlimited;
mod woken;
mod wrapped;

use crate::support::{ByHand, Failed, Wakes, millis, secs};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::{DelaySource, PatientRetryToken, RetryCosts};
use retry_core::{
    ExponentialBackoff, Failure, Jitter, PatientRetryStrategy, RetryErrorType, RetryStrategy, RetryToken,
    StandardRetryStrategy, Success, TokenBucket,
};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// A strategy whose quota pays for nothing, so that each retry waits.
type Waits = PatientRetryStrategy<ExponentialBackoff, TokenBucket>;

/// Returns a strategy whose quota pays for nothing, with many attempts for each operation.
const fn waits() -> Waits {
    waits_with(1_000)
}

/// Returns a strategy whose quota pays for nothing, with this number of attempts for each operation.
const fn waits_with(max_attempts: u32) -> Waits {
    // Without a backoff, which ends an operation with less time than that.
    let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
    PatientRetryStrategy::over(standard.max_attempts(max_attempts).quota_capacity(0))
}

/// Returns a strategy whose quota pays for one retry of a timeout, and for nothing else.
const fn paying() -> Waits {
    let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).max_attempts(1_000);
    PatientRetryStrategy::over(standard.retry_costs(RetryCosts::new(2).timeout(1)).quota_capacity(1))
}

/// A strategy that is driven by hand.
struct Line {
    strategy: Waits,
    clock: ByHand,
}

impl Line {
    /// Returns the line of a service that has not answered yet.
    fn cold(strategy: Waits) -> Self {
        Self { strategy, clock: ByHand::at(secs(1_000)) }
    }

    /// Returns the line of a service that has answered once, after 100 ms.
    fn of(strategy: Waits) -> Self {
        let line = Self::cold(strategy);
        line.answers(100);
        line
    }

    fn new() -> Self {
        Self::of(waits())
    }

    /// Returns a line whose operations have one attempt left, so that none is sent as a probe.
    fn without_probes() -> Self {
        Self::of(waits_with(2))
    }

    fn begin(&self) -> PatientRetryToken {
        let mut token = self.strategy.acquire_initial_token(&self.clock).unwrap();
        assert_eq!(self.ask(&mut token), Ready::Now, "a first attempt is always sent");
        token
    }

    /// A first attempt succeeds after this time in milliseconds.
    fn answers(&self, time: u64) {
        let token = self.begin();
        self.succeed(token, time);
    }

    /// An attempt succeeds after this time in milliseconds.
    fn succeed(&self, token: PatientRetryToken, time: u64) {
        self.clock.advance(millis(time));
        self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
    }

    /// Returns an operation whose first attempt fails immediately, and which joins the line.
    fn joins(&self) -> PatientRetryToken {
        self.joins_after(&Failure::of(&Failed::SAFE))
    }

    fn joins_after(&self, failure: &Failure) -> PatientRetryToken {
        self.fails(self.begin(), failure)
    }

    /// An attempt fails, and its operation joins the line.
    fn fails(&self, token: PatientRetryToken, failure: &Failure) -> PatientRetryToken {
        let mut token = self.strategy.refresh_retry_token(token, failure, &self.clock).unwrap();
        assert_eq!((token.delay(), token.delay_source()), (Duration::ZERO, DelaySource::Service));
        self.wait(&mut token);
        token
    }

    fn ask(&self, token: &mut PatientRetryToken) -> Ready {
        self.strategy.ready(token, &self.clock, None)
    }

    /// Asks with a waker, which is the one that the line keeps from now on.
    fn ask_with(&self, token: &mut PatientRetryToken, woken: &Arc<Wakes>) -> Ready {
        let waker = Waker::from(Arc::clone(woken));
        self.strategy.ready(token, &self.clock, Some(&LazyWaker::from(&waker)))
    }

    /// Returns how long the operation waits.
    ///
    /// # Panics
    ///
    /// Panics if it does not.
    fn wait(&self, token: &mut PatientRetryToken) -> Duration {
        match self.ask(token) {
            Ready::After(wait) => wait,
            ready => panic!("{ready:?}"),
        }
    }

    /// Returns whether each of these operations is sent.
    fn sent<const N: usize>(&self, tokens: [&mut PatientRetryToken; N]) -> [bool; N] {
        tokens.map(|token| token.delay_source() != DelaySource::Service || self.ask(token) == Ready::Now)
    }

    fn waiting(&self) -> Option<u32> {
        self.strategy.waiting_operations()
    }
}

// Rules B1, R1.
#[test]
fn the_default_makes_ten_attempts_with_a_backoff_from_one_second_up_to_four() {
    let strategy = PatientRetryStrategy::new();
    assert_eq!(RetryStrategy::max_attempts(&strategy), Some(10));
    let backoff = strategy.standard().backoff_strategy();
    assert_eq!((backoff.base(RetryErrorType::Other), backoff.cap()), (secs(1), secs(4)));
}
