//! A call that a client makes, and its errors.

use crate::World;
use retry_core::{RetryInfo, TimedOut};
use std::pin::Pin;
use std::time::Duration;

/// The failure of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, RetryInfo)]
pub enum CallError {
    /// The server rejected the request because of too many recent requests.
    #[retry(throttling)]
    Throttled {
        /// The wait that the server asked for.
        #[retry(retry_after)]
        retry_after: Option<Duration>,
    },
    /// No response came in time.
    #[retry(timeout)]
    TimedOut,
    /// The write lost a race against another one.
    #[retry(conflict)]
    Conflict,
    /// The server failed.
    #[retry(fault = "server")]
    Failed,
}

impl From<TimedOut> for CallError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// The outcome of an attempt, and of a whole call.
pub type Outcome = Result<(), CallError>;

/// An attempt.
pub type Attempt = Pin<Box<dyn Future<Output = Outcome>>>;

/// A call that a [`Caller`] makes.
pub struct Call {
    /// The world, which is the timer of the call.
    pub world: World,
    /// The longest time of an attempt.
    pub attempt_timeout: Option<Duration>,
    /// Makes an attempt.
    pub attempt: Box<dyn FnMut() -> Attempt>,
}

impl Call {
    /// Creates a call without a time limit. `attempt` makes an attempt.
    pub fn new<F, A>(world: &World, mut attempt: F) -> Self
    where
        F: FnMut() -> A + 'static,
        A: Future<Output = Outcome> + 'static,
    {
        Self { world: world.clone(), attempt_timeout: None, attempt: Box::new(move || Box::pin(attempt())) }
    }

    /// Sets the longest time of an attempt. The failure of a longer one is [`CallError::TimedOut`].
    #[must_use]
    pub fn attempt_timeout(mut self, limit: Duration) -> Self {
        self.attempt_timeout = Some(limit);
        self
    }
}

/// What all calls to one resource share: a way to retry, with its state.
pub trait Caller {
    /// Makes a call and returns its last outcome.
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>>;
}
