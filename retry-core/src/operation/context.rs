//! What an attempt knows about its operation.

use crate::policy::RetryDirective;
use crate::strategy::Failure;
use crate::support::random::random_u128;
use std::fmt;
use std::time::Duration;

/// What an attempt knows about its operation: `context = NAME` in the attribute hands one to the body.
///
/// ```
/// use retry_core::{RetryErrorType, RetryInfo, retryable};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # struct Pool;
/// # impl Pool { fn drop_connection(&self) {} }
/// # async fn send(_: &str, _: String, _: u32) -> Result<(), Failed> { Ok(()) }
/// #[retryable(strategy = "standard", context = context)]
/// async fn put(pool: &Pool, key: &str) -> Result<(), Failed> {
///     // After throttling the connection is as good as it was, after anything else it may not be.
///     let previous = context.previous_failure();
///     if previous.is_some_and(|failure| failure.error_type() != Some(RetryErrorType::Throttling)) {
///         pool.drop_connection();
///     }
///     // The same for all attempts, so that the server can tell that it has seen the request before.
///     send(key, context.operation_id().to_string(), context.attempt()).await
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptContext {
    attempt: u32,
    operation_id: OperationId,
    previous_failure: Option<Failure>,
    time_left: Option<Duration>,
}

impl AttemptContext {
    /// Creates the context of an attempt with this number, in an operation with a random id, to test a body that takes one.
    #[cfg(feature = "test")]
    pub fn new(attempt: u32) -> Self {
        Self { attempt, operation_id: OperationId::random(), previous_failure: None, time_left: None }
    }

    /// Sets what the policy made of the attempt before.
    #[cfg(feature = "test")]
    #[must_use]
    pub const fn with_previous_failure(mut self, failure: Failure) -> Self {
        self.previous_failure = Some(failure);
        self
    }

    /// Sets how long the attempt may take.
    #[cfg(feature = "test")]
    #[must_use]
    pub const fn with_time_left(mut self, time: Duration) -> Self {
        self.time_left = Some(time);
        self
    }

    /// The number of this attempt; the first one is 1.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The operation's id, the same for all of its attempts.
    pub const fn operation_id(&self) -> OperationId {
        self.operation_id
    }

    /// What the policy made of the attempt before this one; `None` for the first one.
    pub const fn previous_failure(&self) -> Option<Failure> {
        self.previous_failure
    }

    /// Returns the time limit of this attempt from its start: `attempt_timeout`, or the time that is left of `max_time` or
    /// `deadline` if that is shorter. `None` without a limit.
    ///
    /// With `blocking`, this is for information, because such an attempt can't be cut.
    pub const fn time_left(&self) -> Option<Duration> {
        self.time_left
    }
}

/// The id of an operation: random, and so another one for each operation anywhere. It serves as an idempotency key, or
/// as an invocation id. (A process that was forked from another one, and goes on with its memory, goes on with its ids.)
///
/// As text it is a UUID of version 4, such as `67e55044-10b1-426f-9247-bb680e5fe0c8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(u128);

impl OperationId {
    fn random() -> Self {
        // Version 4 (random) in the 13th digit, and the variant of RFC 9562 in the 17th.
        let random = random_u128() & !(0xf << 76) & !(0b11 << 62);
        Self(random | 4 << 76 | 0b10 << 62)
    }

    /// The id as a number.
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            id >> 96,
            id >> 80 & 0xffff,
            id >> 64 & 0xffff,
            id >> 48 & 0xffff,
            id & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperationId({self})")
    }
}

/// State kept from one attempt to the next for their contexts.
#[derive(Debug)]
pub struct ContextState {
    operation_id: OperationId,
    previous_failure: Option<Failure>,
}

impl ContextState {
    pub(crate) fn new() -> Self {
        Self { operation_id: OperationId::random(), previous_failure: None }
    }

    pub(crate) const fn attempt(&self, attempt: u32, time_left: Option<Duration>) -> AttemptContext {
        let Self { operation_id, previous_failure } = *self;
        AttemptContext { attempt, operation_id, previous_failure, time_left }
    }

    /// Remembers what the policy made of an attempt.
    #[must_use]
    pub fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        self.previous_failure = Some(Failure::from_directive(directive));
        directive
    }
}
