//! Values that panic while they are dropped. A retry that was paid for and not sent is still refunded.

use crate::support::{Failed, Recorder, millis};
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorInfo, Event, EventKind, Failure, Jitter, Observer, RetryDirective,
    RetryErrorType, RetryInfo, RetryPolicy, RetryQuota, RetrySafety, RetryStrategy, StandardRetryStrategy, TimedOut,
    Timer, TokenBucket, retry, retryable,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const CAPACITY: u32 = 500;

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn bomb(panics: bool) {
    assert!(!panics || std::thread::panicking(), "dropped");
}

/// An error whose `Drop` panics.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        bomb(true);
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

/// Polls a future to its end. Returns true if it panics.
fn panics_within<T>(future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..1000 {
            if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return;
            }
        }
    }));
    outcome.is_err()
}

/// A timer whose sleeps advance its clock when they end, and may panic while they are dropped.
#[derive(Default)]
struct Clockwork {
    now: Rc<Cell<Duration>>,
    fragile: bool,
}

struct Sleep {
    now: Rc<Cell<Duration>>,
    delay: Duration,
    polled: bool,
    fragile: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.polled, true) {
            self.now.set(self.now.get() + self.delay);
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        bomb(self.fragile);
    }
}

impl Clock for Clockwork {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1000) + self.now.get())
    }
}

impl Timer for Clockwork {
    type Sleep = Sleep;

    fn sleep(&self, delay: Duration) -> Sleep {
        Sleep { now: Rc::clone(&self.now), delay, polled: false, fragile: self.fragile }
    }
}

impl BlockingTimer for Clockwork {
    fn block(&self, delay: Duration) {
        self.now.set(self.now.get() + delay);
    }
}

mod outcome {
    use super::*;

    #[retryable(strategy = strategy)]
    async fn plain(strategy: &StandardRetryStrategy) -> Result<(), Fragile> {
        Err(Fragile)
    }

    #[retryable(strategy = strategy, timer = timer, max_time = "60s")]
    async fn with_max_time(strategy: &StandardRetryStrategy, timer: &Clockwork) -> Result<(), Fragile> {
        Err(Fragile)
    }

    #[retryable(strategy = strategy, timer = timer, blocking)]
    fn blocking(strategy: &StandardRetryStrategy, timer: &Clockwork) -> Result<(), Fragile> {
        Err(Fragile)
    }

    // Rule D6.
    #[tokio::test(start_paused = true)]
    async fn that_panics_while_it_is_dropped_refunds_its_retry_in_every_form() {
        let strategy = standard();
        let timer = Clockwork::default();
        assert!(panics_within(plain(&strategy)));
        assert_eq!(strategy.quota().available(), CAPACITY, "plain");
        assert!(panics_within(retry(&strategy, || async { Err::<(), _>(Fragile) }).run()));
        assert_eq!(strategy.quota().available(), CAPACITY, "closure");
        assert!(catch_unwind(AssertUnwindSafe(|| blocking(&strategy, &timer))).is_err());
        assert_eq!(strategy.quota().available(), CAPACITY, "blocking");
    }

    #[test]
    fn that_panics_while_it_is_replaced_by_the_next_one_refunds_the_new_retry() {
        let strategy = standard();
        let timer = Clockwork::default();
        // The first retry is sent. When the first outcome is dropped, the second retry is paid for but not sent.
        assert!(panics_within(with_max_time(&strategy, &timer)));
        assert_eq!(strategy.quota().available(), CAPACITY - 5);
        let call = retry(&strategy, || async { Err::<(), _>(Fragile) }).timer(&timer);
        assert!(panics_within(call.max_time(Duration::from_secs(60)).run()));
        assert_eq!(strategy.quota().available(), CAPACITY - 10);
    }
}

mod sleep {
    use super::*;

    #[retryable(strategy = strategy, timer = timer)]
    async fn call(strategy: &StandardRetryStrategy, timer: &Clockwork) -> Result<(), Failed> {
        Err(Failed::SAFE)
    }

    // Rule D6.
    #[test]
    fn that_panics_while_it_is_dropped_refunds_its_retry() {
        let (strategy, timer) = (standard(), Clockwork { fragile: true, ..Clockwork::default() });
        assert!(panics_within(call(&strategy, &timer)));
        assert_eq!(strategy.quota().available(), CAPACITY);
        assert!(panics_within(retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).timer(&timer).run()));
        assert_eq!(strategy.quota().available(), CAPACITY);
    }

    // Rule D6.
    #[test]
    fn that_panics_while_its_operation_is_dropped_refunds_its_retry() {
        let (strategy, timer) = (standard(), Clockwork { fragile: true, ..Clockwork::default() });
        let mut waiting = Box::pin(call(&strategy, &timer));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(strategy.quota().available(), CAPACITY - 5);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(waiting))).is_err());
        assert_eq!(strategy.quota().available(), CAPACITY);
    }

    // Rule D3.
    #[test]
    fn that_panics_while_it_is_dropped_leaves_the_queue_of_the_limiter() {
        let strategy = AdaptiveRetryStrategy::over(standard());
        let timer = Clockwork { fragile: true, ..Clockwork::default() };
        let token = strategy.acquire_initial_token(&timer).unwrap();
        let throttled = Failed { safety: RetrySafety::No, ..Failed::THROTTLED };
        strategy.refresh_retry_token(token, &Failure::of(&throttled), &timer).unwrap_err();

        // At 0.5 sends per second, the first send is due in two seconds, and no waiter is ahead of the next operation.
        assert!(panics_within(retry(&strategy, || async { Ok::<_, Failed>(()) }).timer(&timer).run()));
        timer.now.set(timer.now.get() + Duration::from_secs(2));
        let mut next = strategy.acquire_initial_token(&timer).unwrap();
        assert_eq!(strategy.ready(&mut next, &timer, None).wait(), None);
    }
}

/// An observer and a policy whose `Drop` panics.
struct FragilePart;

impl Drop for FragilePart {
    fn drop(&mut self) {
        bomb(true);
    }
}

impl Observer for FragilePart {
    fn observe(&self, _: &Event) {}
}

impl<T> RetryPolicy<Result<T, Failed>> for FragilePart {
    fn evaluate(&self, _: &Result<T, Failed>) -> RetryDirective {
        RetryDirective::retry(RetryErrorType::Other)
    }
}

fn fragile_part() -> FragilePart {
    FragilePart
}

#[retryable(strategy = strategy, timer = timer, observer = fragile_part())]
async fn observed(strategy: &StandardRetryStrategy, timer: &Clockwork) -> Result<(), Failed> {
    Err(Failed::SAFE)
}

// Rule D6.
#[test]
fn a_retry_is_refunded_when_an_observer_panics_while_it_is_dropped() {
    let (strategy, timer) = (standard(), Clockwork::default());
    let mut waiting = Box::pin(observed(&strategy, &timer));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(strategy.quota().available(), CAPACITY - 5);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(waiting))).is_err());
    assert_eq!(strategy.quota().available(), CAPACITY);

    let call = retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).timer(&timer).observer(FragilePart);
    let mut waiting = Box::pin(call.run());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(waiting))).is_err());
    assert_eq!(strategy.quota().available(), CAPACITY);
}

#[retryable(strategy = strategy, timer = timer, policy = fragile_part())]
async fn judged(strategy: &StandardRetryStrategy, timer: &Clockwork) -> Result<(), Failed> {
    Err(Failed::SAFE)
}

// Rule D6.
#[test]
fn a_retry_is_refunded_when_a_policy_panics_while_it_is_dropped() {
    let (strategy, timer) = (standard(), Clockwork::default());
    assert!(panics_within(judged(&strategy, &timer)));
    assert_eq!(strategy.quota().available(), CAPACITY);
    assert_eq!(timer.now.get(), millis(0), "the policy is dropped before the retry is paid for");
}

/// A timer whose clock breaks at some time.
#[derive(Default)]
struct Armed {
    timer: Clockwork,
    breaks_at: Option<Duration>,
}

impl Clock for Armed {
    fn now(&self) -> Timestamp {
        let now = self.timer.now.get();
        assert!(self.breaks_at.is_none_or(|at| now < at), "the clock broke");
        self.timer.now()
    }
}

impl Timer for Armed {
    type Sleep = Sleep;

    fn sleep(&self, delay: Duration) -> Sleep {
        self.timer.sleep(delay)
    }
}

/// A bucket whose level can't be read any more after ten seconds.
struct Unreadable {
    bucket: TokenBucket,
    now: Rc<Cell<Duration>>,
}

impl RetryQuota for Unreadable {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        self.bucket.try_acquire(cost, clock)
    }

    fn refund(&self, amount: u32) {
        self.bucket.refund(amount);
    }

    fn available(&self) -> u32 {
        assert!(self.now.get() < Duration::from_secs(10), "the level can't be read");
        self.bucket.available()
    }
}

mod a_cut_attempt {
    use super::*;

    fn is_last(event: &Event) {
        assert!(!matches!(event.kind, EventKind::Stopped { .. }), "on_retry panics");
    }

    #[retryable(strategy = strategy, timer = timer, max_time = "10s", on_retry = |_, event| is_last(event))]
    async fn attribute(strategy: &StandardRetryStrategy, timer: &Armed, calls: &Cell<u32>) -> Result<(), Failed> {
        fails_then_hangs(calls).await
    }

    /// The second attempt never ends.
    async fn fails_then_hangs(calls: &Cell<u32>) -> Result<(), Failed> {
        calls.set(calls.get() + 1);
        if calls.get() > 1 {
            std::future::pending::<()>().await;
        }
        Err(Failed::SAFE)
    }

    fn call<S: RetryStrategy>(strategy: &S, timer: &Armed, on_retry: impl Fn(&Event)) {
        let calls = Cell::new(0);
        let call = retry(strategy, || fails_then_hangs(&calls)).timer(timer).max_time(Duration::from_secs(10));
        assert!(panics_within(call.on_retry(|_, event: &Event| on_retry(event)).run()));
        assert_eq!(calls.get(), 2);
    }

    // Rule D6.
    #[test]
    fn has_spent_its_cost_when_on_retry_panics() {
        let strategy = standard();
        call(&strategy, &Armed::default(), is_last);
        assert_eq!(strategy.quota().available(), CAPACITY - 5, "closure");
        let calls = Cell::new(0);
        assert!(panics_within(attribute(&strategy, &Armed::default(), &calls)));
        assert_eq!((calls.get(), strategy.quota().available()), (2, CAPACITY - 10), "attribute");
    }

    // Rule D6.
    #[test]
    fn has_spent_its_cost_when_the_clock_panics() {
        let strategy = standard();
        let timer = Armed { breaks_at: Some(Duration::from_secs(10)), ..Armed::default() };
        call(&strategy, &timer, |_| ());
        assert_eq!(strategy.quota().available(), CAPACITY - 5);
    }

    // Rule D6.
    #[test]
    fn has_spent_its_cost_when_the_quota_panics() {
        let timer = Armed::default();
        let quota = Unreadable { bucket: TokenBucket::new(CAPACITY), now: Rc::clone(&timer.timer.now) };
        let strategy = standard().with_quota(quota);
        call(&strategy, &timer, |_| ());
        assert_eq!(strategy.quota().bucket.available(), CAPACITY - 5);
    }

    // Rules D6, A9.
    #[test]
    fn has_used_its_send_when_on_retry_panics() {
        let strategy = Recorder::new();
        call(&strategy, &Armed::default(), is_last);
        assert_eq!(strategy.calls(), ["initial", "ready", "refresh", "ready"], "nothing is released");
    }
}
