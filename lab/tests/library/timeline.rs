use lab::call::CallError;
use lab::timeline::{Outage, Planned, Timeline, record, record_in_outage};
use retry_core::{Jitter, PatientRetryStrategy, RetryError, StandardRetryStrategy};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn failing() -> Vec<Planned> {
    vec![
        Planned { takes: SECOND, outcome: Err(CallError::TimedOut) },
        Planned { takes: SECOND / 2, outcome: Err(CallError::Failed) },
    ]
}

#[test]
fn attempts_waits_and_levels_have_their_times() {
    let strategy = StandardRetryStrategy::new().max_attempts(3).jitter(Jitter::Fixed(0.5));
    let mut planned = failing();
    planned.push(Planned { takes: SECOND, outcome: Ok(()) });
    let timeline = record(strategy, planned, None);
    let times: Vec<_> = timeline.attempts.iter().map(|attempt| attempt.time.clone()).collect();
    // The waits are half of 1 s and half of 2 s.
    assert_eq!(times, [Duration::ZERO..SECOND, SECOND * 3 / 2..SECOND * 2, SECOND * 3..SECOND * 4]);
    assert_eq!(timeline.levels, [(Duration::ZERO, 500), (SECOND, 490), (SECOND * 2, 485), (SECOND * 4, 486)]);
    assert_eq!((timeline.reason, timeline.end()), (None, SECOND * 4));
}

#[test]
fn a_wait_has_the_range_of_its_jitter() {
    for (jitter, shortest) in [(Jitter::Full, Duration::ZERO), (Jitter::Equal, SECOND), (Jitter::None, SECOND * 2)] {
        let timeline = record(StandardRetryStrategy::new().jitter(jitter).seed(1), failing(), None);
        let wait = timeline.attempts[1].wait.clone().unwrap();
        assert_eq!(wait.range, shortest..SECOND * 2);
        assert!((wait.range.start..=wait.range.end).contains(&wait.drawn.unwrap()));
    }
}

#[test]
fn an_operation_ends_with_its_reason() {
    let short = record(StandardRetryStrategy::new().jitter(Jitter::None), failing(), Some(SECOND * 3));
    assert_eq!((short.reason, short.attempts.len()), (Some(RetryError::MaxTime), 2));
    assert_eq!(short.end(), SECOND * 5 / 2, "a wait that ends too late is not begun");
    let last = short.attempts[1].wait.clone().unwrap();
    assert_eq!((last.drawn, last.range), (None, SECOND * 2..SECOND * 2));
    let empty = record(StandardRetryStrategy::new().quota_capacity(9), failing(), None);
    assert_eq!((empty.reason, empty.attempts.len()), (Some(RetryError::QuotaExhausted), 1));
    let all = record(StandardRetryStrategy::new(), failing(), None);
    assert_eq!((all.reason, all.attempts.len()), (Some(RetryError::MaxAttempts), 5));
    let cut = record(StandardRetryStrategy::new(), failing(), Some(SECOND / 2));
    assert_eq!((cut.reason, cut.end()), (Some(RetryError::MaxTime), SECOND / 2));
    assert!(cut.attempts[0].failure.is_none() && cut.attempts[0].wait.is_none());
}

#[test]
fn an_operation_waits_in_line_until_the_outage_is_over_or_its_time_is() {
    let recorded = |seconds| {
        let strategy = PatientRetryStrategy::new().seed(1);
        let backoff = StandardRetryStrategy::new();
        let outage = Outage { length: SECOND * seconds, calls_per_second: 80.0, max_time: SECOND * 30 };
        record_in_outage(strategy, backoff.backoff_strategy(), outage)
    };
    let outlasted = recorded(10);
    assert_eq!((outlasted.reason, outlasted.outage), (None, Some(SECOND * 10)));
    let waits = |timeline: &Timeline| {
        timeline.attempts.iter().filter_map(|attempt| attempt.in_line.clone()).collect::<Vec<_>>()
    };
    let last = waits(&outlasted).pop().unwrap();
    assert!((SECOND * 10..SECOND * 20).contains(&last.end), "{outlasted:?}");
    assert_eq!(outlasted.attempts.last().unwrap().time.start, last.end);
    let failed = recorded(40);
    assert_eq!((failed.reason, failed.end()), (Some(RetryError::NoRecovery), SECOND * 30));
    let last = failed.attempts.last().unwrap();
    assert_eq!(last.in_line, Some(last.time.end..SECOND * 30), "{failed:?}");
}
