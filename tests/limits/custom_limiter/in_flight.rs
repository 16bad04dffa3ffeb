//! A custom limiter, as a user would write it: a number of requests may be in flight, and the others wait.

use crate::support::secs;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::quota::QuotaMode;
use retry_core::strategy::{ForeignToken, StandardRetryToken};
use retry_core::{Clock, Failure, RetryError, RetryStrategy, RetryToken, StandardRetryStrategy, Success};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

/// The maximum wait before an operation asks again. It is far longer than any test, so waits must end early.
pub(super) const BOUND: Duration = secs(3600);

/// Limits the number of requests in flight. Operations are served in the order of their first calls of `ready`.
pub(super) struct InFlight {
    pub(super) retries: StandardRetryStrategy,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Default)]
struct Queue {
    free: usize,
    places: u64,
    waiting: BTreeMap<u64, Waker>,
    questions: u32,
}

pub(super) struct Token {
    retries: StandardRetryToken,
    seat: Seat,
}

/// The place of an operation in the queue, and the slot of its request. Dropping it gives up both.
struct Seat {
    queue: Arc<Mutex<Queue>>,
    place: Option<u64>,
    in_flight: bool,
}

impl InFlight {
    pub(super) fn new(slots: usize, retries: StandardRetryStrategy) -> Self {
        let queue = Queue { free: slots, ..Queue::default() };
        Self { retries, queue: Arc::new(Mutex::new(queue)) }
    }

    /// Returns the number of free slots, of waiting operations, and of calls of `ready`.
    pub(super) fn counts(&self) -> (usize, usize, u32) {
        let queue = self.queue.lock().unwrap();
        (queue.free, queue.waiting.len(), queue.questions)
    }
}

impl Seat {
    /// Ends the request or the wait, and wakes as many waiters as there are free slots.
    fn leave(&mut self) {
        let woken: Vec<Waker> = {
            let mut queue = self.queue.lock().unwrap();
            if let Some(place) = self.place {
                queue.waiting.remove(&place);
            }
            queue.free += usize::from(std::mem::take(&mut self.in_flight));
            queue.waiting.values().take(queue.free).cloned().collect()
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        self.retries.attempt()
    }

    fn delay(&self) -> Duration {
        self.retries.delay()
    }
}

impl RetryStrategy for InFlight {
    type Token = Token;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Token, RetryError> {
        let seat = Seat { queue: Arc::clone(&self.queue), place: None, in_flight: false };
        self.retries.acquire_initial_token(clock).map(|retries| Token { retries, seat })
    }

    fn refresh_retry_token(&self, token: Token, failure: &Failure, clock: &dyn Clock) -> Result<Token, RetryError> {
        let Token { retries, mut seat } = token;
        seat.leave();
        self.retries.refresh_retry_token(retries, failure, clock).map(|retries| Token { retries, seat })
    }

    fn record_success(&self, token: Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.retries.record_success(token.retries, success, clock)
    }

    fn ready(&self, token: &mut Token, _: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let waker = waker.map_or_else(|| Waker::noop().clone(), LazyWaker::waker);
        let mut queue = self.queue.lock().unwrap();
        queue.questions += 1;
        let next = queue.places;
        let place = *token.seat.place.get_or_insert(next);
        queue.places += u64::from(place == next);
        if queue.waiting.range(..place).count() < queue.free {
            queue.waiting.remove(&place);
            queue.free -= 1;
            token.seat.in_flight = true;
            return Ready::Now;
        }
        queue.waiting.insert(place, waker);
        Ready::After(BOUND)
    }

    fn release(&self, token: Token) {
        self.retries.release(token.retries);
    }

    fn quota_level(&self) -> Option<u32> {
        self.retries.quota_level()
    }

    fn full_quota_level(&self) -> Option<u32> {
        self.retries.full_quota_level()
    }

    fn quota_mode(&self) -> Option<QuotaMode> {
        self.retries.quota_mode()
    }
}
