//! Limits on sends: the adaptive and the paced strategy, and limiters of the user's own.

mod adaptive;
mod builtin_limiters;
mod concurrency;
mod custom_limiter;
mod named;
mod paced;
mod pair;
mod shared_pace;
mod weights;

use tests::{script, support};
