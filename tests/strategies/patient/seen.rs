//! What observers see of waits.

use super::{Line, Waits, waits_with};
use crate::support::{Failed, Flaky, millis, poll_once, secs};
use retry_core::quota::QuotaMode;
use retry_core::strategy::DelaySource;
use retry_core::time::{ManualTimer, Timer, Timestamp};
use retry_core::{
    Clock, Event, EventKind, Observer, PatientRetryStrategy, RetryError, RetryErrorType, RetryStrategy, RetryToken,
    StandardRetryStrategy, Stop, retry, retryable,
};
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A clock that shows a later time at each reading.
struct Advancing(ManualTimer);

impl Clock for Advancing {
    fn now(&self) -> Timestamp {
        self.0.advance(millis(1));
        self.0.now()
    }
}

impl Timer for Advancing {
    type Sleep = <ManualTimer as Timer>::Sleep;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.0.sleep(duration)
    }
}

#[derive(Default)]
struct Seen(RefCell<Vec<(EventKind, u32, Duration)>>);

impl Observer for Seen {
    fn observe(&self, event: &Event) {
        if !matches!(event.kind, EventKind::AttemptStarted | EventKind::AttemptFailed { .. }) {
            self.0.borrow_mut().push((event.kind, event.attempt, event.elapsed));
        }
    }
}

// Rules O1, U19.
#[tokio::test(start_paused = true)]
async fn events_say_that_an_operation_waits_and_that_it_is_sent() {
    let (strategy, seen) = (waits_with(5), Seen::default());
    let service = Flaky::new(1, Failed::THROTTLED.after(millis(500)));
    assert_eq!(retry(&strategy, || ready(service.call())).observer(&seen).run().await, Ok(2));
    let seen = seen.0.into_inner();
    let [(waits, 1, at), (released, 2, later), (succeeded, 2, end)] = &*seen else { panic!("{seen:?}") };
    assert_eq!((*at, later), (Duration::ZERO, end));
    let EventKind::WaitingForService { waiting, error_type, delay, quota, quota_mode, send_rate, .. } = *waits else {
        panic!("{waits:?}")
    };
    assert_eq!((waiting, error_type), (Some(1), Some(RetryErrorType::Throttling)));
    assert_eq!((quota, quota_mode, send_rate), (Some(0), Some(QuotaMode::Waiting), None));
    assert_eq!(delay, millis(500));
    let EventKind::Released { waited, waiting, .. } = *released else { panic!("{released:?}") };
    assert_eq!(waiting, Some(0));
    assert_eq!((delay + waited, waited), (*later, secs(1)));
    assert!(matches!(succeeded, EventKind::Succeeded { recorded: true, quota_mode: None, .. }), "{succeeded:?}");
}

// Rules O9, U2.
#[tokio::test(start_paused = true)]
async fn on_retry_is_called_for_each_wait_in_line_and_again_if_it_ends_without_a_retry() {
    let (strategy, mut calls) = (waits_with(3), Vec::new());
    let call = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE)));
    let call = call.on_retry(|error, event| calls.push((*error, event.attempt, event.kind)));
    assert_eq!(call.run().await, Err(Failed::SAFE));
    assert!(calls.iter().all(|(error, _, kind)| (*error, kind.delay()) == (Failed::SAFE, None)), "{calls:?}");
    let kinds: Vec<_> = calls.iter().map(|(_, attempt, kind)| (*attempt, kind.as_str(), kind.reason())).collect();
    let waits = "waiting_for_service";
    let ends = (2, "stopped", Some(RetryError::NoRecovery));
    assert_eq!(kinds, [(1, waits, None), (2, waits, None), ends]);
}

// Rules Q19, U19.
#[test]
fn the_number_of_operations_that_wait_and_the_mode_are_known() {
    let line = Line::new();
    assert_eq!((line.waiting(), line.strategy.quota_mode()), (Some(0), None));
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    assert_eq!((line.waiting(), line.strategy.quota_mode()), (Some(2), Some(QuotaMode::Waiting)));
    line.answers(100);
    assert_eq!(line.waiting(), Some(2), "it has not asked yet");
    assert_eq!(line.sent([&mut first]), [true]);
    assert_eq!((line.waiting(), line.strategy.quota_mode()), (Some(1), Some(QuotaMode::Waiting)));
    line.clock.advance(secs(60));
    assert_eq!(line.ask(&mut second), retry_core::limit::Ready::Stop);
    assert_eq!((line.waiting(), line.strategy.quota_mode()), (Some(0), None));
    assert_eq!(PatientRetryStrategy::new().quota_mode(), Some(QuotaMode::Full));
    assert_ne!(first.delay_source(), DelaySource::Service);
    assert_eq!(StandardRetryStrategy::new().waiting_operations(), None);
}

// Rules O8, O17, U2.
#[tokio::test(start_paused = true)]
async fn a_report_has_the_time_of_all_waits() {
    let (strategy, fails) = (waits_with(3), || ready(Err::<u32, _>(Failed::SAFE)));
    let report = retry(&strategy, fails).report().await;
    assert_eq!((report.attempts, report.reason), (2, Some(RetryError::NoRecovery)));
    assert_eq!((report.waited, report.elapsed), (secs(15), secs(15)), "one before the probe, and one in vain");

    let service = Flaky::new(1, Failed::SAFE);
    let hinted = Flaky::new(1, Failed::SAFE.after(secs(3)));
    for (service, elapsed) in [(service, 1), (hinted, 4)] {
        let strategy = waits_with(3);
        let report = retry(&strategy, || ready(service.call())).report().await;
        assert_eq!((report.outcome, report.waited, report.elapsed), (Ok(2), secs(1), secs(elapsed)));
    }

    #[retryable(strategy = strategy, on_end = |report| waited.set(Some(report.waited)))]
    async fn fetch(strategy: &Waits, service: &Flaky, waited: &Cell<Option<Duration>>) -> Result<u32, Failed> {
        service.call()
    }
    let waited = Cell::new(None);
    assert_eq!(fetch(&waits_with(3), &Flaky::new(1, Failed::SAFE), &waited).await, Ok(2));
    assert_eq!(waited.get(), Some(secs(1)));

    let standard = StandardRetryStrategy::new();
    let report = retry(&standard, || ready(Ok::<u32, Failed>(1))).report().await;
    assert_eq!((report.outcome, report.waited), (Ok(1), Duration::ZERO));
    let report = retry(&standard, || ready(Err::<u32, _>(Failed::SAFE))).report().await;
    assert_eq!((report.attempts, report.waited), (5, Duration::ZERO));

    let (strategy, stop) = (waits_with(3), Stop::new());
    let (report, ()) = tokio::join!(retry(&strategy, fails).stop(&stop).report(), async {
        tokio::time::sleep(secs(2)).await;
        stop.stop();
    });
    assert_eq!((report.attempts, report.reason, report.elapsed), (2, Some(RetryError::Stopped), secs(2)));
    assert_eq!(report.waited, secs(2), "with the wait that was stopped");
}

// Rules O8, U3.
#[tokio::test(start_paused = true)]
async fn a_report_has_the_time_of_a_wait_that_the_time_limit_ends() {
    let (strategy, timer) = (waits_with(2), ManualTimer::new());
    let call = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE))).timer(Advancing(timer.clone()));
    let mut report = pin!(call.max_time(secs(9)).report());
    poll_once(report.as_mut());
    timer.advance(secs(8));
    poll_once(report.as_mut());
    timer.advance(secs(1));
    let report = loop {
        if let Poll::Ready(report) = report.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            break report;
        }
        timer.advance(millis(1));
    };
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NoRecovery)));
    assert!(report.waited >= secs(8), "{report:?}");
}
