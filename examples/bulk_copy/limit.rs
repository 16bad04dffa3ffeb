//! The rate limit of the service: for each prefix, one token bucket for reads and one for writes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// GET.
    Read,
    /// PUT.
    Write,
}

/// The limits on requests to one prefix of a bucket.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Reads per second; `None` is no limit.
    pub(crate) reads: Option<f64>,
    /// Writes per second; `None` is no limit.
    pub(crate) writes: Option<f64>,
    /// A token bucket holds the tokens that its rate adds in this time, and at least one token.
    pub(crate) burst: Duration,
}

/// Enforces [`Limits`].
#[derive(Debug)]
pub(crate) struct Limiter {
    limits: Limits,
    buckets: Mutex<HashMap<(Access, String), TokenBucket>>,
}

impl Limiter {
    /// Creates a limiter whose token buckets are full.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, buckets: Mutex::default() }
    }

    /// Admits a request, or returns the time after which a request can be admitted. The path is a bucket and a key. All
    /// requests whose paths are the same up to the last slash share a limit.
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

/// A bucket that fills at a constant rate up to its capacity. Each request takes one token.
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
