//! A paced strategy whose rate comes from elsewhere, and an estimator that moves from process to process.

use crate::support::{ByHand, millis, secs};
use proptest::prelude::*;
use retry_core::time::Timestamp;
use retry_core::{Failure, RetryDirective, RetryErrorType, RetryStrategy, Success};
use retry_limits::{GoodputEstimator, PacedRetryStrategy, PacedRetryToken};
use std::time::Duration;

const THROTTLED: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Throttling));

/// Sends as many requests as the strategy permits for so many milliseconds.
fn send(strategy: &PacedRetryStrategy, clock: &ByHand, time: u64) -> Vec<PacedRetryToken> {
    let mut sent = Vec::new();
    let mut waiting = strategy.acquire_initial_token(clock).unwrap();
    for _ in 0..time {
        while strategy.ready(&mut waiting, clock, None).wait().is_none() {
            sent.push(std::mem::replace(&mut waiting, strategy.acquire_initial_token(clock).unwrap()));
        }
        clock.advance(millis(1));
    }
    strategy.release(waiting);
    sent
}

fn reject(strategy: &PacedRetryStrategy, clock: &ByHand, token: PacedRetryToken) {
    strategy.refresh_retry_token(token, &Failure::from_directive(THROTTLED), clock).unwrap_err();
}

// Rule L10.
#[test]
fn a_rate_from_elsewhere_is_kept_whatever_is_rejected() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new().ramp(false);
    strategy.pace_at(Some(200.0), false, &clock);
    let sent = send(&strategy, &clock, 1000);
    assert!((199..=201).contains(&sent.len()), "{}", sent.len());
    assert_eq!(strategy.send_rate(), Some(200.0));
    for token in sent {
        reject(&strategy, &clock, token);
    }
    assert_eq!(strategy.send_rate(), Some(200.0));
    assert_eq!(send(&strategy, &clock, 1000).len() / 2, 100);

    // Its own estimate knows of the rejections, and takes over.
    strategy.pace_at(None, false, &clock);
    assert!(strategy.send_rate().is_some_and(|rate| rate < 100.0), "{:?}", strategy.send_rate());
}

// Rules L1, L10, L35.
#[test]
fn without_the_ramp_nothing_is_limited_when_the_rate_from_elsewhere_ends_before_a_rejection() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new().ramp(false);
    strategy.pace_at(Some(10.0), false, &clock);
    let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
    assert!(strategy.ready(&mut waiting, &clock, None).wait().is_some());
    strategy.pace_at(None, false, &clock);
    assert_eq!(strategy.send_rate(), None);
    for _ in 0..1000 {
        assert_eq!(strategy.ready(&mut waiting, &clock, None).wait(), None);
        strategy.record_success(waiting, &Success::default(), &clock).unwrap();
        waiting = strategy.acquire_initial_token(&clock).unwrap();
    }
    // With the ramp, it begins.
    let strategy = PacedRetryStrategy::new();
    strategy.pace_at(Some(10.0), false, &clock);
    strategy.pace_at(None, false, &clock);
    assert_eq!(strategy.send_rate(), Some(100.0));
}

// Rules L35, L41.
#[test]
fn the_first_rejection_with_a_rate_from_elsewhere_is_that_of_a_limit() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new().ramp(false);
    strategy.pace_at(Some(200.0), false, &clock);
    let token = send(&strategy, &clock, 10).swap_remove(0);
    reject(&strategy, &clock, token);
    strategy.pace_at(None, false, &clock);
    assert!(strategy.send_rate().is_some());
}

// Rule L10.
#[test]
fn it_counts_what_was_answered_and_how_often_operations_waited() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new();
    let answers = strategy.pace_at(Some(100.0), false, &clock);
    assert_eq!((answers.accepted, answers.rejected, answers.waits), (0, 0, 0));
    let sent = send(&strategy, &clock, 300);
    let accepted = sent.len() as u64 - 10;
    for (number, token) in sent.into_iter().enumerate() {
        if number < 10 {
            reject(&strategy, &clock, token);
        } else {
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        }
    }
    let answers = strategy.pace_at(Some(50.0), false, &clock);
    assert_eq!((answers.accepted, answers.rejected), (accepted, 10));
    assert!(accepted >= 19);
    assert!(answers.waits >= 30, "{answers:?}");
}

// Rule L10.
#[test]
fn after_a_cut_the_rejections_of_earlier_sends_do_not_count() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new();
    strategy.pace_at(Some(100.0), false, &clock);
    let mut sent = send(&strategy, &clock, 100);
    reject(&strategy, &clock, sent.pop().unwrap());
    // A lower rate alone is no cut: it may be a smaller share.
    assert_eq!(strategy.pace_at(Some(50.0), false, &clock).rejected, 1);
    reject(&strategy, &clock, sent.pop().unwrap());
    assert_eq!(strategy.pace_at(Some(40.0), true, &clock).rejected, 2);
    for token in sent {
        reject(&strategy, &clock, token);
    }
    for token in send(&strategy, &clock, 100) {
        reject(&strategy, &clock, token);
    }
    assert_eq!(strategy.pace_at(Some(40.0), false, &clock).rejected, 2 + 4);
}

// Rule L10.
#[test]
fn a_rate_that_is_no_positive_number_sends_hardly_anything() {
    let clock = ByHand::at(secs(100));
    for rate in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let strategy = PacedRetryStrategy::new();
        strategy.pace_at(Some(rate), false, &clock);
        assert_eq!(send(&strategy, &clock, 2000).len(), 0, "{rate}");
    }
    let strategy = PacedRetryStrategy::new();
    strategy.pace_at(Some(f64::INFINITY), false, &clock);
    for _ in 0..1000 {
        clock.advance(millis(1));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
    }
}

/// Returns a strategy without the ramp at 10 sends per second, and so many operations that wait.
fn waiting_at_ten(clock: &ByHand, number: usize) -> (Box<PacedRetryStrategy>, Vec<PacedRetryToken>) {
    let strategy = Box::new(PacedRetryStrategy::new().ramp(false));
    strategy.pace_at(Some(10.0), false, clock);
    let waiters = (0..number).map(|_| waiter(&strategy, clock)).collect();
    (strategy, waiters)
}

/// Returns an operation that waits.
fn waiter(strategy: &PacedRetryStrategy, clock: &ByHand) -> PacedRetryToken {
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    assert!(strategy.ready(&mut token, clock, None).wait().is_some());
    token
}

/// Ends the limit, and begins another one at the same rate.
fn interrupt(strategy: &PacedRetryStrategy, clock: &ByHand) {
    strategy.pace_at(None, false, clock);
    strategy.pace_at(Some(10.0), false, clock);
}

// Rule L14.
#[test]
fn operations_that_wait_are_not_overtaken_when_the_limit_ends_and_begins_again() {
    let clock = ByHand::at(secs(100));
    let (strategy, waiters) = waiting_at_ten(&clock, 100);
    interrupt(&strategy, &clock);
    let mut all: Vec<_> = waiters.into_iter().enumerate().collect();
    // The newcomers ask first, at each moment.
    all.splice(0..0, (100..200).map(|number| (number, waiter(&strategy, &clock))));
    let mut served = Vec::new();
    while !all.is_empty() {
        clock.advance(millis(5));
        all.retain_mut(|(number, token)| {
            let is_sent = strategy.ready(token, &clock, None).wait().is_none();
            if is_sent {
                served.push(*number);
            }
            !is_sent
        });
    }
    let overtaken = served[..100].iter().filter(|number| **number >= 100).count();
    assert_eq!(overtaken, 0, "{served:?}");
    assert_eq!(served, (0..200).collect::<Vec<_>>());
}

// Rule L14.
#[test]
fn an_operation_that_goes_away_gives_up_its_own_place_only_whatever_happened_to_the_limit() {
    let clock = ByHand::at(secs(100));
    let (strategy, mut early) = waiting_at_ten(&clock, 1);
    interrupt(&strategy, &clock);
    let mut second = waiter(&strategy, &clock);
    strategy.release(early.pop().unwrap());
    let mut third = waiter(&strategy, &clock);
    clock.advance(millis(100));
    assert!(strategy.ready(&mut third, &clock, None).wait().is_some(), "the second one came before it");
    assert_eq!(strategy.ready(&mut second, &clock, None).wait(), None);
}

// Rule L14.
#[test]
fn an_operation_that_was_sent_without_a_limit_has_no_place_in_the_next_one() {
    let clock = ByHand::at(secs(100));
    let (strategy, mut waiters) = waiting_at_ten(&clock, 3);
    strategy.pace_at(None, false, &clock);
    for token in &mut waiters {
        assert_eq!(strategy.ready(token, &clock, None).wait(), None);
    }
    strategy.pace_at(Some(10.0), false, &clock);
    let mut next = waiter(&strategy, &clock);
    clock.advance(millis(101));
    assert_eq!(strategy.ready(&mut next, &clock, None).wait(), None, "nobody is before it");
    // What was sent without a limit gives nothing back to it.
    for token in waiters {
        strategy.release(token);
    }
    let _ = waiter(&strategy, &clock);
}

// Rules L10, L14.
#[test]
fn what_was_answered_is_counted_on_when_the_limit_ends_and_begins_again() {
    let clock = ByHand::at(secs(100));
    let strategy = PacedRetryStrategy::new().ramp(false);
    strategy.pace_at(Some(100.0), false, &clock);
    let mut sent = send(&strategy, &clock, 100);
    strategy.record_success(sent.pop().unwrap(), &Success::default(), &clock).unwrap();
    let answers = strategy.pace_at(None, false, &clock);
    assert_eq!((answers.accepted, answers.rejected), (1, 0));
    assert_eq!(strategy.pace_at(Some(100.0), false, &clock), answers);
    // It was sent in the limit before.
    reject(&strategy, &clock, sent.pop().unwrap());
    assert_eq!(strategy.pace_at(Some(100.0), false, &clock), answers);
}

// Rules L11, L38.
#[test]
fn a_text_that_no_estimator_has_written_is_an_error() {
    let at = |millis| Timestamp::START.saturating_add(Duration::from_millis(millis));
    let ramp = GoodputEstimator::new(at(1));
    let mut search = ramp;
    search.accept(at(900), 100);
    search.reject(at(1_000));
    let mut track = search;
    track.accept(at(1_500), 100);
    track.reject(at(2_000));
    let read = |text: &str| text.parse::<GoodputEstimator>();
    for whole in [ramp, search, track].map(|estimator| estimator.to_string()) {
        assert_eq!(read(&whole).unwrap().to_string(), whole);
        assert_eq!(read(&format!(" {whole}\n")).unwrap().to_string(), whole, "as a file has it");
    }
    // A word, and what an estimator in this phase never writes there.
    let wrong: &[(GoodputEstimator, usize, &[&str])] = &[
        (ramp, 2, &["1", "2"]),
        (ramp, 3, &["1"]),
        (ramp, 4, &["1"]),
        (ramp, 5, &["2000000", "0"]),
        (ramp, 6, &["1", "2", "-0"]),
        (ramp, 8, &["1", "2"]),
        (ramp, 9, &["1"]),
        (ramp, 11, &["1"]),
        (ramp, 12, &["2000000"]),
        (ramp, 13, &["2000000"]),
        (search, 2, &["0", "2"]),
        (search, 3, &["0", "0.1", "inf", "NaN", "-1"]),
        (search, 4, &["0", "0.3", "1", "inf"]),
        (search, 6, &["0", "0.1", "1e400"]),
        (search, 8, &["2"]),
        (track, 2, &["0", "1"]),
        (track, 3, &["1"]),
        (track, 4, &["1"]),
        (track, 6, &["0", "0.1", "+100", "1e2", "100.0", "0100"]),
        (track, 8, &["3", "01"]),
        (track, 9, &["2"]),
        (track, 10, &["-1", "4294967296", "+1"]),
    ];
    for (estimator, word, texts) in wrong {
        let whole = estimator.to_string();
        for text in *texts {
            let mut words: Vec<_> = whole.split(' ').collect();
            words[*word] = text;
            assert!(read(&words.join(" ")).is_err(), "{}", words.join(" "));
        }
    }
    assert!(read(&track.to_string().replace(' ', "  ")).is_err());
    assert!(read(&format!("{track} 0")).is_err());
    // A measurement that begins after a silence can raise the estimate.
    let silent = track.to_string().replacen(" 1 0 ", " 0 1 ", 1);
    assert_ne!(silent, track.to_string());
    assert!(read(&silent).is_err(), "{silent}");
    // The lowest rate at which a search can begin is 0.7 of the lowest estimate, less the rounding.
    let searching_from = |rate: f64| {
        let mut words: Vec<_> = search.to_string().split(' ').map(String::from).collect();
        words[3] = rate.to_string();
        read(&words.join(" "))
    };
    let lowest = 0.999 * 0.7 * 0.2;
    assert!(searching_from(lowest).is_ok() && searching_from(lowest.next_down()).is_err());
}

// Rules L11, L38.
#[test]
fn a_text_of_this_format_stays_readable() {
    let at = |millis| Timestamp::from_origin(Duration::from_millis(millis));
    let ramp = GoodputEstimator::new(at(1_001));
    let mut search = GoodputEstimator::for_all(at(1_000));
    search.accept(at(1_900), 200);
    search.reject(at(2_000));
    search.accept(at(2_010), 200);
    let mut track = search;
    track.reject(at(4_000));
    assert!(!track.warn(at(4_100)));
    track.accept(at(4_200), 3);
    let mut noisy = GoodputEstimator::for_all_at(1_000.0, at(2_000));
    noisy.accept(at(2_100), 100);
    assert!(!noisy.suspect(at(2_200)));
    noisy.accept(at(2_300), 5);
    // After the number of the format: for one or all, the phase, and its course.
    // The measurement: since when, whether it can raise the estimate, whether a silence is left out, and what was accepted.
    // The rejections in a row and since when, the end of the careful time, and the last quarters of a second.
    // The noise: its sum, what was accepted and rejected, whether one was in this look, and the looks in a row.
    let expected = [
        (ramp, "2 0 0 0 0 1001000000 0 1001000000 0 0 0 0 1001000000 1001000000 4 0 0 0 0 0 0 0 0 0 0"),
        (search, "2 1 1 100 1 2000000000 100 2000000000 1 0 200 0 2000000000 1000000000 8 200 200 0 0 0 0 0 0 0 0"),
        (track, "2 1 2 0 0 4000000000 100 4000000000 1 0 3 0 4000000000 9100000000 16 3 0 0 0 0 0 0 0 0 0"),
        (noisy, "2 1 2 0 0 2000000000 1000 2000000000 0 0 105 0 2000000000 2000000000 9 5 100 250 0 0 0.5 105 1 1 0"),
    ];
    for (estimator, text) in expected {
        assert_eq!(estimator.to_string(), text);
        assert_eq!(text.parse::<GoodputEstimator>().unwrap().to_string(), text);
    }
}

// Rules L11, L36, L37.
#[test]
fn the_estimator_for_all_cuts_less_and_returns_and_grows_later() {
    let at = |millis| Timestamp::START.saturating_add(Duration::from_millis(millis));
    let mut estimator = GoodputEstimator::for_all(at(0));
    estimator.accept(at(900), 200);
    estimator.reject(at(1000));
    // A half of it may have been a burst.
    assert_eq!((estimator.estimate(), estimator.rate(at(1000))), (Some(100.0), 100.0));
    estimator.accept(at(1950), 100);
    estimator.accept(at(2900), 100);
    estimator.reject(at(3000));
    for (time, rate) in [(3000, 90.0), (4250, 100.0 - 10.0 / 8.0), (5500, 100.0)] {
        assert!((estimator.rate(at(time)) - rate).abs() < 1e-9, "{time}: {}", estimator.rate(at(time)));
    }
    let mut grown = estimator;
    grown.accept(at(6500), 100);
    assert!((grown.rate(at(6500)) - (108.0 + 1.3)).abs() < 1e-9, "{}", grown.rate(at(6500)));
    // Less than two seconds later, a rejection only cuts the rate again.
    estimator.accept(at(4900), 100);
    estimator.reject(at(4900));
    assert_eq!((estimator.estimate(), estimator.rate(at(4900))), (Some(100.0), 90.0));
    // 1.03 * 200 and half a second's requests and 2.5 prove a higher limit.
    estimator.accept(at(5000), 100 + 6 + 50 + 2);
    assert!(estimator.rate(at(5400)) < 100.0, "{}", estimator.rate(at(5400)));
    estimator.accept(at(5000), 1);
    let proven = estimator.rate(at(5000));
    assert!((estimator.rate(at(5400)) - 0.4_f64.exp2() * proven).abs() < 1e-9, "{}", estimator.rate(at(5400)));
    // What follows is measured from there, and throttlings in a row do not begin it again.
    estimator.accept(at(5500), 300);
    estimator.reject(at(6100));
    estimator.reject(at(6900));
    estimator.accept(at(7450), 100);
    estimator.reject(at(7500));
    assert_eq!(estimator.estimate(), Some((400.0 * 160.0 + 4.0 * 100.0) / 404.0));
}

// Rule L52.
#[test]
fn what_the_last_second_of_a_search_accepted_counts_and_rejections_from_before_it_do_not() {
    let at = |millis| Timestamp::START.saturating_add(Duration::from_millis(millis));
    let mut estimator = GoodputEstimator::for_all(at(0));
    estimator.accept(at(900), 200);
    estimator.reject(at(1000));
    let rate = estimator.rate(at(2000));
    // These were sent before the search began.
    estimator.reject(at(1499));
    assert_eq!((estimator.estimate(), estimator.rate(at(2000))), (Some(100.0), rate));
    let mut cut = estimator;
    cut.accept(at(1499), 10);
    cut.reject(at(1500));
    assert!(cut.rate(at(2000)) < 0.6 * rate, "{} after {rate}", cut.rate(at(2000)));

    // 0.95 of the last second, and at most 1.25 times the goodput of the two seconds.
    for (before, last, estimate) in [(80, 120, 0.95 * 120.0), (20, 180, 125.0), (100, 100, 100.0)] {
        let mut found = estimator;
        found.accept(at(1990), before);
        found.accept(at(2900), last);
        found.reject(at(3000));
        assert_eq!(found.estimate(), Some(estimate), "{before}, then {last}");
    }
}

proptest! {
    // Rules L11, L38.
    #[test]
    fn an_estimator_goes_on_from_its_text(events in prop::collection::vec((0..4_u8, 1..2_000_u64, 0..500_u32), 1..50)) {
        let mut now = Timestamp::START.saturating_add(Duration::from_hours(1));
        let mut one = GoodputEstimator::for_all(now);
        let mut other = one;
        for (event, millis, requests) in events {
            now = now.saturating_add(Duration::from_millis(millis));
            for estimator in [&mut one, &mut other] {
                match event {
                    0 => estimator.accept(now, requests),
                    1 => estimator.reject(now),
                    2 => drop(estimator.warn(now)),
                    _ => estimator.pause(now),
                }
            }
            other = other.to_string().parse().unwrap();
            prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
    }

    // Rules L11, L38.
    #[test]
    fn the_text_of_any_estimator_is_read(
        kind in 0..4_u8,
        events in prop::collection::vec((0..4_u8, any::<bool>(), 0..6_000_u64, 0..2_000_u32), 0..60),
    ) {
        let mut now = Timestamp::START.saturating_add(Duration::from_hours(1));
        let mut estimator = match kind {
            0 => GoodputEstimator::new(now),
            1 => GoodputEstimator::for_all(now),
            2 => GoodputEstimator::for_all_at(0.1, now),
            _ => GoodputEstimator::after_the_first_rejection(now, 0),
        };
        for (event, is_back, millis, requests) in events {
            let step = Duration::from_millis(millis);
            // A caller's clock may go backwards.
            now = if is_back { Timestamp::from_origin(now.since_origin().saturating_sub(step)) } else { now.saturating_add(step) };
            match event {
                0 => estimator.accept(now, requests),
                1 => estimator.reject(now),
                2 => drop(estimator.warn(now)),
                _ => estimator.pause(now),
            }
            let text = estimator.to_string();
            let read: GoodputEstimator = text.parse().unwrap();
            prop_assert_eq!(format!("{estimator:?}"), format!("{read:?}"));
            prop_assert_eq!(read.to_string(), text);
        }
    }

    // Rules L11, L38.
    #[test]
    fn a_text_that_is_read_is_that_of_an_estimator(
        word in 0..20_usize, text in "[0-9]{1,3}|[01]|[0-9]{1,2}[.][0-9]{1,3}|[+][0-9]|0[0-9]|-0|inf|NaN|1e[0-9]",
        state in 0..3_u8,
    ) {
        let at = |millis| Timestamp::START.saturating_add(Duration::from_millis(millis));
        let mut estimator = GoodputEstimator::new(at(100));
        for _ in 0..state {
            estimator.accept(at(900), 100);
            estimator.reject(at(1_000));
        }
        let whole = estimator.to_string();
        let mut words: Vec<_> = whole.split(' ').collect();
        words[word] = &text;
        let changed = words.join(" ");
        if let Ok(read) = changed.parse::<GoodputEstimator>() {
            prop_assert_eq!(read.to_string(), changed);
            prop_assert!(read.estimate().is_none_or(|estimate| estimate >= 0.2), "{:?}", read);
            let rate = read.rate(at(3_600_000));
            prop_assert!(rate.is_finite() && rate > 0.0, "{rate}");
        }
    }

    // Rules L11, L38.
    #[test]
    fn a_text_that_is_none_of_an_estimator_is_an_error(text in "[0-9eE.+ -]{0,80}", word in 0..20_usize) {
        if let Ok(estimator) = text.parse::<GoodputEstimator>() {
            prop_assert!(estimator.rate(Timestamp::START) >= 0.0);
        }
        // A word is missing or wrong.
        let whole = GoodputEstimator::new(Timestamp::START).to_string();
        let mut words: Vec<_> = whole.split(' ').collect();
        words[word] = "x";
        prop_assert!(words.join(" ").parse::<GoodputEstimator>().is_err());
        words.remove(word);
        prop_assert!(words.join(" ").parse::<GoodputEstimator>().is_err());
    }
}
