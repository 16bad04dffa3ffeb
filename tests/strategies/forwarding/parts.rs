//! Pointers to observers, backoffs, quotas, policies, timers and errors forward every method.

use crate::support::{ByHand, Failed, millis, secs};
use retry_core::backoff::BackoffContext;
use retry_core::classify::Classification;
use retry_core::policy::Usage;
use retry_core::quota::ConfigSection;
use retry_core::quota::QuotaMode;
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{
    BackoffStrategy, Clock, ErrorFault, ErrorInfo, Event, ExponentialBackoff, Observer, RetryDirective, RetryErrorType,
    RetryInfo, RetryPolicy, RetryQuota, RetrySafety, StandardRetryStrategy, Timer, TokenBucket, TokioTimer, policy_fn,
    retry,
};
use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Debug};
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// Implements all of these traits and records its calls. Its answers differ from all defaults.
#[derive(Default)]
struct Probe {
    calls: Mutex<Vec<String>>,
}

impl Probe {
    fn called(&self, method: &str, with: impl Debug) {
        self.calls.lock().unwrap().push(format!("{method} {with:?}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    /// Returns the output of an action, and the calls recorded during it.
    fn trace<T>(&self, action: impl FnOnce() -> T) -> (T, Vec<String>) {
        self.take();
        let returned = action();
        (returned, self.take())
    }
}

impl Observer for Probe {
    fn is_interested(&self, operation: &'static str) -> bool {
        self.called("is_interested", operation);
        operation == "interesting"
    }

    fn observe(&self, event: &Event) {
        self.called(event.kind.as_str(), event.operation);
    }
}

#[tokio::test]
async fn a_pointer_to_an_observer_forwards_every_method() {
    async fn trace(observer: impl Observer, probe: &Probe) -> Vec<String> {
        let strategy = StandardRetryStrategy::new();
        for name in ["other", "interesting"] {
            retry(&strategy, || async { Ok::<_, Failed>(()) }).name(name).observer(&observer).run().await.unwrap();
        }
        probe.take()
    }

    let probe = Arc::new(Probe::default());
    let dynamic: &dyn Observer = &*probe;
    let expected = [
        r#"is_interested "other""#,
        r#"is_interested "interesting""#,
        r#"attempt_started "interesting""#,
        r#"succeeded "interesting""#,
    ];
    assert_eq!(trace(&*probe, &probe).await, expected, "&O");
    assert_eq!(trace(dynamic, &probe).await, expected, "&dyn");
    assert_eq!(trace(Box::new(&*probe), &probe).await, expected, "Box<O>");
    assert_eq!(trace(Box::new(dynamic) as Box<dyn Observer>, &probe).await, expected, "Box<dyn>");
    assert_eq!(trace(Arc::clone(&probe), &probe).await, expected, "Arc<O>");
    assert_eq!(trace(Arc::clone(&probe) as Arc<dyn Observer>, &probe).await, expected, "Arc<dyn>");
}

impl BackoffStrategy for Probe {
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
        self.called("backoff", (retry_attempt, error_type));
        secs(11)
    }

    fn delay_in_context(&self, context: &BackoffContext) -> Duration {
        self.called("delay_in_context", context.previous_delay);
        secs(31)
    }

    fn max_backoff(&self) -> Duration {
        secs(19)
    }

    fn random_part(&self, most: Duration) -> Duration {
        self.called("random_part", most);
        secs(29)
    }

    fn as_exponential(&self) -> Option<&ExponentialBackoff> {
        static BACKOFF: ExponentialBackoff = ExponentialBackoff::new(Duration::from_secs(13), Duration::from_secs(17));
        Some(&BACKOFF)
    }
}

#[test]
fn a_pointer_to_a_backoff_forwards_every_method() {
    fn trace(backoff: impl BackoffStrategy, probe: &Probe) -> (([Duration; 4], Option<Duration>), Vec<String>) {
        probe.trace(|| {
            let delay = backoff.compute_next_backoff_delay(3, RetryErrorType::Conflict);
            let mut context = BackoffContext::new(3, RetryErrorType::Conflict);
            context.previous_delay = secs(5);
            let delays =
                [delay, backoff.delay_in_context(&context), backoff.max_backoff(), backoff.random_part(secs(7))];
            (delays, backoff.as_exponential().map(ExponentialBackoff::cap))
        })
    }

    let probe = Arc::new(Probe::default());
    let calls = ["backoff (3, Conflict)", "delay_in_context 5s", "random_part 7s"].map(str::to_owned);
    let expected = (([secs(11), secs(31), secs(19), secs(29)], Some(secs(17))), calls.to_vec());
    assert_eq!(trace(&*probe, &probe), expected, "&B");
    assert_eq!(trace(Box::new(&*probe), &probe), expected, "Box<B>");
    assert_eq!(trace(Box::new(&*probe) as Box<dyn BackoffStrategy>, &probe), expected, "Box<dyn>");
    assert_eq!(trace(Arc::clone(&probe), &probe), expected, "Arc<B>");
    assert_eq!(trace(Arc::clone(&probe) as Arc<dyn BackoffStrategy>, &probe), expected, "Arc<dyn>");
}

impl RetryQuota for Probe {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        self.called("try_acquire", (cost, clock.now().since_origin()));
        cost < 5
    }

    fn refund(&self, amount: u32) {
        self.called("refund", amount);
    }

    fn available(&self) -> u32 {
        23
    }

    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        self.called("pay", (cost, error_type, clock.now().since_origin()));
        Some(31)
    }

    fn give_back(&self, paid: u32) {
        self.called("give_back", paid);
    }

    fn first_succeeded(&self, refund: u32) {
        self.called("first_succeeded", refund);
    }

    fn retry_succeeded(&self, paid: u32, refund: u32) {
        self.called("retry_succeeded", (paid, refund));
    }

    fn is_low(&self) -> bool {
        true
    }

    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        self.called("pay_hedge", (cost, clock.now().since_origin()));
        Some(37)
    }

    fn is_full(&self) -> bool {
        true
    }

    fn level(&self) -> Option<u32> {
        Some(41)
    }

    fn full_level(&self) -> Option<u32> {
        Some(43)
    }

    fn mode(&self) -> Option<QuotaMode> {
        Some(QuotaMode::Spending)
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        self.called("note_refusal", (cost, strategy));
    }

    fn as_bucket(&self) -> Option<&TokenBucket> {
        static BUCKET: TokenBucket = TokenBucket::new(29);
        Some(&BUCKET)
    }

    fn section(&self) -> Option<&dyn ConfigSection> {
        self.called("section", ());
        None
    }
}

#[test]
fn a_pointer_to_a_quota_forwards_every_method() {
    fn trace(quota: impl RetryQuota, probe: &Probe) -> (Vec<Option<u32>>, Vec<String>) {
        let clock = ByHand::at(secs(5));
        probe.trace(|| {
            let taken = [4, 5].map(|cost| quota.try_acquire(cost, &clock).then_some(cost));
            quota.refund(2);
            let paid = quota.pay(3, RetryErrorType::Timeout, &clock).filter(|_| quota.is_full());
            quota.give_back(4);
            quota.first_succeeded(5);
            quota.retry_succeeded(6, 7);
            let hedge = quota.pay_hedge(9, &clock).filter(|_| quota.is_low());
            quota.note_refusal(8, Some("store"));
            let capacity = quota.as_bucket().map(TokenBucket::capacity);
            let capacity = capacity.filter(|_| quota.section().is_none() && quota.mode() == Some(QuotaMode::Spending));
            vec![taken[0], taken[1], paid, hedge, Some(quota.available()), quota.level(), quota.full_level(), capacity]
        })
    }

    let probe = Arc::new(Probe::default());
    let calls = [
        "try_acquire (4, 5s)",
        "try_acquire (5, 5s)",
        "refund 2",
        "pay (3, Timeout, 5s)",
        "give_back 4",
        "first_succeeded 5",
        "retry_succeeded (6, 7)",
        "pay_hedge (9, 5s)",
        r#"note_refusal (8, Some("store"))"#,
        "section ()",
    ]
    .map(str::to_owned);
    let expected = (vec![Some(4), None, Some(31), Some(37), Some(23), Some(41), Some(43), Some(29)], calls.to_vec());
    assert_eq!(trace(&*probe, &probe), expected, "&Q");
    assert_eq!(trace(Box::new(&*probe), &probe), expected, "Box<Q>");
    assert_eq!(trace(Box::new(&*probe) as Box<dyn RetryQuota>, &probe), expected, "Box<dyn>");
    assert_eq!(trace(Arc::clone(&probe), &probe), expected, "Arc<Q>");
    assert_eq!(trace(Arc::clone(&probe) as Arc<dyn RetryQuota>, &probe), expected, "Arc<dyn>");
}

impl RetryPolicy<str> for Probe {
    fn evaluate(&self, outcome: &str) -> RetryDirective {
        self.called("evaluate", outcome);
        RetryDirective::retry(RetryErrorType::Conflict).after(Some(secs(9)))
    }

    fn unknown_error<'o>(&self, outcome: &'o str) -> Option<&'o (dyn Error + 'static)> {
        self.called("unknown_error", outcome);
        Some(&fmt::Error)
    }

    fn usage(&self, outcome: &str) -> Option<Usage> {
        self.called("usage", outcome);
        Some(Usage::new(7))
    }

    fn is_idempotent(&self) -> Option<bool> {
        Some(false)
    }
}

#[test]
fn a_pointer_to_a_policy_forwards_every_method() {
    type Says = (RetryDirective, bool, Option<Usage>, Option<bool>);

    fn trace(policy: impl RetryPolicy<str>, probe: &Probe) -> (Says, Vec<String>) {
        probe.trace(|| {
            let (directive, is_unknown) = (policy.evaluate("outcome"), policy.unknown_error("error").is_some());
            (directive, is_unknown, policy.usage("used"), policy.is_idempotent())
        })
    }

    let probe = Arc::new(Probe::default());
    let directive = RetryDirective::retry(RetryErrorType::Conflict).after(Some(secs(9)));
    let calls = [r#"evaluate "outcome""#, r#"unknown_error "error""#, r#"usage "used""#].map(str::to_owned);
    let expected = ((directive, true, Some(Usage::new(7)), Some(false)), calls.to_vec());
    assert_eq!(trace(&*probe, &probe), expected, "&P");
    assert_eq!(trace(Box::new(&*probe), &probe), expected, "Box<P>");
    assert_eq!(trace(Box::new(&*probe) as Box<dyn RetryPolicy<str>>, &probe), expected, "Box<dyn>");
    assert_eq!(trace(Arc::clone(&probe), &probe), expected, "Arc<P>");
    assert_eq!(trace(Arc::clone(&probe) as Arc<dyn RetryPolicy<str>>, &probe), expected, "Arc<dyn>");
    let expected = ((directive, false, None, None), calls[..1].to_vec());
    assert_eq!(trace(policy_fn(|outcome: &str| probe.evaluate(outcome)), &probe), expected, "a closure");
}

impl Clock for Probe {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(29))
    }
}

impl Timer for Probe {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        self.called("sleep", delay);
        std::future::ready(())
    }
}

impl BlockingTimer for Probe {
    fn block(&self, delay: Duration) {
        self.called("block", delay);
    }

    fn park(&self, delay: Duration) {
        self.called("park", delay);
    }
}

#[tokio::test]
async fn a_pointer_to_a_timer_forwards_every_method() {
    type Erased<'a> = dyn Timer<Sleep = std::future::Ready<()>> + 'a;

    async fn sleep(timer: impl Timer, probe: &Probe) -> (Timestamp, Vec<String>) {
        timer.sleep(secs(2)).await;
        (timer.now(), probe.take())
    }
    fn block(timer: impl BlockingTimer, probe: &Probe) -> (Timestamp, Vec<String>) {
        probe.trace(|| {
            timer.block(secs(3));
            timer.park(secs(4));
            timer.now()
        })
    }

    let (probe, now) = (Arc::new(Probe::default()), Timestamp::from_origin(secs(29)));
    let expected = (now, vec!["sleep 2s".to_owned()]);
    assert_eq!(sleep(&*probe, &probe).await, expected, "&T");
    assert_eq!(sleep(Box::new(&*probe), &probe).await, expected, "Box<T>");
    assert_eq!(sleep(Box::new(&*probe) as Box<Erased<'_>>, &probe).await, expected, "Box<dyn>");
    assert_eq!(sleep(Arc::clone(&probe), &probe).await, expected, "Arc<T>");
    assert_eq!(sleep(Arc::clone(&probe) as Arc<Erased<'_>>, &probe).await, expected, "Arc<dyn>");
    assert_eq!(sleep(LazyLock::new(|| Arc::clone(&probe)), &probe).await, expected, "LazyLock<T>");

    let expected = (now, ["block 3s", "park 4s"].map(str::to_owned).to_vec());
    assert_eq!(block(&*probe, &probe), expected, "&T");
    assert_eq!(block(Box::new(&*probe), &probe), expected, "Box<T>");
    assert_eq!(block(Box::new(&*probe) as Box<dyn BlockingTimer>, &probe), expected, "Box<dyn>");
    assert_eq!(block(Arc::clone(&probe), &probe), expected, "Arc<T>");
    assert_eq!(block(Arc::clone(&probe) as Arc<dyn BlockingTimer>, &probe), expected, "Arc<dyn>");
    assert_eq!(block(LazyLock::new(|| Arc::clone(&probe)), &probe), expected, "LazyLock<T>");
}

#[tokio::test(start_paused = true)]
async fn a_pointer_to_the_timer_of_tokio_sleeps_in_tokios_time() {
    for timer in
        [Box::new(TokioTimer) as Box<dyn Timer<Sleep = _>>, Box::new(&TokioTimer), Box::new(Arc::new(TokioTimer))]
    {
        let before = timer.now();
        timer.sleep(millis(2)).await;
        assert_eq!(timer.now().saturating_since(before), millis(2));
    }
}

/// The answers of an error: fault, safety, the three classes, and the wait.
type Says = (ErrorFault, RetrySafety, [bool; 3], Option<Duration>);

fn says(error: impl RetryInfo) -> Says {
    let classes = [error.is_throttle(), error.is_timeout(), error.is_conflict()];
    (error.fault(), error.is_retry_safe(), classes, error.retry_after())
}

#[derive(RetryInfo)]
#[retry(transparent)]
struct Transparent(Failed);

#[derive(RetryInfo)]
enum Variants {
    #[retry(transparent)]
    Transparent {
        failed: Box<Failed>,
    },
    Source(#[retry(source)] Failed),
    Judged(#[retry(with = Classification::of)] Failed),
}

// Rule P6.
#[test]
fn a_wrapper_of_an_error_forwards_every_answer() {
    let error = Failed {
        fault: ErrorFault::Server,
        safety: RetrySafety::No,
        throttle: true,
        timeout: true,
        conflict: true,
        retry_after: Some(secs(3)),
    };
    let expected = (ErrorFault::Server, RetrySafety::No, [true; 3], Some(secs(3)));
    let erased: Box<dyn RetryInfo + Send + Sync> = Box::new(error);
    assert_eq!(says(error), expected);
    #[expect(clippy::needless_borrows_for_generic_args, reason = "the borrow is what is tested")]
    let borrowed = says(&error);
    assert_eq!(borrowed, expected, "&T");
    assert_eq!(says(&*erased), expected, "&dyn");
    assert_eq!(says(Box::new(error)), expected, "Box<T>");
    assert_eq!(says(Arc::new(error)), expected, "Arc<T>");
    assert_eq!(says(Rc::new(error)), expected, "Rc<T>");
    assert_eq!(says(Cow::Borrowed(&error)), expected, "Cow<T>, borrowed");
    assert_eq!(says(Cow::<'_, Failed>::Owned(error)), expected, "Cow<T>, owned");
    assert_eq!(says(Arc::<dyn RetryInfo + Send + Sync>::from(erased)), expected, "Arc<dyn>");
    assert_eq!(says(Box::new(error) as Box<dyn RetryInfo>), expected, "Box<dyn>");
    assert_eq!(says(Classification::of(&error)), expected, "Classification");
    assert_eq!(says(Transparent(error)), expected, "a transparent struct");
    assert_eq!(says(Variants::Transparent { failed: Box::new(error) }), expected, "a transparent variant");
    assert_eq!(says(Variants::Source(error)), expected, "a source");
    assert_eq!(says(Variants::Judged(error)), expected, "a verdict");
}

#[test]
fn a_pointer_to_an_error_info_forwards_the_fault() {
    struct Crashed;
    impl ErrorInfo for Crashed {
        fn fault(&self) -> ErrorFault {
            ErrorFault::Server
        }
    }

    fn fault(error: impl ErrorInfo) -> ErrorFault {
        error.fault()
    }

    let faults = [fault(&Crashed), fault(Box::new(Crashed)), fault(Arc::new(Crashed))];
    assert_eq!(faults, [ErrorFault::Server; 3]);
    assert_eq!(fault(Box::new(Crashed) as Box<dyn ErrorInfo>), ErrorFault::Server);
}
