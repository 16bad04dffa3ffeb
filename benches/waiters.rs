//! Operations that wait for one limiter, in virtual time: how often they ask for each send, and what that costs.

use crate::ours::throttle;
use retry_core::strategy::{AdaptiveRetryToken, Ready};
use retry_core::time::Timestamp;
use retry_core::{AdaptiveRetryStrategy, Clock, RetryStrategy, Success};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// A clock that shows the time that it is set to.
#[derive(Debug)]
pub struct Virtual(Cell<Duration>);

impl Virtual {
    /// Creates a clock that shows this time.
    pub const fn at(time: Timestamp) -> Self {
        Self(Cell::new(time.since_origin()))
    }
}

impl Clock for Virtual {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.get())
    }
}

/// The time in which [`limited_to`] teaches a strategy its rate.
pub const LEARNING: Duration = Duration::from_secs(3);

/// Returns a strategy that begins to limit sends to this rate per second, at the time that the clock shows plus
/// [`LEARNING`]. It has measured a rate of responses, and was then throttled, which cuts the rate to 0.7 times that.
/// Afterwards the rate grows slowly.
pub fn limited_to(rate: f64, clock: &Virtual) -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::new();
    let (started, interval) = (clock.0.get(), Duration::from_secs_f64(0.7 / rate));
    while clock.0.get() - started < LEARNING {
        respond(&strategy, clock, strategy.acquire_initial_token(clock).ok());
        clock.0.set(clock.0.get() + interval);
    }
    throttle(&strategy, clock);
    // What was saved up before is used up.
    while let Ok(mut token) = strategy.acquire_initial_token(clock) {
        if strategy.ready(&mut token, clock, None).wait().is_some() {
            strategy.release(token);
            break;
        }
    }
    strategy
}

fn respond(strategy: &AdaptiveRetryStrategy, clock: &Virtual, token: Option<AdaptiveRetryToken>) {
    let recorded = token.map(|token| strategy.record_success(token, &Success::default(), clock));
    assert_eq!(recorded, Some(Ok(())), "the strategy accepts its own token");
}

/// A number of clients that send as fast as the limiter lets them, in virtual time. A request is answered at once.
#[derive(Clone, Copy, Debug)]
pub struct Clients {
    /// The number of clients. All of them wait for the limiter, nearly always.
    pub clients: usize,
    /// The rate at which the limiter begins, in sends per second.
    pub rate: f64,
    /// The virtual time that is measured.
    pub time: Duration,
}

/// What clients did.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The wait that each question was answered with, in order. Zero means that the send was granted.
    pub answers: Vec<Duration>,
    /// The number of sends.
    pub sends: usize,
}

impl Record {
    /// Returns the number of questions for each send.
    pub fn asks_per_send(&self) -> f64 {
        self.answers.len() as f64 / self.sends as f64
    }
}

/// One client: its next question, and the state of its operation.
type Next = Reverse<(Duration, usize)>;

impl Clients {
    /// Runs the clients with a limiter. `measure` runs the part that is measured, which begins once all clients wait.
    pub fn run(&self, measure: impl FnOnce(&mut dyn FnMut() -> Record) -> Record) -> Record {
        let clock = Virtual::at(Timestamp::START);
        let strategy = limited_to(self.rate, &clock);
        let mut tokens: Vec<_> = (0..self.clients).map(|_| strategy.acquire_initial_token(&clock).ok()).collect();
        let mut ask = |client: usize, now: Duration| {
            clock.0.set(now);
            let token = &mut tokens[client];
            let ready = token.as_mut().map_or(Ready::Now, |token| strategy.ready(token, &clock, None));
            let wait = ready.wait().unwrap_or_default();
            if wait.is_zero() {
                respond(&strategy, &clock, token.take());
                *token = strategy.acquire_initial_token(&clock).ok();
            }
            wait
        };
        let began = Timestamp::START.since_origin() + LEARNING + Duration::from_millis(1);
        let mut questions = (0..self.clients).map(|client| Reverse((began, client))).collect();
        drive(&mut questions, began + Duration::from_secs(1), &mut ask);
        let ends = began + Duration::from_secs(1) + self.time;
        measure(&mut || drive(&mut questions, ends, &mut ask))
    }

    /// Repeats what a run did, without the limiter, for a measurement of everything else.
    pub fn replay(&self, record: &Record) -> Record {
        let mut answers = record.answers.iter().copied();
        let mut questions = (0..self.clients).map(|client| Reverse((Duration::ZERO, client))).collect();
        drive(&mut questions, Duration::MAX, &mut |_, _| answers.next().unwrap_or(Duration::MAX))
    }
}

/// Lets each client ask when its wait is over, until the end of the time.
fn drive(questions: &mut BinaryHeap<Next>, ends: Duration, ask: &mut dyn FnMut(usize, Duration) -> Duration) -> Record {
    let mut record = Record::default();
    while let Some(mut next) = questions.peek_mut()
        && next.0.0 < ends
    {
        let (now, client) = next.0;
        let wait = ask(client, now);
        record.answers.push(wait);
        record.sends += usize::from(wait.is_zero());
        next.0 = (now.saturating_add(wait), client);
    }
    record
}
