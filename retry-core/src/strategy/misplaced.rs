//! Methods that strategies don't have. They are for users who look for them: no type fulfils their bound, whose message says
//! what to write.

use super::{LimitedRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use std::mem::ManuallyDrop;

/// A strategy with the settings of one operation. This trait has no implementations.
#[diagnostic::on_unimplemented(
    message = "this is a setting of the operation, and a strategy is for many operations",
    label = "set this where the operation is made",
    note = "write `#[retryable(strategy = STORE, max_time = \"30s\")]`, or for a closure `retry(&STORE, || call()).max_time(Duration::from_secs(30))`"
)]
pub trait OperationSettings {}

/// Declares methods with this bound. They return `self`, so that rustc reports nothing that follows.
macro_rules! operation_settings {
    ($($name:ident)+) => {$(
        #[doc(hidden)]
        #[must_use = "returns the same value"]
        pub const fn $name<A>(self, value: A) -> Self
        where
            Self: OperationSettings,
        {
            // A `const fn` can't drop a value of any type.
            let _ = ManuallyDrop::new(value);
            self
        }
    )+};
    () => {
        operation_settings! { attempt_timeout deadline idempotent max_time observer on_retry policy stop timer }
    };
}

impl<B, Q> PatientRetryStrategy<B, Q> {
    operation_settings!();
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    operation_settings!();
}

impl<L, B, Q> LimitedRetryStrategy<L, B, Q> {
    operation_settings!();
}
