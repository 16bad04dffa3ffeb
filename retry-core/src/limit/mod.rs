//! Limits on sends: when an attempt may be sent, which a limiter learns from what the server answers.

mod adaptive;
mod limiter;
mod paced;
mod queue;
mod ready;
mod waker;

pub use adaptive::AdaptiveLimiter;
#[doc(hidden)]
pub use adaptive::AdaptivePlace;
pub(crate) use limiter::Sealed;
pub use limiter::SendLimiter;
#[doc(hidden)]
pub use limiter::{FailedSend, Unpaid};
pub use paced::{GoodputEstimator, PacedAnswers, PacedLimiter, Rejections};
#[doc(hidden)]
pub use paced::{PaceSettings, PacedPlace, Throttled};
pub use ready::Ready;
pub(crate) use waker::EarlyWake;
pub use waker::LazyWaker;
