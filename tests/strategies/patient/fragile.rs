//! Outcomes whose `Drop` panics after they were kept for a wait: the retry was permitted, and is not sent.

use super::Waits;
use crate::support::timers::since_start;
use crate::support::{Failed, Flaky, millis, poll_once, secs};
use retry_core::strategy::Refund;
use retry_core::time::ManualTimer;
use retry_core::{
    ErasedStrategy, ErrorInfo, Event, Hedge, Jitter, Observer, PatientRetryStrategy, RetryInfo, RetryQuota,
    RetrySafety, RetryStrategy, StandardRetryStrategy, TimedOut, TokioTimer, retry, retry_blocking, retryable,
};
use retry_tower::RetryLayer;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::sleep;
use tower::{Layer, ServiceExt, service_fn};

/// An error whose `Drop` panics.
#[derive(Debug)]
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

impl ErrorInfo for Fragile {}

impl RetryInfo for Fragile {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

impl From<TimedOut> for Fragile {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

/// A strategy, a service that fails, and what the calls report.
struct World {
    strategy: Waits,
    attempts: AtomicU32,
    seen: Mutex<Vec<&'static str>>,
}

impl World {
    /// Returns a world that lives until the process ends.
    fn new() -> &'static Self {
        // The quota can't pay for a retry. It is not full, so that it shows whether too much is given back.
        let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(7);
        let strategy = PatientRetryStrategy::over(standard.refunds(0, Refund::Amount(0)));
        let world = Box::leak(Box::new(Self { strategy, attempts: AtomicU32::new(0), seen: Mutex::default() }));
        assert!(world.strategy.standard().quota().try_acquire(3, &TokioTimer));
        world
    }

    fn call(&self) -> Outcome {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        Err(Fragile)
    }

    /// A call succeeds after 100 ms, which is fast.
    async fn answers(&self) {
        let answer = async || {
            sleep(millis(100)).await;
            Ok::<_, Failed>(())
        };
        retry(&self.strategy, answer).run().await.unwrap();
    }

    fn waiting(&self) -> Option<u32> {
        self.strategy.waiting_operations()
    }

    /// Asserts that this is what the call did and reported, and that the quota is unchanged.
    fn assert_seen(&self, form: &str, attempts: u32, seen: &[&str]) {
        assert_eq!((self.attempts.load(Ordering::Relaxed), self.strategy.quota_level()), (attempts, Some(4)), "{form}");
        assert_eq!(*self.seen.lock().unwrap(), seen, "{form}");
    }
}

/// What a call reports whose retry is permitted.
const PERMITTED: [&str; 5] =
    ["attempt_started", "attempt_failed", "waiting_for_service", "released", "attempt_started"];

impl Observer for World {
    fn observe(&self, event: &Event) {
        self.seen.lock().unwrap().push(event.kind.as_str());
    }
}

type Outcome = Result<u32, Fragile>;
type Call = Pin<Box<dyn Future<Output = Outcome>>>;

static HEDGE: Hedge = Hedge::after(Duration::from_millis(100));

/// Defines functions with the attribute.
macro_rules! attributes {
    ($($name:ident { $($options:tt)* })+) => {$(
        #[retryable(strategy = world.strategy, observer = *world, $($options)*)]
        async fn $name(world: &'static World) -> Outcome {
            world.call()
        }
    )+};
}

attributes! {
    plain {}
    told { on_retry = |_, _| () }
    reported { on_end = |_| () }
    hedged { idempotent, hedge = HEDGE }
    limited { max_time = "60s" }
    hedged_and_reported { idempotent, hedge = HEDGE, on_end = |_| () }
}

#[retryable(strategy = world.strategy, observer = *world, timer = timer, blocking)]
fn blocking(world: &'static World, timer: &ManualTimer) -> Outcome {
    world.call()
}

/// Returns a call in each form that drops its last outcome before the next attempt.
fn forms(world: &'static World) -> Vec<(&'static str, Call)> {
    let closure = || retry(&world.strategy, async || world.call()).observer(world);
    vec![
        ("attribute", Box::pin(plain(world))),
        ("attribute with on_retry", Box::pin(told(world))),
        ("attribute with on_end", Box::pin(reported(world))),
        ("attribute with a hedge", Box::pin(hedged(world))),
        ("attribute with a hedge and on_end", Box::pin(hedged_and_reported(world))),
        ("closure", Box::pin(closure().run())),
        ("closure with a hedge", Box::pin(closure().idempotent(true).hedge(&HEDGE).run())),
        (
            "erased",
            Box::pin(async move {
                let strategy = ErasedStrategy::new(&world.strategy);
                retry(&strategy, async || world.call()).observer(world).run().await
            }),
        ),
    ]
}

/// Returns a call in each form that keeps its last outcome during an attempt.
fn keeping_forms(world: &'static World) -> Vec<(&'static str, Call)> {
    let closure = || retry(&world.strategy, async || world.call()).observer(world);
    let layer = RetryLayer::new(&world.strategy).observer(world);
    let service = service_fn(move |()| ready(world.call()));
    vec![
        ("limited attribute", Box::pin(limited(world))),
        ("limited closure", Box::pin(closure().max_time(secs(60)).run())),
        ("tower", Box::pin(layer.clone().layer(service).oneshot(()))),
        ("tower with a hedge", Box::pin(layer.idempotent(true).hedge(&HEDGE).layer(service).oneshot(()))),
    ]
}

/// Polls a call, and drops it. Returns whether the poll panics. A driver that has kept another outcome panics when it is dropped, too.
fn panics(mut call: Call) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(&mut context)));
    _ = catch_unwind(AssertUnwindSafe(|| drop(call)));
    polled.is_err()
}

// Rules D6, U17.
#[tokio::test(start_paused = true)]
async fn that_panic_give_a_permitted_retry_back_once_in_each_form() {
    for index in 0..forms(World::new()).len() {
        let world = World::new();
        let (form, mut call) = forms(world).swap_remove(index);
        world.answers().await;
        poll_once(call.as_mut());
        let services = [(); 2].map(|()| Flaky::new(1, Failed::SAFE));
        let [mut next, mut last] =
            services.each_ref().map(|service| Box::pin(retry(&world.strategy, || ready(service.call())).run()));
        poll_once(next.as_mut());
        poll_once(last.as_mut());
        assert_eq!(world.waiting(), Some(3), "{form}");
        // It is sent, and its outcome is dropped.
        world.answers().await;
        assert!(panics(call), "{form}");
        world.assert_seen(form, 1, &PERMITTED);
        assert_eq!(world.waiting(), Some(2), "{form}");
        // Another operation is sent in its place, and no more than that.
        world.answers().await;
        poll_once(last.as_mut());
        let sent = next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((sent, world.waiting()), (Poll::Ready(Ok(2)), Some(1)), "{form}");
    }
}

// Rules D6, U17.
#[tokio::test(start_paused = true)]
async fn that_panic_when_the_next_one_replaces_them_leave_the_line_once() {
    for index in 0..keeping_forms(World::new()).len() {
        let world = World::new();
        let (form, mut call) = keeping_forms(world).swap_remove(index);
        world.answers().await;
        let service = Flaky::new(1, Failed::SAFE);
        let mut next = Box::pin(retry(&world.strategy, || ready(service.call())).run());
        poll_once(call.as_mut());
        poll_once(next.as_mut());
        // Its second attempt fails, and it waits again.
        world.answers().await;
        assert!(panics(call), "{form}");
        world.assert_seen(form, 2, &[&PERMITTED[..], &["attempt_failed", "waiting_for_service"]].concat());
        assert_eq!(world.waiting(), Some(1), "{form}");
    }
}

// Rules D6, U17.
#[test]
fn that_panic_give_a_permitted_retry_of_a_blocking_call_back() {
    type Blocking = fn(&'static World, &ManualTimer) -> Outcome;
    let calls: [(&str, Blocking); 2] = [
        ("attribute", blocking),
        ("closure", |world, timer| retry_blocking(&world.strategy, || world.call()).observer(world).timer(timer).run()),
    ];
    for (form, call) in calls {
        let (world, timer) = (World::new(), ManualTimer::new());
        // It is sent as a probe after a second.
        assert!(catch_unwind(AssertUnwindSafe(|| call(world, &timer))).is_err(), "{form}");
        assert_eq!(since_start(&timer), secs(1), "{form}");
        world.assert_seen(form, 1, &PERMITTED);
        assert_eq!(world.waiting(), Some(0), "{form}");
    }
}
