//! Clocks and timers: those of tokio and the standard library, a manual one for tests, and the traits for your own.
//!
//! ```
//! use retry_core::time::ManualTimer;
//! use retry_core::{PatientRetryStrategy, RetryError, RetryInfo, retry_blocking};
//! use std::time::Duration;
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! // A test whose waits take no time: the operation gives up after 15 seconds of the manual clock.
//! let timer = ManualTimer::new();
//! let report = retry_blocking(&STORE, || Err::<(), _>(SlowDown)).timer(&timer).report();
//! assert_eq!(report.reason, Some(RetryError::NoRecovery));
//! assert!(report.elapsed >= Duration::from_secs(15));
//! ```

pub(crate) mod deadline;
#[cfg(feature = "global-observer")]
mod kept_reading;
pub(crate) mod latest;
pub(crate) mod limit;
mod manual;
mod reading;
mod std_timer;
mod timed_out;
#[cfg(feature = "tokio")]
mod tokio_timer;

#[cfg(feature = "global-observer")]
pub(crate) use kept_reading::KeptReading;
pub(crate) use latest::{Latest, Observed};
pub use manual::{ManualSleep, ManualTimer};
pub(crate) use reading::Reading;
pub use std_timer::StdTimer;
pub use timed_out::{TimeLimit, TimedOut};
#[cfg(feature = "tokio")]
pub use tokio_timer::{TokioSleep, TokioTimer};

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// A point in time, with a resolution of one nanosecond.
///
/// A timestamp is a duration since an origin. All clocks of this library share the origin, so that one strategy can
/// serve async callers, which use `TokioTimer`, and blocking callers, which use [`StdTimer`]. If a [`Clock`] of your
/// own serves the same strategies, it must convert the [`Instant`]s that it reads:
///
/// ```
/// use retry_core::time::{StdTimer, Timestamp};
/// use retry_core::Clock;
/// use std::time::Instant;
///
/// let before = StdTimer.now();
/// let read = Timestamp::from(Instant::now());
/// assert!(before <= read && read <= StdTimer.now());
/// ```
///
/// This type exists because an [`Instant`] can't be set to a chosen value in tests, and because [`Instant::now`] panics
/// on some platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(Duration);

/// The timestamp of the first instant of the process that is converted. Later conversions can yield earlier instants,
/// for example from the paused clock of a test, so the timestamp leaves room on both sides.
const FIRST_INSTANT: Duration = Duration::from_secs(u32::MAX as u64);

impl From<Instant> for Timestamp {
    #[inline]
    fn from(instant: Instant) -> Self {
        static FIRST: OnceLock<Instant> = OnceLock::new();

        let first = *FIRST.get_or_init(|| instant);
        Self(match instant.checked_duration_since(first) {
            Some(after) => FIRST_INSTANT.saturating_add(after),
            None => FIRST_INSTANT.saturating_sub(first.duration_since(instant)),
        })
    }
}

impl Timestamp {
    /// The start of the clocks of this library: the first [`Instant`] of the process that was converted to a timestamp.
    pub const START: Self = Self(FIRST_INSTANT);

    /// Creates the timestamp at this duration after the origin.
    ///
    /// The clocks of this library start 136 years after the origin, at [`START`](Timestamp::START). So a clock that
    /// counts from the origin must not serve the same strategies as the clocks of this library.
    #[inline]
    pub const fn from_origin(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Returns the duration from the origin to this point.
    #[inline]
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// Returns the point that is later by `time`. It saturates.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// Returns the point that is earlier by `time`. It saturates at the origin.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// Returns the duration from an earlier point to this one, or zero if `earlier` is in fact later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A source of the current time.
///
/// A clock should be monotonic. Strategies tolerate a clock that jumps backwards: the jump is not counted as elapsed time.
/// This happens, for example, if a static outlives the paused clock of a test.
///
/// All clocks that serve one strategy must have the same origin of their [timestamps](Timestamp). Otherwise time jumps
/// whenever the clock changes, and a quota that refills over time, for example, would be full again after each jump.
///
/// ```
/// use retry_core::Clock;
/// use retry_core::time::{StdTimer, Timestamp};
///
/// /// The clock of the standard library, one hour ahead.
/// struct Ahead;
///
/// impl Clock for Ahead {
///     fn now(&self) -> Timestamp {
///         StdTimer.now().saturating_add(std::time::Duration::from_secs(3600))
///     }
/// }
/// ```
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the current time, in the form that this clock has.
    #[doc(hidden)]
    #[inline]
    fn reading(&self) -> Reading {
        Reading::At(self.now())
    }
}

/// A [`Clock`] that can also sleep.
///
/// A timer whose sleeps are ready immediately should advance its own clock by the delay. Otherwise, a limiter asks for
/// another wait again and again. The operation yields to its executor after each of these waits, so a timeout around it
/// still works. But the operation makes no progress, and `max_time` does not end it, because no time passes.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::time::Timestamp;
/// use retry_core::{Clock, Timer};
///
/// /// A timer that never sleeps, for tests that don't depend on the time.
/// struct Impatient;
///
/// impl Clock for Impatient {
///     fn now(&self) -> Timestamp {
///         Timestamp::START
///     }
/// }
///
/// impl Timer for Impatient {
///     type Sleep = std::future::Ready<()>;
///
///     fn sleep(&self, _delay: Duration) -> Self::Sleep {
///         std::future::ready(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't sleep",
    label = "this does not implement `Timer`",
    note = "enable the feature `tokio` of retry-core, or name your own timer: `timer = TIMER` in the attribute, `retry(...).timer(TIMER)` for a closure"
)]
pub trait Timer: Clock {
    /// The future that [`sleep`](Timer::sleep) returns. The operation boxes it to wait before an attempt.
    type Sleep: Future<Output = ()>;

    /// Returns a future that is ready once `delay` has passed. The delay is never zero.
    fn sleep(&self, delay: Duration) -> Self::Sleep;

    /// Returns a future that is ready once `delay` has passed since this reading, which the clock has returned just now. A timer that
    /// knows when that is need not read its clock again.
    #[doc(hidden)]
    #[inline]
    fn sleep_from(&self, _now: Reading, delay: Duration) -> Self::Sleep {
        self.sleep(delay)
    }
}

/// A [`Clock`] that can also block its thread, for functions and closures that block.
///
/// [`StdTimer`] is the default.
///
/// A timer that returns immediately should advance its own clock by the delay. Otherwise, a limiter asks for another wait
/// again and again. After 100 waits that ran to their end at the same reading of the clock, the attempt is sent without
/// the limiter's permission. Waits that the limiter ended early are not counted.
///
/// ```
/// use retry_core::Clock;
/// use retry_core::time::{BlockingTimer, StdTimer, Timestamp};
/// use std::time::Duration;
///
/// /// Blocks as the standard library does, and prints a message.
/// struct Verbose;
///
/// impl Clock for Verbose {
///     fn now(&self) -> Timestamp {
///         StdTimer.now()
///     }
/// }
///
/// impl BlockingTimer for Verbose {
///     fn block(&self, delay: Duration) {
///         println!("waiting for {delay:?}");
///         StdTimer.block(delay);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't block its thread",
    label = "this does not implement `BlockingTimer`",
    note = "with `blocking`, a timer implements `fn block(&self, delay: Duration)`; without `timer`, the timer of the standard library is used"
)]
pub trait BlockingTimer: Clock {
    /// Blocks the thread until `delay` has passed. The delay is never zero.
    fn block(&self, delay: Duration);

    /// Blocks the thread until `delay` has passed or the thread is [unparked](std::thread::Thread::unpark). The delay
    /// is never zero.
    ///
    /// A limiter unparks the thread to end a wait early. The default always blocks for the whole delay.
    fn park(&self, delay: Duration) {
        self.block(delay);
    }
}

/// Pointers to clocks and timers forward to them.
macro_rules! forward_timers {
    ($([$($generics:tt)*] $pointer:ty),+) => {$(
        impl<$($generics)*> Clock for $pointer
        where
            T: Clock,
        {
            #[inline]
            fn now(&self) -> Timestamp {
                (**self).now()
            }

            #[inline]
            fn reading(&self) -> Reading {
                (**self).reading()
            }
        }

        impl<$($generics)*> Timer for $pointer
        where
            T: Timer,
        {
            type Sleep = T::Sleep;

            #[inline]
            fn sleep(&self, delay: Duration) -> Self::Sleep {
                (**self).sleep(delay)
            }

            #[inline]
            fn sleep_from(&self, now: Reading, delay: Duration) -> Self::Sleep {
                (**self).sleep_from(now, delay)
            }
        }

        impl<$($generics)*> BlockingTimer for $pointer
        where
            T: BlockingTimer,
        {
            #[inline]
            fn block(&self, delay: Duration) {
                (**self).block(delay);
            }

            #[inline]
            fn park(&self, delay: Duration) {
                (**self).park(delay);
            }
        }
    )+};
}

forward_timers!([T: ?Sized] &T, [T: ?Sized] Box<T>, [T: ?Sized] Arc<T>, [T, F: FnOnce() -> T] LazyLock<T, F>);

/// The default timer of async functions and closures.
#[cfg(feature = "tokio")]
pub type DefaultTimer = TokioTimer;

/// The default timer of async functions and closures.
#[cfg(not(feature = "tokio"))]
pub type DefaultTimer = EnableTheFeatureTokioOrPassATimer;

/// The default timer without the feature `tokio`. It does not implement [`Timer`]. If a timer is needed, the compiler
/// prints its name, which is the advice.
#[cfg(not(feature = "tokio"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct EnableTheFeatureTokioOrPassATimer;

/// The default timer as a value, for crates that drive operations.
#[cfg(feature = "tokio")]
pub const DEFAULT_TIMER: DefaultTimer = TokioTimer;

/// The default timer as a value, for crates that drive operations.
#[cfg(not(feature = "tokio"))]
pub const DEFAULT_TIMER: DefaultTimer = EnableTheFeatureTokioOrPassATimer;

/// The implementation keeps rustc from reporting a missing `Clock` besides the missing `Timer`. It is never called.
#[cfg(not(feature = "tokio"))]
impl Clock for EnableTheFeatureTokioOrPassATimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }
}
