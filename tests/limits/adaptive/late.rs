//! Late clock readings, and sends that are reserved for late waiters.

use super::{ask, limiting, new_token, slowest, wait_for};
use crate::support::{ByHand, millis, secs};
use retry_core::RetryStrategy;

// Rule K3.
#[test]
fn a_late_reading_does_not_refill_twice() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let began = clock.time();
    clock.set(began + secs(2));
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    // A thread was delayed between reading its clock and using the reading.
    clock.set(began);
    let mut late = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut late).is_some());
    strategy.release(late);
    clock.set(began + millis(2500));
    assert!(
        ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some(),
        "only a quarter of a send is available"
    );
}

// Rule K3.
#[test]
fn late_readings_of_many_threads_do_not_change_the_rate_of_sends() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let began = clock.time();
    let mut sent = 0;
    for step in 1..=10_000_u32 {
        // Every third reading is 200 ms late.
        let now = began + step * millis(1);
        clock.set(if step % 3 == 0 { now.saturating_sub(millis(200)) } else { now });
        let mut token = new_token(&strategy, &clock);
        let granted = ask(&strategy, &clock, &mut token).is_none();
        sent += u32::from(granted);
        if !granted {
            strategy.release(token);
        }
    }
    let expected = 10.0 * strategy.send_rate().unwrap();
    assert!((f64::from(sent) - expected).abs() <= 2.0, "{sent} of {expected}");
}

// Rule A12.
#[test]
fn a_reserved_send_is_returned_after_ten_seconds() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let began = clock.time();
    let mut dead = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut dead).is_some());
    clock.set(began + millis(2050));
    let mut next = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut next).is_some(), "the send is reserved for the late waiter");
    strategy.release(next);
    // The following sends go to others.
    for time in [4050, 6050, 8050, 10_050, 12_050] {
        clock.set(began + millis(time));
        assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None, "after {time} ms");
    }
    let mut too_early = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut too_early).is_some(), "it is reserved for ten seconds");
    strategy.release(too_early);
    clock.set(began + millis(12_051));
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None, "the reserved send is available again");
}

// Rules A12, K3.
#[test]
fn a_reserved_send_is_returned_in_time_although_the_clock_went_backwards() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut dead = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut dead).is_some());
    clock.advance(millis(2050));
    let mut next = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut next).is_some(), "the send is reserved for the late waiter");
    strategy.release(next);
    clock.set(clock.time().saturating_sub(secs(3600)));
    for _ in 0..2 {
        let mut token = new_token(&strategy, &clock);
        assert!(ask(&strategy, &clock, &mut token).is_some());
        strategy.release(token);
        clock.advance(millis(250));
    }
    // Slightly more than ten seconds on the new timeline, in which five sends become available for others.
    let mut sent = 0;
    for _ in 0..110 {
        let mut token = new_token(&strategy, &clock);
        let granted = ask(&strategy, &clock, &mut token).is_none();
        sent += u32::from(granted);
        if !granted {
            strategy.release(token);
        }
        clock.advance(millis(100));
    }
    assert_eq!(sent, 6, "the five, and the reserved one");
}

// Rules A10, A12.
#[test]
fn waiters_keep_their_order_while_a_send_is_reserved() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let began = clock.time();
    let [mut late, mut second, mut third] = [(); 3].map(|()| new_token(&strategy, &clock));
    assert!(ask(&strategy, &clock, &mut late).is_some());
    clock.set(began + millis(2050));
    assert!(ask(&strategy, &clock, &mut second).is_some(), "the send is reserved for the late waiter");
    clock.set(began + millis(4040));
    assert!(ask(&strategy, &clock, &mut second).is_some());
    clock.set(began + millis(4055));
    assert!(
        ask(&strategy, &clock, &mut third).is_some(),
        "the second send is due, and it is reserved for the second waiter"
    );
    assert_eq!(ask(&strategy, &clock, &mut second), None);
    let waited = wait_for(&strategy, &clock, &mut third);
    assert!(waited.abs_diff(secs(2)) <= millis(10), "{waited:?}");
    assert_eq!(ask(&strategy, &clock, &mut late), None, "the first waiter gets its send whenever it asks");
}
