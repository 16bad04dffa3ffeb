//! Long polling: an operation whose retry the quota refuses waits before it returns.

use super::{LimitsOn, RefusedPoll, TimeLimits, sealed};
use crate::operation::Stop;
use crate::operation::timed_attempt::{Deadline, RunAttempt, run_limited};
use crate::policy::RetryErrorType;
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, Timer, Timestamp};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

/// The time limits of an operation with [long polling](crate::Retry::long_polling). `L` is its other limits.
///
/// For the rest of the operation, the wait after a refused retry is a wait before an attempt that a limit prevents. So
/// operations without long polling have no extra code.
#[derive(Clone, Copy, Debug)]
pub struct LongPolling<L> {
    limits: L,
    refused: Option<RefusedPoll>,
}

/// The reason why an attempt of an operation with long polling is cut or prevented.
#[derive(Clone, Copy, Debug)]
pub enum PollCut<C> {
    /// The quota refused the retry, and the wait is over.
    Refused,
    /// A time limit.
    Limit(C),
}

impl<L> LongPolling<L> {
    pub(crate) const fn new(limits: L) -> Self {
        Self { limits, refused: None }
    }

    fn with<M>(self, change: impl FnOnce(L) -> M) -> LongPolling<M> {
        LongPolling { limits: change(self.limits), refused: self.refused }
    }
}

impl<L: TimeLimits> sealed::Sealed for LongPolling<L> {}

impl<L: TimeLimits> TimeLimits for LongPolling<L> {
    type Cut = PollCut<L::Cut>;

    fn start(&mut self, clock: &impl Clock) {
        self.limits.start(clock);
    }

    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration> {
        self.limits.remaining(clock)
    }

    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut> {
        self.limits.is_over(wait, clock).map(PollCut::Limit)
    }

    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut> {
        self.limits.shorten(wait, clock).map_err(PollCut::Limit)
    }

    fn skip(&mut self, wait: Duration) {
        self.limits.skip(wait);
    }

    fn next_cut(&self) -> Option<(Duration, Self::Cut)> {
        self.limits.next_cut().map(|(time, cut)| (time, PollCut::Limit(cut)))
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        self.limits.attempt_timeout()
    }

    type Sleep<Z: Future<Output = ()>> = L::Sleep<Z>;

    fn sleep<T: Timer>(timer: &T, time: Duration, cut: Self::Cut) -> Option<L::Sleep<T::Sleep>> {
        match cut {
            PollCut::Limit(cut) => L::sleep(timer, time, cut),
            PollCut::Refused => None,
        }
    }

    const IS_LONG_POLLING: bool = true;

    fn refuse(&mut self, refused: RefusedPoll) {
        self.refused = Some(refused);
    }

    fn refused(&self) -> Option<(RefusedPoll, Self::Cut)> {
        self.refused.map(|refused| (refused, PollCut::Refused))
    }

    fn stop(&self) -> Option<&Stop> {
        self.limits.stop()
    }

    fn end(&self) -> (RetryError, Option<RetryErrorType>) {
        match self.refused {
            Some(RefusedPoll { error_type, .. }) => (RetryError::QuotaExhausted, error_type),
            None => self.limits.end(),
        }
    }

    type WithAttemptTimeout = LongPolling<L::WithAttemptTimeout>;

    fn with_attempt_timeout(self, time: Duration) -> Self::WithAttemptTimeout {
        self.with(|limits| limits.with_attempt_timeout(time))
    }

    type WithMaxTime = LongPolling<L::WithMaxTime>;

    fn with_max_time(self, time: Duration) -> Self::WithMaxTime {
        self.with(|limits| limits.with_max_time(time))
    }

    fn with_deadline(self, deadline: Timestamp) -> Self::WithMaxTime {
        self.with(|limits| limits.with_deadline(deadline))
    }

    type WithLongPolling = Self;

    fn with_long_polling(self) -> Self {
        self
    }

    type WithStop<'s> = LongPolling<L::WithStop<'s>>;

    fn with_stop(self, stop: &Stop) -> Self::WithStop<'_> {
        self.with(|limits| limits.with_stop(stop))
    }
}

impl<R, L: LimitsOn<R>> LimitsOn<R> for LongPolling<L> {
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R> {
        None::<R>
    }

    fn cut(cut: Self::Cut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut {
            PollCut::Limit(cut) => L::cut(cut, last),
            PollCut::Refused => match last() {
                Some(outcome) => ControlFlow::Break(outcome),
                None => unreachable!("the outcome is kept before the wait"),
            },
        }
    }
}

impl<L: TimeLimits> RunAttempt for LongPolling<L> {
    type CutBy = PollCut<L::Cut>;
    type Attempted<R> = Result<R, Self::CutBy>;

    fn run_attempt<F: Future>(
        deadline: Deadline<Self::CutBy>,
        sleep: Pin<&mut Option<impl Future<Output = ()>>>,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<F::Output, Self::CutBy>> {
        run_limited(deadline, sleep, make)
    }

    fn outcome<R>(attempted: Result<R, Self::CutBy>) -> Result<R, Self::CutBy> {
        attempted
    }
}
