//! Calls that a future ends.

#[cfg(feature = "hedges")]
use super::HedgedRetry;
use super::Retry;
use super::closure::AsyncAttempts;
use crate::observe::Report;
use crate::operation::{CutOnStop, Limited, LimitsOn, OptionalObserver, Stop, TimeLimits, WithTimedOut, beside};
use crate::policy::RetryPolicy;
use crate::strategy::RetryStrategy;
use crate::support::misplaced::{ClosureForTheEnd, SettingsAfterStopWhen, StrategySettings, misplaced};
use crate::time::Timer;
use std::fmt;
use std::sync::Arc;

/// A call that a future ends. It is created by [`Retry::stop_when`] and started by [`run`](StoppableRetry::run) or
/// [`report`](StoppableRetry::report).
#[derive(Clone)]
#[must_use = "nothing is called before `.run()` or `.report()`"]
pub struct StoppableRetry<C, W> {
    call: C,
    when: W,
    cuts: bool,
}

impl<C: fmt::Debug, W> fmt::Debug for StoppableRetry<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoppableRetry").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<S, F: AsyncAttempts, P, T, O, L> Retry<S, F, P, T, O, L> {
    /// Adds a future that ends the call once it is ready, as a [`Stop`] does: `token.cancelled()` of a `CancellationToken`, the receiver of a
    /// oneshot channel, Ctrl-C, or any other. Its output is ignored. Call this after all other methods that set something.
    ///
    /// The future belongs to this call. It is polled with the call, before it, until it is ready, and is dropped with the call. If it is ready
    /// at the first poll, no attempt is sent. An attempt that runs is not cut, unless [`cut_on_stop`](StoppableRetry::cut_on_stop) says so. For many calls that end together, and for a call that blocks
    /// its thread, use a [`Stop`]. With both, either ends the call.
    ///
    /// The error type must implement `From<TimedOut>`, or the call have a closure for [`timed_out`](Retry::timed_out), as for
    /// [`stop`](Retry::stop). The future of the call is `Send` only if this one is. It
    /// costs an allocation, one more for each attempt with a time limit, and one for each wait.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, retry};
    /// use tokio::sync::oneshot;
    ///
    /// static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # async fn connect() -> std::io::Result<()> { Ok(()) }
    /// /// Connects, unless another task sends a message or drops the other end of the channel.
    /// async fn connect_until(quit: oneshot::Receiver<()>) -> std::io::Result<()> {
    ///     retry(&SERVER, || connect()).when(|_| true).stop_when(quit).run().await
    /// }
    /// ```
    pub fn stop_when<W: IntoFuture>(self, when: W) -> StoppableRetry<Self, W::IntoFuture> {
        StoppableRetry { call: self, when: when.into_future(), cuts: false }
    }
}

impl<'s, S, F: AsyncAttempts, P, T, O> Retry<S, F, P, T, O, Limited<&'s Stop>> {
    /// Lets a stop cut the attempt that runs, as `max_time` does: it is dropped. Otherwise, it is left to end, because a request that was sent
    /// may have been carried out. Call this after [`stop`](Retry::stop).
    ///
    /// The call returns its last outcome, or a [`TimedOut`](crate::TimedOut) with [`TimeLimit::Stop`](crate::TimeLimit::Stop) if there is
    /// none, or if an attempt was cut with [`idempotent(false)`](Retry::idempotent). The strategy learns nothing from the attempt, and its
    /// cost is not refunded. An outcome that is ready at the stop is used.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
    /// use retry_core::Stop;
    ///
    /// static STOP: Stop = Stop::new();
    ///
    /// # async fn read() -> std::io::Result<()> { Ok(()) }
    /// # async fn example() -> std::io::Result<()> {
    /// retry(&SERVER, || read()).when(|_| true).stop(&STOP).cut_on_stop().run().await
    /// # }
    /// ```
    pub fn cut_on_stop(self) -> Retry<S, F, P, T, O, Limited<CutOnStop<&'s Stop>>> {
        self.within(|limits| limits.cutting(true))
    }
}

impl<'s, S, F: AsyncAttempts, P, T, O, C> Retry<S, F, P, T, O, WithTimedOut<Limited<&'s Stop>, C>> {
    /// Lets a stop cut the attempt that runs, as for a call without [`timed_out`](Retry::timed_out).
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn cut_on_stop(self) -> Retry<S, F, P, T, O, WithTimedOut<Limited<CutOnStop<&'s Stop>>, C>> {
        self.within(|limits| limits.map(|limits| limits.cutting(true)))
    }
}

#[cfg(feature = "hedges")]
impl<C> HedgedRetry<C> {
    /// Adds a future that ends the call once it is ready; see [`Retry::stop_when`].
    pub fn stop_when<W: IntoFuture>(self, when: W) -> StoppableRetry<Self, W::IntoFuture> {
        StoppableRetry { call: self, when: when.into_future(), cuts: false }
    }
}

impl<C, W> StoppableRetry<C, W> {
    /// Lets the future, and a [`Stop`], cut the attempt that runs; see [`Retry::cut_on_stop`].
    pub fn cut_on_stop(self) -> Self {
        Self { cuts: true, ..self }
    }
}

impl<S, F, P, T, O, L: TimeLimits> Retry<S, F, P, T, O, L> {
    fn stopped_by(self, own: Arc<Stop>, cuts: bool) -> Retry<S, F, P, T, O, L::StoppedByOwn> {
        self.within(|limits| limits.with_own_stop(own, cuts))
    }
}

impl<S, F, P, T, O, L, W> StoppableRetry<Retry<S, F, P, T, O, L>, W>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: TimeLimits<StoppedByOwn: LimitsOn<F::Outcome>>,
    P: RetryPolicy<F::Outcome>,
    W: Future,
{
    /// Runs the attempts and returns the last outcome.
    pub fn run(self) -> impl Future<Output = F::Outcome> {
        let Self { call, when, cuts } = self;
        beside(when, move |own| call.stopped_by(own, cuts).run())
    }

    /// Runs the attempts and returns a report, as [`Retry::report`] does.
    pub fn report(self) -> impl Future<Output = Report<F::Outcome>> {
        let Self { call, when, cuts } = self;
        beside(when, move |own| call.stopped_by(own, cuts).report())
    }
}

#[cfg(feature = "hedges")]
impl<S, F, P, T, O, L, W> StoppableRetry<HedgedRetry<Retry<S, F, P, T, O, L>>, W>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: TimeLimits<StoppedByOwn: LimitsOn<F::Outcome>>,
    P: RetryPolicy<F::Outcome>,
    W: Future,
{
    /// Runs the attempts and returns the last outcome.
    pub fn run(self) -> impl Future<Output = F::Outcome> {
        let Self { call: HedgedRetry { call, hedge }, when, cuts } = self;
        beside(when, move |own| call.stopped_by(own, cuts).hedge(hedge).run())
    }

    /// Runs the attempts and returns a report, as [`HedgedRetry::report`] does.
    pub fn report(self) -> impl Future<Output = Report<F::Outcome>> {
        let Self { call: HedgedRetry { call, hedge }, when, cuts } = self;
        beside(when, move |own| call.stopped_by(own, cuts).hedge(hedge).report())
    }
}

// Methods that it does not have, with messages that say what to write.
impl<C, W> StoppableRetry<C, W> {
    misplaced! { StrategySettings: backoff(base: A, cap: B) jitter(jitter: A) }
    misplaced! { ClosureForTheEnd: on_end(on_end: A) }
    misplaced! {
        SettingsAfterStopWhen:
        idempotent(idempotent: A)
        when(when: A)
        retry_after(retry_after: A)
        policy(policy: A)
        weight(weight: A)
        used(used: A)
        observer(observer: A)
        name(name: A)
        on_retry(on_retry: A)
        timer(timer: A)
        max_time(time: A)
        deadline(deadline: A)
        attempt_timeout(time: A)
        timed_out(timed_out: A)
        max_attempts(attempts: A)
        try_max_attempts(attempts: A)
        unlimited_attempts()
        stop(stop: A)
        hedge(hedge: A)
    }
}
