//! Mistakes that users of other retry libraries reported, as tests of this one. Each test names the public thread, and tells
//! what was seen there.

use crate::script::FromStart;
use crate::support::{ByHand, Failed, Flaky, by_evidence, millis, secs};
use retry_config::{RetryConfig, RetryMode};
use retry_core::backoff::{ConstantBackoff, LinearBackoff};
use retry_core::limit::Ready;
use retry_core::strategy::{LongPolling, Refund, RetryCosts};
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, Clock, ErrorFault, ErrorInfo, ExponentialBackoff, Jitter, RetryError,
    RetryErrorType, RetryInfo, RetryQuota, RetrySafety, RetryStrategy, StandardRetryStrategy, Success, TimedOut, retry,
    retry_blocking,
};
use retry_limits::PacedRetryStrategy;
use std::cell::RefCell;
use std::error::Error;
use std::future::ready;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fmt, thread};
use tokio::time::{Instant, timeout};

/// Delays of 1, 2, 4 and 8 seconds.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Runs one operation whose attempts all fail. Returns the number of its attempts and the reason to stop.
async fn fail(strategy: &impl RetryStrategy) -> (u32, RetryError) {
    let report = retry(strategy, || ready(Err::<(), _>(Failed::SAFE))).report().await;
    (report.attempts, report.reason.unwrap())
}

/// Runs failing operations until the quota refuses a retry. Returns how many retries it paid for.
async fn drain(strategy: &impl RetryStrategy) -> u32 {
    let mut retries = 0;
    for _ in 0..10_000 {
        let (attempts, reason) = fail(strategy).await;
        retries += attempts - 1;
        if reason == RetryError::QuotaExhausted {
            return retries;
        }
    }
    panic!("nothing limited {retries} retries");
}

async fn succeed(strategy: &impl RetryStrategy) {
    retry(strategy, || ready(Ok::<_, Failed>(()))).run().await.unwrap();
}

/// tower-rs/tower#857: a budget of 60 % allowed a retry for each request, because the price of a retry was rounded to a whole
/// number of requests.
#[tokio::test(start_paused = true)]
async fn a_share_of_retries_that_is_no_whole_number_of_requests_is_kept() {
    for (refund, cost) in [(3, 5), (9, 10), (2, 3), (1, 3), (7, 9)] {
        let strategy = StandardRetryStrategy::new().quota_capacity(100_000).jitter(Jitter::Fixed(0.0));
        let strategy = strategy.retry_costs(RetryCosts::new(cost)).refunds(refund, Refund::Amount(0));
        drain(&strategy).await;
        let left = strategy.quota().available();
        for _ in 0..1000 {
            succeed(&strategy).await;
        }
        assert_eq!(drain(&strategy).await, (left + 1000 * refund) / cost, "{refund} for {cost}");
    }
}

/// aws/aws-sdk-go-v2#3550: in adaptive mode, no success refilled the quota. Once it was empty, a process retried nothing until
/// it was restarted.
#[tokio::test(start_paused = true)]
async fn successes_refill_the_quota_in_every_mode() {
    async fn check(what: &str, strategy: impl RetryStrategy) {
        drain(&strategy).await;
        assert_eq!(fail(&strategy).await.0, 1, "{what}: the quota is empty");
        for _ in 0..200 {
            succeed(&strategy).await;
        }
        assert!(fail(&strategy).await.0 > 1, "{what}: nothing is retried although calls succeed");
    }
    check("standard", StandardRetryStrategy::new()).await;
    check("adaptive", AdaptiveRetryStrategy::new()).await;
    check("paced", PacedRetryStrategy::new()).await;
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        check(mode.as_str(), RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new()).unwrap()).await;
    }
}

/// aws/aws-sdk-go-v2#3413: while every request failed, the quota was empty, so no call waited, and loops of calls sent as fast
/// as they could. Calls of one request each return immediately here, too, which is documented. Long polls wait.
#[tokio::test(start_paused = true)]
async fn a_loop_of_long_polls_is_slow_although_the_quota_is_empty() {
    let strategy = LongPolling::over(standard().quota_capacity(0));
    let started = Instant::now();
    for _ in 0..10 {
        let poll = retry(&strategy, || ready(Err::<(), _>(Failed::SAFE))).report().await;
        assert_eq!((poll.attempts, poll.reason), (1, Some(RetryError::QuotaExhausted)));
    }
    assert_eq!(started.elapsed(), secs(10));
}

/// awslabs/aws-sdk-rust#1234: after a refactoring, clients had no token bucket. Nothing said so, and only the number of
/// attempts limited the retries of an outage.
#[tokio::test(start_paused = true)]
async fn every_strategy_has_a_quota_that_an_outage_empties() {
    async fn check(what: &str, strategy: impl RetryStrategy) {
        let retries = drain(&strategy).await;
        assert!(retries <= 100, "{what}: {retries} retries");
    }
    check("new", StandardRetryStrategy::new()).await;
    check("default", StandardRetryStrategy::default()).await;
    check("2.0", StandardRetryStrategy::aws_2_0()).await;
    check("2.1", StandardRetryStrategy::aws_2_1()).await;
    check("with a backoff", StandardRetryStrategy::new().with_backoff(ConstantBackoff::new(secs(1)))).await;
    check("adaptive", AdaptiveRetryStrategy::new()).await;
    check("paced", PacedRetryStrategy::new()).await;
    check("evidence", by_evidence()).await;
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        check(mode.as_str(), RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new()).unwrap()).await;
    }
}

/// awslabs/aws-sdk-rust#1133: with a hundred attempts, the doubled backoff no longer fitted its type, and the call panicked.
#[tokio::test(start_paused = true)]
async fn hundreds_of_attempts_wait_for_the_cap_and_do_not_panic() {
    let strategy = standard().backoff(millis(1), secs(20)).quota_capacity(u32::MAX).max_attempts(u32::MAX);
    let (flaky, started) = (Flaky::new(5000, Failed::SAFE), Instant::now());
    assert_eq!(retry(&strategy, || ready(flaky.call())).run().await, Ok(5001));
    // 1, 2, 4 up to 16,384 milliseconds, and then the cap.
    assert_eq!(started.elapsed(), millis((1 << 15) - 1) + 4985 * secs(20));
}

/// aws/aws-sdk-js-v3#4754: calls shared one token. After a call had used up its attempts, no later call of that client was
/// retried.
#[tokio::test(start_paused = true)]
async fn each_call_counts_its_own_attempts() {
    let strategy = standard();
    for _ in 0..3 {
        assert_eq!(fail(&strategy).await, (5, RetryError::MaxAttempts));
    }
    let both = tokio::join!(fail(&strategy), fail(&strategy));
    assert_eq!(both, ((5, RetryError::MaxAttempts), (5, RetryError::MaxAttempts)), "calls that overlap");
}

/// Returns a strategy whose limiter has measured 10 requests per second, was throttled, lets 7 through and has none left.
async fn limiting(timer: &FromStart) -> AdaptiveRetryStrategy {
    let strategy =
        AdaptiveRetryStrategy::over(standard().jitter(Jitter::Fixed(0.0)).quota_capacity(u32::MAX).max_attempts(100));
    for _ in 0..200 {
        retry(&strategy, || ready(Ok::<_, Failed>(()))).timer(timer).run().await.unwrap();
        tokio::time::sleep(millis(100)).await;
    }
    let throttled = || ready(Err::<(), _>(Failed { safety: RetrySafety::No, ..Failed::THROTTLED }));
    retry(&strategy, throttled).timer(timer).run().await.unwrap_err();
    let rate = strategy.send_rate().unwrap();
    assert!((6.5..=7.5).contains(&rate), "{rate}");
    loop {
        let mut token = strategy.acquire_initial_token(timer).unwrap();
        let is_empty = strategy.ready(&mut token, timer, None) != Ready::Now;
        if is_empty {
            strategy.release(token);
            return strategy;
        }
    }
}

/// Runs operations at the same time, each with one attempt and this outcome. Returns when the attempts began.
async fn send_together(operations: u32, strategy: AdaptiveRetryStrategy, timer: FromStart) -> Vec<Duration> {
    let (tasks, started) = (tokio::task::LocalSet::new(), Instant::now());
    let (shared, sent) = (Rc::new((strategy, timer)), Rc::new(RefCell::new(Vec::new())));
    for _ in 0..operations {
        let (shared, sent) = (Rc::clone(&shared), Rc::clone(&sent));
        tasks.spawn_local(async move {
            let attempt = || {
                sent.borrow_mut().push(started.elapsed());
                ready(Ok::<_, Failed>(()))
            };
            retry(&shared.0, attempt).timer(&shared.1).run().await.unwrap();
        });
    }
    timeout(secs(100), tasks).await.expect("operations wait for sends that never come");
    sent.take()
}

/// smithy-lang/smithy-rs#4632: a call that had to wait was charged nevertheless, so the balance fell below zero. The fiftieth
/// of the waiting calls slept for 100 seconds, and the rate did not recover.
#[tokio::test(start_paused = true)]
async fn fifty_calls_that_wait_for_a_limiter_are_charged_only_when_they_are_sent() {
    let timer = FromStart(Instant::now());
    let sent = send_together(50, limiting(&timer).await, timer).await;
    assert_eq!(sent.len(), 50);
    let last = sent[49].as_secs_f64();
    assert!((4.0..=7.5).contains(&last), "50 sends, 7 per second at first, take {last} s");
}

/// smithy-lang/smithy-rs#4749: a retry slept for the limiter's delay, and was then sent without taking its send, so the limiter
/// let through more than its rate.
#[tokio::test(start_paused = true)]
async fn a_retry_takes_a_send_from_the_limiter_as_a_first_attempt_does() {
    let timer = FromStart(Instant::now());
    let strategy = limiting(&timer).await;
    let (started, mut sent) = (Instant::now(), Vec::new());
    let attempt = || {
        sent.push(started.elapsed());
        // A timeout tells the limiter nothing about the rate that the server accepts.
        ready(if sent.len() < 21 { Err(Failed { safety: RetrySafety::Yes, ..Failed::TIMEOUT }) } else { Ok(()) })
    };
    retry(&strategy, attempt).timer(&timer).run().await.unwrap();
    let last = sent[20].as_secs_f64();
    assert!((1.4..=3.5).contains(&last), "21 sends, 7 per second at first, took {last} s");
}

/// A timer for blocking calls. During each sleep, another thread uses the strategy.
struct UsedWhileItSleeps(Arc<AdaptiveRetryStrategy>, ByHand);

impl Clock for UsedWhileItSleeps {
    fn now(&self) -> Timestamp {
        self.1.now()
    }
}

impl BlockingTimer for UsedWhileItSleeps {
    fn block(&self, delay: Duration) {
        let (strategy, now) = (Arc::clone(&self.0), self.1.time());
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            let clock = ByHand::at(now);
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            let _ = strategy.ready(&mut token, &clock, None);
            strategy.record_success(token, &Success::default(), &clock).unwrap();
            done.send(strategy.send_rate()).unwrap();
        });
        is_done.recv_timeout(secs(20)).expect("a call that sleeps holds a lock that other calls need");
        self.1.advance(delay);
    }
}

/// smithy-lang/smithy-kotlin#1547: a call that waited for the limiter slept while it held the limiter's lock. No other call
/// could ask for a send, and no response was recorded, until it woke.
#[tokio::test(start_paused = true)]
async fn other_calls_use_the_limiter_while_one_sleeps() {
    let timer = FromStart(Instant::now());
    let strategy = Arc::new(limiting(&timer).await);
    let sleeper = UsedWhileItSleeps(Arc::clone(&strategy), ByHand::at(timer.now().since_origin()));
    let before = sleeper.1.time();
    retry_blocking(&*strategy, || Ok::<_, Failed>(())).timer(&sleeper).run().unwrap();
    assert!(sleeper.1.time() > before, "it slept");
}

/// Xuanwo/backon#240: delays exceeded the maximum that was set, with jitter, and where the smallest delay was above it.
#[test]
fn no_computed_delay_exceeds_the_cap() {
    let cap = millis(700);
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::None, Jitter::Fixed(1.0)] {
        for base in [millis(1), millis(699), secs(5), Duration::MAX] {
            let exponential = ExponentialBackoff::new(base, cap).jitter(jitter).seed(1);
            let exponential = exponential.throttling_base(2 * base.min(secs(9))).conflict_base(base);
            let linear = LinearBackoff::new(base, cap).jitter(jitter).seed(1);
            for retry in (0..100).chain([u32::MAX]) {
                for error_type in [RetryErrorType::Throttling, RetryErrorType::Conflict, RetryErrorType::Other] {
                    for backoff in [&exponential as &dyn BackoffStrategy, &linear] {
                        let delay = backoff.compute_next_backoff_delay(retry, error_type);
                        assert!(delay <= cap, "{delay:?} before retry {retry}, with {jitter:?} and base {base:?}");
                    }
                }
            }
        }
    }
}

/// hashicorp/go-retryablehttp#272: the next attempt was due after the deadline, and the call slept until the deadline to return
/// the error that it already had.
#[tokio::test(start_paused = true)]
async fn a_retry_that_would_begin_after_the_deadline_is_not_waited_for() {
    let strategy = standard().backoff(secs(600), secs(600));
    let report = retry(&strategy, || ready(Err::<(), _>(Failed::SAFE))).max_time(secs(300)).report().await;
    assert_eq!((report.elapsed, report.reason), (Duration::ZERO, Some(RetryError::MaxTime)));
    assert_eq!((report.outcome, strategy.quota().available()), (Err(Failed::SAFE), 500));
    // A wait that the server asks for.
    let strategy = standard();
    let busy = Failed::THROTTLED.after(secs(200));
    let report = retry(&strategy, || ready(Err::<(), _>(busy))).max_time(secs(100)).report().await;
    assert_eq!((report.elapsed, report.outcome), (Duration::ZERO, Err(busy)));
}

/// An error of a busy server, with its cause.
#[derive(Debug)]
struct Busy(fmt::Error);

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("busy")
    }
}

impl Error for Busy {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl ErrorInfo for Busy {
    fn fault(&self) -> ErrorFault {
        ErrorFault::Server
    }
}

impl RetryInfo for Busy {
    fn retry_after(&self) -> Option<Duration> {
        Some(secs(7))
    }
}

#[derive(Debug)]
enum Outcome {
    Busy(Busy),
    TimedOut,
}

impl From<TimedOut> for Outcome {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl ErrorInfo for Outcome {}

impl RetryInfo for Outcome {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy(busy) => busy.retry_after(),
            Self::TimedOut => None,
        }
    }
}

/// cenkalti/backoff#184: an operation that asked for a wait lost the error that it had failed with. When the attempts were used
/// up, the caller got the wait instead of the cause.
#[tokio::test(start_paused = true)]
async fn an_error_that_asks_for_a_wait_keeps_its_cause_however_the_operation_ends() {
    let attempt = || ready(Err::<(), _>(Outcome::Busy(Busy(fmt::Error))));
    for (strategy, max_time, attempts, reason) in [
        (standard(), secs(999), 5, RetryError::MaxAttempts),
        (standard().quota_capacity(5), secs(999), 2, RetryError::QuotaExhausted),
        (standard().max_retry_after(Some(secs(6))), secs(999), 1, RetryError::RetryAfterTooLong),
        (standard(), secs(10), 2, RetryError::MaxTime),
    ] {
        let report = retry(&strategy, attempt).max_time(max_time).report().await;
        assert_eq!((report.attempts, report.reason), (attempts, Some(reason)));
        let Err(Outcome::Busy(busy)) = report.outcome else { panic!("{reason:?}: the error is lost") };
        assert!(busy.source().is_some_and(<dyn Error>::is::<fmt::Error>));
    }
}
