//! Constructors of estimators that begin with known values.

use super::noise::Noise;
use super::recent::Recent;
use super::{GoodputEstimator, LOWEST, Phase, Tuning, UserRates};
use retry_core::time::Timestamp;

impl GoodputEstimator {
    /// Creates an estimator that knows nothing, and begins with the ramp.
    pub const fn new(now: Timestamp) -> Self {
        Self::with(Tuning::ONE, now)
    }

    /// Creates an estimator for the total rate of many processes, such as a fleet. It knows nothing, and begins with the
    /// ramp.
    ///
    /// Its cuts are shallow, to 0.9 of the estimate, and the rate returns within 2.5 s. A single process frees a part of the
    /// limit for others when its rate is cut, which makes shares fair. Here, the shares are determined otherwise. The
    /// processes report their answers a few times in a second, so a measurement takes 2 s, and a proof of a higher limit half
    /// a second's requests more. They learn of a cut as late, so the rate grows more slowly: by 8 % in each second beyond the
    /// estimate, and in the beginning it doubles every 0.6 s in the ramp, and every second in the search, which begins at half
    /// of the goodput. After a proof of a higher limit, it doubles every second, too.
    pub const fn for_all(now: Timestamp) -> Self {
        Self::with(Tuning::ALL, now)
    }

    /// Creates an estimator [for all](GoodputEstimator::for_all) that knows an estimate, in sends per second, because an
    /// earlier one was lost. Its first measurement can only lower the estimate.
    ///
    /// An estimate that is not a positive number is treated as 0.2 sends per second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the float saturates")]
    #[expect(clippy::manual_clamp, reason = "`clamp` would keep an estimate that is NaN")]
    pub fn for_all_at(estimate: f64, now: Timestamp) -> Self {
        let mut estimator = Self::for_all(now);
        estimator.phase = Phase::Track;
        // Of NaN and a number, the number is the maximum.
        estimator.estimate = estimate.max(LOWEST).min(f64::MAX);
        estimator.recent.set_last(estimator.estimate as u32);
        estimator
    }

    const fn with(tuning: &'static Tuning, now: Timestamp) -> Self {
        Self {
            tuning,
            user_rates: UserRates::NOTHING,
            phase: Phase::Ramp,
            since: now,
            aged: 0.0,
            estimate: 0.0,
            epoch: now,
            can_raise: false,
            skips_silence: false,
            accepted: 0,
            recent: Recent::new(now),
            noise: Noise::NONE,
            rejected_in_a_row: 0,
            rejected_since: now,
            careful_until: now,
        }
    }

    /// Creates an estimator after the first rejection, for a client that had no limit before. `goodput` is the number of
    /// requests that were accepted in the last second.
    pub fn after_the_first_rejection(now: Timestamp, goodput: u32) -> Self {
        let mut estimator = Self::new(now);
        estimator.recent.set_last(goodput);
        estimator.begin_search(f64::from(goodput));
        estimator.rejected_in_a_row = 1;
        estimator
    }
}
