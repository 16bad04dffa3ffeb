//! How much time an operation and its attempts may take.

use crate::error::{ErrorInfo, RetryInfo};
use crate::time::{Clock, Timer, Timestamp};
use std::convert::Infallible;
use std::error::Error;
use std::fmt::{self, Debug};
use std::future::{Pending, pending};
use std::ops::ControlFlow;
use std::time::Duration;

/// There was no outcome in time: what a caller gets for an attempt that was cut.
///
/// An operation that has an `attempt_timeout` or a `max_time` makes its own error of it, so that type implements
/// `From<TimedOut>`. As [`RetryInfo`](trait@RetryInfo) has it, it is a timeout, and whether the request was acted upon
/// nobody knows.
///
/// ```
/// use retry_core::{RetryInfo, TimedOut};
///
/// #[derive(Debug, RetryInfo)]
/// enum StoreError {
///     #[retry(throttling)]
///     SlowDown,
///     #[retry(transparent)]
///     NoAnswer(TimedOut),
/// }
///
/// impl From<TimedOut> for StoreError {
///     fn from(error: TimedOut) -> Self {
///         Self::NoAnswer(error)
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimedOut {
    limit: TimeLimit,
    time: Duration,
}

/// Which time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeLimit {
    /// That of one attempt, `attempt_timeout`.
    Attempt,
    /// That of the whole operation, `max_time`.
    Operation,
}

impl TimedOut {
    /// Which time was up.
    pub const fn limit(&self) -> TimeLimit {
        self.limit
    }

    /// How long that was.
    pub const fn time(&self) -> Duration {
        self.time
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, option) = match self.limit {
            TimeLimit::Attempt => ("the attempt", "attempt_timeout"),
            TimeLimit::Operation => ("the operation", "max_time"),
        };
        write!(f, "{what} had no outcome within {:?} (`{option}`)", self.time)
    }
}

impl Error for TimedOut {}

impl ErrorInfo for TimedOut {}

impl RetryInfo for TimedOut {
    fn is_timeout(&self) -> bool {
        true
    }
}

/// An outcome that can say that there was none in time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that the time was up",
    label = "a function with `max_time` or `attempt_timeout` returns a `Result` whose error implements `From<TimedOut>`",
    note = "write `impl From<TimedOut> for` the error type; as a variant, `#[retry(transparent)] TimedOut(TimedOut)` says what it means"
)]
pub trait OutOfTime {
    /// The outcome of an attempt that was cut.
    fn out_of_time(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> OutOfTime for Result<T, E> {
    fn out_of_time(timed_out: TimedOut) -> Self {
        Err(timed_out.into())
    }
}

/// The limits of an operation, which it carries along.
pub trait Limit: Copy {
    /// There is nothing to look after.
    const ARE_NONE: bool = false;
    /// What cuts an attempt, or keeps it from being made.
    type Cut: Copy + Debug + Unpin;

    /// The operation begins.
    fn start(&mut self, clock: &dyn Clock);

    /// What the operation has left; `None` without a limit.
    fn remaining(&mut self, clock: &dyn Clock) -> Option<Duration>;

    /// Whether the time is up for what would come after this wait.
    fn is_over(&mut self, wait: Duration, clock: &dyn Clock) -> Option<Self::Cut>;

    /// When an attempt is to be cut that begins when `remaining` was asked last, and by what.
    fn next_cut(&self) -> Option<(Duration, Self::Cut)>;

    /// What sleeps until then. Without a limit, it has no size.
    type Sleep<T: Timer>: Future<Output = ()>;

    /// Sleeps until then.
    fn sleep<T: Timer>(timer: &T, time: Duration) -> Self::Sleep<T>;

    /// The same with a limit on each attempt.
    type WithAttemptTimeout: Limit;

    /// Sets the limit on each attempt.
    fn with_attempt_timeout(self, time: Duration) -> Self::WithAttemptTimeout;

    /// The limit on each attempt.
    fn attempt_timeout(&self) -> Option<Duration>;
}

/// What becomes of the outcomes of an operation with limits.
pub trait Limits<R>: Limit {
    /// The last outcome, where it may be needed after a wait.
    type Last: Default;

    /// Another attempt follows this outcome.
    fn keep(last: &mut Self::Last, outcome: R);

    /// An attempt was cut: it goes on with the outcome of that, or breaks off with the one of the operation.
    fn cut(cut: Self::Cut, last: &mut Self::Last) -> ControlFlow<R, R>;
}

/// No limit at all, and no cost.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Limit for Unlimited {
    const ARE_NONE: bool = true;

    type Cut = Infallible;

    #[inline]
    fn start(&mut self, _: &dyn Clock) {}

    #[inline]
    fn remaining(&mut self, _: &dyn Clock) -> Option<Duration> {
        None
    }

    #[inline]
    fn is_over(&mut self, _: Duration, _: &dyn Clock) -> Option<Infallible> {
        None
    }

    #[inline]
    fn next_cut(&self) -> Option<(Duration, Infallible)> {
        None
    }

    type Sleep<T: Timer> = Pending<()>;

    fn sleep<T: Timer>(_: &T, _: Duration) -> Pending<()> {
        pending()
    }

    type WithAttemptTimeout = AttemptTimeout;

    fn with_attempt_timeout(self, time: Duration) -> AttemptTimeout {
        AttemptTimeout(time)
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        None
    }
}

impl<R> Limits<R> for Unlimited {
    type Last = ();

    /// It is dropped before the wait.
    #[inline]
    fn keep((): &mut (), _: R) {}

    fn cut(cut: Infallible, (): &mut ()) -> ControlFlow<R, R> {
        match cut {}
    }
}

/// A limit on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTimeout(pub(crate) Duration);

impl Limit for AttemptTimeout {
    type Cut = TimedOut;

    fn start(&mut self, _: &dyn Clock) {}

    fn remaining(&mut self, _: &dyn Clock) -> Option<Duration> {
        None
    }

    fn is_over(&mut self, _: Duration, _: &dyn Clock) -> Option<TimedOut> {
        None
    }

    fn next_cut(&self) -> Option<(Duration, TimedOut)> {
        Some((self.0, TimedOut { limit: TimeLimit::Attempt, time: self.0 }))
    }

    type Sleep<T: Timer> = T::Sleep;

    fn sleep<T: Timer>(timer: &T, time: Duration) -> T::Sleep {
        timer.sleep(time)
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(self, time: Duration) -> Self {
        Self(time)
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        Some(self.0)
    }
}

impl<R: OutOfTime> Limits<R> for AttemptTimeout {
    type Last = ();

    fn keep((): &mut (), _: R) {}

    fn cut(cut: TimedOut, (): &mut ()) -> ControlFlow<R, R> {
        ControlFlow::Continue(R::out_of_time(cut))
    }
}

/// A limit on the operation, and perhaps one on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct MaxTime {
    /// What there is in all.
    time: Duration,
    attempt_timeout: Option<Duration>,
    /// None once it is over.
    left: Option<Duration>,
    /// When that was reckoned; none before the operation begins.
    seen: Option<Timestamp>,
}

impl MaxTime {
    pub(crate) const fn new(time: Duration, attempt_timeout: Option<Duration>) -> Self {
        Self { time, attempt_timeout, left: Some(time), seen: None }
    }

    /// What is left now. A clock that went backwards takes nothing, and gives nothing back.
    fn reckon(&mut self, clock: &dyn Clock) -> Option<Duration> {
        let now = clock.now();
        let passed = self.seen.map_or(Duration::ZERO, |seen| now.saturating_since(seen));
        self.seen = Some(now);
        self.left = self.left.and_then(|left| left.checked_sub(passed));
        self.left
    }

    const fn timed_out(&self) -> TimedOut {
        TimedOut { limit: TimeLimit::Operation, time: self.time }
    }
}

impl Limit for MaxTime {
    type Cut = TimedOut;

    fn start(&mut self, clock: &dyn Clock) {
        self.seen = Some(clock.now());
    }

    fn remaining(&mut self, clock: &dyn Clock) -> Option<Duration> {
        Some(self.reckon(clock).unwrap_or_default())
    }

    fn is_over(&mut self, wait: Duration, clock: &dyn Clock) -> Option<TimedOut> {
        match self.reckon(clock) {
            Some(left) if wait <= left => None,
            _ => Some(self.timed_out()),
        }
    }

    fn next_cut(&self) -> Option<(Duration, TimedOut)> {
        let left = self.left.unwrap_or_default();
        Some(match self.attempt_timeout {
            Some(time) if time < left => (time, TimedOut { limit: TimeLimit::Attempt, time }),
            _ => (left, self.timed_out()),
        })
    }

    type Sleep<T: Timer> = T::Sleep;

    fn sleep<T: Timer>(timer: &T, time: Duration) -> T::Sleep {
        timer.sleep(time)
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(mut self, time: Duration) -> Self {
        self.attempt_timeout = Some(time);
        self
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
    }
}

impl<R: OutOfTime> Limits<R> for MaxTime {
    type Last = Option<R>;

    fn keep(last: &mut Option<R>, outcome: R) {
        *last = Some(outcome);
    }

    fn cut(cut: TimedOut, last: &mut Option<R>) -> ControlFlow<R, R> {
        match cut.limit {
            TimeLimit::Attempt => ControlFlow::Continue(R::out_of_time(cut)),
            TimeLimit::Operation => ControlFlow::Break(last.take().unwrap_or_else(|| R::out_of_time(cut))),
        }
    }
}
