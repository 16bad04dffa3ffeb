//! Events of the crate `tracing`.

#[cfg(all(feature = "tracing", debug_assertions))]
pub(crate) use with_tracing::has_subscriber;
#[cfg(all(feature = "tracing", feature = "hedges"))]
pub(crate) use with_tracing::warn_of_hedges;
#[cfg(feature = "tracing")]
pub(crate) use with_tracing::{emit, emit_given_up, is_enabled, is_text_wanted, is_warning_wanted};

/// The level of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    /// Events of every operation, including those without failures.
    Trace,
    /// Failures and retries in normal operation.
    Debug,
    /// Problems, such as a retry that would help but is not possible.
    Warn,
}

#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) const fn is_enabled(_: Level) -> bool {
    false
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn is_warning_wanted() -> bool {
    false
}

#[cfg(all(not(feature = "tracing"), feature = "hedges"))]
pub(crate) fn warn_of_hedges(
    _: &str,
    _: Option<&crate::strategy::StrategyName>,
    _: (u32, u32),
    _: std::time::Duration,
) {
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn is_text_wanted() -> bool {
    false
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn emit_given_up(
    _: (&'static str, super::OperationId),
    _: Option<&crate::strategy::StrategyName>,
    _: u32,
    _: &super::EventKind,
    _: Option<u32>,
    _: Option<&str>,
) {
}

#[cfg(all(not(feature = "tracing"), debug_assertions))]
pub(crate) const fn has_subscriber() -> bool {
    false
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn emit(
    _: Level,
    _: (&'static str, super::OperationId),
    _: impl FnOnce() -> Option<crate::strategy::StrategyName>,
    _: u32,
    _: &super::EventKind,
) {
}

#[cfg(feature = "tracing")]
mod with_tracing {
    use super::Level;
    use crate::observe::{EventKind, OperationId, name_of};
    use crate::quota::QuotaMode;
    use crate::strategy::StrategyName;
    use crate::support::millis;
    use tracing::level_filters::LevelFilter;

    const TARGET: &str = "retry_core";

    /// The target of events with the text of an error, which can contain secrets. A filter that drops this target only drops the texts.
    const TEXT_TARGET: &str = "retry_core::text";

    impl Level {
        const fn of_tracing(self) -> tracing::Level {
            match self {
                Self::Trace => tracing::Level::TRACE,
                Self::Debug => tracing::Level::DEBUG,
                Self::Warn => tracing::Level::WARN,
            }
        }
    }

    /// Returns whether a subscriber may be interested in events of this level.
    #[inline]
    pub(crate) fn is_enabled(level: Level) -> bool {
        let level = level.of_tracing();
        level <= tracing::level_filters::STATIC_MAX_LEVEL && level <= LevelFilter::current()
    }

    /// Returns whether the subscriber of this thread wants warnings.
    pub(crate) fn is_warning_wanted() -> bool {
        is_enabled(Level::Warn) && tracing::enabled!(target: TARGET, tracing::Level::WARN)
    }

    /// Returns whether the subscriber of this thread wants the texts of errors.
    pub(crate) fn is_text_wanted() -> bool {
        tracing::enabled!(target: TEXT_TARGET, tracing::Level::WARN)
    }

    /// Returns whether there is a subscriber, whatever it is interested in.
    #[cfg(debug_assertions)]
    pub(crate) fn has_subscriber() -> bool {
        tracing::dispatcher::has_been_set() || LevelFilter::current() != LevelFilter::OFF
    }

    /// Emits an event with a level that is only known at run time, which [`tracing::event!`] doesn't support.
    macro_rules! event {
        ($level:expr, $name:literal, $source:ident, $($fields:tt)*) => {
            match $level {
                Level::Trace => event!(tracing::Level::TRACE; $name, TARGET, $source, $($fields)*),
                Level::Debug => event!(tracing::Level::DEBUG; $name, TARGET, $source, $($fields)*),
                Level::Warn => event!(tracing::Level::WARN; $name, TARGET, $source, $($fields)*),
            }
        };
        ($level:expr; $name:literal, $target:expr, $source:ident, $($fields:tt)*) => {
            tracing::event!(
                name: $name,
                target: $target,
                $level,
                operation = $source.operation,
                operation_id = tracing::field::display($source.operation_id),
                strategy = $source.strategy,
                attempt = $source.attempt,
                $($fields)*
            )
        };
    }

    /// The operation that reports an event, and its attempt.
    #[derive(Clone, Copy)]
    struct Source<'a> {
        operation: &'static str,
        operation_id: OperationId,
        strategy: Option<&'a str>,
        attempt: u32,
    }

    /// Emits an event of an operation, whose strategy is asked for its name only if a subscriber may be interested.
    pub(crate) fn emit(
        level: Level,
        (operation, operation_id): (&'static str, OperationId),
        strategy: impl FnOnce() -> Option<StrategyName>,
        attempt: u32,
        kind: &EventKind,
    ) {
        if is_enabled(level) {
            let strategy = strategy();
            let strategy = strategy.as_ref().map(StrategyName::as_str);
            emit_named(level, Source { operation, operation_id, strategy, attempt }, kind);
        }
    }

    /// Emits an event. This is not generic, so it is compiled once; [`emit`] is compiled for each retried function.
    fn emit_named(level: Level, source: Source<'_>, kind: &EventKind) {
        match *kind {
            EventKind::Refused { reason } => {
                event!(level, "refused", source, reason = reason.as_str(), "refused");
            }
            EventKind::Limited { wait } => {
                event!(level, "limited", source, wait_ms = millis(wait), "limited");
            }
            EventKind::AttemptStarted => {
                event!(level, "attempt_started", source, "attempt started");
            }
            EventKind::WaitingForService { .. }
            | EventKind::Released { .. }
            | EventKind::Progressed
            | EventKind::Nested { .. }
            | EventKind::HedgeSent
            | EventKind::HedgeNotSent { .. }
            | EventKind::HedgeEnded { .. } => {
                emit_optional(level, source, kind);
            }
            EventKind::UnknownError { chain } => {
                emit_unknown_error(source, chain);
            }
            EventKind::AttemptFailed { failure } => event!(
                level,
                "attempt_failed",
                source,
                error_type = name_of(failure.error_type()),
                retryable = failure.is_retryable(),
                retry_after_ms = failure.retry_after().map(millis),
                "attempt failed"
            ),
            EventKind::RetryScheduled { error_type, delay, delay_source, quota, quota_mode, send_rate, .. } => event!(
                level,
                "retry_scheduled",
                source,
                error_type = name_of(error_type),
                delay_ms = millis(delay),
                delay_source = delay_source.as_str(),
                quota,
                quota_mode = quota_mode.map(QuotaMode::as_str),
                send_rate,
                "retry scheduled"
            ),
            EventKind::Stopped { reason, error_type, quota, quota_mode, send_rate, .. } => {
                event!(
                    level,
                    "stopped",
                    source,
                    reason = reason.as_str(),
                    error_type = name_of(error_type),
                    quota,
                    quota_mode = quota_mode.map(QuotaMode::as_str),
                    send_rate,
                    "stopped"
                );
            }
            EventKind::Succeeded { recorded, quota, quota_mode, send_rate, .. } => {
                event!(
                    level,
                    "succeeded",
                    source,
                    recorded,
                    quota,
                    quota_mode = quota_mode.map(QuotaMode::as_str),
                    send_rate,
                    "succeeded"
                );
            }
        }
    }

    /// Emits a warning, whose target depends on whether it has the text of an error.
    macro_rules! warn {
        ($name:literal, $source:ident, $chain:expr, { $($fields:tt)* }, $message:literal) => {
            match $chain {
                Some(chain) => event!(tracing::Level::WARN; $name, TEXT_TARGET, $source, $($fields)* chain, $message),
                None => event!(tracing::Level::WARN; $name, TARGET, $source, $($fields)* $message),
            }
        };
    }

    fn emit_unknown_error(source: Source<'_>, chain: Option<&str>) {
        warn!(
            "unknown_error",
            source,
            chain.filter(|_| is_text_wanted()),
            {},
            "nothing classifies this error, so it is not retried; label its variant, as in `#[retry(transparent)]`, or add a \
            link to the policy, as in `ChainPolicy::new().also(chain::typed::<MyError>)`"
        );
    }

    /// Emits the warning that an operation gave up. `also_refused` is the number of operations of the function that the quota refused
    /// since the last such warning.
    pub(crate) fn emit_given_up(
        (operation, operation_id): (&'static str, OperationId),
        strategy: Option<&StrategyName>,
        attempt: u32,
        kind: &EventKind,
        also_refused: Option<u32>,
        chain: Option<&str>,
    ) {
        let EventKind::Stopped { reason, error_type, quota, quota_mode, send_rate, .. } = *kind else {
            return;
        };
        let source = Source { operation, operation_id, strategy: strategy.map(StrategyName::as_str), attempt };
        warn!(
            "stopped",
            source,
            chain,
            {
                reason = reason.as_str(),
                error_type = name_of(error_type),
                also_refused,
                quota,
                quota_mode = quota_mode.map(QuotaMode::as_str),
                send_rate,
            },
            "stopped"
        );
    }

    /// Warns that the hedges of a function do little.
    #[cfg(feature = "hedges")]
    pub(crate) fn warn_of_hedges(
        operation: &'static str,
        strategy: Option<&StrategyName>,
        (helped, calls): (u32, u32),
        delay: std::time::Duration,
    ) {
        let strategy = strategy.map(StrategyName::as_str);
        tracing::warn!(
            name: "hedges_do_little",
            target: TARGET,
            operation,
            strategy,
            helped,
            calls,
            delay_ms = millis(delay),
            "hedges helped {helped} of the last {calls} calls that reached the delay of {} ms: if more than 5 % of the answers are slow, give \
            `Hedge::after` a shorter delay; if `hedge_not_sent` is frequent, its reason says what prevents them; otherwise remove the hedge",
            millis(delay)
        );
    }

    /// Emits an event of an operation that waits for the service, with a hedge, or within another one.
    fn emit_optional(level: Level, source: Source<'_>, kind: &EventKind) {
        match *kind {
            EventKind::WaitingForService { error_type, delay, waiting, quota, quota_mode, send_rate, .. } => event!(
                level,
                "waiting_for_service",
                source,
                error_type = name_of(error_type),
                delay_ms = millis(delay),
                waiting,
                quota,
                quota_mode = quota_mode.map(QuotaMode::as_str),
                send_rate,
                "waiting for the service"
            ),
            EventKind::Released { waited, waiting } => {
                event!(level, "released", source, waited_ms = millis(waited), waiting, "released");
            }
            EventKind::Progressed => {
                event!(level, "progressed", source, "progressed");
            }
            EventKind::Nested { outer, max_attempts } => {
                let up_to = max_attempts.map_or_else(String::new, |max| format!(": up to {max} attempts"));
                event!(
                    level,
                    "nested",
                    source,
                    outer,
                    max_attempts,
                    "{outer} around {}{up_to}; give both the same strategy, or use `without_retries`",
                    source.operation
                );
            }
            EventKind::HedgeSent => {
                event!(level, "hedge_sent", source, "hedge sent");
            }
            EventKind::HedgeNotSent { reason } => {
                event!(level, "hedge_not_sent", source, reason = reason.as_str(), "hedge not sent");
            }
            EventKind::HedgeEnded { won } => {
                event!(level, "hedge_ended", source, won, "hedge ended");
            }
            _ => {}
        }
    }
}
