//! Servers: token bucket, fixed window, FIFO queue with a stall, and a row for optimistic writes.
//!
//! A server is arithmetic over the time of a request. Clients add the time that messages take.

use crate::call::CallError;
use retry_core::classify::http::RateLimit;
use retry_core::time::Timestamp;
use std::cell::Cell;
use std::time::Duration;

/// A server that admits or rejects each request immediately.
pub trait Limit {
    /// Decides about a request that arrives now.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Throttled`] if the request is rejected.
    fn admit(&self, now: Timestamp) -> Result<(), CallError>;

    /// Returns the time that the server takes for the request that it admitted last. The default is none.
    fn service(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns what the server reports with its response to the last request. The default is nothing.
    fn report(&self) -> Option<RateLimit> {
        None
    }
}

/// A token bucket that is full at the start. An admitted request takes one token.
#[derive(Debug)]
pub struct TokenBucketLimit {
    rate: Cell<f64>,
    burst: f64,
    rejection_cost: f64,
    retry_after: bool,
    tokens: Cell<f64>,
    filled: Cell<Timestamp>,
}

impl TokenBucketLimit {
    /// Creates a bucket of `burst` tokens that gets `rate` tokens per second. Rejections are free.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self {
            rate: Cell::new(rate),
            burst,
            rejection_cost: 0.0,
            retry_after: false,
            tokens: Cell::new(burst),
            filled: Cell::new(Timestamp::START),
        }
    }

    /// Sets the part of a token that a rejection takes, because the server works for it, too.
    #[must_use]
    pub fn rejection_cost(mut self, tokens: f64) -> Self {
        self.rejection_cost = tokens;
        self
    }

    /// Sets whether a rejection carries the time until there is a token, in whole seconds, rounded up.
    #[must_use]
    pub fn retry_after(mut self, is_sent: bool) -> Self {
        self.retry_after = is_sent;
        self
    }

    /// Changes the rate.
    pub fn set_rate(&self, rate: f64, now: Timestamp) {
        self.fill(now);
        self.rate.set(rate);
    }

    fn fill(&self, now: Timestamp) {
        let elapsed = now.saturating_since(self.filled.get()).as_secs_f64();
        self.filled.set(now);
        self.tokens.set((self.tokens.get() + elapsed * self.rate.get()).min(self.burst));
    }
}

/// Clients and servers count in nanoseconds, so a token that is missing less than this part is complete.
const ROUNDING: f64 = 1e-6;

impl Limit for TokenBucketLimit {
    fn admit(&self, now: Timestamp) -> Result<(), CallError> {
        self.fill(now);
        let tokens = self.tokens.get();
        if tokens >= 1.0 - ROUNDING {
            self.tokens.set(tokens - 1.0);
            return Ok(());
        }
        self.tokens.set((tokens - self.rejection_cost).max(0.0));
        let missing = (1.0 - self.tokens.get()) / self.rate.get();
        let retry_after =
            self.retry_after.then(|| Duration::try_from_secs_f64(missing.ceil()).unwrap_or(Duration::MAX));
        Err(CallError::Throttled { retry_after })
    }

    /// A bucket is never reset, so it reports the requests that remain, and no time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "there is a small number of tokens")]
    fn report(&self) -> Option<RateLimit> {
        Some(RateLimit::new(self.tokens.get() as u64))
    }
}

/// A limit on the requests in each window of a fixed length. Windows start at whole multiples of the length.
#[derive(Debug)]
pub struct FixedWindowLimit {
    limit: u64,
    window: Duration,
    current: Cell<u128>,
    admitted: Cell<u64>,
}

impl FixedWindowLimit {
    /// Creates a limit of `limit` requests in each window. A window that is zero long is treated as one nanosecond.
    pub fn new(limit: u64, window: Duration) -> Self {
        let window = window.max(Duration::from_nanos(1));
        Self { limit, window, current: Cell::new(0), admitted: Cell::new(0) }
    }
}

impl Limit for FixedWindowLimit {
    fn admit(&self, now: Timestamp) -> Result<(), CallError> {
        let window = now.since_origin().as_nanos() / self.window.as_nanos();
        if self.current.replace(window) != window {
            self.admitted.set(0);
        }
        if self.admitted.get() >= self.limit {
            return Err(CallError::Throttled { retry_after: None });
        }
        self.admitted.set(self.admitted.get() + 1);
        Ok(())
    }
}

/// A server that serves one request after the other, first come, first served, also if the client has given up. It can
/// stall once.
#[derive(Debug)]
pub struct FifoServer {
    service: Duration,
    stall: Option<(Timestamp, Timestamp)>,
    free: Cell<Timestamp>,
}

impl FifoServer {
    /// Creates a server that works for `service` on each request.
    pub fn new(service: Duration) -> Self {
        Self { service, stall: None, free: Cell::new(Timestamp::START) }
    }

    /// Sets the times between which the server does not work. A request that is being served then is served on
    /// afterwards.
    #[must_use]
    pub fn stall(mut self, from: Timestamp, to: Timestamp) -> Self {
        self.stall = Some((from, to));
        self
    }

    /// Adds a request to the queue, and returns when it will be served.
    pub fn enqueue(&self, now: Timestamp) -> Timestamp {
        let start = self.free.get().max(now);
        let mut end = start.saturating_add(self.service);
        if let Some((from, to)) = self.stall
            && end > from
            && start < to
        {
            let worked = from.saturating_since(start);
            end = to.saturating_add(self.service.saturating_sub(worked));
        }
        self.free.set(end);
        end
    }
}

/// A row with a version. A write succeeds if it names the current version.
#[derive(Debug, Default)]
pub struct Row {
    version: Cell<u64>,
}

impl Row {
    /// Returns the current version.
    pub fn read(&self) -> u64 {
        self.version.get()
    }

    /// Writes the row, if `version` is the current one.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Conflict`] if another write came first.
    pub fn write(&self, version: u64) -> Result<(), CallError> {
        if version != self.version.get() {
            return Err(CallError::Conflict);
        }
        self.version.set(version + 1);
        Ok(())
    }
}
