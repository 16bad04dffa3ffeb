//! What the paced limiter does for each operation.

use super::limiter::PacedLimiter;
use super::live_settings::LiveSettings;
use super::pacer::{Pacer, Rejected, SHORTEST_ATTEMPT};
use super::place::PacedPlace;
use super::unit::Unit;
use crate::throttled::Throttled;
use crate::waits::{own_wait, stretched};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::parts::RECHECK;
use retry_core::policy::{RetryErrorType, Success, Usage};
use retry_core::time::Clock;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl<U: Unit> SendLimiter for PacedLimiter<U> {
    type Place = PacedPlace<U>;

    #[inline]
    fn begin(&self, clock: &dyn Clock) -> PacedPlace<U> {
        self.begin_after(Throttled::default(), clock)
    }

    /// What was taken must be given back, so a weight that comes too late is ignored.
    fn weigh(&self, place: &mut PacedPlace<U>, weight: u32) {
        if place.ticket.is_none() && place.granted.is_none() {
            U::weigh(&mut place.held, weight);
        }
    }

    fn used(&self, place: &mut PacedPlace<U>, usage: Usage) {
        U::used(&mut place.held, usage);
    }

    /// An operation that waited when the limit ended asks once more, to give up its place.
    #[inline]
    fn must_ask(&self, place: &PacedPlace<U>) -> bool {
        self.with_pacer(Pacer::must_be_asked) && !place.is_granted()
    }

    #[inline]
    fn ask(&self, place: &mut PacedPlace<U>, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        let (weight, joins) = (place.weight(), place.ticket.is_none());
        match self.with_pacer(|pacer| pacer.ask(clock, &mut place.ticket, weight)) {
            Ok(granted) => {
                place.granted = granted;
                Ready::Now
            }
            // A shorter wait is the whole wait, and too short to refuse an operation for it.
            Err(wait) if joins && wait >= RECHECK => self.with_pacer(|pacer| pacer.queued(wait)),
            Err(wait) if joins => Ready::After(wait),
            // The rate was lower than expected. Without time for its attempt, the operation would take a send and fail.
            Err(wait) => Ready::Queued { wait, expected: wait.saturating_add(SHORTEST_ATTEMPT) },
        }
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.with_live(LiveSettings::rejections).include(error_type)
    }

    /// Learns also from the report of the server with a success.
    #[inline]
    fn succeeded(&self, place: &mut PacedPlace<U>, success: &Success, clock: &dyn Clock) {
        self.with_pacer(|pacer| {
            let usage = U::take_usage(&mut place.held);
            pacer.accept(clock, place, usage.used());
            if let Some(limit) = U::report(success, usage) {
                pacer.report(clock, place.sent_after(), limit);
            }
        });
    }

    /// A throttled attempt is repeated without backoff and cost.
    fn failed(&self, place: &mut PacedPlace<U>, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let usage = U::take_usage(&mut place.held);
        let terms = match failure {
            FailedSend::Rejected { wait, is_too_long, .. } => {
                let (now, mut delay) = (clock.now(), self.stretched(wait));
                let rejected =
                    self.with_pacer(|pacer| pacer.reject(now, place, (delay, !is_too_long), || self.settings()));
                let is_over = place.throttled.count(now, delay, self.longest_throttled_time());
                if rejected == Rejected::Own {
                    delay = delay.max(own_wait(place.throttled.attempts(), self.stretch.part()));
                }
                let is_held = rejected == Rejected::ByAll { holds: true };
                let holds_too_long = is_held && is_too_long && !self.warned.swap(true, Ordering::Relaxed);
                let terms = Unpaid::after(delay).over(is_over).too_long(is_too_long);
                Some(terms.holding_too_long(holds_too_long))
            }
            FailedSend::Otherwise { error_type } => {
                // A probe without an answer says nothing about the wait of the server.
                if error_type == Some(RetryErrorType::Timeout) {
                    place.granted = None;
                }
                self.with_pacer(|pacer| pacer.accept(clock, place, usage.used()));
                None
            }
            // It was not sent.
            _ => {
                self.release(place);
                None
            }
        };
        *place = PacedPlace::after(place.throttled, place.held);
        terms
    }

    fn progressed(&self, place: &mut PacedPlace<U>) {
        place.throttled = Throttled::default();
    }

    fn uncounted(&self, place: &PacedPlace<U>) -> u32 {
        place.throttled.attempts()
    }

    fn put_back(&self, place: &mut PacedPlace<U>) {
        let weight = place.weight();
        if let Some(granted) = place.granted.take() {
            self.with_pacer(|pacer| pacer.put_back(&mut place.ticket, granted, weight));
        }
    }

    fn release(&self, place: &mut PacedPlace<U>) {
        let (ticket, granted, weight) = (place.ticket.take(), place.granted.take(), place.weight());
        self.with_pacer(|pacer| pacer.give_up(ticket, granted.map(|granted| (granted, weight))));
    }

    fn send_rate(&self) -> Option<f64> {
        self.with_pacer(Pacer::send_rate)
    }
}

impl<U: Unit> PacedLimiter<U> {
    /// Returns a wait that the server asks for, stretched at random.
    fn stretched(&self, wait: Duration) -> Duration {
        if wait.is_zero() { wait } else { stretched(wait, self.stretch.part()) }
    }
}
