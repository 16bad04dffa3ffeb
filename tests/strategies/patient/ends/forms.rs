//! The forms of calls, without a time limit, with one of 40 seconds, and with a handle that stops them.

use super::super::Waits;
use crate::support::by_hand::by_hand;
use retry_core::drive::Operation;
use retry_core::time::{ManualTimer, StdTimer};
use retry_core::{
    ErasedStrategy, ErrorFault, ErrorInfo, Event, EventKind, Hedge, Observer, RetryError, RetryInfo, RetrySafety,
    RetryStrategy, StandardRetryPolicy, Stop, TimedOut, retry, retry_blocking, retry_with_context, retryable,
};
use retry_tower::RetryLayer;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tower::{Layer, ServiceExt, service_fn};

/// The error of the call with this number; 0 if a time limit made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nth(pub(super) u32);

impl ErrorInfo for Nth {
    fn fault(&self) -> ErrorFault {
        ErrorFault::Server
    }
}

impl RetryInfo for Nth {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

impl From<TimedOut> for Nth {
    fn from(_: TimedOut) -> Self {
        Self(0)
    }
}

pub(super) type Outcome = Result<u32, Nth>;

/// A strategy, a service, and what an operation reports.
pub(super) struct World {
    pub(super) strategy: Waits,
    pub(super) stop: Stop,
    calls: AtomicU32,
    succeeds_at: AtomicU32,
    reason: Mutex<Option<RetryError>>,
    /// The reasons of reports.
    reported: Mutex<Vec<(u32, Option<RetryError>)>>,
}

impl World {
    /// Returns a world that lives until the process ends.
    pub(super) fn new(strategy: Waits) -> &'static Self {
        let (calls, succeeds_at) = (AtomicU32::new(0), AtomicU32::new(u32::MAX));
        let (reason, reported) = (Mutex::default(), Mutex::default());
        Box::leak(Box::new(Self { strategy, stop: Stop::new(), calls, succeeds_at, reason, reported }))
    }

    /// Lets the call with this number succeed.
    pub(super) fn succeeds_at(&self, call: u32) {
        self.succeeds_at.store(call, Ordering::Relaxed);
    }

    fn call(&self) -> Outcome {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call >= self.succeeds_at.load(Ordering::Relaxed) { Ok(call) } else { Err(Nth(call)) }
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn waiting(&self) -> u32 {
        self.strategy.waiting_operations().unwrap()
    }

    fn report(&self, attempts: u32, reason: Option<RetryError>) {
        self.reported.lock().unwrap().push((attempts, reason));
    }

    /// Returns the reason why the operation ended, after a check that its report says the same.
    pub(super) fn reason(&self) -> Option<RetryError> {
        let reason = *self.reason.lock().unwrap();
        for reported in &*self.reported.lock().unwrap() {
            assert_eq!(*reported, (self.calls(), reason));
        }
        reason
    }
}

impl Observer for World {
    fn observe(&self, event: &Event) {
        if let EventKind::Stopped { reason, .. } = event.kind {
            assert_eq!(self.reason.lock().unwrap().replace(reason), None, "it ends once");
        }
    }
}

pub(super) type Form = fn(&'static World) -> Pin<Box<dyn Future<Output = Outcome>>>;

static HEDGE: Hedge = Hedge::after(Duration::from_millis(100));
const LIMIT: Duration = Duration::from_secs(40);

/// Defines functions with the attribute.
macro_rules! attributes {
    ($($name:ident($world:ident) { $($options:tt)* })+) => {$(
        #[retryable(strategy = $world.strategy, observer = *$world, $($options)*)]
        async fn $name($world: &'static World) -> Outcome {
            $world.call()
        }
    )+};
}

attributes! {
    plain(world) {}
    told(world) { on_retry = |_, event| assert_eq!(event.kind.delay(), None) }
    reported(world) { on_end = |report| world.report(report.attempts, report.reason) }
    told_and_reported(world) {
        on_retry = |_, event| assert_eq!(event.kind.delay(), None),
        on_end = |report| world.report(report.attempts, report.reason)
    }
    with_attempt_timeout(world) { attempt_timeout = "5s" }
    hedged(world) { idempotent, hedge = HEDGE }
    hedged_and_reported(world) { idempotent, hedge = HEDGE, on_end = |report| world.report(report.attempts, report.reason) }
    limited(world) { max_time = "40s" }
    until(world) { deadline = tokio::time::Instant::now() + LIMIT }
    limited_and_reported(world) { max_time = "40s", on_end = |report| world.report(report.attempts, report.reason) }
    limited_and_hedged(world) { max_time = "40s", idempotent, hedge = HEDGE }
    stoppable(world) { stop = world.stop }
    limited_and_stoppable(world) { stop = world.stop, max_time = "40s" }
    stoppable_and_reported(world) { stop = world.stop, on_end = |report| world.report(report.attempts, report.reason) }
    stoppable_and_hedged(world) { stop = world.stop, idempotent, hedge = HEDGE }
}

/// Asserts that a report says what the world knows, and returns its outcome.
macro_rules! report {
    ($world:ident, $call:expr) => {{
        let report = $call.report().await;
        $world.report(report.attempts, report.reason);
        report.outcome
    }};
}

/// A closure that calls the service of the world.
macro_rules! closure {
    ($world:ident) => {
        retry(&$world.strategy, || async { $world.call() }).observer($world)
    };
}

/// A layer for the strategy of the world.
macro_rules! layer {
    ($world:ident) => {
        RetryLayer::new(&$world.strategy).observer($world)
    };
}

/// Sends a request through a layer.
macro_rules! send {
    ($world:ident, $layer:expr) => {
        $layer.layer(service_fn(move |()| async { $world.call() })).oneshot(())
    };
}

/// An operation of the world that is driven by hand.
macro_rules! by_hand {
    ($world:ident, $($limit:tt)*) => {{
        let builder = Operation::builder(&$world.strategy, "by hand").observer($world)$($limit)*;
        let report = by_hand(builder, StandardRetryPolicy::new(), async || $world.call()).await;
        $world.report(report.attempts, report.reason);
        report.outcome
    }};
}

macro_rules! forms {
    ($($form:ident: $world:ident => $call:expr;)+) => {
        &[$((stringify!($form), |$world| Box::pin(async move { $call }))),+]
    };
}

/// Without a limit on the time.
pub(super) const UNLIMITED: &[(&str, Form)] = forms! {
    closure: world => closure!(world).run().await;
    closure_with_report: world => report!(world, closure!(world));
    closure_with_context: world => {
        retry_with_context(&world.strategy, |_| async { world.call() }).observer(world).run().await
    };
    closure_with_on_retry: world => closure!(world).on_retry(|_, _| {}).run().await;
    closure_with_attempt_timeout: world => report!(world, closure!(world).attempt_timeout(Duration::from_secs(5)));
    closure_with_weight: world => closure!(world).weight(3).run().await;
    hedged_closure: world => report!(world, closure!(world).idempotent(true).hedge(&HEDGE));
    by_hand: world => by_hand!(world,);
    by_hand_with_attempt_timeout: world => by_hand!(world, .attempt_timeout(Duration::from_secs(5)));
    erased: world => {
        let strategy = ErasedStrategy::new(&world.strategy);
        retry(&strategy, || async { world.call() }).observer(world).run().await
    };
    tower: world => send!(world, layer!(world)).await;
    tower_with_attempt_timeout: world => send!(world, layer!(world).attempt_timeout(Duration::from_secs(5))).await;
    hedged_tower: world => send!(world, layer!(world).idempotent(true).hedge(&HEDGE)).await;
    attribute: world => plain(world).await;
    attribute_with_on_retry: world => told(world).await;
    attribute_with_on_end: world => reported(world).await;
    attribute_with_both: world => told_and_reported(world).await;
    attribute_with_attempt_timeout: world => with_attempt_timeout(world).await;
    hedged_attribute: world => hedged(world).await;
    hedged_attribute_with_on_end: world => hedged_and_reported(world).await;
};

/// With a limit of 40 seconds.
pub(super) const LIMITED: &[(&str, Form)] = forms! {
    closure: world => closure!(world).max_time(LIMIT).run().await;
    closure_with_report: world => report!(world, closure!(world).max_time(LIMIT));
    closure_with_deadline: world => report!(world, closure!(world).deadline(tokio::time::Instant::now() + LIMIT));
    closure_with_two_limits: world => {
        report!(world, closure!(world).max_time(LIMIT).attempt_timeout(Duration::from_secs(5)))
    };
    hedged_closure: world => report!(world, closure!(world).max_time(LIMIT).idempotent(true).hedge(&HEDGE));
    by_hand: world => by_hand!(world, .max_time(LIMIT));
    by_hand_with_deadline: world => by_hand!(world, .deadline(tokio::time::Instant::now() + LIMIT));
    tower: world => send!(world, layer!(world).max_time(LIMIT)).await;
    hedged_tower: world => send!(world, layer!(world).max_time(LIMIT).idempotent(true).hedge(&HEDGE)).await;
    attribute: world => limited(world).await;
    attribute_with_deadline: world => until(world).await;
    attribute_with_on_end: world => limited_and_reported(world).await;
    hedged_attribute: world => limited_and_hedged(world).await;
};

/// With the handle of the world.
pub(super) const STOPPABLE: &[(&str, Form)] = forms! {
    closure: world => closure!(world).stop(&world.stop).run().await;
    closure_with_report: world => report!(world, closure!(world).stop(&world.stop));
    limited_closure: world => report!(world, closure!(world).stop(&world.stop).max_time(LIMIT));
    hedged_closure: world => report!(world, closure!(world).stop(&world.stop).idempotent(true).hedge(&HEDGE));
    by_hand: world => by_hand!(world, .stop(&world.stop));
    limited_by_hand: world => by_hand!(world, .stop(&world.stop).max_time(LIMIT));
    tower: world => send!(world, layer!(world).stop(&world.stop)).await;
    hedged_tower: world => send!(world, layer!(world).stop(&world.stop).idempotent(true).hedge(&HEDGE)).await;
    attribute: world => stoppable(world).await;
    limited_attribute: world => limited_and_stoppable(world).await;
    attribute_with_on_end: world => stoppable_and_reported(world).await;
    hedged_attribute: world => stoppable_and_hedged(world).await;
};

pub(super) type BlockingForm = fn(&'static World, &ManualTimer) -> Outcome;

/// Defines blocking functions with the attribute.
macro_rules! blocking_attributes {
    ($($name:ident($world:ident) { $($options:tt)* })+) => {$(
        #[retryable(strategy = $world.strategy, observer = *$world, timer = timer, blocking, $($options)*)]
        fn $name($world: &'static World, timer: &ManualTimer) -> Outcome {
            $world.call()
        }
    )+};
}

blocking_attributes! {
    blocking(world) {}
    blocking_and_reported(world) { on_end = |report| world.report(report.attempts, report.reason) }
    blocking_and_limited(world) { max_time = "40s" }
    blocking_limited_and_reported(world) { max_time = "40s", on_end = |report| world.report(report.attempts, report.reason) }
}

#[retryable(strategy = world.strategy, observer = *world, stop = world.stop, blocking)]
fn blocking_and_stoppable(world: &'static World) -> Outcome {
    world.call()
}

/// Returns a call that blocks.
macro_rules! blocks {
    ($world:ident, $timer:expr) => {
        retry_blocking(&$world.strategy, || $world.call()).observer($world).timer($timer)
    };
}

pub(super) const BLOCKING: &[(&str, BlockingForm)] = &[
    ("closure", |world, timer| blocks!(world, timer.clone()).run()),
    ("closure with on_retry", |world, timer| blocks!(world, timer.clone()).on_retry(|_, _| {}).run()),
    ("closure with report", |world, timer| {
        let report = blocks!(world, timer.clone()).report();
        world.report(report.attempts, report.reason);
        report.outcome
    }),
    ("attribute", blocking),
    ("attribute with on_end", blocking_and_reported),
];

pub(super) const BLOCKING_LIMITED: &[(&str, BlockingForm)] = &[
    ("closure", |world, timer| blocks!(world, timer.clone()).max_time(LIMIT).run()),
    ("attribute", blocking_and_limited),
    ("attribute with on_end", blocking_limited_and_reported),
];

pub(super) type ThreadForm = fn(&'static World) -> Outcome;

/// With a thread that the handle of the world wakes.
pub(super) const BLOCKING_STOPPABLE: &[(&str, ThreadForm)] =
    &[("closure", |world| blocks!(world, StdTimer).stop(&world.stop).run()), ("attribute", blocking_and_stoppable)];
