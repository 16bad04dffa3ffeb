//! A limiter that sends at the rate that the server accepts.

mod accepted;
mod estimator;
mod hold;
mod pace;
mod pacer;
mod reports;
mod settings;

pub use estimator::GoodputEstimator;
pub(super) use settings::MAX_THROTTLED_TIME;
pub use settings::Rejections;
#[doc(hidden)]
pub use settings::{PaceSettings, SendRate};

use super::limiter::{FailedSend, SendLimiter, Unpaid};
use super::queue::Ticket;
use super::{LazyWaker, Ready};
use crate::policy::{RetryErrorType, Success};
use crate::support::Shared;
use crate::support::random::RandomNumbers;
use crate::time::{Clock, Timestamp};
use pacer::Pacer;
use settings::LiveSettings;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest part by which a wait that the server asks for is stretched, so that operations do not all retry at the
/// same time.
const STRETCH: f64 = 0.1;

/// The longest time by which such a wait is stretched.
const LONGEST_STRETCH: Duration = Duration::from_secs(5);
/// The lowest external rate, in sends per second.
const LOWEST_PACE: f64 = 0.001;

/// The limiter of a [`PacedRetryStrategy`](crate::PacedRetryStrategy).
#[derive(Debug)]
pub struct PacedLimiter {
    /// The initial settings, also used for a test's copy.
    start: PaceSettings,
    live: Shared<LiveSettings>,
    pacer: Shared<Pacer>,
    stretch: RandomNumbers,
    /// Whether there was a warning that operations wait for longer than the strategy allows.
    warned: AtomicBool,
}

/// Returns a point in time in quarters of a second since the origin of the clock, which wrap.
#[expect(clippy::cast_possible_truncation, reason = "it wraps")]
const fn quarter(at: Timestamp) -> u32 {
    (at.since_origin().as_millis() / 250) as u32
}

/// The place of an operation in the limiter.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct PacedPlace {
    /// The place in the queue, while the operation waits for a send.
    ticket: Option<Ticket>,
    /// The number of the last rejection that was known when the send was granted. `None` if sends were not limited then.
    granted: Option<NonZeroU32>,
    throttled: Throttled,
}

/// The attempts of an operation that were throttled.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttled {
    attempts: u32,
    /// The time of the first one, in quarters of a second since the origin of the clock. It wraps after 34 years.
    since: u32,
    /// The longest wait that the server asked for, in whole seconds, rounded up. It saturates at 18 hours.
    longest_wait: u16,
}

impl Throttled {
    /// Returns their number.
    pub(crate) const fn attempts(self) -> u32 {
        self.attempts
    }

    /// Counts another attempt. Returns whether the time for throttled attempts was over.
    pub(super) fn count(&mut self, now: Timestamp, wait: Duration, most: Duration) -> bool {
        if self.attempts == 0 {
            self.since = quarter(now);
        }
        let most = most.saturating_add(Duration::from_secs(self.longest_wait.into()));
        let whole = wait.as_secs().saturating_add((wait.subsec_nanos() > 0).into());
        self.longest_wait = self.longest_wait.max(u16::try_from(whole).unwrap_or(u16::MAX));
        self.attempts = self.attempts.saturating_add(1);
        // A clock that was set back is treated as one that stands still.
        let quarters = quarter(now).wrapping_sub(self.since);
        let elapsed = if quarters > u32::MAX / 2 { 0 } else { quarters };
        Duration::from_millis(u64::from(elapsed) * 250) >= most
    }
}

impl PacedPlace {
    /// Returns the place of an operation with these throttled attempts.
    const fn after(throttled: Throttled) -> Self {
        Self { ticket: None, granted: None, throttled }
    }

    /// Returns whether a send was granted.
    #[inline]
    pub(crate) const fn is_granted(&self) -> bool {
        self.granted.is_some()
    }

    /// Returns the attempts of the operation that were throttled.
    pub(crate) const fn throttled(&self) -> Throttled {
        self.throttled
    }
}

impl PacedLimiter {
    /// Creates a limiter with the default settings, for a strategy with [two
    /// limits](crate::strategy::LimitedRetryStrategy::with_limiter).
    pub const fn new() -> Self {
        Self::stretching_by(RandomNumbers::new())
    }

    /// Creates a limiter that stretches waits by these random numbers.
    pub(crate) const fn stretching_by(stretch: RandomNumbers) -> Self {
        let start = PaceSettings::DEFAULT;
        Self {
            start,
            live: Shared::new(LiveSettings::new(start)),
            pacer: Shared::new(Pacer::new()),
            stretch,
            warned: AtomicBool::new(false),
        }
    }

    /// Sets the settings at the start.
    pub(crate) const fn start_with(&mut self, settings: PaceSettings) {
        self.start = settings;
        self.live = Shared::new(LiveSettings::new(settings));
    }

    /// Sets the random numbers by which waits are stretched.
    pub(crate) const fn stretch_by(&mut self, stretch: RandomNumbers) {
        self.stretch = stretch;
    }

    /// Returns the settings at the start.
    pub(crate) const fn at_start(&self) -> PaceSettings {
        self.start
    }

    #[inline]
    fn with_pacer<R>(&self, using: impl FnOnce(&Pacer) -> R) -> R {
        self.pacer.with(Pacer::new, using)
    }

    fn with_live<R>(&self, using: impl FnOnce(&LiveSettings) -> R) -> R {
        self.live.with(|| LiveSettings::new(self.start), using)
    }

    /// Changes the settings while the limiter is in use.
    pub(crate) fn change(&self, settings: PaceSettings, now: Timestamp) {
        self.with_live(|live| live.change(settings));
        self.with_pacer(|pacer| pacer.change(now, || self.settings()));
    }

    fn max_throttled_time(&self) -> Duration {
        self.with_live(LiveSettings::max_throttled_time)
    }

    /// Returns the settings in effect.
    fn settings(&self) -> PaceSettings {
        self.with_live(LiveSettings::get)
    }

    /// Begins an operation with these throttled attempts. With the ramp or a limit that the user sets, the first one begins
    /// to limit sends.
    #[inline]
    pub(crate) fn begin_after(&self, throttled: Throttled, clock: &dyn Clock) -> PacedPlace {
        self.with_pacer(|pacer| pacer.begin(clock, || self.settings()));
        PacedPlace::after(throttled)
    }

    /// Sends at this rate from now on, or at the estimator's. Returns the counts of answers since the limit began. A rate
    /// that is not a positive number is treated as the lowest one.
    pub(crate) fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        // NaN is not greater, either, so it is handled too.
        let rate = rate.map(|rate| if rate > LOWEST_PACE { rate } else { LOWEST_PACE });
        self.with_pacer(|pacer| pacer.impose(clock, rate, is_cut, || self.settings()))
    }

    /// Returns a wait that the server asks for, stretched by up to [`STRETCH`] and [`LONGEST_STRETCH`]. It saturates.
    fn stretched(&self, wait: Duration) -> Duration {
        if wait.is_zero() {
            return wait;
        }
        stretched(wait, self.stretch.part())
    }
}

/// Returns a wait, stretched by this part of [`STRETCH`], and by at most [`LONGEST_STRETCH`]. It saturates.
pub(super) fn stretched(wait: Duration, part: f64) -> Duration {
    let factor = STRETCH.mul_add(part, 1.0);
    let stretched = Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX);
    stretched.clamp(wait, wait.saturating_add(LONGEST_STRETCH))
}

impl Default for PacedLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl SendLimiter for PacedLimiter {
    type Place = PacedPlace;

    #[inline]
    fn begin(&self, clock: &dyn Clock) -> PacedPlace {
        self.begin_after(Throttled::default(), clock)
    }

    /// An operation that waited when the limit ended asks once more, to give up its place.
    #[inline]
    fn must_ask(&self, place: &PacedPlace) -> bool {
        self.with_pacer(Pacer::must_be_asked) && !place.is_granted()
    }

    #[inline]
    fn ask(&self, place: &mut PacedPlace, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        match self.with_pacer(|pacer| pacer.ask(clock, &mut place.ticket)) {
            Ok(rejections) => {
                place.granted = rejections;
                Ready::Now
            }
            Err(wait) => Ready::After(wait),
        }
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.with_live(LiveSettings::rejections).include(error_type)
    }

    /// Learns also from the report of the server with a success.
    #[inline]
    fn succeeded(&self, place: &mut PacedPlace, success: &Success, clock: &dyn Clock) {
        self.with_pacer(|pacer| {
            pacer.accept(clock, place.ticket);
            if let Some(limit) = success.rate_limit() {
                pacer.report(clock, place.granted, limit);
            }
        });
    }

    /// A throttled attempt is repeated without backoff and cost.
    fn failed(&self, place: &mut PacedPlace, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let (sent_after, ticket, mut throttled) = (place.granted, place.ticket, place.throttled);
        let terms = match failure {
            FailedSend::Rejected { wait, is_too_long, .. } => {
                let (now, delay) = (clock.now(), self.stretched(wait));
                let is_held = self.with_pacer(|pacer| {
                    pacer.reject(now, ticket, sent_after, (delay, !is_too_long), || self.settings())
                });
                let is_over = throttled.count(now, delay, self.max_throttled_time());
                let holds_too_long = is_held && is_too_long && !self.warned.swap(true, Ordering::Relaxed);
                Some(Unpaid { delay: (!is_too_long).then_some(delay), is_over, holds_too_long })
            }
            FailedSend::Otherwise => {
                self.with_pacer(|pacer| pacer.accept(clock, ticket));
                None
            }
            FailedSend::NotSent => {
                self.release(place);
                None
            }
        };
        *place = PacedPlace::after(throttled);
        terms
    }

    fn uncounted(&self, place: &PacedPlace) -> u32 {
        place.throttled.attempts
    }

    fn put_back(&self, place: &mut PacedPlace) {
        if place.granted.take().is_some() {
            self.with_pacer(|pacer| pacer.put_back(&mut place.ticket));
        }
    }

    fn release(&self, place: &mut PacedPlace) {
        let (ticket, granted) = (place.ticket.take(), place.granted.take());
        self.with_pacer(|pacer| pacer.give_up(ticket, granted.is_some()));
    }

    fn send_rate(&self) -> Option<f64> {
        self.with_pacer(Pacer::send_rate)
    }
}

/// The counts of a server's answers to a [`PacedRetryStrategy`](crate::PacedRetryStrategy) while it limited sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacedAnswers {
    /// The requests that the server accepted. Failures that are not [rejections](Rejections) are included.
    pub accepted: u64,
    /// The requests that were rejected, except those that were sent before the last cut was known.
    pub rejected: u64,
    /// How often an operation had to wait for its send.
    pub waits: u64,
}
