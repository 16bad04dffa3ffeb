//! The state machine of one retried call. It decides how long to wait, when to make an attempt, and when to return. A
//! driver sleeps and runs the body.
//!
//! The drivers are the loop that the attribute writes, the runs of closures in `retry`, and `drive` for others, such as the layer of the
//! crate `retry-tower`.

mod block;
mod call;
mod context;
pub mod drive;
mod driver;
mod evaluate;
mod events;
pub(crate) mod explored;
#[cfg(feature = "hedges")]
pub(crate) mod hedging;
mod identity;
mod name;
mod nesting;
mod next_deadline;
mod observed;
mod optional_observer;
mod progress;
mod record;
mod refusals;
mod release;
mod settle;
mod stop;
mod tell;
mod textual;
mod time_limits;
mod timed_attempt;
mod unheard;
mod wait;
mod warned;

pub use call::Call;
pub use context::{AttemptContext, ContextState};
pub use driver::{Driver, OnRetryOutput};
pub(crate) use driver::{OnRetry, Plain};
pub(crate) use explored::{Outcome, Place};
#[cfg(feature = "hedges")]
pub(crate) use hedging::RaceOf;
#[cfg(feature = "hedges")]
pub use hedging::{Race, Raced, Racing};
pub use identity::{Beginning, Identified, UnobservedId};
pub use name::{FunctionName, Name, Path};
pub(crate) use next_deadline::DeadlineAndSleep;
pub use optional_observer::{ObservedState, OptionalObserver, Unobserved};
pub use release::ReleaseGuard;
pub(crate) use settle::Decision;
pub use settle::End;
pub use stop::{SharedStop, Stop, Stopped};
pub(crate) use textual::{text_of, textual, with_text};
pub(crate) use time_limits::beside;
pub use time_limits::{
    AtMost, CutOnStop, Limited, LimitsOn, NoSleep, OutOfTime, OwnStop, RunningLimits, SleepOrStop, Step, StopHandle,
    TimeLimits, Unlimited, WithTimedOut,
};
pub use timed_attempt::{Attempt, AttemptSleep, Deadline, RunAttempt};
pub use wait::{Wait, Waiting};

use crate::observe::trace::Level;
use crate::observe::{EventKind, OperationId};
use crate::policy::Usage;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::time::Clock;
use observed::Observed;
use record::Record;
use release::TokenState;
use std::time::Duration;

/// The state of one retried call. It borrows nothing, so that no part of the strategy is borrowed while the body runs.
///
/// A driver calls `begin` once. Then it repeats these steps: `wait` until there is nothing to wait for, the body, and `settle`, which
/// says whether the outcome is final.
#[derive(Debug)]
pub struct State<K, L: RunningLimits, N> {
    token: TokenState<K>,
    /// What the next attempt needs. A field of its own, because to read it from the state of the token would take four instructions.
    needs: Needs,
    /// Whether the strategy's maximum number of attempts does not apply.
    is_unlimited: bool,
    limits: L,
    /// The time limit that was over before an attempt could begin.
    stopped: Option<L::Cut>,
    /// The state of the observer.
    observed: Observed<N>,
    record: Record,
}

/// What an attempt needs before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Nothing, because it is the first one. Its token, which holds nothing, was not made yet.
    NothingUnmade,
    /// Nothing: there is no delay, and the strategy need not be asked.
    Nothing,
    /// A look at the token: the strategy is asked for its permission.
    Look,
    /// The token's delay, which the operation has not slept yet, and then a look.
    Delay,
}

impl Needs {
    /// Returns what an attempt needs that the strategy must permit.
    #[inline]
    const fn of_token(has_delay: bool) -> Self {
        if has_delay { Self::Delay } else { Self::Look }
    }
}

/// The operation of a call with this strategy, these limits and this observer.
pub(crate) type StateOf<S, L, O> = State<<S as RetryStrategy>::Token, L, <O as OptionalObserver>::State>;

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Begins an operation: starts the time limits and the observation, and acquires the initial token.
    #[inline]
    pub(crate) fn begin<L: RunningLimits>(self, mut limits: L) -> StateOf<S, L, O> {
        limits.start(&self.timer());
        let observed = self.observe();
        let mut record = Record::begin(self.name(), self.strategy);
        record.bound(limits.max_attempts());
        if self.strategy.starts_empty() {
            return State::new(TokenState::Returned, Needs::NothingUnmade, limits, observed, record);
        }
        let mut token = match self.strategy.acquire_initial_token(&self.clock()) {
            Ok(token) => TokenState::Held(token),
            Err(reason) => {
                self.tell(&observed, Level::Warn, 1, &move || EventKind::Refused { reason });
                TokenState::Refused
            }
        };
        let needs = Needs::of_token(self.has_delay(&mut token));
        State::new(token, needs, limits, observed, record)
    }
}

impl<K, L: RunningLimits, N> State<K, L, N> {
    #[inline]
    const fn new(token: TokenState<K>, needs: Needs, limits: L, observed: Observed<N>, record: Record) -> Self {
        Self { token, needs, is_unlimited: false, limits, stopped: None, observed, record }
    }
}

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Tells the strategy the weight of the operation. Called before the first attempt.
    #[inline]
    pub(crate) fn weigh<S: RetryStrategy<Token = K>>(&mut self, strategy: &S, weight: u32) {
        let guard = ReleaseGuard::new(&mut self.token, strategy);
        if let TokenState::Held(token) = &mut *guard.token {
            strategy.weigh(token, weight);
            self.needs = Needs::of_token(token.has_delay());
        }
        guard.disarm();
    }

    /// Tells the strategy what the outcome of the attempt says about a limit on weights.
    #[inline]
    pub(crate) fn used<S: RetryStrategy<Token = K>>(&mut self, strategy: &S, usage: Usage) {
        if let TokenState::Held(token) = &mut self.token {
            strategy.used(token, usage);
        }
    }

    /// Returns whether the operation was stopped, and sends no further attempt.
    #[inline]
    fn is_stopped(&self) -> bool {
        self.limits.is_stopped()
    }

    /// Returns the time limit of the attempt that begins now, if there is one.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.next_cut().map(|(time, _)| time)
    }

    /// Returns whether the operation has only just begun: the strategy was not called, and no driver has taken time. If no observer was
    /// called either, the time at which it began is that of its first attempt, too.
    #[inline]
    const fn has_just_begun(&self) -> bool {
        self.is_unmade() && !L::IS_BY_HAND
    }

    /// Returns whether this is the first attempt, and its token was not made yet.
    #[inline]
    pub(crate) const fn is_unmade(&self) -> bool {
        matches!(self.needs, Needs::NothingUnmade)
    }

    /// Returns whether nothing is needed before the attempt.
    #[inline]
    const fn needs_nothing(&self) -> bool {
        matches!(self.needs, Needs::NothingUnmade | Needs::Nothing)
    }

    /// Returns the same as [`is_unmade`](State::is_unmade). The caller makes the token.
    #[inline]
    fn take_unmade(&mut self) -> bool {
        let is_unmade = self.is_unmade();
        if is_unmade {
            self.needs = Needs::Nothing;
        }
        is_unmade
    }

    /// Sets whether the strategy's maximum number of attempts does not apply. Called before the first one.
    #[inline]
    pub(crate) fn set_unlimited(&mut self, is_unlimited: bool) {
        self.is_unlimited = is_unlimited;
        if is_unlimited {
            self.record.set_unlimited();
        }
    }

    /// Returns the number of attempts, including the current one.
    pub(crate) fn attempts(&self) -> u32 {
        self.token.attempts()
    }
}

impl<K, L: RunningLimits, N: Identified> Identified for State<K, L, N> {
    fn operation_id(&self) -> OperationId {
        self.observed.own.operation_id()
    }
}
