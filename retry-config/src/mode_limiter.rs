//! The limiter of a configured strategy, which depends on its mode.

use super::RetryMode;
use super::parts::ConfigLimiter;
use super::sync::{AtomicU8, Ordering};
use retry_core::limit::{AdaptiveLimiter, AdaptivePlace, FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::parts::{RandomNumbers, Shared};
use retry_core::policy::{RetryErrorType, Success};
use retry_core::time::{Clock, Timestamp};
use retry_limits::{PacedLimiter, PacedPlace, PacedSettings, Throttled};

/// The limiter of a [`ConfiguredStrategy`](super::ConfiguredStrategy) whose mode the configuration chooses.
///
/// It has the limiters of all modes, and keeps them when the mode changes. Only the configuration creates it, so it is never
/// part of a pair.
#[derive(Debug)]
pub struct ModeLimiter {
    adaptive: AdaptiveLimiter,
    paced: PacedLimiter,
    /// The initial limit, also used for a test's copy.
    start: u8,
    /// One of the constants below. It publishes no other data, so relaxed ordering suffices: a thread that reads an old value
    /// does what was correct a moment before.
    limit: Shared<AtomicU8>,
}

/// Sends are not limited.
const NONE: u8 = 0;
/// Sends are limited by the limiter of the adaptive strategy.
const ADAPTIVE: u8 = 1;
/// Sends are limited by the limiter of the paced strategy.
const PACED: u8 = 2;

/// Returns the limit of a mode.
const fn limit_of(mode: RetryMode) -> u8 {
    match mode {
        RetryMode::Standard | RetryMode::Off => NONE,
        RetryMode::Adaptive => ADAPTIVE,
        RetryMode::Paced => PACED,
    }
}

/// The place of an operation in the limiter of the mode in which its attempt began.
#[doc(hidden)]
#[derive(Debug)]
pub enum ModePlace {
    Unlimited {
        /// The attempts of the operation that were throttled in the mode `paced`.
        throttled: Throttled,
    },
    Adaptive {
        place: AdaptivePlace,
        throttled: Throttled,
    },
    Paced(PacedPlace),
}

impl ModePlace {
    /// Returns the limit of its mode.
    const fn limit(&self) -> u8 {
        match self {
            Self::Unlimited { .. } => NONE,
            Self::Adaptive { .. } => ADAPTIVE,
            Self::Paced(_) => PACED,
        }
    }

    const fn throttled(&self) -> Throttled {
        match self {
            Self::Unlimited { throttled } | Self::Adaptive { throttled, .. } => *throttled,
            Self::Paced(place) => place.throttled(),
        }
    }

    /// Returns whether no limiter needs to be asked, whatever the mode is now.
    #[inline]
    const fn is_granted(&self) -> bool {
        match self {
            Self::Unlimited { .. } => true,
            Self::Adaptive { place, .. } => place.is_granted(),
            Self::Paced(place) => place.is_granted(),
        }
    }
}

impl ModeLimiter {
    /// Creates the limiters. None of them is in use.
    pub(super) fn new(random: RandomNumbers) -> Self {
        let (adaptive, paced) = (AdaptiveLimiter::new(), PacedLimiter::new().random_numbers(random));
        Self { adaptive, paced, start: NONE, limit: Shared::new(AtomicU8::new(NONE)) }
    }

    /// Returns the limiter of the mode `paced`.
    pub(super) const fn paced(&self) -> &PacedLimiter {
        &self.paced
    }

    #[inline]
    fn with_limit<R>(&self, using: impl FnOnce(&AtomicU8) -> R) -> R {
        self.limit.with(|| AtomicU8::new(self.start), using)
    }

    #[inline]
    fn limit(&self) -> u8 {
        self.with_limit(|limit| limit.load(Ordering::Relaxed))
    }

    /// Returns the place of an operation with these throttled attempts.
    #[inline]
    fn place(&self, throttled: Throttled, clock: &dyn Clock) -> ModePlace {
        match self.limit() {
            ADAPTIVE => ModePlace::Adaptive { place: self.adaptive.begin(clock), throttled },
            PACED => ModePlace::Paced(self.paced.begin_after(throttled, clock)),
            _ => ModePlace::Unlimited { throttled },
        }
    }

    fn learn_failure(&self, place: &mut ModePlace, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        match place {
            ModePlace::Unlimited { .. } => None,
            ModePlace::Adaptive { place, .. } => self.adaptive.failed(place, failure, clock),
            ModePlace::Paced(place) => self.paced.failed(place, failure, clock),
        }
    }

    /// Gives up the place in the limiter of another mode, and asks the limiter of this mode.
    #[cold]
    fn change_place(&self, place: &mut ModePlace, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let next = self.place(place.throttled(), clock);
        self.release(&mut std::mem::replace(place, next));
        match place {
            ModePlace::Adaptive { place, .. } if self.adaptive.must_ask(place) => {
                self.adaptive.ask(place, clock, waker)
            }
            ModePlace::Paced(place) => self.paced.ask(place, clock, waker),
            _ => Ready::Now,
        }
    }
}

impl ConfigLimiter for ModeLimiter {
    fn chosen_mode(&self) -> Option<RetryMode> {
        None
    }

    fn mode(&self) -> RetryMode {
        match self.limit() {
            ADAPTIVE => RetryMode::Adaptive,
            PACED => RetryMode::Paced,
            _ => RetryMode::Standard,
        }
    }

    fn pace(&self) -> Option<PacedSettings> {
        Some(self.paced.initial_settings())
    }

    fn start_with(&mut self, mode: RetryMode, pace: PacedSettings) {
        self.paced.set_initial_settings(pace);
        self.start = limit_of(mode);
        self.limit = Shared::new(AtomicU8::new(self.start));
    }

    /// The mode `off` keeps the limiter that is in use.
    fn change(&self, mode: RetryMode, pace: PacedSettings, now: Timestamp) {
        self.paced.apply(pace, now);
        if mode != RetryMode::Off {
            self.with_limit(|limit| limit.store(limit_of(mode), Ordering::Relaxed));
        }
    }
}

impl SendLimiter for ModeLimiter {
    type Place = ModePlace;

    #[inline]
    fn begin(&self, clock: &dyn Clock) -> ModePlace {
        self.place(Throttled::default(), clock)
    }

    #[inline]
    fn must_ask(&self, place: &ModePlace) -> bool {
        match (place, self.limit()) {
            (ModePlace::Adaptive { place, .. }, ADAPTIVE) => self.adaptive.must_ask(place),
            (ModePlace::Paced(place), PACED) => self.paced.must_ask(place),
            (place, _) => !place.is_granted(),
        }
    }

    #[inline]
    fn ask(&self, place: &mut ModePlace, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        match (place, self.limit()) {
            (ModePlace::Adaptive { place, .. }, ADAPTIVE) => self.adaptive.ask(place, clock, waker),
            (ModePlace::Paced(place), PACED) => self.paced.ask(place, clock, waker),
            (place, _) => self.change_place(place, clock, waker),
        }
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        match self.limit() {
            PACED => self.paced.rejects(error_type),
            _ => self.adaptive.rejects(error_type),
        }
    }

    #[inline]
    fn succeeded(&self, place: &mut ModePlace, success: &Success, clock: &dyn Clock) {
        match place {
            ModePlace::Unlimited { .. } => {}
            ModePlace::Adaptive { place, .. } => self.adaptive.succeeded(place, success, clock),
            ModePlace::Paced(place) => self.paced.succeeded(place, success, clock),
        }
    }

    /// The limiter of the attempt's mode learns. After a change, the limiter of the new mode learns too, and its terms
    /// apply.
    fn failed(&self, place: &mut ModePlace, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let throttled = place.throttled();
        let mut terms = self.learn_failure(place, failure, clock);
        if place.limit() != self.limit() {
            *place = self.place(throttled, clock);
            terms = self.learn_failure(place, failure, clock);
        }
        terms
    }

    fn progressed(&self, place: &mut ModePlace) {
        match place {
            ModePlace::Unlimited { throttled } | ModePlace::Adaptive { throttled, .. } => {
                *throttled = Throttled::default();
            }
            ModePlace::Paced(place) => self.paced.progressed(place),
        }
    }

    fn uncounted(&self, place: &ModePlace) -> u32 {
        place.throttled().attempts()
    }

    fn release(&self, place: &mut ModePlace) {
        match place {
            ModePlace::Unlimited { .. } => {}
            ModePlace::Adaptive { place, .. } => self.adaptive.release(place),
            ModePlace::Paced(place) => self.paced.release(place),
        }
    }

    fn send_rate(&self) -> Option<f64> {
        match self.limit() {
            ADAPTIVE => self.adaptive.send_rate(),
            PACED => self.paced.send_rate(),
            _ => None,
        }
    }
}
