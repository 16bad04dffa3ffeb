//! The description of a failed attempt for a strategy.

use crate::error::RetryInfo;
use crate::policy::{RetryDirective, RetryErrorType, StandardRetryPolicy};
use crate::strategy::{RetryError, Switch};
use std::num::NonZeroU32;
use std::time::Duration;

/// The description of a failed attempt that a strategy gets.
///
/// When driving a strategy by hand, create it from the error with [`Failure::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    directive: RetryDirective,
    remaining: Option<Duration>,
    refusal: Option<RetryError>,
    was_sent: bool,
    has_attempt_bound: bool,
    max_attempts: Option<NonZeroU32>,
    attempt_timeout: Option<Duration>,
}

impl Failure {
    /// Creates a failure from an error, as the [standard policy](StandardRetryPolicy) classifies it.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        Self::from_directive(StandardRetryPolicy::new().evaluate_error(error))
    }

    /// Creates a failure from the directive of a policy. [`RetryDirective::Succeed`] becomes a failure that is not
    /// retryable.
    pub const fn from_directive(directive: RetryDirective) -> Self {
        Self {
            directive,
            remaining: None,
            refusal: None,
            was_sent: true,
            has_attempt_bound: true,
            max_attempts: None,
            attempt_timeout: None,
        }
    }

    /// Sets the time that the operation has left; `None` means no limit.
    #[must_use]
    pub const fn with_remaining(mut self, remaining: Option<Duration>) -> Self {
        self.remaining = remaining;
        self
    }

    /// Sets the reason why there is no retry whatever the strategy decides; see [`refusal`](Failure::refusal). The default is `None`.
    #[must_use]
    pub const fn with_refusal(mut self, refusal: Option<RetryError>) -> Self {
        self.refusal = refusal;
        self
    }

    /// Sets whether the attempt was sent; see [`was_sent`](Failure::was_sent). The default is `true`.
    #[must_use]
    pub const fn with_sent(mut self, was_sent: bool) -> Self {
        self.was_sent = was_sent;
        self
    }

    /// Sets the time limit of the attempt; `None` means no limit.
    #[must_use]
    pub const fn with_attempt_timeout(mut self, attempt_timeout: Option<Duration>) -> Self {
        self.attempt_timeout = attempt_timeout;
        self
    }

    /// Sets whether the number of attempts is limited; see [`is_attempt_bound`](Failure::is_attempt_bound). The default is `true`.
    #[must_use]
    pub const fn with_attempt_bound(mut self, is_bound: bool) -> Self {
        self.has_attempt_bound = is_bound;
        self
    }

    /// Sets the number of attempts that the operation itself allows, if it allows fewer than its strategy may.
    #[inline]
    pub(crate) const fn with_max_attempts(mut self, max_attempts: Option<NonZeroU32>) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// Returns whether the operation, whose strategy allows this many attempts, makes another one after the one with this number.
    pub(crate) fn allows_another(&self, attempt: u32, of_strategy: u32) -> bool {
        (attempt < of_strategy || !self.has_attempt_bound) && self.max_attempts.is_none_or(|most| attempt < most.get())
    }

    /// Switches retries off if the switch is off.
    #[inline]
    pub(crate) fn switched_by(self, switch: &Switch) -> Self {
        match self.refusal {
            None if !switch.is_on() => self.with_refusal(Some(RetryError::Disabled)),
            _ => self,
        }
    }

    /// Returns the directive of the policy.
    #[inline]
    pub(crate) const fn directive(&self) -> RetryDirective {
        self.directive
    }

    /// Returns whether the policy asks for a retry.
    pub const fn is_retryable(&self) -> bool {
        matches!(self.directive, RetryDirective::Retry { .. })
    }

    /// Returns the class of the failure, if known. A retryable failure always has one.
    pub const fn error_type(&self) -> Option<RetryErrorType> {
        match self.directive {
            RetryDirective::Succeed { .. } => None,
            RetryDirective::Fail { error_type, .. } => error_type,
            RetryDirective::Retry { error_type, .. } => Some(error_type),
        }
    }

    /// Returns the shortest wait that the server asked for, if any. A failure that is not retryable can have one, too.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.directive {
            RetryDirective::Succeed { .. } => None,
            RetryDirective::Fail { retry_after, .. } | RetryDirective::Retry { retry_after, .. } => retry_after,
        }
    }

    /// Returns the time that the operation has left; `None` means no limit. No wait may be longer.
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }

    /// Returns the `attempt_timeout` of the operation; `None` means no limit. An answer that takes much less time is a sign of a healthy
    /// service.
    pub const fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
    }

    /// Returns whether the strategy's maximum number of attempts applies to the operation. It does unless the operation has
    /// [`unlimited_attempts`](crate::Retry::unlimited_attempts).
    pub const fn is_attempt_bound(&self) -> bool {
        self.has_attempt_bound
    }

    /// Returns the reason why there is no retry whatever the strategy decides, if there is one: retries are switched off
    /// ([`Disabled`](RetryError::Disabled)), the operation was stopped ([`Stopped`](RetryError::Stopped)), its request can't be sent
    /// again ([`NotRepeatable`](RetryError::NotRepeatable)), or it has made as many attempts as [it may](crate::Retry::max_attempts)
    /// ([`MaxAttempts`](RetryError::MaxAttempts)). A strategy returns it, but still learns from the failure.
    pub const fn refusal(&self) -> Option<RetryError> {
        self.refusal
    }

    /// Returns whether the attempt was sent. It was not if a `tower` service failed before it took the request.
    ///
    /// If it was not sent, a strategy gives back what was taken for the attempt, as in
    /// [`release`](crate::RetryStrategy::release), before it decides on the next attempt. It learns nothing from the
    /// failure.
    pub const fn was_sent(&self) -> bool {
        self.was_sent
    }
}
