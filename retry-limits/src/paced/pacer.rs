//! The state that all operations of a paced strategy share.

use super::accepted_counters::AcceptedCounters;
use super::pace::Pace;
use super::place::{Grant, PacedPlace};
use super::unit::Unit;
use super::{GoodputEstimator, PacedAnswers, PacedSettings};
use crate::sync::{AtomicU8, AtomicU32, Mutex, MutexGuard, Ordering, PoisonError};
use retry_core::classify::http::RateLimit;
use retry_core::limit::Ready;
use retry_core::parts::{SendQueue, SendSupply, Ticket};
use retry_core::time::{Clock, Timestamp};
use std::num::NonZeroU16;
use std::time::Duration;

/// A wait that the server asks for holds back all operations if it is longer than this. A shorter one is often a part of a
/// second that the server rounded up, and only its own operation waits for it.
const HOLDS_ALL: Duration = Duration::from_millis(1500);

/// The time that is left for the attempt after the expected wait for its send: this part of the wait, and at least this time. If
/// an operation were sent in the last moment, its time would be over before the answer, and the server would have worked for
/// nothing. Rates are cut and return meanwhile, so an estimate of a longer wait is less certain.
const ATTEMPT_PART: u32 = 8;
pub(super) const SHORTEST_ATTEMPT: Duration = Duration::from_millis(100);
/// The age up to which answers are treated as current when they are moved to the estimator. With 5 ms, current ones would count as
/// old; from 10 s on, old ones would count as what the server accepts now. Between them, it makes no difference.
const FRESH: Duration = Duration::from_millis(250);

/// The queue of sends behind a lock, and the state before there is a queue.
///
/// # Threads
///
/// Before the first rejection, and without the ramp, threads share only the phase, which none of them writes: each thread
/// has its own counter. Later, a response that is not a rejection adds to `accepted` and takes no lock. A thread that
/// takes the lock first moves that number to the estimator.
///
/// The atomics publish no other data, so relaxed ordering suffices. A thread that reads an old phase does what was right a
/// moment before: it counts a request in its counter, which is not read any more, or sends a request without asking. This
/// happens to a few requests at the first rejection, and the estimate does not depend on them.
#[derive(Debug)]
pub(super) struct Pacer<U: Unit> {
    phase: AtomicU8,
    counters: AcceptedCounters,
    accepted: Padded<AtomicU32>,
    /// `None` until sends are limited for the first time, or with weights, until the first response. It then stays, so that a
    /// ticket is never issued twice, and a waiter keeps its place when a limit ends and another one begins. No user code runs while
    /// it is locked, not even the clock, so the lock is never poisoned.
    queue: Padded<Mutex<Option<SendQueue<Pace<U>>>>>,
}

#[derive(Debug)]
#[repr(align(64))]
struct Padded<T>(T);

/// The phase of a limit. A later one has a greater number.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Before the first operation.
    Idle,
    /// Without a limit and without waiters: without the ramp and a limit that the user sets, before the first rejection.
    Open,
    /// Sends are limited. After a rejection, it never ends. It begins and ends under the lock, and there is a queue during it.
    Pacing,
    /// After a limit that ended, until the operations that waited for it have given up their places.
    Ended,
}

/// Which limit rejected a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// Probably one of its operation alone.
    Own,
    /// That of all operations. A long wait holds back all of them.
    ByAll { holds: bool },
}

/// Returns the sends of all waiters.
fn sends_of_waiters<U: Unit>(queue: &SendQueue<Pace<U>>) -> f64 {
    let (pace, waiting) = (queue.limit(), queue.waiting());
    U::sum(waiting.len(), || waiting.map(|weight| pace.sends(weight)).sum())
}

/// Returns the time until the last waiter of this many sends is sent, and what its attempt needs.
fn expected<U: Unit>(pace: &Pace<U>, sends: f64) -> Duration {
    let expected = pace.wait_at_best_for(sends);
    expected.saturating_add((expected / ATTEMPT_PART).max(SHORTEST_ATTEMPT))
}

/// Returns the queue, which is created if there is none.
fn queue_from<U: Unit>(queue: &mut Option<SendQueue<Pace<U>>>, now: Timestamp) -> &mut SendQueue<Pace<U>> {
    queue.get_or_insert_with(|| SendQueue::new(Pace::new(&GoodputEstimator::new(now), now), now))
}

/// Returns the phase in which sends are not limited.
fn phase_without_a_limit<U: Unit>(queue: &SendQueue<Pace<U>>) -> Phase {
    if queue.is_empty() { Phase::Open } else { Phase::Ended }
}

impl<U: Unit> Pacer<U> {
    pub(super) const fn new() -> Self {
        Self {
            phase: AtomicU8::new(Phase::Idle as u8),
            counters: AcceptedCounters::new(),
            accepted: Padded(AtomicU32::new(0)),
            queue: Padded(Mutex::new(None)),
        }
    }

    #[inline]
    fn is_in(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::Relaxed) == phase as u8
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<SendQueue<Pace<U>>>> {
        self.queue.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation. With the ramp or a limit that the user sets, the first one begins to limit sends.
    #[inline]
    pub(super) fn begin(&self, clock: &dyn Clock, settings: impl FnOnce() -> PacedSettings) {
        if self.is_in(Phase::Idle) {
            self.begin_the_first(clock, settings);
        }
    }

    #[cold]
    fn begin_the_first(&self, clock: &dyn Clock, settings: impl FnOnce() -> PacedSettings) {
        let now = clock.now();
        let mut queue = self.lock();
        if !self.is_in(Phase::Idle) {
            return;
        }
        let settings = settings();
        if settings.limits_the_first() {
            self.limit(&mut queue, now, settings, GoodputEstimator::new).0.fill();
        } else {
            self.enter(Phase::Open);
        }
    }

    /// Returns the limit with the current time to use, and with the accepted requests up to now. If sends are not limited, a limit
    /// with this estimator begins.
    fn limit<'a>(
        &self,
        queue: &'a mut Option<SendQueue<Pace<U>>>,
        now: Timestamp,
        settings: PacedSettings,
        estimator: impl FnOnce(Timestamp) -> GoodputEstimator,
    ) -> (&'a mut Pace<U>, Timestamp) {
        let (pace, now) = queue_from(queue, now).limit_at(now);
        if !self.is_pacing() {
            pace.restart(estimator(now), settings.user_rates(), now);
            self.enter(Phase::Pacing);
        }
        self.drain(pace, now);
        (pace, now)
    }

    /// Applies changed settings. The caller has stored them before, so that no thread begins with the former ones.
    pub(super) fn change(&self, now: Timestamp, settings: impl FnOnce() -> PacedSettings) {
        let mut queue = self.lock();
        let settings = settings();
        let is_pacing = self.is_pacing();
        if self.is_in(Phase::Idle) || !is_pacing && settings.max_rate.is_none() {
            return;
        }
        let user_rates = settings.user_rates();
        // Otherwise the clock does not matter. It may differ from the clock of the operations.
        if is_pacing && queue.as_ref().is_none_or(|queue| queue.limit().estimator.user_rates().is_same(&user_rates)) {
            return;
        }
        let (pace, now) = self.limit(&mut queue, now, settings, GoodputEstimator::new);
        let had_limit = pace.estimator.user_rates().has_limit();
        pace.set_user_rates(now, user_rates);
        if had_limit {
            self.end(queue.as_ref(), settings);
        }
    }

    /// Ends the limit if nothing is limited: without the ramp and a limit that the user sets, before the first rejection.
    /// Operations that wait ask once more, and are sent.
    fn end(&self, queue: Option<&SendQueue<Pace<U>>>, settings: PacedSettings) {
        if let Some(queue) = queue.filter(|queue| queue.limit().is_unlimited())
            && !settings.limits_the_first()
        {
            self.enter(phase_without_a_limit(queue));
        }
    }

    /// Returns whether sends are limited.
    #[inline]
    pub(super) fn is_pacing(&self) -> bool {
        self.is_in(Phase::Pacing)
    }

    /// Returns whether an operation must ask before it sends, because sends are limited or it may have a place to give up.
    #[inline]
    pub(super) fn must_be_asked(&self) -> bool {
        self.phase.load(Ordering::Relaxed) >= Phase::Pacing as u8
    }

    /// Returns the current limit on sends per second, or `None` if there is none.
    pub(super) fn send_rate(&self) -> Option<f64> {
        let queue = self.lock();
        queue.as_ref().filter(|_| self.is_pacing()).map(|queue| queue.limit().rate())
    }

    /// Asks for a send. Returns the send if it is granted, or else how long to wait before asking again. If sends are not limited,
    /// returns `None` in place of the send, and the place is given up.
    pub(super) fn ask(
        &self,
        clock: &dyn Clock,
        ticket: &mut Option<Ticket>,
        weight: U::Weight,
    ) -> Result<Option<Grant>, Duration> {
        let now = clock.now();
        let mut queue = self.lock();
        let Some(queue) = &mut *queue else { return Ok(None) };
        if !self.is_pacing() {
            queue.leave(ticket.take());
            self.enter(phase_without_a_limit(queue));
            return Ok(None);
        }
        let (pace, now) = queue.limit_at(now);
        self.drain(pace, now);
        if ticket.is_none() {
            pace.meet(weight);
        }
        let wait = queue.ask_at(now, ticket, weight);
        let pace = queue.limit_mut();
        if let Some(wait) = wait {
            pace.waited_at = now;
            pace.answers.waits += 1;
            return Err(wait);
        }
        let granted = pace.grant();
        if !pace.is_limited(now) {
            pace.pause(now);
        }
        Ok(Some(granted))
    }

    /// Returns the answer for an operation that has joined the queue and waits for this long.
    #[cold]
    pub(super) fn queued(&self, wait: Duration) -> Ready {
        let mut queue = self.lock();
        let Some(queue) = &mut *queue else { return Ready::After(wait) };
        let sends = sends_of_waiters(queue);
        let pace = queue.limit_mut();
        pace.meet_queue(sends);
        let expected = expected(pace, sends);
        if expected > wait { Ready::Queued { wait, expected } } else { Ready::After(wait) }
    }

    /// Sets the rate of sends; `None` means the estimator's rate. Returns the number of answers of each kind that were counted so far.
    pub(super) fn impose(
        &self,
        clock: &dyn Clock,
        rate: Option<f64>,
        is_cut: bool,
        settings: impl FnOnce() -> PacedSettings,
    ) -> PacedAnswers {
        let now = clock.now();
        let mut queue = self.lock();
        let settings = settings();
        let (pace, now) = self.limit(&mut queue, now, settings, GoodputEstimator::new);
        pace.impose(now, rate, is_cut);
        let answers = pace.answers;
        self.end(queue.as_ref(), settings);
        answers
    }

    /// Moves the number of accepted requests to the estimator. The caller holds the lock.
    #[inline]
    fn drain(&self, pace: &mut Pace<U>, now: Timestamp) {
        if self.accepted.0.load(Ordering::Relaxed) > 0 {
            // After a pause, these are the last answers before it.
            let now = if now.saturating_since(pace.filled) > FRESH { pace.filled } else { now };
            pace.accept(now, self.accepted.0.swap(0, Ordering::Relaxed));
        }
    }

    /// Counts a response that is not a rejection, and gives up the operation's place in the queue, if it has one. `used` is what the
    /// request used of the limit.
    #[inline]
    pub(super) fn accept(&self, clock: &dyn Clock, operation: &PacedPlace<U>, used: Option<u32>) {
        self.give_up(operation.ticket, None);
        if U::IS_WEIGHED {
            if operation.throttled.attempts() > 1 {
                self.refute_own();
            }
            return self.accept_weight(clock, operation, used);
        }
        if self.is_pacing() {
            if operation.throttled.attempts() > 1 {
                self.refute_own();
            }
            self.accepted.0.fetch_add(1, Ordering::Relaxed);
            if let Some(probe) = operation.probe() {
                self.accept_probe(clock, probe);
            }
        } else {
            self.counters.add(clock.now());
        }
    }

    /// Learns that a probe was accepted, which was counted.
    #[cold]
    fn accept_probe(&self, clock: &dyn Clock, probe: Grant) {
        let now = clock.now();
        if let Some(queue) = &mut *self.lock() {
            let (pace, now) = queue.limit_at(now);
            pace.accept_probe(now, probe);
            self.drain(pace, now);
        }
    }

    #[cold]
    fn accept_weight(&self, clock: &dyn Clock, operation: &PacedPlace<U>, used: Option<u32>) {
        let (now, weight) = (clock.now(), operation.weight());
        let mut queue = self.lock();
        self.meet_unlimited(&mut queue, now, weight);
        if self.is_pacing() {
            let (pace, now) = queue_from(&mut queue, now).limit_at(now);
            pace.accept_weight(now, operation.probe(), weight, used);
        } else {
            self.counters.add(now);
        }
    }

    /// Records the weight of a response while sends are not limited, so that the search begins in sends of the mean weight.
    fn meet_unlimited(&self, queue: &mut Option<SendQueue<Pace<U>>>, now: Timestamp, weight: U::Weight) {
        if U::IS_WEIGHED && !self.is_pacing() {
            queue_from(queue, now).limit_mut().meet(weight);
        }
    }

    /// Learns from a rejection, and gives up the operation's place in the queue, if it has one. A long wait holds back all operations.
    /// `returns` says whether the operation comes back after the wait.
    #[cold]
    pub(super) fn reject(
        &self,
        now: Timestamp,
        operation: &mut PacedPlace<U>,
        (wait, returns): (Duration, bool),
        settings: impl FnOnce() -> PacedSettings,
    ) -> Rejected {
        self.give_up(operation.ticket, None);
        let holds = wait > HOLDS_ALL;
        let mut queue = self.lock();
        self.meet_unlimited(&mut queue, now, operation.weight());
        let (pace, now) = self.limit(&mut queue, now, settings(), |now| {
            GoodputEstimator::after_the_first_rejection(now, self.counters.last_second(now))
        });
        if pace.is_own(now, &mut operation.throttled) {
            return Rejected::Own;
        }
        // If the limit has just begun, the request was sent before, so this does nothing.
        let is_noise = pace.reject(now, operation.sent_after(), holds);
        // The rejected operation waits, too, although it does not ask meanwhile.
        if returns && !is_noise {
            pace.waited_at = pace.waited_at.max(now.saturating_add(wait));
        }
        Rejected::ByAll { holds: holds && pace.hold(now, wait) }
    }

    /// Learns that an operation is accepted that was rejected more than once, so it has no limit of its own.
    #[cold]
    fn refute_own(&self) {
        if let Some(queue) = &mut *self.lock() {
            queue.limit_mut().refute_own();
        }
    }

    /// Learns from the server's report about its limit. `sent_after` is the number of rejections when the request was sent, if sends
    /// were limited then.
    #[cold]
    pub(super) fn report(&self, clock: &dyn Clock, sent_after: Option<NonZeroU16>, limit: RateLimit) {
        let now = clock.now();
        let mut queue = self.lock();
        let Some(queue) = queue.as_mut().filter(|_| self.is_pacing()) else { return };
        let (pace, now) = queue.limit_at(now);
        self.drain(pace, now);
        pace.report(now, sent_after, limit);
    }

    /// Gives back a granted send that is not made yet, and keeps the operation's turn.
    pub(super) fn put_back(&self, ticket: &mut Option<Ticket>, granted: Grant, weight: U::Weight) {
        if let Some(queue) = &mut *self.lock() {
            queue.limit_mut().not_sent(granted, weight);
            queue.keep_turn(ticket);
        }
    }

    /// Gives up a place in the queue, and gives back the send that was granted for a request of this weight and not made.
    #[inline]
    pub(super) fn give_up(&self, ticket: Option<Ticket>, granted: Option<(Grant, U::Weight)>) {
        if (ticket.is_some() || granted.is_some())
            && let Some(queue) = &mut *self.lock()
        {
            queue.leave(ticket);
            if let Some((granted, weight)) = granted {
                queue.limit_mut().not_sent(granted, weight);
            }
        }
    }
}
