//! A limiter that sends at the rate that the server accepts.

mod accepted_counters;
mod answered;
mod closings;
mod estimator;
mod external_rate;
mod fallen;
mod hold;
mod hurry;
mod limiter;
mod live_settings;
mod operations;
mod pace;
mod pacer;
mod place;
mod reports;
mod settings;
mod strategy;
mod unit;

pub use estimator::GoodputEstimator;
pub use external_rate::{PacedAnswers, PacedStrategy};
pub use limiter::PacedLimiter;
pub use place::PacedPlace;
pub use settings::{PacedSettings, SendRate};
pub use strategy::{PacedRetryStrategy, PacedRetryToken};
#[doc(hidden)]
pub use unit::Held;
pub use unit::{Requests, Unit, Weights};
