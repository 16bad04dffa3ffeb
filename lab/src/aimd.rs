//! Plain limiters to compare with: additive increase and multiplicative decrease of a rate, and of a window.
//!
//! They are what a program would write in some lines, without tuning. Each success before the first rejection adds one, as
//! in the slow start of TCP. A rejection of a request that was sent after the last cut is a cut. A failure of any kind is a
//! rejection. A rejected attempt is made again after the backoff of [`StandardRetryStrategy::new()`](retry_core::StandardRetryStrategy::new),
//! and not before the wait that the server asked for. If that is too long, the call fails. There is no quota.
//!
//! Reference: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
//! Networks", 1989.

use crate::World;
use crate::call::{Call, CallError, Caller, Outcome};
use crate::strategies::Strategy;
use crate::world::{Random, Request, request};
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The rate at the start, in sends per second, and the window at the start.
const START: (f64, f64) = (100.0, 1.0);
/// What a cut leaves of the rate, and of the window.
const CUT: (f64, f64) = (0.7, 0.5);
/// What the rate gains in a second after a cut, as a part of the rate before it. The window gains one in each round trip.
const GAIN: f64 = 0.1;
/// The first and the longest delay of the backoff, with full jitter.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(20));

/// Creates a strategy that limits the rate of sends, with this maximum number of attempts and longest wait that a server may ask
/// for.
pub fn rate(max_attempts: u32, max_retry_after: Duration) -> Strategy {
    strategy("AIMD rate", (START.0, 1.0), (max_attempts, max_retry_after), Kind::Rate)
}

/// Creates a strategy that limits the requests in flight, like [`rate`].
pub fn window(max_attempts: u32, max_retry_after: Duration) -> Strategy {
    strategy("AIMD window", (START.1, 1.0), (max_attempts, max_retry_after), Kind::Window)
}

/// Creates a strategy that sends at a fixed rate per second with a fixed burst, as governor does. It learns nothing.
pub fn told((rate, burst): (f64, f64), max_attempts: u32, max_retry_after: Duration) -> Strategy {
    strategy("governor, told", (rate, burst), (max_attempts, max_retry_after), Kind::Told)
}

fn strategy(name: &str, start: (f64, f64), (max_attempts, max_retry_after): (u32, Duration), kind: Kind) -> Strategy {
    Strategy::new(name, move |seed| {
        let random = RefCell::new(Random::new(seed, "aimd"));
        let state = Rc::new(RefCell::new(State::new(start)));
        Rc::new(Aimd { kind, max_attempts, max_retry_after, random, state })
    })
}

#[derive(Clone, Copy)]
enum Kind {
    Rate,
    Window,
    /// A rate that stays.
    Told,
}

struct Aimd {
    kind: Kind,
    max_attempts: u32,
    max_retry_after: Duration,
    random: RefCell<Random>,
    state: Rc<RefCell<State>>,
}

struct State {
    /// The sends per second, or the requests in flight.
    limit: f64,
    /// The sends that are made at once after a pause.
    burst: f64,
    /// The limit before the last cut.
    before: Option<f64>,
    cut_at: Timestamp,
    /// The time of the next send under a rate.
    next: Timestamp,
    /// Whether there is a task that admits the requests that wait, one after the other.
    is_sending: bool,
    in_flight: f64,
    waiting: VecDeque<Request<()>>,
}

impl State {
    const fn new((limit, burst): (f64, f64)) -> Self {
        let (cut_at, next) = (Timestamp::START, Timestamp::from_origin(Duration::ZERO));
        Self { limit, burst, before: None, cut_at, next, is_sending: false, in_flight: 0.0, waiting: VecDeque::new() }
    }
}

/// Admits requests at the rate, until none waits.
async fn send(world: World, state: Rc<RefCell<State>>) {
    loop {
        let next = state.borrow().next;
        world.sleep_until(next).await;
        let state = &mut *state.borrow_mut();
        let Some(place) = state.waiting.pop_front() else {
            state.is_sending = false;
            return;
        };
        // The generic cell rate algorithm.
        let saved = Duration::from_secs_f64((state.burst - 1.0) / state.limit);
        let from = Timestamp::from_origin(world.now().since_origin().saturating_sub(saved));
        state.next = state.next.max(from).saturating_add(Duration::from_secs_f64(1.0 / state.limit));
        place.respond(());
    }
}

impl Aimd {
    /// Waits until a request may be sent.
    async fn admitted(&self, world: &World) {
        match self.kind {
            Kind::Rate | Kind::Told => {
                let place = {
                    let state = &mut *self.state.borrow_mut();
                    if !mem::replace(&mut state.is_sending, true) {
                        world.spawn(send(world.clone(), Rc::clone(&self.state)));
                    }
                    let (request, place) = request();
                    state.waiting.push_back(request);
                    place
                };
                place.await;
            }
            Kind::Window => {
                let place = {
                    let state = &mut *self.state.borrow_mut();
                    if state.in_flight + 1.0 <= state.limit {
                        state.in_flight += 1.0;
                        return;
                    }
                    let (request, place) = request();
                    state.waiting.push_back(request);
                    place
                };
                place.await;
            }
        }
    }

    /// Learns from the outcome of a request, and admits others.
    fn answered(&self, sent: Timestamp, now: Timestamp, outcome: &Outcome) {
        let state = &mut *self.state.borrow_mut();
        match (self.kind, outcome) {
            (Kind::Told, _) => {}
            (Kind::Rate, Ok(())) => state.limit += state.before.map_or(1.0, |before| GAIN * before / state.limit),
            (Kind::Window, Ok(())) => state.limit += state.before.map_or(1.0, |_| 1.0 / state.limit),
            (kind, Err(_)) if sent >= state.cut_at => {
                let part = if matches!(kind, Kind::Rate) { CUT.0 } else { CUT.1 };
                state.before = Some(state.limit);
                state.limit = (state.limit * part).max(1.0);
                state.cut_at = now;
            }
            _ => {}
        }
        if matches!(self.kind, Kind::Window) {
            state.in_flight -= 1.0;
            while state.in_flight + 1.0 <= state.limit
                && let Some(next) = state.waiting.pop_front()
            {
                state.in_flight += 1.0;
                next.respond(());
            }
        }
    }

    /// Returns the delay before a retry, unless there is none.
    fn delay(&self, attempts: u32, error: CallError) -> Option<Duration> {
        let (base, cap) = BACKOFF;
        let longest = base.saturating_mul(1 << (attempts - 1).min(16)).min(cap);
        let hint = if let CallError::Throttled { retry_after } = error { retry_after } else { None };
        let delay = longest.mul_f64(self.random.borrow_mut().uniform()).max(hint.unwrap_or_default());
        (attempts < self.max_attempts && hint <= Some(self.max_retry_after)).then_some(delay)
    }
}

impl Caller for Aimd {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        let Call { world, mut attempt, .. } = call;
        Box::pin(async move {
            let mut attempts = 0;
            loop {
                self.admitted(&world).await;
                let sent = world.now();
                let outcome = attempt().await;
                self.answered(sent, world.now(), &outcome);
                attempts += 1;
                let delay = outcome.err().and_then(|error| self.delay(attempts, error));
                let Some(delay) = delay else { return outcome };
                world.sleep(delay).await;
            }
        })
    }
}
