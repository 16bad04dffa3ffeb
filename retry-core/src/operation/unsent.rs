//! Attempts that were not sent, and requests that can't be sent again: steps that only a service of `tower` needs.

use super::release::{ReleaseGuard, TokenState};
use super::{Call, Decision, OperationOf, OptionalObserver, TimeLimits};
use crate::policy::{RetryDirective, RetryErrorType};
use crate::strategy::{RetryError, RetryStrategy};
use crate::time::Clock;
use std::time::Duration;

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Settles an outcome, as [`settle`](Call::settle) does, of an attempt that was not sent. What was taken for it is given
    /// back.
    #[cold]
    pub(crate) fn settle_unsent<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        directive: RetryDirective,
    ) -> Decision {
        let attempts = operation.attempts();
        if let RetryDirective::Succeed { .. } = directive {
            // The service did not succeed, so there is nothing to record.
            self.release(operation);
            return self.tell_success(operation, attempts, false);
        }
        let failure = self.failure(operation, directive).with_sent(false);
        match self.decide(operation, failure) {
            Ok(()) => Decision::Retry,
            Err(reason) => Decision::Stop { attempts, reason: Some(reason) },
        }
    }

    /// Settles a failure after which the request can't be sent again, although the policy asks for a retry. The strategy
    /// learns from the failure as from a final one.
    pub(crate) fn settle_unrepeatable<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        (error_type, retry_after): (RetryErrorType, Option<Duration>),
        was_sent: bool,
    ) -> Decision {
        let directive = RetryDirective::fail(Some(error_type)).after(retry_after);
        let failure = self.failure(operation, directive).with_sent(was_sent);
        let attempts = self.tell_attempt_failed(operation, failure);
        let reason = if let TokenState::Held(token) = operation.token.take() {
            if let Ok(token) = self.strategy.refresh_retry_token(token, &failure, &self.clock()) {
                self.strategy.release(token);
            }
            RetryError::NotRepeatable
        } else {
            RetryError::Refused
        };
        let reason = Some(self.stop(operation, &failure, attempts, reason));
        Decision::Stop { attempts, reason }
    }

    /// Releases the token of an attempt that will not be made.
    pub(crate) fn release<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) {
        drop(ReleaseGuard::new(&mut operation.token, self.strategy));
    }
}
