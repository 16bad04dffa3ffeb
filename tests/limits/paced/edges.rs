//! Bounds of the paced strategy, to the nanosecond, and what it forgets of an operation that ends.

use super::{at_a_hundred, held_by, standard, throttled};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::strategy::PacedRetryToken;
use retry_core::{Failure, PacedRetryStrategy, RetryStrategy, RetryToken, Success};
use std::time::Duration;

fn begin(strategy: &PacedRetryStrategy, clock: &ByHand) -> PacedRetryToken {
    strategy.acquire_initial_token(clock).unwrap()
}

// Rules L8, L31.
#[test]
fn a_wait_of_exactly_one_and_a_half_seconds_does_not_hold_back_others() {
    let clock = ByHand::at(secs(1000));
    let limited = || PacedRetryStrategy::over(standard()).ramp(false).seed(7);
    let stretched = |hint: Duration| {
        let strategy = limited();
        strategy.refresh_retry_token(begin(&strategy, &clock), &throttled(Some(hint)), &clock).unwrap().delay()
    };
    // The seed stretches all of them alike, so the hint for a wait can be found by halving.
    let hint_for = |wait: Duration| {
        let (mut low, mut high) = (wait.as_nanos() / 2, wait.as_nanos());
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            let is_below = stretched(Duration::from_nanos(middle.try_into().unwrap())) < wait;
            (low, high) = if is_below { (middle, high) } else { (low, middle) };
        }
        Duration::from_nanos(high.try_into().unwrap())
    };
    let bound = millis(1500);
    for (wait, is_held) in [(bound, false), (bound + Duration::from_nanos(1), true)] {
        let hint = hint_for(wait);
        assert_eq!(stretched(hint), wait);
        let strategy = limited();
        for _ in 0..100 {
            strategy.record_success(begin(&strategy, &clock), &Success::default(), &clock).unwrap();
        }
        let waited = held_by(&strategy, &clock, hint);
        assert_eq!(waited >= secs(1), is_held, "{wait:?}: {waited:?}");
    }
}

// Rules L2, L23.
#[test]
fn an_operation_that_waits_as_the_server_asked_has_waited_for_its_send() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred(&clock);
    let send = || {
        let mut token = begin(&strategy, &clock);
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
        token
    };
    let _ = strategy.refresh_retry_token(send(), &throttled(Some(millis(1300))), &clock);
    clock.advance(millis(1500));
    for _ in 0..40 {
        strategy.record_success(send(), &Success::default(), &clock).unwrap();
        clock.advance(millis(20));
    }
    let _ = strategy.refresh_retry_token(send(), &throttled(None), &clock);
    // 40 in the 2.3 s between the rejections, of which 0.7 are left after the cut.
    let rate = strategy.send_rate().unwrap();
    assert!((9.0..=20.0).contains(&rate), "{rate}");
}

// Rules A13, L9.
#[test]
fn an_operation_that_is_answered_while_it_waits_leaves_its_place_at_once() {
    let answers = [None, Some(Failure::of(&Failed::FATAL)), Some(throttled(None))];
    for answer in answers {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        strategy.pace_at(Some(10.0), false, &clock);
        let [mut first, mut second] = [(); 2].map(|()| begin(&strategy, &clock));
        for token in [&mut first, &mut second] {
            assert!(strategy.ready(token, &clock, None).wait().is_some());
        }
        match &answer {
            None => strategy.record_success(first, &Success::default(), &clock).unwrap(),
            Some(failure) => drop(strategy.refresh_retry_token(first, failure, &clock)),
        }
        clock.advance(millis(101));
        assert_eq!(strategy.ready(&mut second, &clock, None).wait(), None, "{answer:?}");
    }
}

// Rules A8, L9, L10.
#[test]
fn what_came_in_before_another_rate_came_in_at_the_old_one() {
    for (old, new, wait) in [(10.0, 1000.0, Some(500)), (1000.0, 10.0, None)] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        strategy.pace_at(Some(old), false, &clock);
        clock.advance(millis(50));
        strategy.pace_at(Some(new), false, &clock);
        let answer = strategy.ready(&mut begin(&strategy, &clock), &clock, None).wait();
        assert_eq!(answer, wait.map(|micros| Duration::from_nanos(1000 * micros + 1)), "{old} to {new}");
    }
}

// Rules A12, L9.
#[test]
fn waiters_are_late_by_the_rate_of_now_and_not_by_that_when_they_came() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    strategy.pace_at(Some(0.5), false, &clock);
    let [mut first, mut second, mut third] = [(); 3].map(|()| begin(&strategy, &clock));
    for token in [&mut first, &mut second] {
        assert!(strategy.ready(token, &clock, None).wait().is_some());
    }
    // At one send in 2 s, nobody is late after a second.
    clock.advance(secs(1));
    assert!(strategy.ready(&mut third, &clock, None).wait().is_some());
    strategy.pace_at(Some(20.0), false, &clock);
    clock.advance(millis(60));
    assert_eq!(strategy.ready(&mut third, &clock, None).wait(), None, "the others are passed over");
    clock.advance(millis(50));
    assert_eq!(strategy.ready(&mut first, &clock, None).wait(), None, "it kept its place");
}

// Rules A9, A12, A13, L8.
#[test]
fn a_send_that_comes_back_in_a_hold_is_not_sent_twice() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard()).seed(1);
    strategy.pace_at(Some(0.5), false, &clock);
    clock.advance(millis(2001));
    let [mut unsent, mut late, mut newcomer] = [(); 3].map(|()| begin(&strategy, &clock));
    assert_eq!(strategy.ready(&mut unsent, &clock, None).wait(), None);
    assert!(strategy.ready(&mut late, &clock, None).wait().is_some());
    let _ = strategy.refresh_retry_token(begin(&strategy, &clock), &throttled(Some(secs(40))), &clock);
    strategy.release(unsent);
    // The time of the first probe. What came back is kept for the one that is late.
    clock.advance(millis(1001));
    assert!(strategy.ready(&mut newcomer, &clock, None).wait().is_some());
    assert_eq!(strategy.ready(&mut late, &clock, None).wait(), None);
}

// Rule L24.
#[test]
fn answers_that_came_before_a_pause_say_nothing_about_the_time_after_it() {
    let mut rates = Vec::new();
    for pause in [millis(0), secs(60)] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::over(standard());
        let mut sent: Vec<_> = (0..20).map(|_| begin(&strategy, &clock)).collect();
        for token in &mut sent {
            while let Some(wait) = strategy.ready(token, &clock, None).wait() {
                clock.advance(wait);
            }
        }
        for token in sent {
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        }
        clock.advance(pause);
        let mut token = begin(&strategy, &clock);
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
        rates.push(strategy.send_rate());
    }
    let [Some(at_once), Some(after_a_pause)] = rates[..] else { panic!("{rates:?}") };
    // Twenty requests at 100 per second, and nothing.
    assert!(at_once > 10.0, "{at_once}");
    assert!(after_a_pause <= 0.8 * 0.2, "{after_a_pause}");
}
