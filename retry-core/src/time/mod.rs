//! Clocks and sleeping, by tokio or by a timer of the user's own.

mod latest;
mod manual;
mod std_timer;
mod timed_out;
#[cfg(feature = "tokio")]
mod tokio_timer;

pub(crate) use latest::{Latest, Observed};
pub use manual::{ManualSleep, ManualTimer};
pub use std_timer::StdTimer;
pub use timed_out::{TimeLimit, TimedOut};
#[cfg(feature = "tokio")]
pub use tokio_timer::TokioTimer;

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// A point in time, at a resolution of a nanosecond.
///
/// A timestamp is a duration since an origin that all clocks of this library share, so that one strategy can serve
/// async callers, who read `TokioTimer`, and blocking ones, who read [`StdTimer`]. A [`Clock`] of
/// your own that serves the same strategies converts the [`Instant`]s that it reads:
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
/// It is a type of its own because an [`Instant`] can't be faked, and can't be made at all on some platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(Duration);

/// Where the first instant of the process that becomes a timestamp lies. A test's paused clock can end up behind it, so
/// there is room on both sides.
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
    /// Where the clocks of this library begin: the first [`Instant`] of the process that became a timestamp.
    pub const START: Self = Self(FIRST_INSTANT);

    /// Returns the point that lies this long after the origin.
    ///
    /// The clocks of this library begin 136 years after it, at [`START`](Timestamp::START). A clock that counts from the
    /// origin therefore does not fit strategies that the library's clocks serve too.
    #[inline]
    pub const fn from_origin(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Returns how long after the origin this point lies.
    #[inline]
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// Returns the point this much later. It saturates.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// Returns the point this much earlier, or the origin if that lies before it.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// Returns the time from an earlier point to this one; zero if the clock went backwards in between.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// Tells the time.
///
/// A clock should be monotonic. One that jumps backwards, as a test's clock that ends before a static does, is survived:
/// no time is taken to have passed.
///
/// All clocks that serve one strategy must agree on the origin of their [timestamps](Timestamp). Otherwise the strategy
/// sees time jump with every change of clock: a quota that refills over time would be full again each time.
pub trait Clock {
    /// The present.
    fn now(&self) -> Timestamp;
}

/// A [`Clock`] that can also sleep.
///
/// A timer whose sleep is ready at once should move its own clock by the delay. If it does not, a limiter goes on asking
/// for waits that never end: the operation then yields to its executor after each of them, so that a timeout around it
/// still works, but it makes no progress, and `max_time` does not end it because no time passes.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::time::Timestamp;
/// use retry_core::{Clock, Timer};
///
/// /// Never sleeps: for tests of what happens, not of when.
/// struct Impatient;
///
/// impl Clock for Impatient {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_origin(Duration::ZERO)
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
    label = "this is no `Timer`",
    note = "enable the feature `tokio` of retry-core, or name a timer of your own: `timer = TIMER` in the attribute, `retry(...).timer(TIMER)` for a closure"
)]
pub trait Timer: Clock {
    /// What [`sleep`](Timer::sleep) returns. It is boxed where it is used, and made only when there is something to
    /// wait for.
    type Sleep: Future<Output = ()>;

    /// A future that is ready once `delay`, which is never zero, has passed.
    fn sleep(&self, delay: Duration) -> Self::Sleep;
}

/// A [`Clock`] that can also block its thread, for functions that are retried with `blocking`.
///
/// [`StdTimer`] is the default.
///
/// A timer that returns at once should move its own clock by the delay. If it does not, a limiter goes on asking for
/// waits: after 100 of them that ran to their end while the clock stood still, the attempt is sent without the limiter's
/// permission. Waits that the limiter ended early do not count.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't block its thread",
    label = "this is no `BlockingTimer`",
    note = "with `blocking`, a timer implements `fn block(&self, delay: Duration)`; leave `timer` out for that of the standard library"
)]
pub trait BlockingTimer: Clock {
    /// Returns once `delay`, which is never zero, has passed.
    fn block(&self, delay: Duration);

    /// Returns once `delay`, which is never zero, has passed, or earlier if the thread is
    /// [unparked](std::thread::Thread::unpark), as a limiter does that has a send for it.
    ///
    /// The default blocks for all of the delay.
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

/// The timer that is used when the user names none.
#[cfg(feature = "tokio")]
pub type DefaultTimer = TokioTimer;

/// The timer that is used when the user names none.
#[cfg(not(feature = "tokio"))]
pub type DefaultTimer = EnableTheFeatureTokioOrPassATimer;

/// No timer at all, and the advice that the compiler prints when one is needed.
#[cfg(not(feature = "tokio"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct EnableTheFeatureTokioOrPassATimer;

/// The default timer as a value.
#[cfg(feature = "tokio")]
pub(crate) const DEFAULT_TIMER: DefaultTimer = TokioTimer;

/// The default timer as a value.
#[cfg(not(feature = "tokio"))]
pub(crate) const DEFAULT_TIMER: DefaultTimer = EnableTheFeatureTokioOrPassATimer;

/// So that the missing timer is all that rustc complains of. There is no way to ask it.
#[cfg(not(feature = "tokio"))]
impl Clock for EnableTheFeatureTokioOrPassATimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }
}
