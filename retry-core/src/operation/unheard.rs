//! Unknown errors that no observer and no subscriber hears of: a line on standard error in debug builds, and nothing in others.

#[cfg(debug_assertions)]
pub(super) use debug::unknown_error;

#[cfg(not(debug_assertions))]
pub(super) fn unknown_error(_: super::Name, _: u32, _: Option<fn() -> &'static str>) {}

#[cfg(debug_assertions)]
mod debug {
    use crate::observe::stderr;
    use crate::operation::name::{Name, error_type};
    use crate::operation::warned::Warned;

    /// The functions that have a line.
    static WARNED: Warned<&'static str, 20> = Warned::new();

    /// Warns of an error that is not retried after this attempt, once for each function.
    pub(in crate::operation) fn unknown_error(operation: Name, attempt: u32, outcome: Option<fn() -> &'static str>) {
        if stderr::are_enabled() && WARNED.is_first(operation.get()) {
            let operation = operation.get();
            let what = outcome.map_or_else(
                || "error".to_owned(),
                |outcome| {
                    let outcome = outcome();
                    error_type(outcome)
                        .map_or_else(|| format!("outcome `{outcome}`"), |error| format!("error `{error}`"))
                },
            );
            stderr::warn(format_args!(
                "{operation} was not retried after attempt {attempt}, because nothing classifies its {what}. Say what it \
                means: by the policy of your client, a link, as in `ChainPolicy::new().also(chain::typed::<MyError>)`, a default, as in \
                `ChainPolicy::new().otherwise(..)`, for a closure a condition, as in `.when(|error| ..)`, or labels of `#[derive(RetryInfo)]`. \
                (Once for each function, in debug builds only; `RETRY_STDERR_WARNINGS=off` turns it off.)"
            ));
        }
    }
}
