//! The rule of the service: two buckets, which fill evenly.
//!
//! - 20 requests per second, with a burst of 20. A rejected request counts, too.
//! - 100,000 tokens per minute, with a burst of 100,000. A rejected request uses none.
//! - A request is admitted if both buckets have enough. Otherwise `retry-after` is the time until both would have, in seconds
//!   with a fraction. Nothing is reserved by that, so another request may be first.

use axum::http::{HeaderMap, HeaderValue};
use std::time::Duration;
use tokio::time::Instant;

pub(crate) const REQUESTS_PER_SECOND: f64 = 20.0;
pub(crate) const TOKENS_PER_MINUTE: f64 = 100_000.0;

pub(crate) struct Limits {
    requests: Bucket,
    tokens: Bucket,
}

impl Limits {
    pub(crate) fn new() -> Self {
        Self {
            requests: Bucket::full(REQUESTS_PER_SECOND, REQUESTS_PER_SECOND),
            tokens: Bucket::full(TOKENS_PER_MINUTE, TOKENS_PER_MINUTE / 60.0),
        }
    }

    /// Admits a request, or returns the headers of the rejection.
    pub(crate) fn admit(&mut self, tokens: u32) -> Result<(), HeaderMap> {
        let tokens = f64::from(tokens);
        let wait = self.requests.time_until(1.0).max(self.tokens.time_until(tokens));
        if wait.is_zero() {
            self.requests.level -= 1.0;
            self.tokens.level -= tokens;
            return Ok(());
        }
        self.requests.level = (self.requests.level - 1.0).max(0.0);
        let mut headers = self.headers();
        insert(&mut headers, "retry-after", format!("{:.3}", wait.as_secs_f64()));
        Err(headers)
    }

    /// What remains, and how long each bucket takes to be full again.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (bucket, [remaining, reset]) in [
            (&self.requests, ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"]),
            (&self.tokens, ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"]),
        ] {
            insert(&mut headers, remaining, format!("{:.0}", bucket.level.floor()));
            insert(&mut headers, reset, format!("{}ms", bucket.time_to(bucket.size).as_millis()));
        }
        headers
    }
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: String) {
    headers.insert(name, HeaderValue::try_from(value).expect("digits, a point and a unit"));
}

struct Bucket {
    size: f64,
    per_second: f64,
    level: f64,
    filled: Instant,
}

impl Bucket {
    fn full(size: f64, per_second: f64) -> Self {
        Self { size, per_second, level: size, filled: Instant::now() }
    }

    /// Fills the bucket up to now, and returns the time until it has this amount.
    fn time_until(&mut self, amount: f64) -> Duration {
        let now = Instant::now();
        let filled = (now - self.filled).as_secs_f64() * self.per_second;
        (self.level, self.filled) = ((self.level + filled).min(self.size), now);
        self.time_to(amount)
    }

    fn time_to(&self, amount: f64) -> Duration {
        Duration::from_secs_f64((amount - self.level).max(0.0) / self.per_second)
    }
}
