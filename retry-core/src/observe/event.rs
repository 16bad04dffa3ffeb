//! The events of an operation and their names.

use super::OperationId;
use crate::policy::RetryErrorType;
use crate::quota::QuotaMode;
use crate::strategy::{DelaySource, Failure, RetryError, StrategyName};
use std::fmt;
use std::time::Duration;

/// An event of an operation.
///
/// With the feature `test`, an event can be written as a literal, to test an observer. Any release may add fields.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "test"), non_exhaustive)]
pub struct Event {
    /// The name of the operation: the path of the function or closure, or the name set with
    /// [`Retry::name`](crate::Retry::name).
    ///
    /// The path of a method includes its type, as in `crate::module::Type::method`. The path of a trait method is
    /// `<crate::module::Type as crate::module::Trait>::method`. Generic arguments are left out, also those of the functions
    /// around a closure. Only the type in a path with a trait is the one that is used: a closure in `impl<T> Trait for T` has a
    /// name for each type, so give it a [name](crate::Retry::name).
    pub operation: &'static str,
    /// The id of the operation. All of its events have the same one, and so has
    /// [`AttemptContext::operation_id`](crate::AttemptContext::operation_id).
    pub operation_id: OperationId,
    /// The name of the strategy, if it has one.
    pub strategy: Option<StrategyName>,
    /// The number of the attempt; the first one is 1. It is 0 if the operation stopped before its first attempt.
    pub attempt: u32,
    /// The time since the start of the operation, by the clock of its timer. An async operation starts with its first
    /// poll.
    pub elapsed: Duration,
    /// The kind of the event.
    pub kind: EventKind,
}

/// The kind of an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The strategy refused the initial token. The operation makes one attempt, and the strategy doesn't learn its
    /// outcome.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Refused {
        /// The reason.
        reason: RetryError,
    },
    /// A limiter holds the attempt back. There is one event for each wait, and there can be many before one attempt.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Limited {
        /// The longest time until the limiter is asked again. The limiter can end the wait earlier.
        wait: Duration,
    },
    /// An attempt begins.
    AttemptStarted,
    /// The first attempt had no answer after the delay of its [hedge](crate#features), so a second attempt begins beside it.
    HedgeSent,
    /// The first attempt had no answer after the delay of its [hedge](crate#features), and there is no hedge.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    HedgeNotSent {
        /// The reason.
        reason: NoHedge,
    },
    /// The first attempt and the [hedge](crate#features) are over: one of them ended the race, and the other one was dropped, or both
    /// failed.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    HedgeEnded {
        /// Whether the hedge succeeded first.
        won: bool,
    },
    /// The error of the attempt is not classified, so it is not retried: its class is [`RetryErrorType::Unknown`]. This
    /// event is a warning. It is reported for the first such error of each function, by the name of the operation, and for
    /// at most 256 functions in a process. It precedes the [`AttemptFailed`](EventKind::AttemptFailed), which every such
    /// error has. Where nothing gets this event, debug builds write [a line](super::set_stderr_warnings_enabled) to standard error.
    ///
    /// To classify such errors, [label](macro@crate::RetryInfo) the variant that holds an inner error, or add a link to the policy, as in
    /// `ChainPolicy::new().also(chain::typed::<MyError>)`; see [`ChainPolicy::also`](crate::ChainPolicy::also). The crate `retry-clients` has such functions for clients, and the module `tower05` of
    /// `retry-tower` for the layers of tower.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    UnknownError {
        /// The texts of the error and of its sources, at most 8 of them with at most 200 bytes each, in one line. `None` if
        /// the policy does not return the [error](crate::RetryPolicy::unknown_error). A text stays in memory until the
        /// process ends.
        chain: Option<&'static str>,
    },
    /// The attempt failed, but did [a part of the work](crate::RetryDirective::progressed). The operation counts its attempts from 1 again:
    /// [`AttemptFailed`](EventKind::AttemptFailed) follows as that of attempt 1.
    Progressed,
    /// An attempt failed, according to the policy. An `Ok` can be a failure, too.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    AttemptFailed {
        /// The failure, as classified by the policy.
        failure: Failure,
    },
    /// The operation runs within an attempt of another operation on the same thread, and its first retry follows. So retries multiply:
    /// give both the same strategy, or let one of them make a single attempt by [`without_retries`](crate::without_retries).
    /// This event is a warning. It is reported once for each pair of functions, for at most 256 pairs in a process, and only in
    /// builds with debug assertions or with the feature `test`.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Nested {
        /// The name of the other operation.
        outer: &'static str,
        /// The maximum number of attempts that one call of the other operation makes: the product of both maxima. `None` if your
        /// own strategy does not know its maximum.
        max_attempts: Option<u32>,
    },
    /// The attempt failed, and a retry follows after a delay.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    RetryScheduled {
        /// The class of the failure that caused the retry.
        error_type: Option<RetryErrorType>,
        /// The delay before the retry.
        delay: Duration,
        /// The source of the delay.
        delay_source: DelaySource,
        /// The level of the quota after the retry was paid for; `None` if the strategy has no quota.
        quota: Option<u32>,
        /// The level of the full quota, which is its capacity at present; `None` if it is not known.
        quota_capacity: Option<u32>,
        /// The state of the quota at present; `None` if the strategy has no quota, or one that only knows its level, such as a
        /// [`TokenBucket`](crate::TokenBucket).
        quota_mode: Option<QuotaMode>,
        /// The limit on sends per second after this event; `None` if the strategy has no limit at present.
        send_rate: Option<f64>,
    },
    /// The attempt failed, and the quota can't pay for a retry. The operation waits for evidence that the service answers again, or,
    /// with [`LongPolling`](crate::strategy::LongPolling), for a fixed time before it ends. [`Released`](EventKind::Released) or [`Stopped`](EventKind::Stopped) follows.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    WaitingForService {
        /// The number of operations of the strategy that wait now.
        waiting: Option<u32>,
        /// The class of the failure.
        error_type: Option<RetryErrorType>,
        /// The wait that the server asked for, which comes first; zero if it asked for none.
        delay: Duration,
        /// The level of the quota; `None` if the strategy has no quota.
        quota: Option<u32>,
        /// The level of the full quota, which is its capacity at present; `None` if it is not known.
        quota_capacity: Option<u32>,
        /// The state of the quota at present; `None` if the strategy has no quota, or one that only knows its level.
        quota_mode: Option<QuotaMode>,
        /// The limit on sends per second after this event; `None` if the strategy has no limit at present.
        send_rate: Option<f64>,
    },
    /// The wait for the service is over, and the attempt is sent.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Released {
        /// The total time that the operation has waited for the service.
        waited: Duration,
        /// The number of operations of the strategy that still wait.
        waiting: Option<u32>,
    },
    /// The operation failed.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Stopped {
        /// The reason why there is no further attempt.
        reason: RetryError,
        /// The class of the last failure. `None` if the policy did not classify it, or if the operation ended while it waited for a retry or
        /// for the service, before an attempt, or because a time limit cut one.
        error_type: Option<RetryErrorType>,
        /// The number of operations of the strategy that wait for the service now; `None` if its operations never do.
        waiting: Option<u32>,
        /// The level of the quota; `None` if the strategy has no quota.
        quota: Option<u32>,
        /// The level of the full quota, which is its capacity at present; `None` if it is not known.
        quota_capacity: Option<u32>,
        /// The state of the quota at present; `None` if the strategy has no quota, or one that only knows its level, such as a
        /// [`TokenBucket`](crate::TokenBucket).
        quota_mode: Option<QuotaMode>,
        /// The limit on sends per second after this event; `None` if the strategy has no limit at present.
        send_rate: Option<f64>,
    },
    /// The operation succeeded.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Succeeded {
        /// Whether the strategy recorded the success. It does not if it refused the initial token, or if the token is
        /// foreign.
        recorded: bool,
        /// The number of operations of the strategy that wait for the service now; `None` if its operations never do.
        waiting: Option<u32>,
        /// The level of the quota after the success; `None` if the strategy has no quota.
        quota: Option<u32>,
        /// The level of the full quota, which is its capacity at present; `None` if it is not known.
        quota_capacity: Option<u32>,
        /// The state of the quota at present; `None` if the strategy has no quota, or one that only knows its level, such as a
        /// [`TokenBucket`](crate::TokenBucket).
        quota_mode: Option<QuotaMode>,
        /// The limit on sends per second after this event; `None` if the strategy has no limit at present.
        send_rate: Option<f64>,
    },
}

impl EventKind {
    /// Returns the delay before the retry for [`RetryScheduled`](EventKind::RetryScheduled), and `None` for any other
    /// event.
    ///
    /// `None` does not mean that the operation ends: after [`WaitingForService`](EventKind::WaitingForService), a retry follows if the
    /// service answers again in time. An operation that ends has a [reason](EventKind::reason).
    pub const fn delay(&self) -> Option<Duration> {
        match self {
            Self::RetryScheduled { delay, .. } => Some(*delay),
            _ => None,
        }
    }

    /// Returns the reason why there is no further attempt for [`Stopped`](EventKind::Stopped), and `None` for any other event.
    pub const fn reason(&self) -> Option<RetryError> {
        match self {
            Self::Stopped { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// Returns the name of the event as used for `tracing`, such as `attempt_started` or `retry_scheduled`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::Limited { .. } => "limited",
            Self::AttemptStarted => "attempt_started",
            Self::HedgeSent => "hedge_sent",
            Self::HedgeNotSent { .. } => "hedge_not_sent",
            Self::HedgeEnded { .. } => "hedge_ended",
            Self::UnknownError { .. } => "unknown_error",
            Self::Progressed => "progressed",
            Self::AttemptFailed { .. } => "attempt_failed",
            Self::Nested { .. } => "nested",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::WaitingForService { .. } => "waiting_for_service",
            Self::Released { .. } => "released",
            Self::Stopped { .. } => "stopped",
            Self::Succeeded { .. } => "succeeded",
        }
    }
}

/// The reason why a call has no hedge, although its first attempt had no answer after the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoHedge {
    /// All calls are slow; see `Hedge::p95`.
    AllSlow,
    /// It is one of the first 256 calls, of which at most one in 20 has a hedge; see `Hedge::p95`.
    WarmingUp,
    /// Few of the last hedges won, so the call waited for its hedge until twice the delay, and ended before; see `Hedge::p95`.
    FewWin,
    /// The quota is low, or can't pay for a hedge.
    QuotaLow,
    /// The limiter does not permit it immediately.
    Limited,
    /// The hedge would be an attempt too many.
    MaxAttempts,
    /// The `max_time` or `deadline` of the operation is over.
    MaxTime,
    /// Retries are switched off.
    Disabled,
    /// The operation was [stopped](crate::Stop).
    Stopped,
    /// The operation may not be executed twice: its policy [says so](crate::RetryPolicy::is_idempotent).
    NotIdempotent,
    /// It is not known whether the operation may be executed twice: its policy [does not say](crate::RetryPolicy::is_idempotent).
    IdempotencyUnknown,
    /// The request can't be cloned.
    NotRepeatable,
    /// The service is not ready for a request immediately.
    NotReady,
    /// The strategy sells no hedges: it does not implement [`acquire_hedge`](crate::RetryStrategy::acquire_hedge), or refused for a
    /// reason of its own.
    NotSold,
}

impl NoHedge {
    /// Returns the name of the reason as used in events, such as `all_slow` or `quota_low`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllSlow => "all_slow",
            Self::WarmingUp => "warming_up",
            Self::FewWin => "few_win",
            Self::QuotaLow => "quota_low",
            Self::Limited => "limited",
            Self::MaxAttempts => "max_attempts",
            Self::MaxTime => "max_time",
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
            Self::NotIdempotent => "not_idempotent",
            Self::IdempotencyUnknown => "idempotency_unknown",
            Self::NotRepeatable => "not_repeatable",
            Self::NotReady => "not_ready",
            Self::NotSold => "not_sold",
        }
    }

    /// Returns the reason for which a strategy sold none.
    #[cfg(feature = "hedges")]
    pub(crate) const fn of(refused: RetryError) -> Self {
        match refused {
            RetryError::QuotaExhausted => Self::QuotaLow,
            RetryError::MaxAttempts => Self::MaxAttempts,
            RetryError::MaxTime => Self::MaxTime,
            RetryError::Disabled => Self::Disabled,
            RetryError::Stopped => Self::Stopped,
            RetryError::NotRetryable
            | RetryError::NoRecovery
            | RetryError::NotRepeatable
            | RetryError::GivenUp
            | RetryError::RetryAfterTooLong
            | RetryError::ForeignToken
            | RetryError::Refused => Self::NotSold,
        }
    }
}

impl fmt::Display for NoHedge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AllSlow => "all calls are slow",
            Self::WarmingUp => "the delay is not known yet",
            Self::FewWin => "few of the last hedges won",
            Self::QuotaLow => "the retry quota is low",
            Self::Limited => "the limiter does not permit it now",
            Self::MaxAttempts => "all attempts were made",
            Self::MaxTime => "`max_time` or `deadline` is over",
            Self::Disabled => "retries are switched off",
            Self::Stopped => "the operation was stopped",
            Self::NotIdempotent => "the operation may not be executed twice",
            Self::IdempotencyUnknown => {
                "nothing says that the operation may be executed twice, as `idempotent(true)` does"
            }
            Self::NotRepeatable => "the request can't be cloned",
            Self::NotReady => "the service is not ready",
            Self::NotSold => "the strategy sells no hedges",
        })
    }
}
