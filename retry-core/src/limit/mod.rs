//! Limits on sends: when an attempt may be sent, which a limiter learns from what the server answers.

mod adaptive;
mod paced;
mod queue;
mod ready;
mod waker;

pub(crate) use adaptive::{AdaptiveLimiter, AdaptivePlace};
pub use paced::{GoodputEstimator, PacedAnswers};
pub(crate) use paced::{PacedLimiter, PacedPlace};
pub use ready::Ready;
pub(crate) use waker::EarlyWake;
pub use waker::LazyWaker;
