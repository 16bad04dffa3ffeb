//! The context of an attempt.

use super::Identified;
use crate::observe::OperationId;
use crate::policy::RetryDirective;
use crate::strategy::Failure;
use std::time::Duration;

/// Information about an attempt and its operation, for the body of a retried function.
///
/// In the attribute, `context = NAME` makes it available to the body under this name. A closure gets it from
/// [`retry_with_context`](crate::retry_with_context).
///
/// ```
/// use retry_core::{RetryErrorType, RetryInfo, retryable};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # struct Pool;
/// # impl Pool { fn drop_connection(&self) {} }
/// # async fn send(_: &str, _: String, _: u32) -> Result<(), Failed> { Ok(()) }
/// #[retryable(strategy = "patient", context = context)]
/// async fn put(pool: &Pool, key: &str) -> Result<(), Failed> {
///     // After throttling, the connection is still good. After another failure, it may be broken.
///     let previous = context.previous_failure().map(|failure| failure.error_type());
///     if previous.is_some_and(|class| class != Some(RetryErrorType::Throttling)) {
///         pool.drop_connection();
///     }
///     // The id is the same for all attempts, so the server can recognize a request that it has
///     // seen before.
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
    /// Creates the context of the attempt with this number, with a random operation id. For tests of code that takes a
    /// context. Attempt 2 is a hedge unless it has a previous failure.
    #[cfg(feature = "test")]
    pub fn new(attempt: u32) -> Self {
        Self { attempt, operation_id: OperationId::random(), previous_failure: None, time_left: None }
    }

    /// Sets the failure of the previous attempt.
    #[cfg(feature = "test")]
    #[must_use]
    pub const fn with_previous_failure(mut self, failure: Failure) -> Self {
        self.previous_failure = Some(failure);
        self
    }

    /// Sets the time that the attempt may take.
    #[cfg(feature = "test")]
    #[must_use]
    pub const fn with_time_left(mut self, time: Duration) -> Self {
        self.time_left = Some(time);
        self
    }

    /// Returns the number of this attempt; the first one is 1. A hedge is attempt 2.
    ///
    /// It can choose the target, so that each attempt asks another mirror or replica, hedges included:
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(timeout)]
    /// struct NoAnswer;
    ///
    /// static MIRRORS: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// #[retryable(strategy = MIRRORS, idempotent, context = context)]
    /// async fn get(mirrors: &[&str], path: &str) -> Result<String, NoAnswer> {
    ///     let next = context.attempt() as usize - 1;
    ///     let url = format!("{}/{path}", mirrors[next % mirrors.len()]);
    ///     // One attempt, at this URL. The first mirror is down.
    ///     if next == 0 { Err(NoAnswer) } else { Ok(url) }
    /// }
    ///
    /// # #[cfg(feature = "test")]
    /// # let _test = retry_core::test::begin();
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let answer = get(&["https://one.example", "https://two.example"], "list").await;
    /// assert_eq!(answer.unwrap(), "https://two.example/list");
    /// # });
    /// ```
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns whether this attempt is a hedge, which runs beside the first attempt. Only a call with a hedge has one, and its retries are
    /// none.
    ///
    /// A hedge helps most if it goes to another replica than the first attempt, which may be slow or may hang. The example `replicas`
    /// measures that:
    ///
    /// ```
    /// # #[cfg(feature = "hedges")] {
    /// use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
    /// # use std::time::Duration;
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(timeout)]
    /// struct NoAnswer;
    ///
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    ///
    /// #[retryable(strategy = STORE, idempotent, hedge = "30ms", context = context)]
    /// async fn get(replicas: &[&str], chosen: usize) -> Result<String, NoAnswer> {
    ///     let replica = chosen + usize::from(context.is_hedge());
    ///     let url = replicas[replica % replicas.len()];
    ///     // One attempt, at this URL. The replica that was chosen first is slow.
    ///     # if !context.is_hedge() { tokio::time::sleep(Duration::from_secs(3600)).await; }
    ///     Ok(url.to_owned())
    /// }
    ///
    /// # #[cfg(feature = "test")]
    /// # let _test = retry_core::test::begin().hedges();
    /// # let mut runtime = tokio::runtime::Builder::new_current_thread();
    /// # runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let answer = get(&["https://one.example", "https://two.example"], 0).await;
    /// assert_eq!(answer.unwrap(), "https://two.example");
    /// # });
    /// # }
    /// ```
    pub const fn is_hedge(&self) -> bool {
        // A retry follows a failure. A hedge is sent before there is one.
        self.attempt > 1 && self.previous_failure.is_none()
    }

    /// Returns the id of the operation, which is the same for all of its attempts.
    ///
    /// [`OperationId`] says where it is unique. On `wasm32-unknown-unknown`, it is only after [`reseed`](crate::reseed).
    pub const fn operation_id(&self) -> OperationId {
        self.operation_id
    }

    /// Returns the failure of the previous attempt, as the policy classified it; `None` for the first attempt.
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

/// The state that the contexts of an operation's attempts are made from.
#[derive(Debug)]
pub struct ContextState {
    operation_id: OperationId,
    previous_failure: Option<Failure>,
}

impl ContextState {
    pub(crate) const fn new(operation_id: OperationId) -> Self {
        Self { operation_id, previous_failure: None }
    }

    /// Creates the state before an attempt that follows this failure, if there was one.
    pub(super) const fn after(operation_id: OperationId, previous_failure: Option<Failure>) -> Self {
        Self { operation_id, previous_failure }
    }

    pub(crate) const fn attempt(&self, attempt: u32, time_left: Option<Duration>) -> AttemptContext {
        let Self { operation_id, previous_failure } = *self;
        AttemptContext { attempt, operation_id, previous_failure, time_left }
    }

    /// Stores the directive for an attempt, and returns it.
    #[must_use]
    pub fn __remember(&mut self, directive: RetryDirective) -> RetryDirective {
        self.previous_failure = Some(Failure::from_directive(directive));
        directive
    }
}

impl Identified for ContextState {
    fn operation_id(&self) -> OperationId {
        self.operation_id
    }
}
