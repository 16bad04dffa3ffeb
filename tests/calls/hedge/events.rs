//! The events of hedges.

use super::*;
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::observe::NoHedge;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{Clock, Event, EventKind, Observer, RetryStrategy, without_retries};

/// An observer that keeps the events of hedges, with their attempts.
#[derive(Default)]
struct Hedges(RefCell<Vec<(EventKind, u32)>>);

impl Observer for Hedges {
    fn observe(&self, event: &Event) {
        if event.kind.as_str().starts_with("hedge") {
            self.0.borrow_mut().push((event.kind, event.attempt));
        }
    }
}

async fn events(
    strategy: &impl RetryStrategy,
    plan: &[(u64, Outcome)],
    hedge: &'static Hedge,
) -> Vec<(EventKind, u32)> {
    let (service, hedges) = (Service::new(plan.iter().copied()), Hedges::default());
    _ = retry(strategy, || service.call())
        .max_time(millis(900))
        .observer(&hedges)
        .idempotent(true)
        .hedge(hedge)
        .run()
        .await;
    hedges.0.take()
}

// Rule V12.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_sent_is_reported_as_won_or_lost() {
    let (sent, ended) = ((EventKind::HedgeSent, 2), |won| (EventKind::HedgeEnded { won }, 2));
    let (safe, fatal) = (Err(Failed::SAFE), Err(Failed::FATAL));
    let cases = [
        ([(1000, Ok(1)), (10, Ok(2))], true),
        ([(150, Ok(1)), (100, Ok(2))], false),
        ([(150, safe), (100, Ok(2))], true),
        ([(300, Ok(1)), (100, safe)], false),
        ([(300, Ok(1)), (100, fatal)], false),
        ([(150, fatal), (100, Ok(2))], false),
        // Both fail, and max_time ends the operation in the wait for a retry.
        ([(150, safe), (100, safe)], false),
        // max_time cuts both.
        ([(1000, Ok(1)), (1000, Ok(2))], false),
        // max_time cuts the hedge after the first attempt has failed.
        ([(150, safe), (1000, Ok(2))], false),
    ];
    for (plan, won) in cases {
        assert_eq!(events(&standard(), &plan, after()).await, [sent, ended(won)], "{plan:?}");
    }
    assert_eq!(events(&standard(), &[(99, Ok(1))], after()).await, []);
}

/// A limiter that only lets the first attempt pass.
#[derive(Debug)]
struct First(Cell<bool>);

impl SendLimiter for First {
    type Place = ();

    fn begin(&self, _: &dyn Clock) {}

    fn ask(&self, (): &mut (), _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        if self.0.replace(true) { Ready::After(millis(500)) } else { Ready::Now }
    }

    fn release(&self, (): &mut ()) {}

    fn failed(&self, (): &mut (), _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        None
    }
}

// Rules V5, V12.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_not_sent_is_reported_with_the_reason() {
    let plan = [(200, Ok(1)), (200, Ok(2))];
    let not_sent = |reason| [(EventKind::HedgeNotSent { reason }, 1)];

    let low = standard();
    assert!(low.quota().try_acquire(251, &TokioTimer));
    assert_eq!(events(&low, &plan, after()).await, not_sent(NoHedge::QuotaLow));
    assert_eq!(events(&standard().max_attempts(1), &plan, after()).await, not_sent(NoHedge::MaxAttempts));
    assert_eq!(without_retries(events(&standard(), &plan, after())).await, not_sent(NoHedge::Disabled));
    let off = standard();
    off.set_enabled(false);
    assert_eq!(events(&off, &plan, after()).await, not_sent(NoHedge::Disabled));
    assert_eq!(events(&Recorder::new(), &plan, after()).await, not_sent(NoHedge::NotSold));
    let limited: LimitedRetryStrategy<_> = LimitedRetryStrategy::with_limiter(standard(), First(Cell::new(false)));
    assert_eq!(events(&limited, &plan, after()).await, not_sent(NoHedge::Limited));
    // The strategy takes time, and no time is left after it.
    let slow = Recorder::new().selling_hedges();
    let hedge = kept(Hedge::after(millis(900)));
    assert_eq!(events(&slow, &[(1000, Ok(1)), (1000, Ok(1))], hedge).await, [], "the limit is asked first");

    let hedge = kept(Hedge::p95());
    for _ in 0..400 {
        events(&standard(), &[(1, Ok(1))], hedge).await;
    }
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.extend(events(&standard(), &[(800, Ok(1)), (800, Ok(2))], hedge).await);
    }
    seen.dedup();
    let expected =
        [(EventKind::HedgeSent, 2), (EventKind::HedgeEnded { won: false }, 2), not_sent(NoHedge::AllSlow)[0]];
    assert!(seen.starts_with(&expected[..2]) && seen.ends_with(&expected[2..]), "{seen:?}");
}

// Rules V12, V15, V17.
#[tokio::test(start_paused = true)]
async fn a_call_that_ends_while_it_waits_longer_for_its_hedge_is_reported() {
    let hedge = kept(Hedge::p95());
    let warm = async |calls| {
        for _ in 0..calls {
            events(&standard(), &[(1, Ok(1))], hedge).await;
        }
    };
    warm(60).await;
    let lost = [(EventKind::HedgeSent, 2), (EventKind::HedgeEnded { won: false }, 2)];
    assert_eq!(events(&standard(), &[(900, Ok(1)), (900, Ok(2))], hedge).await, lost);
    warm(20).await;
    let delay = u64::try_from(hedge.delay().as_millis()).unwrap();
    assert!(delay > 10, "{delay}");
    // It waits as long again.
    let few_win = [(EventKind::HedgeNotSent { reason: NoHedge::FewWin }, 1)];
    assert_eq!(events(&standard(), &[(delay + 3, Ok(1)), (900, Ok(2))], hedge).await, few_win);
    warm(20).await;
    assert_eq!(events(&standard(), &[(900, Ok(1)), (900, Ok(2))], hedge).await, lost);

    // Whatever ends it.
    for _ in 0..60 {
        warm(20).await;
        let delay = u64::try_from(hedge.delay().as_millis()).unwrap();
        events(&standard(), &[(delay + 3, Ok(1)), (900, Ok(2))], hedge).await;
    }
    for is_of_attempt in [true, false] {
        warm(20).await;
        let (strategy, hedges) = (standard(), Hedges::default());
        let (limit, service) = (hedge.delay().mul_f64(1.5), Service::new([(900, Ok(1))]));
        let call = retry(&strategy, || service.call()).max_attempts(1).idempotent(true).observer(&hedges);
        let ended = if is_of_attempt {
            call.attempt_timeout(limit).hedge(hedge).run().await
        } else {
            call.max_time(limit).hedge(hedge).run().await
        };
        assert!(ended.is_err());
        assert_eq!(hedges.0.take(), few_win);
    }

    // Two that are slow at the same time are all calls.
    warm(20).await;
    let (standard, plan) = (standard(), [(800, Ok(1)), (800, Ok(2))]);
    let both = tokio::join!(events(&standard, &plan, hedge), events(&standard, &plan, hedge));
    let all_slow = vec![(EventKind::HedgeNotSent { reason: NoHedge::AllSlow }, 1)];
    assert_eq!(both, (all_slow.clone(), all_slow));
}

#[test]
fn the_reasons_have_names() {
    let reasons = [
        NoHedge::AllSlow,
        NoHedge::QuotaLow,
        NoHedge::Limited,
        NoHedge::MaxAttempts,
        NoHedge::MaxTime,
        NoHedge::Disabled,
        NoHedge::NotSold,
        NoHedge::Stopped,
        NoHedge::NotIdempotent,
        NoHedge::IdempotencyUnknown,
        NoHedge::NotRepeatable,
        NoHedge::NotReady,
        NoHedge::WarmingUp,
        NoHedge::FewWin,
    ];
    let names: Vec<_> = reasons.iter().map(|reason| reason.as_str()).collect();
    let known = ["all_slow", "quota_low", "limited", "max_attempts", "max_time", "disabled", "not_sold"];
    assert_eq!(names[..7], known);
    assert_eq!(
        names[7..],
        ["stopped", "not_idempotent", "idempotency_unknown", "not_repeatable", "not_ready", "warming_up", "few_win"]
    );
    assert!(reasons.iter().all(|reason| !reason.to_string().is_empty()));
}
