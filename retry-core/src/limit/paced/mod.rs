//! A limiter that sends at the rate that the server accepts.

mod accepted;
mod estimator;
mod pace;
mod pacer;
mod reports;

pub use estimator::GoodputEstimator;

use super::Ready;
use crate::backoff::BackoffStrategy;
use crate::limit::queue::Ticket;
use crate::policy::{RetryErrorType, Success};
use crate::strategy::Failure;
use crate::strategy::{StandardRetrySettings, hinted_wait};
use crate::support::Shared;
use crate::support::random::RandomNumbers;
use crate::time::Clock;
use pacer::Pacer;
use std::time::Duration;

/// The longest part by which a wait that the server asks for is stretched, so that not all come back at once.
const STRETCH: f64 = 0.1;

/// A limiter that sends at the rate that the server accepts.
#[derive(Debug)]
pub(crate) struct PacedLimiter {
    pacer: Shared<Pacer>,
    pub(crate) stretch: RandomNumbers,
}

/// What an operation holds of the limiter.
#[derive(Debug, Default)]
pub(crate) struct PacedPlace {
    /// The place in the queue, while the operation waits for a send.
    ticket: Option<Ticket>,
    /// The number of rejections that were known when the send was granted. `None` if sends were not limited then.
    granted: Option<u32>,
}

impl PacedPlace {
    /// Returns whether a send was granted.
    #[inline]
    pub(crate) const fn is_granted(&self) -> bool {
        self.granted.is_some()
    }
}

impl PacedLimiter {
    /// Creates a limiter that stretches waits by these random numbers.
    pub(crate) const fn new(stretch: RandomNumbers) -> Self {
        Self { pacer: Shared::new(Pacer::new()), stretch }
    }

    /// Begins an operation. With the ramp, the first one begins to limit sends.
    #[inline]
    pub(crate) fn begin(&self, clock: &dyn Clock, has_ramp: impl FnOnce() -> bool) {
        self.pacer.with(Pacer::new, |pacer| pacer.begin(clock, has_ramp));
    }

    /// Returns whether an attempt may be sent. Operations that are not those of the strategy may.
    #[inline]
    pub(crate) fn ready(&self, place: &mut PacedPlace, is_own: impl FnOnce() -> bool, clock: &dyn Clock) -> Ready {
        self.pacer.with(Pacer::new, |pacer| {
            // An operation that waited when the limit ended asks once more, to give up its place.
            let is_limited = place.ticket.is_some() || pacer.is_pacing();
            if !is_limited || place.is_granted() || !is_own() {
                return Ready::Now;
            }
            match pacer.ask(clock, &mut place.ticket) {
                Ok(rejections) => {
                    place.granted = rejections;
                    Ready::Now
                }
                Err(wait) => Ready::After(wait),
            }
        })
    }

    /// Learns from a success, and from what the server reported with it.
    #[inline]
    pub(crate) fn accept(&self, place: &PacedPlace, success: Success, clock: &dyn Clock) {
        self.pacer.with(Pacer::new, |pacer| {
            pacer.give_up(place.ticket, false);
            pacer.accept(clock);
            if let Some(limit) = success.rate_limit() {
                pacer.report(clock, place.granted, limit);
            }
        });
    }

    /// Learns from a failure. If it is throttling, returns the delay of the next attempt, or `None` in place of it if the
    /// server asks for more than is allowed.
    #[expect(clippy::option_option, reason = "a delay that is too long is not the same as none")]
    pub(crate) fn learn(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        place: &PacedPlace,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Option<Option<Duration>> {
        let delay = (failure.error_type() == Some(RetryErrorType::Throttling)).then(|| match failure.retry_after() {
            None => Some(Duration::ZERO),
            Some(hint) => {
                hinted_wait(settings, backoff, hint).map(|wait| stretched(wait, stretch(self.stretch.next())))
            }
        });
        self.pacer.with(Pacer::new, |pacer| {
            pacer.give_up(place.ticket, false);
            match delay {
                Some(wait) => pacer.reject(clock, place.granted, wait),
                None => pacer.accept(clock),
            }
        });
        delay
    }

    /// Gives up the place in the queue: the attempt is sent without the limiter.
    #[inline]
    pub(crate) fn leave(&self, place: &mut PacedPlace) {
        self.pacer.with(Pacer::new, |pacer| pacer.give_up(place.ticket.take(), false));
    }

    /// Gives back what was taken for an attempt that was not sent.
    pub(crate) fn release(&self, place: &PacedPlace) {
        self.pacer.with(Pacer::new, |pacer| pacer.give_up(place.ticket, place.is_granted()));
    }

    /// Sends at this rate from now on, or at the estimator's. Returns what the server answered since the limit began.
    pub(crate) fn impose(&self, clock: &dyn Clock, rate: Option<f64>, is_cut: bool, has_ramp: bool) -> PacedAnswers {
        self.pacer.with(Pacer::new, |pacer| pacer.impose(clock, rate, is_cut, has_ramp))
    }

    /// Returns the current limit on sends per second, or `None` while sends are not limited.
    pub(crate) fn send_rate(&self) -> Option<f64> {
        self.pacer.with(Pacer::new, Pacer::send_rate)
    }
}

/// What a server answered to a [`PacedRetryStrategy`] while it limited sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacedAnswers {
    /// The requests that the server accepted. A failure other than throttling counts as accepted.
    pub accepted: u64,
    /// The requests that were throttled, without those that were sent before the last cut was known.
    pub rejected: u64,
    /// How often an operation had to wait for its send.
    pub waits: u64,
}

/// Returns the factor that belongs to a random number, from 1 up to 1 + [`STRETCH`].
fn stretch(random: u64) -> f64 {
    let part = f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX);
    STRETCH.mul_add(part, 1.0)
}

/// Returns a wait times a factor of at least 1. It saturates.
fn stretched(wait: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX).max(wait)
}
