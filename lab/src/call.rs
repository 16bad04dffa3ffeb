//! A call that a client makes, and its errors.

use crate::World;
use retry_core::classify::http::RateLimit;
use retry_core::{Hedge, RetryInfo, TimedOut};
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
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
    /// The longest time of the whole call. Other crates ignore it.
    pub max_time: Option<Duration>,
    /// The most attempts of all kinds, whatever the [`Caller`] counts separately.
    pub max_attempts: Option<u32>,
    /// Makes an attempt.
    pub attempt: Box<dyn FnMut() -> Attempt>,
    /// What the server reported with the last response.
    pub reported: Reported,
    /// What the call takes of a limit on weights.
    pub weight: Option<Weight>,
    /// When a second attempt runs beside the first one. Other crates ignore it.
    pub hedge: Option<&'static Hedge>,
}

/// What a call takes of a limit on weights.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// What is known before the call.
    pub estimate: u32,
    /// What the server says after it.
    pub used: u32,
}

/// What a server reported about its limit with the last response of a call.
#[derive(Clone, Debug, Default)]
pub struct Reported(Rc<Cell<Option<RateLimit>>>);

impl Reported {
    /// Keeps a report, in place of the one before.
    pub fn set(&self, limit: Option<RateLimit>) {
        self.0.set(limit);
    }

    /// Returns the report.
    pub fn get(&self) -> Option<RateLimit> {
        self.0.get()
    }
}

impl Call {
    /// Creates a call without a time limit. `attempt` makes an attempt.
    pub fn new<F, A>(world: &World, mut attempt: F) -> Self
    where
        F: FnMut() -> A + 'static,
        A: Future<Output = Outcome> + 'static,
    {
        let attempt: Box<dyn FnMut() -> Attempt> = Box::new(move || Box::pin(attempt()));
        Self {
            world: world.clone(),
            attempt_timeout: None,
            max_time: None,
            max_attempts: None,
            attempt,
            reported: Reported::default(),
            weight: None,
            hedge: None,
        }
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
