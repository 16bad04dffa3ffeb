//! Bounds of the paced strategy, to the nanosecond, and what it forgets of an operation that ends.

use super::{at_a_hundred, at_a_hundred_over, held_by, standard, throttled};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::classify::http::RateLimit;
use retry_core::limit::SendLimiter;
use retry_core::time::Timestamp;
use retry_core::{Failure, RetryStrategy, RetryToken, Success};
use retry_limits::{PacedRetryStrategy, PacedRetryToken};
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

/// Returns the rate after a rejection that ends a measurement. It began with another rejection, with a wait of 1.3 s, and 40
/// requests were accepted in the last 0.8 s of it. `pass` passes the time in between.
fn measured(strategy: &PacedRetryStrategy, clock: &ByHand, pass: impl FnOnce(Duration)) -> f64 {
    let send = || {
        let mut token = begin(strategy, clock);
        assert_eq!(strategy.ready(&mut token, clock, None).wait(), None);
        token
    };
    let delay = strategy.refresh_retry_token(send(), &throttled(Some(millis(1300))), clock);
    pass(delay.map_or(Duration::ZERO, |token| token.delay()));
    for _ in 0..40 {
        strategy.record_success(send(), &Success::default(), clock).unwrap();
        clock.advance(millis(20));
    }
    drop(strategy.refresh_retry_token(send(), &throttled(None), clock));
    strategy.send_rate().unwrap()
}

/// Returns whether the rate of [`measured`] is that of the whole time, which is 2 to 3.5 s long, and not of its end.
fn is_of_the_whole_time(rate: f64) -> bool {
    assert!((7.0..18.0).contains(&rate) || rate > 25.0, "{rate}");
    rate < 18.0
}

// Rules L23, L8.
#[test]
fn the_time_since_a_send_had_to_wait_is_measured_up_to_a_second() {
    let rate_after = |more: Duration| {
        let clock = ByHand::at(secs(1000));
        let strategy = at_a_hundred(&clock);
        measured(&strategy, &clock, |delay| clock.advance(delay + millis(200) + more))
    };
    assert!(is_of_the_whole_time(rate_after(Duration::ZERO)));
    assert!(!is_of_the_whole_time(rate_after(Duration::from_nanos(1))));
}

// Rule L23.
#[test]
fn an_operation_that_waits_in_the_queue_has_waited_for_its_send() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred(&clock);
    let rate = measured(&strategy, &clock, |delay| {
        clock.advance(delay + millis(900));
        // Those that are sent are not answered.
        loop {
            let mut token = begin(&strategy, &clock);
            if strategy.ready(&mut token, &clock, None).wait().is_some() {
                strategy.release(token);
                break;
            }
        }
        clock.advance(millis(200));
    });
    assert!(is_of_the_whole_time(rate));
}

// Rules L8, L23, B5.
#[test]
fn an_operation_that_ends_because_its_wait_is_too_long_does_not_wait() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred_over(standard().max_retry_after(Some(secs(1))), &clock);
    assert!(!is_of_the_whole_time(measured(&strategy, &clock, |delay| {
        assert!(delay.is_zero());
        clock.advance(millis(1500));
    })));
}

// Rule L10.
#[test]
fn each_wait_for_a_send_is_counted() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    strategy.pace_at(Some(5.0), false, &clock);
    let mut token = begin(&strategy, &clock);
    for waits in 0..3 {
        assert_eq!(strategy.pace_at(Some(5.0), false, &clock).waits, waits);
        assert!(strategy.ready(&mut token, &clock, None).wait().is_some());
    }
}

// Rules L14, L21.
#[test]
fn a_limit_that_ended_asks_nobody_once_its_waiters_have_gone() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard()).ramp(false);
    let must_ask = || strategy.limiter().must_ask(&strategy.limiter().begin(&clock));
    assert!(!must_ask());
    strategy.pace_at(Some(5.0), false, &clock);
    let mut waiting = begin(&strategy, &clock);
    assert!(strategy.ready(&mut waiting, &clock, None).wait().is_some());
    strategy.pace_at(None, false, &clock);
    assert!(must_ask());
    assert_eq!(strategy.ready(&mut waiting, &clock, None).wait(), None);
    assert!(!must_ask());
}

// Rule L21.
#[test]
fn only_the_first_operation_without_a_limit_reads_the_clock_when_it_begins() {
    let clock = ByHand::at(secs(1000));
    for strategy in [PacedRetryStrategy::new(), PacedRetryStrategy::new().ramp(false)] {
        let readings = [(); 3].map(|()| clock.readings_of(|| begin(&strategy, &clock)));
        assert_eq!(readings, [1, 0, 0]);
    }
}

// Rules L40, L6.
#[test]
fn a_warning_counts_all_that_was_accepted_before_it() {
    let rates = [false, true].map(|asks_before| {
        let clock = ByHand::at(secs(1000));
        let strategy = at_a_hundred(&clock);
        let sent: Vec<_> = (0..20)
            .map(|_| {
                let mut token = begin(&strategy, &clock);
                while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
                    clock.advance(wait);
                }
                token
            })
            .collect();
        let last = sent.len() - 1;
        for (index, token) in sent.into_iter().enumerate() {
            if index == last && asks_before {
                let mut asking = begin(&strategy, &clock);
                let _ = strategy.ready(&mut asking, &clock, None);
                strategy.release(asking);
            }
            let remaining = if index == last { 1 } else { 900 };
            let success = Success::default().with_rate_limit(Some(RateLimit::new(remaining)));
            strategy.record_success(token, &success, &clock).unwrap();
        }
        strategy.send_rate().unwrap()
    });
    assert!((rates[0] - rates[1]).abs() < 1e-9, "{rates:?}");
}

// Rules L24, K3.
#[test]
fn the_first_limit_follows_the_last_second_whenever_that_is_and_after_the_clock_was_set_back() {
    let (start, day) = (Timestamp::START.since_origin(), secs(86_400));
    for begun in [secs(0), secs(1000), 100 * day, 200 * day, start, start + secs(1), start + 100 * day] {
        for set_back in [Duration::ZERO, secs(3600)] {
            let clock = ByHand::at(begun + set_back);
            let strategy = PacedRetryStrategy::over(standard()).ramp(false);
            for request in 0..100 {
                if request == 50 {
                    clock.set(clock.time().saturating_sub(set_back));
                }
                strategy.record_success(begin(&strategy, &clock), &Success::default(), &clock).unwrap();
                clock.advance(millis(100));
            }
            drop(strategy.refresh_retry_token(begin(&strategy, &clock), &throttled(None), &clock));
            let rate = strategy.send_rate().unwrap();
            assert!((rate - 0.8 * 10.0).abs() < 1e-9, "{rate} from {begun:?}, set back by {set_back:?}");
        }
    }
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
        // After a pause, the third throttling in a row counts.
        for _ in 0..if pause.is_zero() { 1 } else { 3 } {
            let mut token = begin(&strategy, &clock);
            while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
                clock.advance(wait);
            }
            drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
        }
        rates.push(strategy.send_rate());
    }
    let [Some(at_once), Some(after_a_pause)] = rates[..] else { panic!("{rates:?}") };
    // Twenty requests at 100 per second, and nothing.
    assert!(at_once > 10.0, "{at_once}");
    assert!(after_a_pause <= 0.8 * 0.2, "{after_a_pause}");
}

// Rules L24, L25.
#[test]
fn answers_of_the_last_quarter_of_a_second_are_current_and_older_ones_are_those_before_a_pause() {
    for (age, is_current) in [(millis(250), true), (millis(250) + Duration::from_nanos(1), false)] {
        let clock = ByHand::at(secs(1000));
        let strategy = at_a_hundred(&clock);
        let ask = || {
            let mut token = begin(&strategy, &clock);
            while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
                clock.advance(wait);
            }
            strategy.send_rate().unwrap()
        };
        ask();
        // 500 answers, while nothing asks.
        for _ in 0..500 {
            strategy.record_success(begin(&strategy, &clock), &Success::default(), &clock).unwrap();
        }
        clock.advance(age);
        // The rate of the search grows as long as a quarter of a second with these answers is remembered.
        let mut rate = ask();
        for _ in 0..6 {
            clock.advance(millis(60));
            rate = ask();
        }
        assert_eq!(rate > 1000.0, is_current, "{age:?}: {rate}");
    }
}
