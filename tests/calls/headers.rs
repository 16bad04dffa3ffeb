//! The headers that tell a server about attempts and deadlines.

use crate::support::{millis, secs};
use proptest::prelude::*;
use retry_clients::headers::{amz_sdk_request, grpc_deadline, grpc_previous_rpc_attempts, grpc_timeout};
use retry_core::time::{ManualTimer, StdTimer, Timestamp};
use retry_core::{AttemptContext, Clock, StandardRetryStrategy, TimeLimit, TimedOut, TokioTimer, retry};
use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep};

/// The time that a value means, or `None` if it is ignored.
fn read(value: &str) -> Option<Duration> {
    let timer = ManualTimer::new();
    grpc_deadline(value, &timer).map(|deadline| deadline.saturating_since(timer.now()))
}

// Rule T15.
#[test]
fn a_grpc_timeout_is_digits_and_a_unit_and_anything_else_is_ignored() {
    for (value, expected) in [
        ("0n", Duration::ZERO),
        ("1n", Duration::from_nanos(1)),
        ("250u", Duration::from_micros(250)),
        ("0100m", millis(100)),
        ("7S", secs(7)),
        ("2M", secs(120)),
        ("3H", secs(10_800)),
        ("99999999H", secs(359_999_996_400)),
    ] {
        assert_eq!(read(value), Some(expected), "{value:?}");
    }
    let invalid = [
        "",
        "S",
        "5",
        "5s",
        "5h",
        "100000000S",
        "-1S",
        "+1S",
        "1.5S",
        " 1S",
        "1S ",
        "1 S",
        "1SS",
        "1e3m",
        "S1",
        "\u{661}S",
        "1µ",
        "1\u{0}",
    ];
    for value in invalid {
        assert_eq!(read(value), None, "{value:?}");
    }
    assert_eq!(
        grpc_deadline("5S", &At(Timestamp::from_origin(Duration::MAX))),
        Some(Timestamp::from_origin(Duration::MAX)),
        "it saturates"
    );
}

/// A clock that stands still.
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

// Rule T15.
#[test]
fn a_time_is_written_as_a_grpc_timeout_in_the_finest_unit_that_fits() {
    for (time, expected) in [
        (Duration::ZERO, "1n"),
        (Duration::from_nanos(99_999_999), "99999999n"),
        (Duration::from_nanos(100_000_999), "100000u"),
        (millis(1500), "1500000u"),
        (Duration::from_micros(100_000_999), "100000m"),
        (secs(99_999), "99999000m"),
        (millis(100_000_999), "100000S"),
        (secs(100_000_059), "1666667M"),
        (secs(6_000_000_000), "1666666H"),
        (Duration::MAX, "99999999H"),
    ] {
        assert_eq!(grpc_timeout(time), expected, "{time:?}");
    }
}

proptest! {
    // Rule T15.
    #[test]
    fn a_written_timeout_is_read_as_at_most_the_same_time_and_not_much_less(nanos in 1..=u64::MAX) {
        let time = Duration::from_nanos(nanos);
        let value = grpc_timeout(time);
        let read = read(&value).unwrap();
        prop_assert!(read <= time && time.saturating_sub(read) <= time / 10_000, "{time:?} {value} {read:?}");
    }

    // Rule T15.
    #[test]
    fn no_text_is_read_with_a_panic(value in ".{0,12}") {
        let _ = grpc_deadline(&value, &StdTimer);
    }
}

// Rules T14, T15.
#[tokio::test(start_paused = true)]
async fn an_incoming_timeout_counts_from_its_arrival_for_all_calls_of_a_request() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

    let start = Instant::now();
    let deadline = grpc_deadline("5S", &TokioTimer).unwrap();
    sleep(secs(3)).await;
    let stalls = || async {
        sleep(secs(60)).await;
        Ok::<(), TimedOut>(())
    };
    let error = retry(&STORE, stalls).deadline(deadline).run().await.unwrap_err();
    assert_eq!((error.limit(), start.elapsed()), (TimeLimit::Deadline, secs(5)));
}

/// 2026-11-23T09:30:00Z.
fn now() -> SystemTime {
    UNIX_EPOCH + secs(1_795_426_200)
}

// Rule T16.
#[test]
fn the_headers_of_attempts_have_their_number_the_maximum_and_the_end_of_the_attempt() {
    let [first, third] = [1, 3].map(AttemptContext::new);
    assert_eq!(grpc_previous_rpc_attempts(&first), None);
    assert_eq!(grpc_previous_rpc_attempts(&third).as_deref(), Some("2"));
    assert_eq!(amz_sdk_request(&first, None, now()), "attempt=1");
    assert_eq!(amz_sdk_request(&third, Some(5), now()), "attempt=3; max=5");
    let limited = third.with_time_left(millis(29_999));
    assert_eq!(amz_sdk_request(&limited, Some(5), now()), "attempt=3; max=5; ttl=2026-11-23T09:30:29Z");
    assert_eq!(amz_sdk_request(&limited, None, now()), "attempt=3; ttl=2026-11-23T09:30:29Z");
    let endless = third.with_time_left(Duration::MAX);
    assert_eq!(amz_sdk_request(&endless, None, now()), "attempt=3", "a time that can't be written is left out");
    assert_eq!(amz_sdk_request(&limited, None, UNIX_EPOCH - secs(60)), "attempt=3", "a clock before 1970");
}

// Rule T16.
#[test]
fn the_end_of_an_attempt_is_a_date_of_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (1_798_761_599, "2026-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (12_622_780_800, "2370-01-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] {
        let context = AttemptContext::new(1).with_time_left(secs(seconds));
        assert_eq!(amz_sdk_request(&context, None, UNIX_EPOCH), format!("attempt=1; ttl={expected}"));
    }
    let too_late = AttemptContext::new(1).with_time_left(secs(253_402_300_800));
    assert_eq!(amz_sdk_request(&too_late, None, UNIX_EPOCH), "attempt=1");
}

// Rules M11, T16.
#[tokio::test(start_paused = true)]
async fn each_attempt_tells_its_own_number_and_what_is_left_of_the_deadline() {
    let store = StandardRetryStrategy::new().jitter(retry_core::Jitter::Fixed(1.0));
    let seen: RefCell<Vec<(Option<String>, Option<String>)>> = RefCell::default();
    let attempt = |context: AttemptContext| {
        let time = context.time_left().map(grpc_timeout);
        seen.borrow_mut().push((grpc_previous_rpc_attempts(&context), time));
        async { Err::<(), _>(TimedOut::new(TimeLimit::Attempt, Duration::ZERO)) }
    };
    let _ = retry_core::retry_with_context(&store, attempt).idempotent(true).max_time(secs(10)).run().await;
    let (first, second) = (Some("10000000u".to_owned()), Some("9000000u".to_owned()));
    assert_eq!(seen.into_inner()[..2], [(None, first), (Some("1".to_owned()), second)]);
}
