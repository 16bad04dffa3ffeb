//! Operations that a program drives by itself, for event loops, streams and crates with a loop of their own.
//!
//! An [`Operation`] decides as the attribute and the closures do, and does no I/O: it neither sleeps nor runs the attempt. The driver
//! repeats three steps:
//!
//! 1. [`next`](Operation::next) says what to do: wait, make an attempt, or stop.
//! 2. The driver makes the attempt, and calls [`sent`](Operation::sent) when the request leaves. If the attempt takes longer than
//!    [`Next::Attempt`] allows, the driver drops it and calls [`cut`](Operation::cut).
//! 3. [`settle`](Operation::settle) gets what the outcome means, from a [policy](crate::RetryPolicy), and says whether another attempt
//!    follows.
//!
//! The driver keeps the last outcome, and returns it when the operation stops. Operations under a test guard skip their waits and are
//! recorded as others are, but `explore` does not let their attempts fail.
//!
//! ```
//! use retry_core::drive::{Next, Operation, Settled};
//! # use retry_core::{ErrorFault, ErrorInfo};
//! use retry_core::{PatientRetryStrategy, RetryInfo, RetryPolicy, StandardRetryPolicy};
//! use std::sync::Arc;
//! use std::task::{Wake, Waker};
//! use std::thread::{self, Thread};
//!
//! # #[derive(Debug, PartialEq)]
//! # struct Crashed;
//! # impl ErrorInfo for Crashed { fn fault(&self) -> ErrorFault { ErrorFault::Server } }
//! # impl RetryInfo for Crashed {}
//! # fn send(attempt: u32) -> Result<u32, Crashed> {
//! #     if attempt == 1 { Err(Crashed) } else { Ok(7) }
//! # }
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! /// Wakes a thread. An event loop writes to its queue instead.
//! struct Unpark(Thread);
//! impl Wake for Unpark {
//!     fn wake(self: Arc<Self>) {
//!         self.0.unpark();
//!     }
//! }
//!
//! # let _test = retry_core::test::begin();
//! let waker = Waker::from(Arc::new(Unpark(thread::current())));
//! let mut operation = Operation::builder(&STORE, "download").begin();
//! let mut last = None;
//! let outcome = loop {
//!     match operation.next(&waker) {
//!         // An event loop does something else meanwhile.
//!         Next::Wait(time) => thread::park_timeout(time),
//!         Next::Attempt { .. } => {
//!             operation.sent();
//!             let outcome = send(operation.context().attempt());
//!             let directive = StandardRetryPolicy::new().evaluate(&outcome);
//!             match operation.settle(directive) {
//!                 Settled::Retry => last = Some(outcome),
//!                 Settled::Done(_) => break Some(outcome),
//!             }
//!         }
//!         // Time is up. Without an outcome, `ended.timed_out` is what to return.
//!         Next::Stop(_ended) => break last,
//!     }
//! };
//! assert_eq!(outcome, Some(Ok(7)));
//! ```

use super::record::SkippedWait;
use super::settle::Decision;
use super::wait::{Reason, skipped};
use super::{
    AttemptContext, Call, ContextState, Driver, Identified, Limited, Name, OptionalObserver, StateOf, Stop, TimeLimits,
    Unobserved,
};
use crate::limit::EarlyWake;
use crate::observe::{Observer, OperationId};
use crate::policy::{RetryDirective, Usage};
use crate::strategy::{Operations, RetryError, RetryStrategy, Share};
use crate::time::{Clock, StdTimer, TimeLimit, TimedOut, Timestamp};
use std::fmt;
use std::task::Waker;
use std::time::Duration;

/// The limits of an operation that is driven by hand.
type Limits = Limited<Option<&'static Stop>>;

/// The settings of an operation that is driven by hand. Created by [`Operation::builder`].
#[derive(Debug)]
#[must_use = "an operation begins when `begin` is called"]
pub struct OperationBuilder<S, C = StdTimer, O = Unobserved> {
    surroundings: Surroundings<S, C, O>,
    limits: Limits,
    is_unlimited: bool,
    weight: Option<u32>,
}

/// What an operation needs besides its state.
#[derive(Debug)]
struct Surroundings<S, C, O> {
    name: Name,
    strategy: S,
    clock: C,
    observer: O,
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Surroundings<S, C, O> {
    fn call(&self) -> Call<'_, S, &C, O::Ref<'_>> {
        Call::new(&self.name, &self.strategy).with_clock(&self.clock).with_observer(&self.observer)
    }
}

impl<S, C, O> OperationBuilder<S, C, O> {
    /// Sets the time limit of the whole operation; see [`Retry::max_time`](crate::Retry::max_time).
    pub fn max_time(self, time: Duration) -> Self {
        Self { limits: self.limits.with_max_time(time), ..self }
    }

    /// Sets the deadline of the whole operation; see [`Retry::deadline`](crate::Retry::deadline).
    pub fn deadline(self, deadline: impl Into<Timestamp>) -> Self {
        Self { limits: self.limits.with_deadline(deadline.into()), ..self }
    }

    /// Sets the time limit of each attempt. The driver cuts the attempt; see [`Operation::cut`].
    pub fn attempt_timeout(self, time: Duration) -> Self {
        Self { limits: self.limits.with_attempt_timeout(time), ..self }
    }

    /// Sets a handle that ends the operation in a shutdown; see [`Stop`].
    pub fn stop(self, stop: &'static Stop) -> Self {
        Self { limits: self.limits.with_handle(Some(stop)), ..self }
    }

    /// Lets the operation make any number of attempts; see [`Retry::unlimited_attempts`](crate::Retry::unlimited_attempts).
    pub fn unlimited_attempts(self) -> Self {
        Self { is_unlimited: true, ..self }
    }

    /// Sets the weight of the operation, for a limit on the sum of weights; see [`Retry::weight`](crate::Retry::weight).
    pub fn weight(self, weight: u32) -> Self {
        Self { weight: Some(weight), ..self }
    }

    /// Sets the clock. The default is that of [`StdTimer`].
    pub fn clock<D: Clock>(self, clock: D) -> OperationBuilder<S, D, O> {
        let Self { surroundings: Surroundings { name, strategy, clock: _, observer }, limits, is_unlimited, weight } =
            self;
        let surroundings = Surroundings { name, strategy, clock, observer };
        OperationBuilder { surroundings, limits, is_unlimited, weight }
    }

    /// Sets the observer of the operation.
    pub fn observer<P: Observer>(self, observer: P) -> OperationBuilder<S, C, P> {
        let Self { surroundings: Surroundings { name, strategy, clock, observer: _ }, limits, is_unlimited, weight } =
            self;
        let surroundings = Surroundings { name, strategy, clock, observer };
        OperationBuilder { surroundings, limits, is_unlimited, weight }
    }

    /// Begins the operation: its time starts now.
    pub fn begin(self) -> Operation<S, C, O>
    where
        S: RetryStrategy,
        C: Clock,
        O: OptionalObserver,
    {
        let Self { surroundings, limits, is_unlimited, weight } = self;
        let started = surroundings.clock.now();
        let mut state = surroundings.call().begin(limits);
        state.set_unlimited(is_unlimited);
        if let Some(weight) = weight {
            state.weigh(&surroundings.strategy, weight);
        }
        let context = ContextState::new(state.operation_id());
        Operation { state, surroundings, context, started, stage: Stage::Waiting(None) }
    }
}

/// An operation that is driven by hand; see [`drive`](self).
///
/// If it is dropped, it releases the token of an attempt that was not [sent](Operation::sent).
///
/// No order of calls panics. A method that is called at another time than its documentation says changes nothing.
#[must_use = "an operation does nothing unless it is driven"]
pub struct Operation<S: RetryStrategy, C: Clock = StdTimer, O: OptionalObserver = Unobserved> {
    state: StateOf<S, Limits, O>,
    surroundings: Surroundings<S, C, O>,
    context: ContextState,
    started: Timestamp,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Before an attempt: its wait, if there is one.
    Waiting(Option<Pause>),
    Attempt {
        /// The time limit of the attempt.
        cut: Option<(Duration, TimedOut)>,
        is_sent: bool,
    },
    Ended(Ended),
}

/// A wait.
#[derive(Debug)]
enum Pause {
    /// Until this time, or until it is ended early.
    Until(Timestamp, Option<EarlyWake>),
    /// A wait that a test guard skips. It has no length, so that the driver can go on with other operations meanwhile.
    Skipped(SkippedWait),
}

/// The next step of a driver. [`Operation::next`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait this long, or until the waker is woken, and ask again. Under a test guard, waits have no length.
    Wait(Duration),
    /// Make an attempt.
    #[non_exhaustive]
    Attempt {
        /// The time that the attempt may take; `None` without a limit. Then call [`Operation::cut`].
        time_left: Option<Duration>,
    },
    /// Return the last outcome.
    Stop(Ended),
}

/// What follows an outcome. [`Operation::settle`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Another attempt may follow: keep the outcome, and ask for the [next step](Operation::next).
    Retry,
    /// The outcome is final.
    Done(Ended),
}

/// What follows an attempt that took too long. [`Operation::cut`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The attempt was cut by its own limit. Convert this to an outcome, and [settle](Operation::settle) it.
    Attempt(TimedOut),
    /// The operation is over. Return the last outcome, or [`Ended::timed_out`] if there is none.
    Operation(Ended),
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The number of attempts.
    pub attempts: u32,
    /// The reason why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time from the beginning to the end.
    pub elapsed: Duration,
    /// The time for which the operation waited for the service.
    pub waited: Duration,
    /// The limit that ended the operation, for an operation without an outcome.
    pub timed_out: Option<TimedOut>,
}

/// What a driver by hand knows about an attempt.
struct ByHand {
    was_sent: bool,
}

impl Driver for ByHand {
    fn was_sent(&self) -> bool {
        self.was_sent
    }
}

impl<S> Operation<S, StdTimer, Unobserved>
where
    S: RetryStrategy,
    Operations: Share<S>,
{
    /// Returns the settings of an operation with this name, which events show. The strategy is a reference to a static, or another
    /// handle that is shared by all calls.
    pub fn builder(strategy: S, name: &'static str) -> OperationBuilder<S> {
        let surroundings = Surroundings { name: Name::Given(name), strategy, clock: StdTimer, observer: Unobserved };
        let limits = Limited::new().with_handle(None);
        OperationBuilder { surroundings, limits, is_unlimited: false, weight: None }
    }
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Operation<S, C, O> {
    /// Returns the next step. Ask at the end of a wait, when the waker was woken, and at any other time.
    ///
    /// After [`Next::Attempt`], this returns the same until the attempt is settled or cut; after [`Next::Stop`], always.
    pub fn next(&mut self, waker: &Waker) -> Next {
        loop {
            match &self.stage {
                Stage::Ended(ended) => return Next::Stop(*ended),
                Stage::Attempt { cut, .. } => return Next::Attempt { time_left: cut.map(|(time, _)| time) },
                Stage::Waiting(Some(Pause::Until(until, wake))) => {
                    let is_woken = wake.as_ref().is_some_and(|wake| wake.register(waker));
                    let left = until.saturating_since(self.surroundings.clock.now());
                    if !is_woken && !left.is_zero() {
                        return Next::Wait(left);
                    }
                }
                Stage::Waiting(Some(Pause::Skipped(wait))) => wait.end(),
                Stage::Waiting(None) => {}
            }
            self.stage = Stage::Waiting(None);
            let is_skipped = self.ask();
            if is_skipped {
                return Next::Wait(Duration::ZERO);
            }
        }
    }

    /// Asks what is next, and stores it. Returns whether it is a wait that is skipped.
    fn ask(&mut self) -> bool {
        let clock = &self.surroundings.clock;
        if let Some((wait, reason)) = self.surroundings.call().next_wait(&mut self.state) {
            let pause = match skipped(&mut self.state, wait, reason) {
                Reason::Skipped(wait) => Pause::Skipped(wait),
                Reason::Delay(wake) | Reason::Limiter(wake) | Reason::Service(wake) => {
                    Pause::Until(clock.now().saturating_add(wait), wake)
                }
            };
            let is_skipped = matches!(pause, Pause::Skipped(_));
            self.stage = Stage::Waiting(Some(pause));
            return is_skipped;
        }
        if self.state.stopped.is_some() || self.state.is_unrecovered() {
            self.time_is_over(false, self.state.stopped);
            return false;
        }
        self.state.limits.remaining(clock);
        self.stage = Stage::Attempt { cut: self.state.limits.next_cut(), is_sent: false };
        false
    }

    /// Says that the attempt is sent. From now on, what was paid for it is spent. Without this, it comes back: if the operation is
    /// dropped, and when the attempt is settled.
    pub const fn sent(&mut self) {
        if let Stage::Attempt { is_sent, .. } = &mut self.stage {
            *is_sent = true;
        }
    }

    /// Enters the attempt, as long as the returned value lives: operations that begin meanwhile on this thread are nested in this one.
    /// For the time in which the attempt's code runs, such as one poll of its future.
    pub fn enter(&self) -> impl Sized + use<S, C, O> {
        self.state.record.mark().enter()
    }

    /// Returns the context of the attempt.
    pub fn context(&self) -> AttemptContext {
        let time_left = if let Stage::Attempt { cut: Some((time, _)), .. } = self.stage { Some(time) } else { None };
        self.context.attempt(self.state.attempts(), time_left)
    }

    /// Returns the id of the operation.
    pub fn id(&self) -> OperationId {
        self.state.operation_id()
    }

    /// Reports what the outcome says about a limit on the sum of weights; see [`RetryPolicy::usage`](crate::RetryPolicy::usage).
    /// Call this before [`settle`](Operation::settle).
    pub fn used(&mut self, usage: Usage) {
        if let Stage::Attempt { .. } = self.stage {
            self.state.used(&self.surroundings.strategy, usage);
        }
    }

    /// Settles the outcome of the attempt, which means what the directive says.
    ///
    /// Without an attempt, nothing is settled. Then this returns [`Settled::Retry`], or how the operation ended.
    pub fn settle(&mut self, directive: RetryDirective) -> Settled {
        match self.stage {
            Stage::Waiting(_) => Settled::Retry,
            Stage::Ended(ended) => Settled::Done(ended),
            Stage::Attempt { is_sent, .. } => {
                let directive = self.context.remember(directive);
                let driver = ByHand { was_sent: is_sent };
                match self.state.settle(self.surroundings.call(), directive, driver) {
                    Decision::Retry => {
                        self.stage = Stage::Waiting(None);
                        Settled::Retry
                    }
                    stop @ Decision::Stop { .. } => Settled::Done(self.end(stop, None)),
                }
            }
        }
    }

    /// Says that the attempt took as long as [`Next::Attempt`] allows, so that the driver has dropped it.
    ///
    /// After [`Cut::Attempt`], settle its outcome. That is also the answer, with a time of zero, if the attempt has no limit, or if there is
    /// no attempt. After the end of the operation, the answer is how it ended.
    pub fn cut(&mut self) -> Cut {
        match self.stage {
            Stage::Ended(ended) => Cut::Operation(ended),
            Stage::Attempt { cut: Some((_, cut)), is_sent } if cut.limit() != TimeLimit::Attempt => {
                Cut::Operation(self.time_is_over(is_sent, Some(cut)))
            }
            Stage::Attempt { cut: Some((_, cut)), .. } => Cut::Attempt(cut),
            Stage::Attempt { cut: None, .. } | Stage::Waiting(_) => {
                Cut::Attempt(TimedOut::new(TimeLimit::Attempt, Duration::ZERO))
            }
        }
    }

    /// Ends the operation without a directive.
    fn time_is_over(&mut self, was_sent: bool, timed_out: Option<TimedOut>) -> Ended {
        let decision = self.state.settle_or_end(self.surroundings.call(), None, ByHand { was_sent });
        self.end(decision, timed_out)
    }

    fn end(&mut self, decision: Decision, timed_out: Option<TimedOut>) -> Ended {
        let (attempts, waited, reason) = match decision {
            Decision::Stop { progress, reason } => (progress.attempts, progress.waited(), reason),
            Decision::Retry => (self.state.attempts(), Duration::ZERO, None),
        };
        let elapsed = self.surroundings.clock.now().saturating_since(self.started);
        let ended = Ended { attempts, reason, elapsed, waited, timed_out };
        self.stage = Stage::Ended(ended);
        ended
    }
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Drop for Operation<S, C, O> {
    fn drop(&mut self) {
        if matches!(self.stage, Stage::Waiting(_) | Stage::Attempt { is_sent: false, .. }) {
            self.state.release(self.surroundings.call());
        }
    }
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> fmt::Debug for Operation<S, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("stage", &self.stage).finish_non_exhaustive()
    }
}
