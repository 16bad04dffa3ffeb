//! Methods that strategies don't have, with a message that says what to write.

use super::{LimitedRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use crate::support::misplaced::{ChangingSettings, NumberOfRetries, misplaced, operation_setting};

macro_rules! not_of_a_strategy {
    () => {
        misplaced! { operation_setting::AttemptTimeout: attempt_timeout(timeout: A) }
        misplaced! { operation_setting::Deadline: deadline(deadline: A) }
        misplaced! { operation_setting::Idempotent: idempotent(idempotent: A) }
        misplaced! { operation_setting::MaxTime: max_time(time: A) }
        misplaced! { operation_setting::Observer: observer(observer: A) }
        misplaced! { operation_setting::OnRetry: on_retry(on_retry: A) }
        misplaced! { operation_setting::Policy: policy(policy: A) }
        misplaced! { operation_setting::Stop: stop(stop: A) }
        misplaced! { operation_setting::Timeout: timeout(timeout: A) }
        misplaced! { operation_setting::Timer: timer(timer: A) }
        misplaced! { NumberOfRetries: max_retries(retries: A) }

        // The error is of any type, so that `?` and `unwrap` cause no second one.
        #[doc(hidden)]
        pub fn apply<C, T, E>(&self, _config: C, _clock: T) -> Result<(), E>
        where
            Self: ChangingSettings,
        {
            self.change()
        }
    };
}

impl<B, Q> PatientRetryStrategy<B, Q> {
    not_of_a_strategy!();
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    not_of_a_strategy!();
}

impl<L, B, Q> LimitedRetryStrategy<L, B, Q> {
    not_of_a_strategy!();
}
