//! The failure that an exploration puts in the place of an outcome.

use super::RetryDirective;
use crate::classify::Classification;
use crate::error::{ErrorFault, RetrySafety};

/// A failure without a value of the user's error: a request that was not sent, or that has no answer.
#[derive(Clone, Copy, Debug)]
pub struct NoAnswer {
    pub(crate) was_sent: bool,
}

impl NoAnswer {
    /// Returns what is known about the failure.
    pub(super) const fn classification(self) -> Classification {
        let sent = Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server);
        if self.was_sent { sent.with_timeout() } else { sent.with_safety(RetrySafety::Yes) }
    }
}

/// What a policy makes of the failure.
#[derive(Debug)]
#[cfg_attr(not(feature = "test"), expect(dead_code, reason = "only an exploration reads it"))]
pub struct Unanswered<R> {
    /// `None` if the policy needs an outcome, and there is none.
    pub(crate) directive: Option<RetryDirective>,
    /// The outcome that the user gave for it, if any.
    pub(crate) outcome: Option<R>,
    /// Whether the policy repeats a request that must not be repeated.
    pub(crate) is_repeated: bool,
}

impl<R> Unanswered<R> {
    pub(crate) const fn unknown() -> Self {
        Self { directive: None, outcome: None, is_repeated: false }
    }
}
