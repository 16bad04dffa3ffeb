//! A limiter of the number of requests in flight.

mod gate;
mod open;
mod strategy;
mod window;

pub use strategy::{ConcurrencyRetryStrategy, ConcurrencyRetryToken};

use crate::rejections::Rejections;
use crate::throttled::{MAX_THROTTLED_TIME, Throttled};
use crate::waits::stretched;
use gate::{Gate, Seat};
use retry_core::limit::{FailedSend, SendLimiter, Unpaid};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::parts::RandomNumbers;
use retry_core::parts::Shared;
use retry_core::policy::{RetryErrorType, Success};
use retry_core::time::Clock;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use window::Window;

/// The limiter of a [`ConcurrencyRetryStrategy`](crate::ConcurrencyRetryStrategy): a limit on the number of requests in flight.
///
/// It has setters, for a strategy with a [pair](crate::Pair) of limiters:
///
/// ```
/// use retry_core::StandardRetryStrategy;
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_limits::{ConcurrencyLimiter, PacedLimiter, Pair};
///
/// // At the rate that the server accepts, and at most 20 in flight.
/// static TABLE: LimitedRetryStrategy<Pair<PacedLimiter, ConcurrencyLimiter>> =
///     LimitedRetryStrategy::with_limiter(
///         StandardRetryStrategy::new(),
///         Pair(PacedLimiter::new(), ConcurrencyLimiter::new().max_in_flight(20)),
///     );
/// ```
#[derive(Debug)]
pub struct ConcurrencyLimiter {
    max_in_flight: u32,
    max_throttled_time: Duration,
    rejections: Rejections,
    /// A slot owns a part of the gate, because nothing of the strategy is borrowed while an attempt runs. A `const`
    /// constructor can't create an `Arc`, so the first operation does.
    gate: Shared<OnceLock<Arc<Gate>>>,
    random: RandomNumbers,
}

impl ConcurrencyLimiter {
    /// Creates a limiter with the default settings.
    pub const fn new() -> Self {
        Self {
            max_in_flight: u32::MAX,
            max_throttled_time: MAX_THROTTLED_TIME,
            rejections: Rejections::Throttling,
            gate: Shared::new(OnceLock::new()),
            random: RandomNumbers::new(),
        }
    }

    /// Sets the highest number of requests in flight, for a server whose limit is known. The default is `u32::MAX`, and 0 is
    /// treated as 1. Below it, the limit is learned.
    #[must_use]
    pub const fn max_in_flight(mut self, requests: u32) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets the time after which an operation that is rejected gives up, counted from its first rejected attempt; see
    /// [`PacedRetryStrategy::max_throttled_time`](crate::PacedRetryStrategy::max_throttled_time). The default is 5 minutes.
    #[must_use]
    pub const fn max_throttled_time(mut self, time: Duration) -> Self {
        self.max_throttled_time = time;
        self
    }

    /// Sets which failures are rejections, from which the limit is learned. The default is [`Rejections::Throttling`].
    #[must_use]
    pub const fn rejections(mut self, rejections: Rejections) -> Self {
        self.rejections = rejections;
        self
    }

    /// Sets the seed of the random part of waits and pauses, so that they are the same in every run. For tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.random = RandomNumbers::seeded(seed);
        self
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.gate().read(Window::in_flight).unwrap_or_default()
    }

    /// Returns the current limit on requests in flight, or `None` before the first one.
    pub fn limit(&self) -> Option<u32> {
        self.gate().read(Window::size)
    }

    #[inline]
    fn gate(&self) -> Arc<Gate> {
        self.gate.with(OnceLock::new, |gate| match gate.get() {
            Some(gate) => Arc::clone(gate),
            None => self.first_gate(gate),
        })
    }

    #[cold]
    fn first_gate(&self, gate: &OnceLock<Arc<Gate>>) -> Arc<Gate> {
        Arc::clone(gate.get_or_init(|| Arc::new(Gate::new(self.max_in_flight))))
    }
}

impl Default for ConcurrencyLimiter {
    fn default() -> Self {
        Self::new()
    }
}

/// The place of an operation in a [`ConcurrencyLimiter`].
#[derive(Debug, Default)]
pub struct ConcurrencyPlace {
    seat: Seat,
    throttled: Throttled,
}

impl SendLimiter for ConcurrencyLimiter {
    type Place = ConcurrencyPlace;

    #[inline]
    fn begin(&self, _: &dyn Clock) -> ConcurrencyPlace {
        // As a constant it is zeros, which are written to the operation's token directly.
        const { ConcurrencyPlace { seat: Seat::new(), throttled: Throttled::new() } }
    }

    #[inline]
    fn must_ask(&self, place: &ConcurrencyPlace) -> bool {
        !place.seat.is_granted()
    }

    #[inline]
    fn ask(&self, place: &mut ConcurrencyPlace, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        place.seat.ask(|| self.gate(), clock, waker)
    }

    fn put_back(&self, place: &mut ConcurrencyPlace) {
        place.seat.put_back();
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.rejections.include(error_type)
    }

    #[inline]
    fn succeeded(&self, place: &mut ConcurrencyPlace, _: &Success, _: &dyn Clock) {
        place.seat.accepted(Window::succeeded);
    }

    /// A rejected attempt is repeated without backoff and cost.
    fn failed(&self, place: &mut ConcurrencyPlace, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let mut seat = std::mem::take(&mut place.seat);
        match failure {
            FailedSend::Rejected { wait, is_too_long, .. } => {
                let (now, wait, part) = (clock.now(), stretched(wait, self.random.part()), self.random.part());
                // A wait that is longer than the strategy allows does not stop the other operations for long, either.
                let delay = (!is_too_long).then_some(wait);
                seat.end(|window, sent| window.rejected(now, sent, delay, part));
                let is_over = place.throttled.count(now, wait, self.max_throttled_time);
                Some(Unpaid::after(wait).over(is_over).too_long(is_too_long))
            }
            FailedSend::Otherwise { .. } => {
                seat.accepted(Window::accepted);
                None
            }
            // It was not sent.
            _ => None,
        }
    }

    fn progressed(&self, place: &mut ConcurrencyPlace) {
        place.throttled = Throttled::default();
    }

    fn uncounted(&self, place: &ConcurrencyPlace) -> u32 {
        place.throttled.attempts()
    }

    fn release(&self, place: &mut ConcurrencyPlace) {
        place.seat = Seat::default();
    }
}
