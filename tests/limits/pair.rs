//! Two limits together, limits that strategies share, and limiters of the user's own.

use crate::support::{ByHand, Failed, millis, secs};
use retry_config::RetryConfig;
use retry_core::limit::{AdaptiveLimiter, FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::policy::Usage;
use retry_core::strategy::{DelaySource, LimitedRetryStrategy};
use retry_core::{
    Clock, Failure, Jitter, RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy,
    Success,
};
use retry_limits::{PacedLimiter, Pair};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The wait of a limiter without a permission.
const WAIT: Duration = millis(70);

/// A limiter with a number of permissions, which notes the calls of its methods.
#[derive(Debug, Default)]
struct Noting {
    free: AtomicU32,
    /// The class that it takes for a rejection, besides throttling.
    rejects: Option<RetryErrorType>,
    terms: Option<Unpaid>,
    notes: Mutex<Vec<String>>,
}

impl Noting {
    fn new(free: u32) -> Self {
        Self { free: AtomicU32::new(free), ..Self::default() }
    }

    fn free(&self) -> u32 {
        self.free.load(Ordering::SeqCst)
    }

    fn note(&self, note: impl Into<String>) {
        self.notes.lock().unwrap().push(note.into());
    }

    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap())
    }
}

impl SendLimiter for Noting {
    /// Whether the place has a permission.
    type Place = bool;

    fn begin(&self, _: &dyn Clock) -> bool {
        self.note("begin");
        false
    }

    fn weigh(&self, _: &mut bool, weight: u32) {
        self.note(format!("weighs {weight}"));
    }

    fn used(&self, _: &mut bool, usage: Usage) {
        self.note(format!("used {:?}", usage.used()));
    }

    fn must_ask(&self, place: &bool) -> bool {
        self.note("must_ask");
        !place
    }

    fn ask(&self, place: &mut bool, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.note("ask");
        if !*place {
            *place = self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |free| free.checked_sub(1)).is_ok();
        }
        if *place { Ready::Now } else { Ready::After(WAIT) }
    }

    fn put_back(&self, place: &mut bool) {
        self.note("put_back");
        self.free.fetch_add(u32::from(std::mem::take(place)), Ordering::SeqCst);
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.note("rejects");
        error_type == RetryErrorType::Throttling || Some(error_type) == self.rejects
    }

    fn succeeded(&self, _: &mut bool, _: &Success, _: &dyn Clock) {
        self.note("succeeded");
    }

    fn failed(&self, place: &mut bool, failure: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        self.note(match failure {
            FailedSend::Rejected { wait, .. } => format!("rejected, {} ms", wait.as_millis()),
            FailedSend::Otherwise { error_type } => format!("failed, {error_type:?}"),
            failure => format!("{failure:?}"),
        });
        *place = false;
        self.terms
    }

    fn uncounted(&self, _: &bool) -> u32 {
        self.note("uncounted");
        1
    }

    fn release(&self, place: &mut bool) {
        self.note("release");
        self.free.fetch_add(u32::from(std::mem::take(place)), Ordering::SeqCst);
    }

    fn send_rate(&self) -> Option<f64> {
        self.note("send_rate");
        Some(5.0)
    }
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).hint_jitter(retry_core::strategy::HintJitter::NONE)
}

fn over<L: SendLimiter>(limiter: L) -> LimitedRetryStrategy<L> {
    LimitedRetryStrategy::with_limiter(standard(), limiter)
}

// Rules I1, I2.
#[test]
fn an_attempt_is_sent_when_both_limits_permit_it_and_waits_without_a_permission() {
    let clock = ByHand::at(secs(1000));
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (first, second) = (Noting::new(first), Noting::new(second));
        let strategy = over(Pair(&first, &second));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        let both = first.free() + second.free() == 2;
        let expected = if both { Ready::Now } else { Ready::After(WAIT) };
        let before = (first.free(), second.free());
        assert_eq!(strategy.ready(&mut token, &clock, None), expected);
        let after = (first.free(), second.free());
        assert_eq!(after, if both { (0, 0) } else { before }, "a waiter holds a permission");
        strategy.release(token);
        assert_eq!((first.free(), second.free()), before);
    }
}

// Rule I2.
#[test]
fn pairs_of_the_same_limits_in_another_order_do_not_block_each_other() {
    const OPERATIONS: u32 = 2_000;

    fn send(pair: &impl SendLimiter) {
        let clock = ByHand::at(secs(1000));
        for _ in 0..OPERATIONS {
            let mut place = pair.begin(&clock);
            while pair.ask(&mut place, &clock, None) != Ready::Now {
                std::thread::yield_now();
            }
            pair.release(&mut place);
        }
    }

    let (a, b) = (&Noting::new(1), &Noting::new(1));
    std::thread::scope(|scope| {
        scope.spawn(|| send(&Pair(a, b)));
        scope.spawn(|| send(&Pair(b, a)));
    });
    assert_eq!((a.free(), b.free()), (1, 1));
}

// Rule I3.
#[test]
fn both_limits_learn_from_each_outcome_and_each_decides_what_a_rejection_is() {
    let clock = ByHand::at(secs(1000));
    let (first, second) = (Noting::new(10), Noting { rejects: Some(RetryErrorType::Timeout), ..Noting::new(10) });
    let strategy = over(Pair(&first, &second));
    let learned = |limiter: &Noting| {
        let notes = limiter.take_notes().into_iter();
        notes.filter(|note| note != "begin" && note != "rejects" && note != "uncounted").collect::<Vec<_>>()
    };
    for (failed, by_first, by_second) in [
        (Failed::THROTTLED, "rejected, 0 ms", "rejected, 0 ms"),
        (Failed::THROTTLED.after(millis(50)), "rejected, 50 ms", "rejected, 50 ms"),
        (Failed::TIMEOUT, "failed, Some(Timeout)", "rejected, 0 ms"),
        (Failed::SAFE, "failed, Some(Other)", "failed, Some(Other)"),
    ] {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let _ = strategy.refresh_retry_token(token, &Failure::of(&failed), &clock);
        assert_eq!((learned(&first), learned(&second)), (vec![by_first.into()], vec![by_second.into()]));
    }
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let _ = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE).with_sent(false), &clock);
    assert_eq!((learned(&first), learned(&second)), (vec!["NotSent".into()], vec!["NotSent".into()]));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert_eq!((learned(&first), learned(&second)), (vec!["succeeded".into()], vec!["succeeded".into()]));
}

// Rule I4.
#[test]
fn a_retry_is_free_if_one_of_the_limits_says_so_and_has_the_longer_delay() {
    let clock = ByHand::at(secs(1000));
    let free = |delay| Some(Unpaid::after(delay));
    let over_at = |delay, is_over| Some(Unpaid::after(delay).over(is_over));
    for (first, second, delay, cost) in [
        (None, None, Ok(secs(1)), 5),
        (free(secs(2)), None, Ok(secs(2)), 0),
        (None, free(secs(3)), Ok(secs(3)), 0),
        (free(secs(2)), free(secs(3)), Ok(secs(3)), 0),
        (free(secs(3)), free(secs(2)), Ok(secs(3)), 0),
        (free(secs(3)), over_at(secs(2), true), Err(RetryError::MaxTime), 0),
        (over_at(secs(3), true), None, Err(RetryError::MaxTime), 0),
    ] {
        let limiter = |terms| Noting { terms, ..Noting::new(1) };
        let strategy = over(Pair(limiter(first), limiter(second)));
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let retried = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock);
        assert_eq!(retried.map(|token| token.delay()), delay);
        assert_eq!(strategy.standard().quota().available(), 500 - cost);
    }
}

// Rule R13.
#[test]
fn a_limiter_learns_nothing_from_the_token_of_another_strategy() {
    let clock = ByHand::at(secs(1000));
    let (strategy, other) = (over(Noting::new(1)), over(Noting::new(1)));
    let begin = || {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        other.limiter().take_notes();
        token
    };
    let mut token = begin();
    other.weigh(&mut token, 3);
    other.used(&mut token, Usage::new(7));
    other.release(token);
    let _ = other.record_success(begin(), &Success::default(), &clock);
    let _ = other.refresh_retry_token(begin(), &Failure::of(&Failed::THROTTLED), &clock);
    assert_eq!(other.limiter().take_notes(), [""; 0]);
}

// Rule R7.
#[test]
fn retries_that_a_limiter_does_not_count_leave_the_number_of_attempts_unchanged() {
    let clock = ByHand::at(secs(1000));
    for max_attempts in 1..4 {
        // The limiter says that one retry does not count.
        let strategy = LimitedRetryStrategy::with_limiter(standard().max_attempts(max_attempts), Noting::new(9));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        for attempt in 2..=max_attempts + 1 {
            token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
            assert_eq!(token.attempt(), attempt);
        }
        let refused = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock);
        assert_eq!(refused.unwrap_err(), RetryError::MaxAttempts);
    }
}

// Rules I4, R7.
#[test]
fn a_free_retry_is_granted_if_its_delay_ends_within_the_time_that_is_left() {
    let clock = ByHand::at(secs(1000));
    let strategy = |delay| over(Noting { terms: Some(Unpaid::after(delay)), ..Noting::new(1) });
    let (delay, more) = (secs(2), secs(2) + Duration::from_nanos(1));
    for (remaining, expected) in [
        (None, Ok((delay, DelaySource::RetryAfter))),
        (Some(more), Ok((delay, DelaySource::RetryAfter))),
        (Some(delay), Ok((delay, DelaySource::RetryAfter))),
        (Some(secs(1)), Err(RetryError::MaxTime)),
    ] {
        let strategy = strategy(delay);
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let failure = Failure::of(&Failed::THROTTLED).with_remaining(remaining);
        let retried = strategy.refresh_retry_token(token, &failure, &clock);
        assert_eq!(retried.map(|token| (token.delay(), token.delay_source())), expected);
    }
    let strategy = strategy(Duration::ZERO);
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert_eq!((token.delay(), token.delay_source()), (Duration::ZERO, DelaySource::Backoff));
}

/// Takes the send that is available, and waits for the next one.
fn wait_behind(limiter: &impl SendLimiter, clock: &ByHand) {
    let mut place = limiter.begin(clock);
    while limiter.ask(&mut place, clock, None) == Ready::Now {
        place = limiter.begin(clock);
    }
    limiter.release(&mut place);
}

/// Makes a limiter limit sends, and uses up what is available.
fn use_up(limit: &impl SendLimiter, clock: &ByHand) {
    let mut throttled = limit.begin(clock);
    limit.succeeded(&mut throttled, &Success::default(), clock);
    for _ in 0..20 {
        clock.advance(millis(100));
        let mut answered = limit.begin(clock);
        let _ = limit.ask(&mut answered, clock, None);
        limit.succeeded(&mut answered, &Success::default(), clock);
    }
    let strategy = over(limit);
    let token = strategy.acquire_initial_token(clock).unwrap();
    drop(strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), clock));
    wait_behind(limit, clock);
}

/// An operation whose permission is put back keeps its turn in a queue, and the permission is not lost.
fn its_turn_is_kept<L: SendLimiter>(limit: &L) {
    let clock = ByHand::at(secs(1000));
    use_up(limit, &clock);
    let gate = Noting::new(0);
    let pair = Pair(limit, &gate);
    let mut first = pair.begin(&clock);
    while pair.ask(&mut first, &clock, None) != Ready::After(WAIT) {
        clock.advance(millis(1));
    }
    // Another operation may have the send that was put back.
    let mut second = limit.begin(&clock);
    assert_eq!(limit.ask(&mut second, &clock, None), Ready::Now, "the send was lost");
    let mut third = limit.begin(&clock);
    assert_ne!(limit.ask(&mut third, &clock, None), Ready::Now, "the send was given twice");
    // The first one asks again, and the next send is its own.
    gate.free.store(1, Ordering::SeqCst);
    loop {
        let is_sent = pair.ask(&mut first, &clock, None) == Ready::Now;
        if is_sent {
            break;
        }
        assert_ne!(limit.ask(&mut third, &clock, None), Ready::Now, "the third one overtook the first one");
        clock.advance(millis(1));
    }
    assert_ne!(limit.ask(&mut third, &clock, None), Ready::Now);
}

// Rule I2.
#[test]
fn an_operation_that_puts_its_send_back_keeps_its_turn() {
    its_turn_is_kept(&AdaptiveLimiter::new());
    its_turn_is_kept(&PacedLimiter::new());
}

// Rules I2, L33.
#[test]
fn a_probe_for_which_the_other_limit_has_no_permission_ends_no_hold() {
    let clock = ByHand::at(secs(1000));
    let (paced, other) = (PacedLimiter::new(), Noting::new(102));
    let strategy = over(Pair(&paced, &other));
    let send = || {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        clock.advance(millis(20));
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
        token
    };
    let accept = |token| strategy.record_success(token, &Success::default(), &clock).unwrap();
    (0..100).for_each(|_| accept(send()));
    let late = send();
    let _ = strategy.refresh_retry_token(send(), &Failure::of(&Failed::THROTTLED.after(secs(60))), &clock);
    clock.advance(secs(1));
    let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(strategy.ready(&mut waiting, &clock, None).wait(), Some(WAIT));
    accept(late);
    // Another operation takes the probe. The others are held back until it is accepted.
    let (mut probe, mut next) = (paced.begin(&clock), paced.begin(&clock));
    assert_eq!(paced.ask(&mut probe, &clock, None), Ready::Now);
    let mut is_sent = || {
        let _ = paced.ask(&mut next, &clock, None);
        clock.advance(millis(100));
        paced.ask(&mut next, &clock, None) == Ready::Now
    };
    assert!(!is_sent());
    paced.succeeded(&mut probe, &Success::default(), &clock);
    assert!(is_sent());
}

/// An operation that waits has nothing to put back.
fn nothing_is_put_back_by_a_waiter<L: SendLimiter>(limit: &L) {
    let clock = ByHand::at(secs(1000));
    use_up(limit, &clock);
    let mut waiting = limit.begin(&clock);
    assert_ne!(limit.ask(&mut waiting, &clock, None), Ready::Now);
    limit.put_back(&mut waiting);
    assert!(limit.must_ask(&waiting));
    for place in [&mut waiting, &mut limit.begin(&clock)] {
        assert_ne!(limit.ask(place, &clock, None), Ready::Now, "a send was given that was not taken before");
    }
}

// Rule I2.
#[test]
fn an_operation_that_has_no_send_puts_none_back() {
    nothing_is_put_back_by_a_waiter(&AdaptiveLimiter::new());
    nothing_is_put_back_by_a_waiter(&PacedLimiter::new());
}

// Rules I2, I4.
#[test]
fn a_pair_has_the_lower_rate_and_the_higher_number_of_uncounted_attempts_and_asks_both() {
    let clock = ByHand::at(secs(1000));
    let paced = |rate| PacedLimiter::new().max_rate(rate);
    for (first, second) in [(7.0, 9.0), (9.0, 7.0)] {
        let pair = Pair(paced(first), paced(second));
        let mut place = pair.begin(&clock);
        assert!(pair.must_ask(&place));
        clock.advance(secs(1));
        assert_eq!(pair.ask(&mut place, &clock, None), Ready::Now);
        assert!(!pair.must_ask(&place));
        pair.put_back(&mut place);
        assert!(pair.must_ask(&place));
        // Sends are spaced 3 % further apart than the limit says.
        let rate = pair.send_rate().unwrap();
        assert!((rate - 7.0 / 1.03).abs() < 1e-9, "{rate}");
    }
    let (without, with) = (Counting::default(), Noting::new(0));
    let (first, second) = (Pair(&without, &with), Pair(&with, &without));
    assert_eq!((first.uncounted(&first.begin(&clock)), second.uncounted(&second.begin(&clock))), (1, 1));
    // One of the two that has no permission is enough to ask.
    let mut place = Pair(&without, &with).begin(&clock);
    place.1 = true;
    assert!(first.must_ask(&place), "the first one has none");
    let mut place = Pair(&with, &with).begin(&clock);
    place.0 = true;
    assert!(Pair(&with, &with).must_ask(&place), "the second one has none");
}

// Rule R7.
#[test]
fn each_attempt_counts_with_a_limiter_that_says_nothing_about_it() {
    let clock = ByHand::at(secs(1000));
    let strategy = LimitedRetryStrategy::with_limiter(standard().max_attempts(2), Counting::default());
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
    let refused = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock);
    assert_eq!(refused.unwrap_err(), RetryError::MaxAttempts);
}

// Rules I5, L51.
#[test]
fn pointers_and_pairs_forward_each_method_to_the_limiter() {
    fn drive<L: SendLimiter>(limiter: &L) {
        let clock = ByHand::at(secs(1000));
        let mut place = limiter.begin(&clock);
        limiter.weigh(&mut place, 70);
        assert!(limiter.must_ask(&place));
        assert_eq!(limiter.ask(&mut place, &clock, None), Ready::Now);
        limiter.put_back(&mut place);
        assert!(limiter.rejects(RetryErrorType::Throttling));
        limiter.used(&mut place, Usage::new(80));
        limiter.succeeded(&mut place, &Success::default(), &clock);
        let failure = FailedSend::Otherwise { error_type: None };
        assert_eq!(limiter.failed(&mut place, failure, &clock), None);
        assert_eq!(limiter.uncounted(&place), 1);
        limiter.release(&mut place);
        assert_eq!(limiter.send_rate(), Some(5.0));
    }
    let calls = [
        "begin",
        "weighs 70",
        "must_ask",
        "ask",
        "put_back",
        "rejects",
        "used Some(80)",
        "succeeded",
        "failed, None",
        "uncounted",
        "release",
        "send_rate",
    ];
    let limiter = Arc::new(Noting::new(1));
    drive(&*limiter);
    assert_eq!(limiter.take_notes(), calls);
    drive(&&*limiter);
    assert_eq!(limiter.take_notes(), calls);
    drive(&Arc::clone(&limiter));
    assert_eq!(limiter.take_notes(), calls);

    // A pair asks `must_ask` once more for itself.
    let of_a_pair = |notes: Vec<String>| {
        let mut notes = notes;
        notes.dedup();
        let must_ask = notes.iter().filter(|note| *note == "must_ask").count();
        assert!(must_ask > 0);
        notes
    };
    let (first, second) = (Noting::new(1), Noting::new(1));
    drive(&Pair(&first, &second));
    assert_eq!(of_a_pair(first.take_notes()), calls);
    // The first one says already that it is a rejection.
    let without: Vec<_> = calls.into_iter().filter(|call| *call != "rejects").collect();
    assert_eq!(of_a_pair(second.take_notes()), without);
}

/// A limiter that has only the methods that a limiter must have, and gives back what it granted.
#[derive(Debug, Default)]
struct Counting(AtomicU32);

impl SendLimiter for Counting {
    type Place = bool;

    fn begin(&self, _: &dyn Clock) -> bool {
        false
    }

    fn ask(&self, place: &mut bool, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        if !std::mem::replace(place, true) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Ready::Now
    }

    fn failed(&self, _: &mut bool, _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        None
    }

    fn release(&self, place: &mut bool) {
        self.0.fetch_sub(u32::from(std::mem::take(place)), Ordering::SeqCst);
    }
}

// Rule I2.
#[test]
fn a_limiter_without_a_queue_releases_a_permission_that_can_not_be_used_yet() {
    let clock = ByHand::at(secs(1000));
    let (counting, gate) = (Counting::default(), Noting::new(0));
    let strategy = over(Pair(&counting, &gate));
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::After(WAIT));
    assert_eq!(counting.0.load(Ordering::SeqCst), 0, "a waiter holds a permission");
    gate.free.store(1, Ordering::SeqCst);
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::Now);
    assert_eq!(counting.0.load(Ordering::SeqCst), 1);
    strategy.release(token);
    assert_eq!(counting.0.load(Ordering::SeqCst), 0);
}

// Rules L45, L47.
#[test]
fn weights_do_not_matter_to_a_limit_on_requests() {
    fn waits<S: RetryStrategy>(strategy: &S, weight: Option<u32>) -> Vec<Duration> {
        let clock = ByHand::at(secs(1000));
        let send = |_: u32| {
            let begun = clock.now();
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            if let Some(weight) = weight {
                strategy.weigh(&mut token, weight);
            }
            while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
                clock.advance(wait);
            }
            if let Some(weight) = weight {
                strategy.used(&mut token, Usage::new(2 * weight));
            }
            strategy.record_success(token, &Success::default(), &clock).unwrap();
            clock.now().saturating_since(begun)
        };
        (0..5).map(send).collect()
    }

    let paced = || over(PacedLimiter::new().max_rate(10.0));
    let configured = || RetryConfig::new().build_on(paced()).unwrap();
    let expected = waits(&paced(), None);
    assert!(expected[1] > Duration::ZERO, "{expected:?}");
    assert_eq!(waits(&paced(), Some(70)), expected);
    assert_eq!(waits(&configured(), Some(70)), expected);
    assert_eq!(waits(&over(Counting::default()), Some(70)), [Duration::ZERO; 5]);
}
