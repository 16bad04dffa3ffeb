//! Operations that a program drives by itself, for event loops, streams and crates with a loop of their own.
//!
//! An [`Operation`] decides as the attribute and the closures do, and does no I/O: it neither sleeps nor runs the attempt. The driver
//! repeats three steps:
//!
//! 1. [`next`](Operation::next) says what to do: wait, make an attempt, or stop.
//! 2. The driver makes the attempt, and calls [`sent`](Operation::sent) when the request leaves. If the attempt takes longer than
//!    [`Next::Attempt`] allows, the driver drops it and calls [`cut`](Operation::cut).
//! 3. [`evaluate`](Operation::evaluate) asks a [policy](crate::RetryPolicy) what the outcome means, and [`settle`](Operation::settle) says
//!    whether another attempt follows.
//!
//! The driver keeps the last outcome, and returns it when the operation stops. Operations under a test guard skip their waits and are
//! recorded as others are.
//!
//! ```
//! use retry_core::drive::{Next, Operation, Outcome, Settled};
//! # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
//! use retry_core::{PatientRetryStrategy, StandardRetryPolicy};
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
//! # #[cfg(feature = "test")]
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
//!             let outcome = Outcome::new(send(operation.context().attempt()));
//!             let directive = operation.evaluate(&StandardRetryPolicy::new(), &outcome);
//!             match operation.settle(directive) {
//!                 Settled::Retry => last = outcome.kept(),
//!                 Settled::Done(_) => break Some(outcome.last()),
//!             }
//!         }
//!         // Time is up. With a time limit, `ended.last_or(last, ..)` is what to return.
//!         Next::Stop(_ended) => break last,
//!     }
//! };
//! assert_eq!(outcome, Some(Ok(7)));
//! ```
//!
//! # Attempts that are futures
//!
//! With a [`Timer`](crate::Timer) as its [clock](OperationBuilder::clock), the operation makes the futures that such a driver awaits or
//! polls: [`due`](Operation::due) is `next` with a future for a wait, and [`time_left`](Operation::time_left) the time limit of the
//! attempt. [`attempt`](Operation::attempt) polls the attempt, so that `explore` can let it fail. With the feature `hedges`, `race` drives an
//! operation with a hedge. The layer of the crate `retry-tower` is built on them.
//!
//! ```
//! use retry_core::drive::{Due, Operation, Settled};
//! # use retry_core::{ErrorFault, ErrorInfo, RetryInfo, StandardRetryStrategy};
//! use retry_core::{StandardRetryPolicy, TokioTimer};
//! use std::future::poll_fn;
//! use std::pin::pin;
//!
//! # #[derive(Debug, PartialEq)]
//! # struct Crashed;
//! # impl ErrorInfo for Crashed { fn fault(&self) -> ErrorFault { ErrorFault::Server } }
//! # impl RetryInfo for Crashed {}
//! # async fn send(attempt: u32) -> Result<u32, Crashed> {
//! #     if attempt == 1 { Err(Crashed) } else { Ok(7) }
//! # }
//! # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//! # async fn example() -> Option<Result<u32, Crashed>> {
//! let mut operation = Operation::builder(&STORE, "download").clock(TokioTimer).begin();
//! let mut last = None;
//! loop {
//!     match operation.due() {
//!         Due::Wait(wait) => wait.await,
//!         Due::Attempt => {
//!             operation.sent();
//!             let mut sending = pin!(send(operation.context().attempt()));
//!             let mut attempt = operation.attempt();
//!             // With a time limit, make `operation.time_left()` once before the attempt, and
//!             // poll it after the attempt.
//!             let outcome =
//!                 poll_fn(|context| attempt.poll(|| sending.as_mut().poll(context))).await;
//!             let directive = operation.evaluate(&StandardRetryPolicy::new(), &outcome);
//!             match operation.settle(directive) {
//!                 Settled::Retry => last = outcome.kept(),
//!                 Settled::Done(_) => return Some(outcome.last()),
//!             }
//!         }
//!         Due::Stop(_ended) => return last,
//!     }
//! }
//! # }
//! # #[cfg(feature = "test")]
//! # let _test = retry_core::test::begin();
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # assert_eq!(runtime.block_on(example()), Some(Ok(7)));
//! ```

mod attempt;
mod builder;
mod by_hand;
#[cfg(feature = "hedges")]
mod race;
mod step;
mod timed;

pub use super::{OutOfTime, SharedStop, Stopped};
pub use attempt::{Outcome, Running};
pub use builder::OperationBuilder;
#[cfg(feature = "hedges")]
pub use race::HedgedAttempts;
pub use step::{Cut, Ended, Next, Settled};
pub use timed::{Due, TimeLeft, Wait};

use super::record::SkippedWait;
use super::settle::Decision;
use super::wait::{Reason, skipped};
use super::{
    AttemptContext, Beginning, ContextState, Identified, Limited, OptionalObserver, RunningLimits, StateOf, Unobserved,
    with_text,
};
use crate::limit::EarlyWake;
use crate::observe::{Event, OperationId};
use crate::policy::{RetryDirective, Usage};
use crate::strategy::{Failure, Operations, RetryStrategy, Share};
use crate::time::{Clock, Reading, StdTimer, TimeLimit, TimedOut, Timestamp};
use builder::Surroundings;
use by_hand::{ByHand, Keeping};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;
use std::task::Waker;
use std::time::Duration;

/// The limits of an operation that is driven by hand.
type Limits = Limited<Option<SharedStop>>;

/// An operation that is driven by hand; see [`drive`](self).
///
/// If it is dropped, it releases the token of an attempt that was not [sent](Operation::sent).
///
/// No order of calls panics. A method that is called at another time than its documentation says changes nothing.
#[must_use = "an operation does nothing unless it is driven"]
pub struct Operation<S: RetryStrategy, C: Clock = StdTimer, O: OptionalObserver = Unobserved> {
    state: StateOf<S, Limits, O>,
    surroundings: Surroundings<S, C, O>,
    /// The id, once a context has needed it.
    id: OnceLock<OperationId>,
    previous_failure: Option<Failure>,
    /// The start time, unless the driver does not want to know how long the operation took.
    started: Option<Reading>,
    /// Whether there is no outcome that the operation could return if the service does not recover, because an exploration put failures
    /// without an outcome in the place of all attempts.
    lacks_outcome: bool,
    keeps_failures: bool,
    /// The event of the last failure, if it is kept.
    failure: Option<Box<Event>>,
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
        is_repeatable: bool,
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

impl<S> Operation<S, StdTimer, Unobserved>
where
    S: RetryStrategy,
    Operations: Share<S>,
{
    /// Returns the settings of an operation with this name, which events show: a `&'static str`, a `String` or a `Cow` of both. Take owned
    /// names from a small set; see [`Retry::name`](crate::Retry::name). The strategy is a reference to a static, or another handle that is
    /// shared by all calls.
    pub fn builder(strategy: S, name: impl Into<Cow<'static, str>>) -> OperationBuilder<S> {
        OperationBuilder::new(strategy, name)
    }
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Operation<S, C, O> {
    fn new(
        state: StateOf<S, Limits, O>,
        surroundings: Surroundings<S, C, O>,
        started: Option<Reading>,
        keeps_failures: bool,
    ) -> Self {
        Self {
            state,
            surroundings,
            id: OnceLock::new(),
            previous_failure: None,
            started,
            lacks_outcome: false,
            keeps_failures,
            failure: None,
            stage: Stage::Waiting(None),
        }
    }

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
        self.start_or_end();
        false
    }

    /// Starts an attempt after its waits, or ends the operation if none is made.
    fn start_or_end(&mut self) {
        if self.state.stopped.is_some() || self.state.is_unrecovered() && !self.lacks_outcome {
            self.time_is_over(ByHand { was_sent: false, is_repeatable: true }, self.state.stopped);
        } else {
            self.stage = Stage::Attempt { cut: self.next_cut(), is_sent: false, is_repeatable: true };
        }
    }

    /// Returns the time limit of an attempt that begins now.
    fn next_cut(&mut self) -> Option<(Duration, TimedOut)> {
        self.state.limits.remaining(&self.surroundings.clock);
        self.state.limits.next_cut()
    }

    /// Says that the attempt is sent. From now on, what was paid for it is spent. Without this, it comes back: if the operation is
    /// dropped, and when the attempt is settled.
    pub const fn sent(&mut self) {
        if let Stage::Attempt { is_sent, .. } = &mut self.stage {
            *is_sent = true;
        }
    }

    /// Says that there is no further attempt, because the request can't be sent again. If the attempt fails with an error that is worth a
    /// retry, the operation ends with the reason [`NotRepeatable`](crate::RetryError::NotRepeatable), and takes nothing from the quota.
    pub const fn not_repeatable(&mut self) {
        if let Stage::Attempt { is_repeatable, .. } = &mut self.stage {
            *is_repeatable = false;
        }
    }

    /// Enters the attempt, as long as the returned value lives: operations that begin meanwhile on this thread are nested in this one.
    /// For the time in which the attempt's code runs, such as one poll of its future. [`attempt`](Operation::attempt) does it by itself.
    pub fn enter(&self) -> impl Sized + use<S, C, O> {
        self.state.record.mark().enter()
    }

    /// Returns the context of the attempt.
    pub fn context(&self) -> AttemptContext {
        let time_left = if let Stage::Attempt { cut: Some((time, _)), .. } = self.stage { Some(time) } else { None };
        self.context_of(self.state.attempts(), time_left)
    }

    fn context_of(&self, attempt: u32, time_left: Option<Duration>) -> AttemptContext {
        ContextState::after(self.id(), self.previous_failure).attempt(attempt, time_left)
    }

    /// Returns the id of the operation.
    pub fn id(&self) -> OperationId {
        *self.id.get_or_init(|| self.state.operation_id())
    }

    /// Reports what the outcome says about a limit on the sum of weights; see [`RetryPolicy::usage`](crate::RetryPolicy::usage).
    /// Call this before [`settle`](Operation::settle). [`evaluate`](Operation::evaluate) does it by itself.
    pub fn used(&mut self, usage: Usage) {
        if let Stage::Attempt { .. } = self.stage {
            self.state.used(&self.surroundings.strategy, usage);
        }
    }

    /// Settles the outcome of the attempt, which means what the directive says. Use the directive of [`evaluate`](Operation::evaluate). If the
    /// driver asks the policy itself, the operation does not know that an attempt must not be carried out twice. [`Ended::last_or`] may
    /// then return an outcome from before an attempt that was cut.
    ///
    /// Without an attempt, nothing is settled. Then this returns [`Settled::Retry`], or how the operation ended.
    pub fn settle(&mut self, directive: RetryDirective) -> Settled {
        self.settle_as(directive, || None)
    }

    /// Settles the outcome of the attempt. `text` is called if the operation gave up and `tracing` wants the texts of its error.
    fn settle_as(&mut self, directive: RetryDirective, text: impl Fn() -> Option<String>) -> Settled {
        match self.stage {
            Stage::Waiting(_) => Settled::Retry,
            Stage::Ended(ended) => Settled::Done(ended),
            Stage::Attempt { is_sent, is_repeatable, .. } => {
                if is_sent && directive.has_progressed() {
                    self.surroundings.call().record_progress(&mut self.state);
                }
                let attempt = ByHand { was_sent: is_sent, is_repeatable };
                self.previous_failure = Some(Failure::from_directive(directive));
                let beginning = self.beginning();
                let driver = || with_text(Keeping { attempt, beginning, failure: &mut self.failure }, text);
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

    /// Returns the beginning of the operation, if it keeps the events of failures.
    fn beginning(&self) -> Option<Beginning> {
        if !self.keeps_failures {
            return None;
        }
        self.started.map(|started| Beginning::new(self.id(), started))
    }

    /// Returns the event of the last failure, once: [`RetryScheduled`](crate::EventKind::RetryScheduled) or
    /// [`WaitingForService`](crate::EventKind::WaitingForService) if a retry may follow, [`Stopped`](crate::EventKind::Stopped) after the last
    /// failure. For a driver with a hook for failures, as [`Retry::on_retry`](crate::Retry::on_retry) is one: ask after each
    /// [`settle`](Operation::settle), and at the end of the operation. It is kept only after
    /// [`with_failures`](OperationBuilder::with_failures).
    pub fn take_failure(&mut self) -> Option<Event> {
        self.failure.take().map(|event| *event)
    }

    /// Ends the operation before its next attempt, because the driver does not want it. What was paid for the attempt comes back, unless it was
    /// [sent](Operation::sent). The reason is [`GivenUp`](crate::RetryError::GivenUp). Return the last outcome.
    ///
    /// No failure is kept for it, so a hook that ends the operation is not called again. After the end, this returns how it ended.
    pub fn give_up(&mut self) -> Ended {
        let is_sent = match self.stage {
            Stage::Ended(ended) => return ended,
            Stage::Attempt { is_sent, .. } => is_sent,
            Stage::Waiting(_) => false,
        };
        let decision = self.given_up(is_sent);
        self.end(decision, None)
    }

    fn given_up(&mut self, is_sent: bool) -> Decision {
        let tally = if is_sent {
            self.state.token.tally()
        } else {
            let unsent = self.state.token.unsent(&|| self.surroundings.clock.now());
            self.state.release(self.surroundings.call());
            unsent
        };
        let error_type = self.previous_failure.and_then(|failure| failure.error_type());
        let reason = self.state.give_up(self.surroundings.call(), error_type, tally.attempts);
        Decision::Stop { tally, reason: Some(reason) }
    }

    /// Says that the attempt took as long as [`Next::Attempt`] allows, so that the driver has dropped it.
    ///
    /// After [`Cut::Attempt`], settle its outcome. That is also the answer, with a time of zero, if the attempt has no limit, or if there is
    /// no attempt. After the end of the operation, the answer is how it ended.
    pub fn cut(&mut self) -> Cut {
        match self.stage {
            Stage::Ended(ended) => Cut::Operation(ended),
            Stage::Attempt { cut: Some((_, cut)), is_sent, is_repeatable } => {
                let cut = if is_sent { cut } else { cut.before_attempt() };
                if cut.limit() != TimeLimit::Attempt {
                    let attempt = ByHand { was_sent: is_sent, is_repeatable };
                    return Cut::Operation(self.time_is_over(attempt, Some(cut)));
                }
                self.state.limits.note_cut(true);
                Cut::Attempt(cut)
            }
            Stage::Attempt { cut: None, .. } | Stage::Waiting(_) => {
                Cut::Attempt(TimedOut::new(TimeLimit::Attempt, Duration::ZERO))
            }
        }
    }

    /// Ends the operation without a directive.
    fn time_is_over(&mut self, attempt: ByHand, timed_out: Option<TimedOut>) -> Ended {
        let beginning = self.beginning();
        let driver = Keeping { attempt, beginning, failure: &mut self.failure };
        let decision = self.state.settle_or_end(self.surroundings.call(), None, || driver);
        self.end(decision, timed_out)
    }

    fn end(&mut self, decision: Decision, timed_out: Option<TimedOut>) -> Ended {
        let (attempts, waited, reason) = match decision {
            Decision::Stop { tally, reason } => (tally.attempts, tally.waited(), reason),
            Decision::Retry => (self.state.attempts(), Duration::ZERO, None),
        };
        let elapsed = self.elapsed();
        let supersedes_last = timed_out.is_some_and(|cut| self.state.limits.supersedes_last(cut));
        let ended = Ended { attempts, reason, elapsed, waited, timed_out, supersedes_last };
        self.stage = Stage::Ended(ended);
        ended
    }

    /// Returns the time since the beginning, if it was read.
    fn elapsed(&self) -> Duration {
        let elapsed = self.started.map(|started| self.surroundings.clock.reading().saturating_since(started));
        elapsed.unwrap_or_default()
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
