//! Rates that the user sets, within which the estimate is learned.

use super::GoodputEstimator;
use super::course::FIRST_RATE;
use retry_core::parts as queue;
use retry_core::time::Timestamp;
use std::time::Duration;

/// The part by which the time between two sends is longer than the user's limit asks for, at least and at most. Without the
/// minimum, every second request arrives a little early, and a server without a burst rejects it. Above the maximum, the
/// limit must be lower.
const SPACE: (f64, f64) = (0.03, 0.4);
/// The amount that a rejection adds to the space, and that an accepted request takes off it. The ratio is the share of
/// requests that a server without a burst rejects behind a network whose delay varies.
const WIDER: f64 = 0.04;
const NARROWER: f64 = 0.0006;

/// The rates that are known before the first answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::paced) struct UserRates {
    /// The rate at which the ramp begins, in sends per second.
    pub(super) first: f64,
    /// The limit, in sends per second or as a sum of weights per second, or infinity.
    limit: f64,
    /// How many sends may be made at once, or the sum of their weights.
    burst: u32,
    /// The weight of one send.
    unit: f64,
    /// How much longer the time between two sends is than the limit says, at least and now.
    least_space: f64,
    space: f64,
    /// The rate at this space, in sends per second, so that no send has to divide.
    cap: f64,
}

impl UserRates {
    pub(super) const NOTHING: Self = Self::with(FIRST_RATE, f64::INFINITY, 1);

    /// Creates a first rate, a limit, in sends per second, and its burst, which has no effect without a limit.
    pub(in crate::paced) fn new(first: Option<f64>, limit: Option<f64>, burst: u32) -> Self {
        let burst = if limit.is_some() { burst } else { 1 };
        Self::with(first.unwrap_or(FIRST_RATE), limit.unwrap_or(f64::INFINITY), burst)
    }

    const fn with(first: f64, limit: f64, burst: u32) -> Self {
        // With a burst, a message that arrives early takes a part of the burst that is kept back.
        let space = if burst > 1 { 0.0 } else { SPACE.0 };
        Self { first, limit, burst, unit: 1.0, least_space: space, space, cap: limit }.at_space(space)
    }

    const fn at_space(self, space: f64) -> Self {
        Self { space, cap: self.limit / (self.unit * (1.0 + space)), ..self }
    }

    /// Returns the same rates for sends of this weight.
    pub(in crate::paced) const fn in_unit(self, unit: f64) -> Self {
        Self { unit, ..self }.at_space(self.space)
    }

    /// Returns whether both have the same settings, whatever was learned since.
    pub(in crate::paced) fn is_same(&self, other: &Self) -> bool {
        self.in_unit(other.unit).at_space(other.space) == *other
    }

    /// Returns the rate at which the ramp begins, in sends per second.
    #[inline]
    pub(in crate::paced) const fn first(&self) -> f64 {
        self.first
    }

    /// Returns whether there is a limit.
    #[inline]
    pub(in crate::paced) const fn has_limit(&self) -> bool {
        self.limit < f64::INFINITY
    }

    /// Returns the burst of the limit: the sends that may be made at once, or the sum of their weights. At most 1 is none.
    #[inline]
    pub(in crate::paced) const fn burst(&self) -> u32 {
        self.burst
    }

    /// Returns a rate, or the rate that the limit allows if that is lower.
    #[inline]
    pub(in crate::paced) const fn capped(&self, rate: f64) -> f64 {
        // Unlike `min`, this is one instruction, because neither is NaN.
        if rate > self.cap { self.cap } else { rate }
    }

    /// Returns the time that the limit asks for between a request of this many sends and the one before.
    pub(in crate::paced) fn time_for(&self, sends: f64) -> Duration {
        queue::time_for(sends, self.cap)
    }

    /// Changes the unit: multiplies all numbers of sends by this factor, but not the first rate, which has no unit.
    pub(super) const fn rescale(&mut self, factor: f64) {
        *self = self.in_unit(self.unit / factor);
    }

    /// Lets accepted requests bring the sends closer together.
    #[inline]
    pub(super) fn narrow(&mut self, requests: u32) {
        // Most of the time, it is already as narrow as possible.
        if self.space > self.least_space {
            *self = self.at_space((self.space - NARROWER * f64::from(requests)).max(self.least_space));
        }
    }

    /// Lets a rejection space the sends wider. Returns whether that was possible.
    fn widen(&mut self) -> bool {
        let (_, most) = SPACE;
        let wider = self.space + WIDER;
        let is_possible = wider <= most;
        if is_possible {
            *self = self.at_space(wider);
        }
        is_possible
    }
}

impl GoodputEstimator {
    /// Sets the user's rates.
    pub(in crate::paced) const fn set_user_rates(&mut self, user_rates: UserRates) {
        self.user_rates = user_rates;
    }

    /// Returns the user's rates.
    pub(in crate::paced) const fn user_rates(&self) -> &UserRates {
        &self.user_rates
    }

    /// Handles a rejection at the limit that is known, if the sends can be spaced wider. Returns whether they were.
    pub(super) fn widen(&mut self, now: Timestamp) -> bool {
        let rate = self.rate_of_phase(now);
        self.user_rates.capped(rate) < rate && self.user_rates.widen()
    }
}
