//! Tokens of other strategies, of attempts that began before the trouble, of a settled strategy, and of hedges.

use super::Line;
use crate::support::{ByHand, Failed, kept, secs};
use retry_core::limit::Ready;
use retry_core::strategy::{ForeignToken, PatientRetryToken};
use retry_core::{
    Failure, Hedge, Jitter, PatientRetryStrategy, RetryError, RetryStrategy, StandardRetryStrategy, Success, retry,
};
use std::time::Duration;

/// Returns tokens of each kind: new, paid for, to wait, and waiting.
fn tokens(line: &Line) -> Vec<PatientRetryToken> {
    let (paying, clock) = (PatientRetryStrategy::new(), &line.clock);
    let fail = |token| line.strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), clock).unwrap();
    let paid = paying.acquire_initial_token(clock).unwrap();
    paying.record_success(paid, &Success::default(), clock).unwrap();
    let paid = paying.acquire_initial_token(clock).unwrap();
    let paid = paying.refresh_retry_token(paid, &Failure::of(&Failed::SAFE), clock).unwrap();
    vec![line.begin(), line.strategy.empty_token(clock).unwrap(), fail(line.begin()), line.joins(), paid]
}

// Rule R5.
#[test]
fn a_foreign_token_is_refused_and_changes_nothing() {
    let (own, other) = (Line::new(), Line::new());
    let mut waiting = other.joins();
    let before = format!("{:?}", other.strategy);
    let unchanged = |what: &str| assert_eq!(format!("{:?}", other.strategy), before, "{what}");
    let each = |what: &str, pass: &mut dyn FnMut(PatientRetryToken)| {
        for token in tokens(&own) {
            own.clock.advance(secs(1));
            let kind = format!("{what} {token:?}");
            pass(token);
            unchanged(&kind);
        }
    };
    let (strategy, clock) = (&other.strategy, &own.clock);
    each("refresh", &mut |token| {
        let refreshed = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), clock);
        assert_eq!(refreshed.unwrap_err(), RetryError::ForeignToken);
    });
    each("success", &mut |token| {
        assert_eq!(strategy.record_success(token, &Success::default(), clock), Err(ForeignToken));
    });
    each("release", &mut |token| strategy.release(token));
    each("hedge", &mut |token| {
        assert_eq!(strategy.acquire_hedge(&token, clock).unwrap_err(), RetryError::ForeignToken);
    });
    each("ready", &mut |mut token| assert_eq!(strategy.ready(&mut token, clock, None), Ready::Now));
    assert_eq!(other.wait(&mut waiting), secs(1));
}

// Rules Q13, U8.
#[test]
fn a_success_of_an_attempt_that_began_before_the_trouble_counts_for_the_quota() {
    let (strategy, clock) = (PatientRetryStrategy::new(), ByHand::at(secs(1_000)));
    let begin = || strategy.acquire_initial_token(&clock).unwrap();
    for _ in 0..16 {
        assert!(!strategy.starts_empty());
        strategy.record_success(begin(), &Success::default(), &clock).unwrap();
    }
    assert!(strategy.starts_empty(), "nothing is measured any longer");
    let early = strategy.empty_token(&clock).unwrap();
    let mut waiting = loop {
        let token = strategy.refresh_retry_token(begin(), &Failure::of(&Failed::SAFE), &clock).unwrap();
        if strategy.waiting_operations() == Some(1) {
            break token;
        }
        clock.advance(secs(10));
    };
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    assert!(!strategy.starts_empty());
    let missing = || strategy.standard().quota().knowledge(&clock).missing();
    let before = missing();
    strategy.record_first_success(&Success::default(), &clock);
    let after = missing();
    assert!(after < before, "{after} of {before}");
    strategy.record_success(early, &Success::default(), &clock).unwrap();
    assert!(missing() < after);
    // How long they took is not known, so they are not evidence for the line.
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    (0..2).for_each(|_| strategy.record_success(begin(), &Success::default(), &clock).unwrap());
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
}

// Rules R15, U20.
#[test]
fn a_success_of_a_settled_strategy_reads_no_clock() {
    let (strategy, clock) = (PatientRetryStrategy::new(), ByHand::at(secs(1_000)));
    let readings = || {
        clock.readings_of(|| {
            let token = strategy.acquire_initial_token(&clock).unwrap();
            strategy.record_success(token, &Success::default(), &clock).unwrap();
            if strategy.starts_empty() {
                strategy.record_first_success(&Success::default(), &clock);
            }
        })
    };
    (0..16).for_each(|_| assert_ne!(readings(), 0));
    (0..100).for_each(|_| assert_eq!(readings(), 0));
    // While an operation waits, each attempt is measured, and then the next 16 are.
    let refused = loop {
        let begun = strategy.acquire_initial_token(&clock).unwrap();
        let token = strategy.refresh_retry_token(begun, &Failure::of(&Failed::SAFE), &clock).unwrap();
        if strategy.waiting_operations() == Some(1) {
            break token;
        }
        clock.advance(secs(10));
    };
    let mut waiting = refused;
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    (0..2).for_each(|_| assert_ne!(readings(), 0));
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    strategy.record_success(waiting, &Success::default(), &clock).unwrap();
    let measured = (0..100).filter(|_| readings() != 0).count();
    assert!((14..=16).contains(&measured), "{measured}");
}

// Rule U20.
#[test]
fn sixteen_attempts_that_were_sent_before_the_first_answer_suffice() {
    let (strategy, clock) = (PatientRetryStrategy::new(), ByHand::at(secs(1_000)));
    let tokens = [(); 16].map(|()| strategy.acquire_initial_token(&clock).unwrap());
    assert!(strategy.starts_empty());
    for token in tokens {
        strategy.record_success(token, &Success::default(), &clock).unwrap();
    }
    assert!(strategy.starts_empty());
}

// Rule V1.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_sold_as_by_the_standard_strategy() {
    let hedge = kept(Hedge::after(Duration::from_millis(100)));
    let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));
    let strategy = PatientRetryStrategy::over(standard.with_quota(retry_core::quota::NoQuota));
    let calls = std::cell::Cell::new(0);
    let report = retry(&strategy, async || {
        calls.set(calls.get() + 1);
        if calls.get() == 1 { std::future::pending().await } else { Ok::<u32, Failed>(calls.get()) }
    });
    let report = report.idempotent(true).hedge(hedge).report().await;
    assert_eq!((report.outcome, report.attempts, report.elapsed), (Ok(2), 2, Duration::from_millis(100)));
}
