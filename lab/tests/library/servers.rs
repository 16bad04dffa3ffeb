use lab::call::CallError;
use lab::servers::{FifoServer, FixedWindowLimit, Limit, Row, TokenBucketLimit};
use retry_core::time::Timestamp;
use std::time::Duration;

fn at(seconds: f64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_secs_f64(seconds))
}

/// Sends requests at the same time, and returns how many are admitted.
fn admitted(limit: &impl Limit, requests: usize, now: f64) -> usize {
    (0..requests).filter(|_| limit.admit(at(now)).is_ok()).count()
}

#[test]
fn a_token_bucket_admits_a_burst_and_then_its_rate() {
    let limit = TokenBucketLimit::new(10.0, 5.0);
    assert_eq!(admitted(&limit, 20, 0.0), 5);
    assert_eq!(admitted(&limit, 20, 0.1), 1);
    assert_eq!(admitted(&limit, 20, 0.35), 2);
    assert_eq!(admitted(&limit, 20, 100.0), 5);
}

#[test]
fn a_new_rate_counts_from_the_change_on() {
    let limit = TokenBucketLimit::new(10.0, 5.0);
    assert_eq!(admitted(&limit, 5, 0.0), 5);
    limit.set_rate(1.0, at(0.3));
    assert_eq!(admitted(&limit, 20, 1.3), 4, "three at the old rate, one at the new one");
}

#[test]
fn a_rejection_takes_what_it_costs() {
    let limit = TokenBucketLimit::new(1.0, 2.0).rejection_cost(0.2);
    assert_eq!(admitted(&limit, 2, 0.0), 2);
    assert_eq!(admitted(&limit, 1, 0.9), 0);
    // 0.7 of a token is left.
    assert_eq!(admitted(&limit, 1, 1.15), 0);
    assert_eq!(admitted(&limit, 1, 1.6), 1);
}

#[test]
fn a_rejection_asks_for_a_wait_in_whole_seconds() {
    let wait = |limit: TokenBucketLimit| {
        assert_eq!(limit.admit(at(0.0)), Ok(()));
        limit.admit(at(0.0))
    };
    let seconds = |number| Some(Duration::from_secs(number));
    let fast = wait(TokenBucketLimit::new(100.0, 1.0).retry_after(true));
    assert_eq!(fast, Err(CallError::Throttled { retry_after: seconds(1) }));
    let slow = wait(TokenBucketLimit::new(0.4, 1.0).retry_after(true));
    assert_eq!(slow, Err(CallError::Throttled { retry_after: seconds(3) }));
    assert_eq!(wait(TokenBucketLimit::new(0.4, 1.0)), Err(CallError::Throttled { retry_after: None }));
}

#[test]
fn a_fixed_window_begins_anew_at_whole_multiples_of_its_length() {
    let limit = FixedWindowLimit::new(3, Duration::from_secs(1));
    assert_eq!(admitted(&limit, 10, 0.9), 3);
    assert_eq!(admitted(&limit, 10, 0.999), 0);
    assert_eq!(admitted(&limit, 10, 1.0), 3);
    assert_eq!(admitted(&limit, 2, 5.5), 2, "what is left of a window does not pass on");
    assert_eq!(admitted(&limit, 10, 6.0), 3);
}

#[test]
fn a_fifo_server_serves_one_request_after_the_other() {
    let server = FifoServer::new(Duration::from_millis(100));
    assert_eq!(server.enqueue(at(1.0)), at(1.1));
    assert_eq!(server.enqueue(at(1.05)), at(1.2));
    assert_eq!(server.enqueue(at(5.0)), at(5.1));
}

#[test]
fn a_stalled_server_goes_on_where_it_stopped() {
    let stalling = || FifoServer::new(Duration::from_millis(100)).stall(at(1.0), at(11.0));
    assert_eq!(stalling().enqueue(at(0.9)), at(1.0), "it is done when the stall begins");
    let server = stalling();
    assert_eq!(server.enqueue(at(0.96)), at(11.06));
    assert_eq!(server.enqueue(at(2.0)), at(11.16));
    assert_eq!(server.enqueue(at(12.0)), at(12.1));
    assert_eq!(stalling().enqueue(at(3.0)), at(11.1));
}

#[test]
fn a_write_to_a_row_needs_the_current_version() {
    let row = Row::default();
    let (first, second) = (row.read(), row.read());
    assert_eq!(row.write(second), Ok(()));
    assert_eq!(row.write(first), Err(CallError::Conflict));
    assert_eq!(row.write(row.read()), Ok(()));
}
