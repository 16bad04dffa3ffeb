//! Servers whose limits are of many kinds, and whose rejections say different things.

use crate::call::CallError;
use crate::servers::Limit;
use crate::world::Random;
use retry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::time::Duration;

/// What limits the requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Nothing.
    Open,
    /// A token bucket.
    Bucket {
        /// The requests per second.
        rate: f64,
        /// The requests that it saves up.
        burst: f64,
    },
    /// A token bucket whose rate changes at these times, in seconds.
    Steps {
        /// The times, and the rates from then on.
        rates: Vec<(f64, f64)>,
        /// The requests that it saves up.
        burst: f64,
    },
    /// A token bucket whose rate goes up and down by half in this time.
    Tide {
        /// The mean rate.
        rate: f64,
        /// The requests that it saves up.
        burst: f64,
        /// The time from one high rate to the next one.
        period_s: f64,
    },
    /// So many requests in each window of a fixed length.
    Window {
        /// The requests.
        requests: u64,
        /// The length of the window.
        length_s: f64,
    },
    /// So many requests in each time of this length, whenever it begins.
    Sliding {
        /// The requests.
        requests: u64,
        /// The length of the time.
        length_s: f64,
    },
    /// Token buckets behind a balancer that picks one at random.
    Buckets {
        /// Their number.
        servers: u32,
        /// The requests per second of each.
        rate: f64,
        /// The requests that each saves up.
        burst: f64,
    },
    /// A leaky bucket, as `limit_req` of nginx.
    Leaky {
        /// The requests per second.
        rate: f64,
        /// The requests above the rate that are accepted. Without any, requests must have a gap between them.
        burst: f64,
        /// Whether requests above the rate wait until it allows them. With `nodelay`, nginx serves them immediately.
        delays: bool,
    },
    /// Slots, each for one request at a time. While all are in use, requests are rejected.
    Slots {
        /// The slots.
        slots: usize,
        /// The mean time that a request takes. Its standard deviation is a fifth of that.
        service_ms: f64,
    },
}

/// Which wait a rejection asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// None.
    None,
    /// The time until a request is accepted, in whole seconds.
    Honest,
    /// Always so many seconds.
    Always(u64),
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// What limits the requests.
    pub kind: Kind,
    /// Which wait a rejection asks for.
    pub hint: Hint,
    /// The part of the requests that is rejected at random, whatever the limit.
    pub noise: f64,
    /// Every so many requests, one meets a server that rejects everything. 0 stands for never.
    pub sick: u32,
    /// The times between which everything is rejected.
    pub closed_s: Option<(f64, f64)>,
    /// Whether a rejection is a server error, as of status 503, and not throttling.
    pub unavailable: bool,
}

impl Server {
    /// Creates a server that only has this limit.
    pub const fn new(kind: Kind) -> Self {
        Self { kind, hint: Hint::None, noise: 0.0, sick: 0, closed_s: None, unavailable: false }
    }
}

/// A server at work.
pub struct Running {
    server: Server,
    random: RefCell<Random>,
    state: RefCell<State>,
    requests: Cell<u64>,
    /// The time that the request that was admitted last takes.
    service: Cell<Duration>,
}

enum State {
    Open,
    Buckets {
        tokens: Vec<(f64, f64)>,
        burst: f64,
    },
    Window {
        number: u64,
        admitted: u64,
    },
    Sliding(VecDeque<f64>),
    /// When the bucket has leaked out.
    Leaky {
        empty_at: f64,
    },
    /// The times at which slots get free.
    Slots(Vec<f64>),
}

impl Running {
    /// Creates a server that no request was sent to yet.
    pub fn new(server: &Server, seed: u64) -> Self {
        let full = |servers: u32, burst: f64| State::Buckets { tokens: vec![(burst, 0.0); servers as usize], burst };
        let state = match server.kind {
            Kind::Open => State::Open,
            Kind::Bucket { burst, .. } | Kind::Steps { burst, .. } | Kind::Tide { burst, .. } => full(1, burst),
            Kind::Buckets { servers, burst, .. } => full(servers, burst),
            Kind::Window { .. } => State::Window { number: 0, admitted: 0 },
            Kind::Sliding { .. } => State::Sliding(VecDeque::new()),
            Kind::Leaky { .. } => State::Leaky { empty_at: 0.0 },
            Kind::Slots { .. } => State::Slots(Vec::new()),
        };
        let random = RefCell::new(Random::new(seed, "server"));
        Self {
            server: server.clone(),
            random,
            state: RefCell::new(state),
            requests: Cell::new(0),
            service: Cell::default(),
        }
    }

    /// Returns the requests per second that each bucket gets now.
    fn rate(&self, now: f64) -> f64 {
        match &self.server.kind {
            Kind::Bucket { rate, .. } | Kind::Buckets { rate, .. } | Kind::Leaky { rate, .. } => *rate,
            Kind::Steps { rates, .. } => rates.iter().rfind(|(from, _)| *from <= now).map_or(0.0, |(_, rate)| *rate),
            Kind::Tide { rate, period_s, .. } => rate * (1.0 + 0.5 * (TAU * now / period_s).sin()),
            Kind::Open | Kind::Window { .. } | Kind::Sliding { .. } | Kind::Slots { .. } => f64::INFINITY,
        }
    }

    /// Takes a request from the limit, or returns the time until it would accept one, in seconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn take(&self, now: f64) -> Result<(), f64> {
        let rate = self.rate(now);
        match (&mut *self.state.borrow_mut(), &self.server.kind) {
            (State::Buckets { tokens, burst }, _) => {
                let picked = (self.random.borrow_mut().uniform() * tokens.len() as f64) as usize;
                let (tokens, filled) = &mut tokens[picked];
                *tokens = (*tokens + (now - *filled) * rate).min(*burst);
                *filled = now;
                if *tokens < 1.0 - 1e-6 {
                    return Err((1.0 - *tokens) / rate);
                }
                *tokens -= 1.0;
            }
            (State::Window { number, admitted }, Kind::Window { requests, length_s }) => {
                let current = (now / length_s) as u64;
                if current != *number {
                    (*number, *admitted) = (current, 0);
                }
                if *admitted >= *requests {
                    return Err((current + 1) as f64 * length_s - now);
                }
                *admitted += 1;
            }
            (State::Sliding(log), Kind::Sliding { requests, length_s }) => {
                while log.front().is_some_and(|first| first + length_s <= now) {
                    log.pop_front();
                }
                if log.len() as u64 >= *requests {
                    return Err(log.front().map_or(0.0, |first| first + length_s - now));
                }
                log.push_back(now);
            }
            (State::Leaky { empty_at }, Kind::Leaky { burst, delays, .. }) => {
                let excess = ((*empty_at - now) * rate).max(0.0);
                if excess > burst + 1e-6 {
                    return Err((excess - burst) / rate);
                }
                *empty_at = empty_at.max(now) + 1.0 / rate;
                self.service.set(Duration::from_secs_f64(if *delays { excess / rate } else { 0.0 }));
            }
            (State::Slots(busy), Kind::Slots { slots, service_ms }) => {
                busy.retain(|until| *until > now);
                if busy.len() >= *slots {
                    return Err(busy.iter().fold(f64::INFINITY, |first, until| first.min(*until)) - now);
                }
                let mean = Duration::from_secs_f64(service_ms / 1e3);
                let service = self.random.borrow_mut().normal(mean, mean / 5);
                busy.push(now + service.as_secs_f64());
                self.service.set(service);
            }
            _ => {}
        }
        Ok(())
    }

    fn decide(&self, now: f64) -> Result<(), f64> {
        let number = self.requests.get();
        self.requests.set(number + 1);
        if let Some((from, to)) = self.server.closed_s
            && (from..to).contains(&now)
        {
            return Err(to - now);
        }
        let is_sick = number.checked_rem(self.server.sick.into()) == Some(0);
        if is_sick || self.random.borrow_mut().occurs(self.server.noise) {
            return Err(1.0);
        }
        self.take(now)
    }
}

impl Limit for Running {
    fn admit(&self, now: Timestamp) -> Result<(), CallError> {
        self.decide(now.saturating_since(Timestamp::START).as_secs_f64()).map_err(|wait| {
            let retry_after = match self.server.hint {
                Hint::None => None,
                Hint::Honest => Some(Duration::try_from_secs_f64(wait.ceil()).unwrap_or(Duration::MAX)),
                Hint::Always(seconds) => Some(Duration::from_secs(seconds)),
            };
            if self.server.unavailable { CallError::Failed } else { CallError::Throttled { retry_after } }
        })
    }

    fn service(&self) -> Duration {
        self.service.get()
    }
}
