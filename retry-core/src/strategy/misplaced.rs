//! Methods that strategies don't have, with a message that says what to write.

use super::{LimitedRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use crate::support::misplaced::{OperationSettings, misplaced};

macro_rules! operation_settings {
    () => {
        misplaced! {
            OperationSettings: attempt_timeout(timeout: A) deadline(deadline: A) idempotent(idempotent: A) max_time(time: A)
                observer(observer: A) on_retry(on_retry: A) policy(policy: A) stop(stop: A) timer(timer: A)
        }
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
