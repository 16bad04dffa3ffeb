//! Methods that a call, a layer or a strategy does not have. They are for users who look for them: no type fulfils their bound, whose
//! message says what to write.

/// A call or a layer with the settings of its strategy. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "this is a setting of the strategy, for all its calls",
    label = "set this where the strategy is made",
    note = "write `static STORE: PatientRetryStrategy = PatientRetryStrategy::new().backoff(base, cap);`; a `StandardRetryStrategy` also has `.jitter(..)`"
)]
pub trait StrategySettings {}

/// A call with a closure for its end. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`on_end` is an option of `#[retryable]`, and a closure returns its report",
    label = "a closure has no `on_end`",
    note = "write `.report()` in place of `.run()`: it returns the outcome, the number of attempts, the reason to stop and the elapsed time"
)]
pub trait ClosureForTheEnd {}

/// A call or a layer with a hedge that takes further settings. This trait has no implementations.
#[cfg(feature = "hedges")]
#[diagnostic::on_unimplemented(
    message = "`hedge` comes after all other settings",
    label = "move this before `hedge`",
    note = "write the hedge last, as in `.max_time(time).hedge(&GET)`"
)]
pub trait SettingsAfterHedge {}

/// A call with a future that ends it, which takes further settings. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`stop_when` comes after all other settings",
    label = "move this before `stop_when`",
    note = "write the future last, as in `.max_time(time).stop_when(token.cancelled())`"
)]
pub trait SettingsAfterStopWhen {}

/// A call that blocks its thread and polls a future meanwhile. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "a call that blocks its thread can't poll a future",
    label = "a closure that blocks has no `stop_when`",
    note = "write `.stop(&STOP)` with `static STOP: Stop = Stop::new();`, and call `STOP.stop()` where the future would be ready"
)]
pub trait FutureBesideAThread {}

/// A call or a strategy with a number of retries. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`max_retries` is called `max_attempts` here, and counts the first attempt, too",
    label = "write `max_attempts`, with a number that is one higher",
    note = "write `.max_attempts(4)` for three retries; on a call, it can only lower the number of the strategy"
)]
pub trait NumberOfRetries {}

/// A call with one time limit. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`timeout` is called `attempt_timeout` or `max_time` here",
    label = "say whether this limits an attempt or the whole operation",
    note = "write `.attempt_timeout(time)` for each attempt, or `.max_time(time)` for the whole operation; a call that blocks has only `.max_time(time)`"
)]
pub trait TimeoutOfACall {}

/// A strategy whose settings change while it runs. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "the settings of `{Self}` don't change while it runs",
    label = "only the `ConfiguredStrategy` of retry-config has `apply`",
    note = "for settings that change, write `config.build_on(StandardRetryStrategy::new())`, which returns one; its operations don't wait for the service"
)]
pub trait ChangingSettings {
    /// Returns the result of the method that this bound is for.
    fn change<R>(&self) -> R;
}

/// A trait for each setting of an operation. A message can't depend on the method, so each setting has its own, with its example.
pub mod operation_setting {
    macro_rules! operation_settings {
        ($($setting:ident: $note:tt)+) => {$(
            /// A strategy with this setting. This trait has no implementations.
            #[diagnostic::on_unimplemented(
                message = "this is a setting of the operation, and a strategy is for many operations",
                label = "set this where the operation is made",
                note = $note
            )]
            pub trait $setting {}
        )+};
    }

    operation_settings! {
        AttemptTimeout: "write `#[retryable(strategy = STORE, attempt_timeout = \"5s\")]`, or for a closure `retry(&STORE, || call()).attempt_timeout(Duration::from_secs(5))`"
        Deadline: "write `#[retryable(strategy = STORE, deadline = deadline)]`, or for a closure `retry(&STORE, || call()).deadline(deadline)`"
        Idempotent: "write `#[retryable(strategy = STORE, idempotent)]`, or for a closure `retry(&STORE, || call()).idempotent(true)`"
        MaxTime: "write `#[retryable(strategy = STORE, max_time = \"30s\")]`, or for a closure `retry(&STORE, || call()).max_time(Duration::from_secs(30))`"
        Observer: "write `#[retryable(strategy = STORE, observer = OBSERVER)]`, or for a closure `retry(&STORE, || call()).observer(&OBSERVER)`"
        OnRetry: "write `#[retryable(strategy = STORE, on_retry = |error, event| ..)]`, or for a closure `retry(&STORE, || call()).on_retry(|error, event| ..)`"
        Policy: "write `#[retryable(strategy = STORE, policy = POLICY)]`, or for a closure `retry(&STORE, || call()).policy(POLICY)`"
        Stop: "write `#[retryable(strategy = STORE, stop = STOP)]`, or for a closure `retry(&STORE, || call()).stop(&STOP)`"
        Timeout: "write `attempt_timeout` for each attempt or `max_time` for the whole operation, as in `#[retryable(strategy = STORE, attempt_timeout = \"5s\")]`, or for a closure `retry(&STORE, || call()).attempt_timeout(Duration::from_secs(5))`"
        Timer: "write `#[retryable(strategy = STORE, timer = TIMER)]`, or for a closure `retry(&STORE, || call()).timer(TIMER)`"
    }
}

/// Declares methods with a bound that no type fulfils. They return `self`, so that rustc reports nothing that follows.
macro_rules! misplaced {
    ($bound:path: $($name:ident($($argument:ident: $ty:ident),*))+) => {$(
        #[doc(hidden)]
        #[must_use = "returns the same value"]
        pub const fn $name<$($ty),*>(self, $($argument: $ty),*) -> Self
        where
            Self: $bound,
        {
            // A `const fn` can't drop a value of any type.
            $(std::mem::forget($argument);)*
            self
        }
    )+};
}
pub(crate) use misplaced;
