//! What a limit counts: requests, or their weights.

use retry_core::classify::http::RateLimit;
use retry_core::policy::{Success, Usage};
use std::fmt::Debug;

/// What a [`PacedLimiter`](super::PacedLimiter) counts: [`Requests`] or [`Weights`]. This trait is sealed.
///
/// ```
/// use retry_limits::{PacedLimiter, Unit};
///
/// /// Reports how fast a limiter sends.
/// fn report<U: Unit>(name: &str, limiter: &PacedLimiter<U>) {
///     # use retry_core::limit::SendLimiter;
///     println!("{name}: {:?} sends per second", limiter.send_rate());
/// }
/// # report("tokens", &PacedLimiter::of_weights());
/// ```
pub trait Unit: sealed::Sealed + Debug + Send + Sync + Sized + 'static {
    /// What distinguishes requests in the queue.
    #[doc(hidden)]
    type Weight: Copy + Debug + Send + Sync;

    /// What the place of an operation holds of its weight.
    #[doc(hidden)]
    type Held: Copy + Debug + Default + Send + Sync;

    /// Whether operations have different weights.
    #[doc(hidden)]
    const IS_WEIGHED: bool;

    /// Returns the weight that a place holds.
    #[doc(hidden)]
    fn weight(held: Self::Held) -> Self::Weight;

    /// Returns the number of a weight, or `None` if all requests are the same.
    #[doc(hidden)]
    fn get(weight: Self::Weight) -> Option<u32>;

    /// Returns the sends of so many requests, which are as many, or what `sum` returns if they differ.
    #[doc(hidden)]
    fn sum(requests: usize, sum: impl FnOnce() -> f64) -> f64;

    /// Sets the weight that a place holds.
    #[doc(hidden)]
    fn weigh(held: &mut Self::Held, weight: u32);

    /// Sets what the outcome says.
    #[doc(hidden)]
    fn used(held: &mut Self::Held, usage: Usage);

    /// Returns what the outcome said, and forgets it.
    #[doc(hidden)]
    fn take_usage(held: &mut Self::Held) -> Usage;

    /// Returns what the server reported about a limit in this unit.
    #[doc(hidden)]
    fn report(success: &Success, usage: Usage) -> Option<RateLimit>;
}

/// The unit of a limit on the number of requests.
#[derive(Clone, Copy, Debug)]
pub enum Requests {}

/// The unit of a limit on the sum of the weights of requests, such as tokens per minute or bytes per second.
#[derive(Clone, Copy, Debug)]
pub enum Weights {}

/// The weight of an operation, and what its outcome said.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Held {
    weight: u32,
    usage: Usage,
}

impl Default for Held {
    fn default() -> Self {
        Self { weight: 1, usage: Usage::default() }
    }
}

impl Unit for Requests {
    type Weight = ();
    type Held = ();

    const IS_WEIGHED: bool = false;

    #[inline]
    fn weight((): ()) {}

    #[inline]
    fn get((): ()) -> Option<u32> {
        None
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "more waiters than an `f64` counts exactly do not fit into memory")]
    fn sum(requests: usize, _: impl FnOnce() -> f64) -> f64 {
        requests as f64
    }

    fn weigh((): &mut (), _: u32) {}

    fn used((): &mut (), _: Usage) {}

    #[inline]
    fn take_usage((): &mut ()) -> Usage {
        Usage::default()
    }

    #[inline]
    fn report(success: &Success, _: Usage) -> Option<RateLimit> {
        success.rate_limit()
    }
}

impl Unit for Weights {
    type Weight = u32;
    type Held = Held;

    const IS_WEIGHED: bool = true;

    fn weight(held: Held) -> u32 {
        held.weight
    }

    fn get(weight: u32) -> Option<u32> {
        Some(weight)
    }

    fn sum(_: usize, sum: impl FnOnce() -> f64) -> f64 {
        sum()
    }

    fn weigh(held: &mut Held, weight: u32) {
        held.weight = weight;
    }

    fn used(held: &mut Held, usage: Usage) {
        held.usage = usage;
    }

    fn take_usage(held: &mut Held) -> Usage {
        std::mem::take(&mut held.usage)
    }

    fn report(_: &Success, usage: Usage) -> Option<RateLimit> {
        usage.limit()
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}

    impl Sealed for super::Requests {}
    impl Sealed for super::Weights {}
}

/// The number of operations over which the mean weight is taken, about.
const OPERATIONS: f64 = 64.0;
/// How far the mean weight moves before the scale follows it. Within this factor, the estimator takes a request of mean weight
/// for one to one and a half requests, which makes it a little less sure of what it sees, or a little more.
const MOVES_BY: f64 = 1.5;

/// Converts weights to sends: a request of the mean weight is one send. So an estimator of the rate sees about as many
/// sends as there are requests, however heavy they are, and its statistics hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The weight of one send. It is at least 1.
    unit: f64,
    /// The heaviest weight so far.
    heaviest: f64,
    /// The number of sends of the heaviest request so far.
    most: f64,
    /// The sum of the weights that are averaged, and their number.
    sum: f64,
    number: f64,
    /// The part of a send that was accepted and not told the estimator yet.
    part: f64,
}

impl Scale {
    /// Creates a scale by which a weight of one is one send.
    pub(super) const fn new() -> Self {
        Self { unit: 1.0, heaviest: 1.0, most: 1.0, sum: 0.0, number: 0.0, part: 0.0 }
    }

    /// Returns the number of sends that a weight is.
    pub(super) fn sends(&self, weight: u32) -> f64 {
        f64::from(weight) / self.unit
    }

    /// Returns the weight of one send.
    pub(super) const fn unit(&self) -> f64 {
        self.unit
    }

    /// Returns the number of sends of the heaviest request so far.
    pub(super) const fn most(&self) -> f64 {
        self.most
    }

    /// Records the weight of an operation. If the scale changes, returns the factor by which all numbers of sends do.
    pub(super) fn meet(&mut self, weight: u32) -> Option<f64> {
        let weight = f64::from(weight);
        self.heaviest = self.heaviest.max(weight);
        (self.sum, self.number) = (self.sum + weight, self.number + 1.0);
        if self.number >= 2.0 * OPERATIONS {
            (self.sum, self.number) = (self.sum / 2.0, self.number / 2.0);
        }
        let mean = (self.sum / self.number).max(1.0);
        let factor = self.unit / mean;
        let has_moved = !(1.0 / MOVES_BY..=MOVES_BY).contains(&factor);
        if has_moved {
            self.unit = mean;
            self.part *= factor;
        }
        self.most = self.heaviest / self.unit;
        has_moved.then_some(factor)
    }

    /// Returns the whole sends of an accepted weight. The rest is kept for the next one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float saturates, and is not negative"
    )]
    pub(super) fn accepted(&mut self, weight: u32) -> u32 {
        let sends = self.part + self.sends(weight);
        self.part = sends.fract();
        sends as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn the_sends_that_an_estimator_sees_are_as_heavy_as_what_was_accepted() {
        let (mut scale, mut accepted, mut seen) = (Scale::new(), 0.0, 0.0);
        // The weights grow and shrink, so that the scale follows them several times.
        for step in 0..4_000_u32 {
            let weight = 1 + (step / 400 % 3) * 70 + step % 11;
            if let Some(factor) = scale.meet(weight) {
                seen *= factor;
            }
            accepted += f64::from(weight);
            seen += f64::from(scale.accepted(weight));
            let missing = accepted / scale.unit - seen;
            assert!((-1e-6..1.0 + 1e-6).contains(&missing), "{missing} sends are missing after step {step}");
        }
    }

    #[test]
    fn a_send_is_as_heavy_as_recent_operations() {
        let mut scale = Scale::new();
        (0..10_000).for_each(|_| _ = scale.meet(1));
        assert!((scale.sends(100) - 100.0).abs() < 1e-9);
        let heavy: Vec<f64> = (0..150).map(|_| (scale.meet(100), scale.sends(100)).1).collect();
        // A mean over about 64 operations: after as many heavy ones, about half of it is theirs.
        assert!(heavy[19] > 4.0 && (1.7..3.5).contains(&heavy[63]) && heavy[149] < 1.5, "{heavy:?}");
    }

    #[test]
    fn the_first_weight_is_one_send_and_weights_of_zero_are_none() {
        let mut scale = Scale::new();
        assert_eq!([scale.most(), scale.sends(1), scale.sends(0)].map(f64::to_bits), [1.0, 1.0, 0.0].map(f64::to_bits));
        assert!(scale.meet(0).is_none());
        assert_eq!([scale.most(), scale.sends(1)].map(f64::to_bits), [1.0, 1.0].map(f64::to_bits));
        // The sends of an accepted request are whole, and the rest is kept.
        let mut scale = Scale::new();
        assert_eq!(scale.meet(8).map(f64::to_bits), Some(0.125_f64.to_bits()));
        assert_eq!([scale.most(), scale.sends(8)].map(f64::to_bits), [1.0, 1.0].map(f64::to_bits));
        assert_eq!([4, 4, 2, 6, 20].map(|weight| scale.accepted(weight)), [0, 1, 0, 1, 2]);
    }

    #[test]
    fn the_mean_is_halved_at_the_128th_weight() {
        for (lighter, mean) in [(126, (127.0 * 8.0 + 1024.0) / 128.0), (127, (64.0 * 8.0 + 1024.0) / 65.0)] {
            let mut scale = Scale::new();
            (0..=lighter).for_each(|_| _ = scale.meet(8));
            assert!(scale.meet(1024).is_some());
            assert!((scale.sends(1024) - 1024.0 / mean).abs() < 1e-9, "{lighter}");
        }
    }

    #[test]
    fn the_scale_stays_while_the_mean_moves_little() {
        let mut scale = Scale::new();
        (0..200).for_each(|_| _ = scale.meet(20));
        assert!((0..2_000).all(|step| scale.meet(15 + step % 13).is_none()));
        assert!((0..200).any(|_| scale.meet(40).is_some()));
    }
}
