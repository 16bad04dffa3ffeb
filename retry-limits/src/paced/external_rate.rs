//! Rates from elsewhere, such as a share of the limit of many processes.

use super::limiter::PacedLimiter;
use super::settings::LOWEST_RATE;
use super::strategy::PacedRetryStrategy;
use super::unit::Unit;
use retry_core::time::Clock;

/// A strategy that can send at an external rate, such as a share of the limit of many processes.
///
/// ```
/// use retry_core::Clock;
/// use retry_limits::{PacedRetryStrategy, PacedStrategy};
///
/// /// Lets a strategy send at a share of a limit that many processes have.
/// fn share(strategy: &impl PacedStrategy, limit: f64, processes: u32, clock: &impl Clock) {
///     strategy.pace_at(Some(limit / f64::from(processes)), false, clock);
/// }
///
/// static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();
/// share(&TABLE, 500.0, 20, &retry_core::time::StdTimer);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not send at a rate",
    label = "expected a `PacedRetryStrategy`, or a `ConfiguredStrategy` of retry-config",
    note = "a fleet shares the line of a `PatientRetryStrategy` by `.patient(&STORE)`, and an `EvidenceQuota` by `.quota(&QUOTA)`"
)]
pub trait PacedStrategy {
    /// Sends at this rate from now on; see [`PacedRetryStrategy::pace_at`].
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers;
}

impl<B, Q> PacedStrategy for PacedRetryStrategy<B, Q> {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.pace_at(rate, is_cut, clock)
    }
}

impl<B, Q> PacedRetryStrategy<B, Q> {
    /// Sends at an external rate, in sends per second, such as a share of the limit of many processes. Returns the counts
    /// of the server's answers so far, from which the caller can compute the next rate. `None` returns to the strategy's
    /// own estimate, which continues meanwhile. Without the ramp, and before the first rejection, sends are not limited
    /// then.
    ///
    /// Operations that wait keep their places, even if the limit ends and another rate is set before they ask again.
    ///
    /// If the new rate `is_cut`, because requests were rejected, later rejections of requests that were sent before are
    /// ignored.
    ///
    /// A rate that is not a positive number is treated as 0.001 sends per second.
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.limiter().pace_at(rate, is_cut, clock)
    }
}

impl<U: Unit> PacedLimiter<U> {
    /// Sends at an external rate from now on, or at the learned one; see
    /// [`PacedRetryStrategy::pace_at`](crate::PacedRetryStrategy::pace_at).
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        // `max` ignores NaN.
        let rate = rate.map(|rate| rate.max(LOWEST_RATE));
        self.with_pacer(|pacer| pacer.impose(clock, rate, is_cut, || self.settings()))
    }
}

/// The counts of a server's answers to a [`PacedRetryStrategy`](crate::PacedRetryStrategy) while it limited sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacedAnswers {
    /// The requests that the server accepted. Failures that are not [rejections](crate::Rejections) are included.
    pub accepted: u64,
    /// The requests that were rejected, except those that were sent before the last cut was known, and those whose operation probably
    /// has a limit of its own.
    pub rejected: u64,
    /// How often an operation had to wait for its send.
    pub waits: u64,
}
