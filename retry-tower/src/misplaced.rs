//! Methods that layers don't have, with messages that say what to write.

#[cfg(feature = "hedges")]
use super::HedgedLayer;
use super::RetryLayer;

/// A layer with the settings of its strategy. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "this is a setting of the strategy, for all its calls",
    label = "set this where the strategy is made",
    note = "write `static STORE: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(3).backoff(base, cap);`; a `StandardRetryStrategy` also has `.jitter(..)`"
)]
#[expect(unnameable_types, reason = "no type implements it")]
pub trait StrategySettings {}

/// A layer with a hedge that takes further settings. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`hedge` comes after all other settings",
    label = "move this before `hedge`",
    note = "write the hedge last, as in `.max_time(time).hedge(&GET)`"
)]
#[cfg(feature = "hedges")]
#[expect(unnameable_types, reason = "no type implements it")]
pub trait SettingsAfterHedge {}

/// A layer in a build that has hedges. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "`hedge` of a layer needs the feature `hedges` of retry-tower",
    label = "enable the feature, or remove this",
    note = "write `features = [\"hedges\"]` where `Cargo.toml` names retry-tower; it enables that of retry-core, too"
)]
#[cfg(not(feature = "hedges"))]
#[expect(unnameable_types, reason = "no type implements it")]
pub trait FeatureHedges {}

/// Declares methods with a bound that no type fulfils. They return `self`, so that rustc reports nothing that follows.
macro_rules! misplaced {
    ($bound:path: $($name:ident($($argument:ident: $ty:ident),*))+) => {$(
        #[doc(hidden)]
        #[must_use = "returns the same value"]
        pub fn $name<$($ty),*>(self, $($argument: $ty),*) -> Self
        where
            Self: $bound,
        {
            $(drop($argument);)*
            self
        }
    )+};
}

impl<S, P, R, T, O> RetryLayer<S, P, R, T, O> {
    misplaced! { StrategySettings: max_attempts(attempts: X) backoff(base: X, cap: Y) jitter(jitter: X) }
    #[cfg(not(feature = "hedges"))]
    misplaced! { FeatureHedges: hedge(hedge: X) hedge_with(hedge: X) }
}

#[cfg(feature = "hedges")]
impl<L, H> HedgedLayer<L, H> {
    misplaced! { StrategySettings: max_attempts(attempts: X) backoff(base: X, cap: Y) jitter(jitter: X) }
    misplaced! {
        SettingsAfterHedge:
        idempotent(idempotent: X)
        policy(policy: X)
        policy_with(policy: X)
        clone_with(clone: X)
        before_attempt(change: X)
        next_request(next: X)
        on_retry(on_retry: X)
        on_end(on_end: X)
        weight(weight: X)
        name(name: X)
        timer(timer: X)
        observer(observer: X)
        max_time(time: X)
        attempt_timeout(time: X)
        stop(stop: X)
    }
}
