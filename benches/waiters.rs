//! Operations that wait for one limiter, in virtual time: how often they ask for each send, and what that costs.

use crate::operation::StoreError;
use retry_core::limit::Ready;
use retry_core::time::Timestamp;
use retry_core::{AdaptiveRetryStrategy, Clock, Failure, RetryDirective, RetryErrorType, RetryStrategy, Success};
use retry_limits::PacedRetryStrategy;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
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
    let (ends, interval) = (clock.0.get() + LEARNING, Duration::from_secs_f64(0.7 / rate));
    while clock.0.get() < ends {
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

fn respond<S: RetryStrategy>(strategy: &S, clock: &Virtual, token: Option<S::Token>) {
    let recorded = token.map(|token| strategy.record_success(token, &Success::default(), clock));
    assert_eq!(recorded, Some(Ok(())), "the strategy accepts its own token");
}

/// Reports a throttled attempt to a strategy, and releases the retry that it grants.
pub fn throttle<S: RetryStrategy>(strategy: &S, clock: &dyn Clock) {
    let retry = strategy
        .acquire_initial_token(clock)
        .and_then(|token| strategy.refresh_retry_token(token, &Failure::of(&StoreError::SlowDown), clock));
    if let Ok(retry) = retry {
        strategy.release(retry);
    }
}

/// Clients that send as fast as a limiter lets them, in virtual time. A request is answered at once, so nearly always all
/// of them wait.
pub struct Crowd<S: RetryStrategy = AdaptiveRetryStrategy> {
    clock: Virtual,
    /// Boxed, because a strategy that moves does not accept its tokens any more.
    strategy: Box<S>,
    tokens: Vec<Option<S::Token>>,
    timers: Timers,
    server: Server,
}

/// What the requests meet: nothing, or a limit on requests per second, with a burst of a twentieth of a second.
struct Server {
    rate: f64,
    tokens: f64,
    filled: Duration,
}

impl Server {
    fn with_limit(rate: f64) -> Self {
        Self { rate, tokens: 0.0, filled: Duration::ZERO }
    }

    fn accepts(&mut self, now: Duration) -> bool {
        let gained = self.rate * now.saturating_sub(self.filled).as_secs_f64();
        (self.tokens, self.filled) = ((self.tokens + gained).min(self.rate / 20.0), now);
        let is_accepted = self.tokens >= 1.0;
        self.tokens -= f64::from(u8::from(is_accepted));
        is_accepted
    }
}

impl Crowd {
    /// Creates clients whose limiter begins with this rate of sends per second, and lets them send for a second.
    pub fn new(clients: usize, rate: f64) -> Self {
        let clock = Virtual::at(Timestamp::START);
        let strategy = Box::new(limited_to(rate, &clock));
        Self::of(clients, strategy, clock, Server::with_limit(f64::INFINITY))
    }
}

impl Crowd<PacedRetryStrategy> {
    /// Creates clients of a paced strategy and a server with this limit, and lets them send until the strategy follows it.
    pub fn paced(clients: usize, rate: f64) -> Self {
        let (clock, strategy) = (Virtual::at(Timestamp::START), Box::new(PacedRetryStrategy::new().ramp(false)));
        let mut crowd = Self::of(clients, strategy, clock, Server::with_limit(rate));
        crowd.run(Duration::from_secs(5));
        crowd
    }
}

impl<S: RetryStrategy> Crowd<S> {
    fn of(clients: usize, strategy: Box<S>, clock: Virtual, server: Server) -> Self {
        let tokens = (0..clients).map(|_| strategy.acquire_initial_token(&clock).ok()).collect();
        let timers = Timers::new(clients, clock.0.get());
        let mut crowd = Self { clock, strategy, tokens, timers, server };
        crowd.run(Duration::from_secs(1));
        crowd
    }

    /// Lets the client whose wait is over ask for its send. Returns the answer, which is zero if the send was granted.
    pub fn ask(&mut self) -> Duration {
        let Self { clock, strategy, tokens, timers, server } = self;
        timers.next(|client, now| {
            clock.0.set(now);
            let token = &mut tokens[client];
            let ready = token.as_mut().map_or(Ready::Now, |token| strategy.ready(token, clock, None));
            let wait = ready.wait().unwrap_or_default();
            if wait.is_zero() {
                if server.accepts(now) {
                    respond(strategy, clock, token.take());
                } else if let Some(token) = token.take() {
                    let throttled = RetryDirective::fail(Some(RetryErrorType::Throttling));
                    drop(strategy.refresh_retry_token(token, &Failure::from_directive(throttled), clock));
                }
                *token = strategy.acquire_initial_token(clock).ok();
            }
            wait
        })
    }

    /// Lets the clients send for this time, and returns all answers.
    pub fn run(&mut self, time: Duration) -> Answers {
        let ends = self.clock.0.get() + time;
        let mut answers = Vec::new();
        while self.clock.0.get() < ends {
            answers.push(self.ask());
        }
        Answers(answers)
    }
}

/// What clients were answered, in order.
pub struct Answers(Vec<Duration>);

impl Answers {
    /// Returns the number of questions.
    pub fn asks(&self) -> u32 {
        self.0.iter().map(|_| 1).sum()
    }

    /// Returns the number of sends that were granted.
    pub fn sends(&self) -> u32 {
        self.0.iter().map(|wait| u32::from(wait.is_zero())).sum()
    }

    /// Waits for the same times as the clients did, without a limiter.
    pub fn repeat(&self, clients: usize) {
        let mut timers = Timers::new(clients, Duration::ZERO);
        for wait in &self.0 {
            timers.next(|client, now| {
                black_box((client, now));
                *wait
            });
        }
    }
}

/// The ends of the waits of clients.
struct Timers(BinaryHeap<Reverse<(Duration, usize)>>);

impl Timers {
    fn new(clients: usize, now: Duration) -> Self {
        Self((0..clients).map(|client| Reverse((now, client))).collect())
    }

    /// Calls `ask` with the client whose wait is over first and the time of that. The answer is the client's next wait.
    fn next(&mut self, ask: impl FnOnce(usize, Duration) -> Duration) -> Duration {
        let Some(mut first) = self.0.peek_mut() else { return Duration::ZERO };
        let (now, client) = first.0;
        let wait = ask(client, now);
        *first = Reverse((now + wait, client));
        wait
    }
}
