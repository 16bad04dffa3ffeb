//! Tokens: what a retry that is not sent gives back, and what a strategy does with a token of another one.

use crate::support::{ByHand, Failed, millis, secs};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::policy::Usage;
use retry_core::strategy::{ForeignToken, LimitedRetryStrategy, RetryCosts, StandardRetryToken};
use retry_core::{
    Clock, ErasedStrategy, Failure, Jitter, RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken,
    StandardRetryStrategy, Success, TokenBucket, TokioTimer,
};
use retry_limits::PacedRetryStrategy;
use std::cell::RefCell;
use std::time::Duration;

const CLOCK: &dyn Clock = &TokioTimer;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Returns the token of a retry, which was paid for.
fn paid<S: RetryStrategy>(strategy: &S) -> S::Token {
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
}

/// A quota that notes what is given back.
#[derive(Debug)]
struct Noting {
    bucket: TokenBucket,
    given_back: RefCell<Vec<u32>>,
}

impl RetryQuota for Noting {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        self.bucket.try_acquire(cost, clock)
    }

    fn refund(&self, amount: u32) {
        self.bucket.refund(amount);
    }

    fn available(&self) -> u32 {
        self.bucket.available()
    }

    fn give_back(&self, paid: u32) {
        self.given_back.borrow_mut().push(paid);
    }
}

// Rules Q4, Q11.
#[test]
fn a_token_gives_back_exactly_what_was_paid_for_it_and_nothing_if_that_is_nothing() {
    for (cost, given_back) in [(0, vec![]), (1, vec![1]), (2, vec![2]), (7, vec![7])] {
        let quota = Noting { bucket: TokenBucket::new(100), given_back: RefCell::default() };
        let strategy = standard().retry_costs(RetryCosts::new(cost)).with_quota(quota);
        strategy.release(strategy.acquire_initial_token(CLOCK).unwrap());
        assert_eq!(*strategy.quota().given_back.borrow(), [0; 0], "nothing was paid for a first attempt");
        strategy.release(paid(&strategy));
        assert_eq!(*strategy.quota().given_back.borrow(), given_back);
    }
}

/// Fails a retry that was not sent. Its retry then costs the same again.
fn fail_unsent<S: RetryStrategy>(strategy: &S) -> S::Token {
    let token = paid(strategy);
    assert_eq!(strategy.quota_level(), Some(495));
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE).with_sent(false), CLOCK).unwrap()
}

// Rule Q11.
#[test]
fn a_retry_that_was_not_sent_gives_its_cost_back_when_it_fails() {
    let strategy = standard();
    let token = fail_unsent(&strategy);
    assert_eq!((strategy.quota_level(), token.attempt()), (Some(495), 3));
    let strategy = PacedRetryStrategy::over(standard());
    let token = fail_unsent(&strategy);
    assert_eq!((strategy.quota_level(), token.attempt()), (Some(495), 3));
}

// Rule R20.
#[test]
fn a_retry_that_would_not_be_granted_has_no_delay() {
    let (strategy, other) = (standard(), standard());
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    let delay = |of: &StandardRetryStrategy, error: &Failed| of.refused_delay(&token, &Failure::of(error));
    assert_eq!(delay(&strategy, &Failed::SAFE), secs(1));
    assert_eq!(delay(&strategy, &Failed::FATAL), Duration::ZERO);
    assert_eq!(delay(&other, &Failed::SAFE), Duration::ZERO);
    assert_eq!(delay(&strategy, &Failed::SAFE.after(secs(301))), Duration::ZERO);

    let (erased, limited) = (ErasedStrategy::new(standard()), ErasedStrategy::new(PacedRetryStrategy::new()));
    let token = erased.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(erased.refused_delay(&token, &Failure::of(&Failed::SAFE)), secs(1));
    assert_eq!(limited.refused_delay(&token, &Failure::of(&Failed::SAFE)), Duration::ZERO);
}

// Rule R13.
#[test]
fn no_hedge_is_sold_for_the_token_of_another_strategy() {
    let (strategy, other) = (standard(), standard());
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(other.acquire_hedge(&token, CLOCK).unwrap_err(), RetryError::ForeignToken);
    assert_eq!(other.quota_level(), Some(500));
    let hedge: StandardRetryToken = strategy.acquire_hedge(&token, CLOCK).unwrap();
    assert_eq!((hedge.attempt(), strategy.quota_level()), (2, Some(495)));
    assert_eq!(other.record_success(hedge, &Success::default(), CLOCK), Err(ForeignToken));
}

/// A limiter that notes what it learns.
#[derive(Debug, Default)]
struct Learning(RefCell<Vec<&'static str>>);

impl SendLimiter for Learning {
    type Place = ();

    fn begin(&self, _: &dyn Clock) {}

    fn weigh(&self, (): &mut (), _: u32) {
        self.0.borrow_mut().push("weight");
    }

    fn used(&self, (): &mut (), _: Usage) {
        self.0.borrow_mut().push("usage");
    }

    fn ask(&self, (): &mut (), _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.0.borrow_mut().push("question");
        Ready::After(secs(1))
    }

    fn succeeded(&self, (): &mut (), _: &Success, _: &dyn Clock) {
        self.0.borrow_mut().push("success");
    }

    fn failed(&self, (): &mut (), _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        self.0.borrow_mut().push("failure");
        None
    }

    fn release(&self, (): &mut ()) {
        self.0.borrow_mut().push("release");
    }
}

// Rule R13.
#[test]
fn a_limiter_learns_nothing_from_the_token_of_another_strategy() {
    type Limited = LimitedRetryStrategy<Learning>;

    let limited = || Limited::with_limiter(standard(), Learning::default());
    let (own, other) = (limited(), limited());
    let use_tokens_of = |issuer: &Limited| {
        let token = || issuer.acquire_initial_token(CLOCK).unwrap();
        let mut first = token();
        own.weigh(&mut first, 3);
        let ready = own.ready(&mut first, CLOCK, None);
        own.used(&mut first, Usage::new(2));
        own.release(first);
        let retried = own.refresh_retry_token(token(), &Failure::of(&Failed::SAFE), CLOCK).map(|token| token.attempt());
        let recorded = own.record_success(token(), &Success::default(), CLOCK);
        (ready, retried, recorded, own.limiter().0.take())
    };
    let learned = vec!["weight", "question", "usage", "release", "failure", "success"];
    assert_eq!(use_tokens_of(&own), (Ready::After(secs(1)), Ok(2), Ok(()), learned));
    let foreign = (Ready::Now, Err(RetryError::ForeignToken), Err(ForeignToken), vec![]);
    assert_eq!(use_tokens_of(&other), foreign);
}

// Rule Q7.
#[test]
fn the_refill_of_a_strategy_can_be_a_setting_of_the_run_time() {
    let clock = ByHand::at(secs(1000));
    let strategy = standard().try_quota_refill(3, secs(1)).unwrap();
    assert!(strategy.quota().try_acquire(400, &clock));
    clock.advance(secs(2));
    assert!(strategy.quota().try_acquire(0, &clock));
    assert_eq!(strategy.quota().available(), 106);
    assert_eq!(standard().try_quota_refill(3, Duration::ZERO).unwrap_err().setting(), "refill period");
}

// Rule B5.
#[test]
fn a_throttled_operation_waits_for_as_long_as_the_longest_wait_that_is_allowed() {
    let clock = ByHand::at(secs(1000));
    let longest = millis(2_000);
    let strategy = PacedRetryStrategy::over(standard().max_retry_after(Some(longest)));
    let retry = |hint: Duration| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let failure = Failure::of(&Failed::THROTTLED.after(hint));
        assert_eq!(failure.error_type(), Some(RetryErrorType::Throttling));
        strategy.refresh_retry_token(token, &failure, &clock).map(|token| token.delay() >= hint)
    };
    assert_eq!(retry(longest), Ok(true));
    assert_eq!(retry(longest + Duration::from_nanos(1)), Err(RetryError::RetryAfterTooLong));
    assert_eq!(strategy.quota_level(), Some(500), "the retry was free");
}
