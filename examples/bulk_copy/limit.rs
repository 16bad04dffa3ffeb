//! The service's rate limit: a token bucket for the reads and one for the writes of each prefix.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a request does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// GET.
    Read,
    /// PUT.
    Write,
}

/// How many requests a prefix of a bucket may get.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Reads a second; `None` is no limit.
    pub(crate) reads: Option<f64>,
    /// Writes a second; `None` is no limit.
    pub(crate) writes: Option<f64>,
    /// A token bucket holds what its rate gives in this time, and at least one token.
    pub(crate) burst: Duration,
}

/// Enforces [`Limits`].
#[derive(Debug)]
pub(crate) struct Limiter {
    limits: Limits,
    buckets: Mutex<HashMap<(Access, String), TokenBucket>>,
}

impl Limiter {
    /// All token buckets are full at the start.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, buckets: Mutex::default() }
    }

    /// Lets a request pass, or says after how long one could. The path is a bucket and a key; all up to its last slash
    /// is what shares a limit.
    pub(crate) fn admit(&self, access: Access, path: &str) -> Result<(), Duration> {
        let rate = match access {
            Access::Read => self.limits.reads,
            Access::Write => self.limits.writes,
        };
        let Some(rate) = rate else { return Ok(()) };
        let prefix = path.rsplit_once('/').map_or("", |(prefix, _)| prefix);
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let capacity = (rate * self.limits.burst.as_secs_f64()).max(1.0);
        let bucket =
            buckets.entry((access, prefix.to_owned())).or_insert(TokenBucket { tokens: capacity, filled: now });
        bucket.take(rate, capacity, now)
    }
}

/// Fills at a steady rate up to its capacity; each request takes one token.
#[derive(Debug)]
struct TokenBucket {
    tokens: f64,
    /// When the tokens were last counted.
    filled: Instant,
}

impl TokenBucket {
    fn take(&mut self, rate: f64, capacity: f64, now: Instant) -> Result<(), Duration> {
        let gained = rate * now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + gained).min(capacity);
        self.filled = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::try_from_secs_f64((1.0 - self.tokens) / rate).unwrap_or(Duration::MAX))
    }
}
