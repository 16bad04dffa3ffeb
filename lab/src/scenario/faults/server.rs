//! A server that has faults at times.

use crate::call::{CallError, Outcome as Response};
use crate::scenario::seconds;
use crate::world::Random;
use retry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};

/// How long a server that sheds load lets a request wait, in seconds. It rejects requests that would wait longer.
const LONGEST_WAIT: f64 = 0.3;

/// What happens to a server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It does not work, and then works off its queue.
    Stall,
    /// It needs this many times as long for a request.
    Slow(f64),
    /// It fails each request immediately.
    Down,
    /// It needs this many times as long for a request, and rejects requests that would wait for more than 0.3 s.
    Shed {
        /// How many times as long.
        factor: f64,
        /// The cost of a rejection, as a part of that of a request.
        cost: f64,
    },
    /// It fails this part of the requests, independently of each other.
    Random {
        /// The part.
        part: f64,
        /// Whether a request waits in the server's queue and takes its time. Otherwise the server has any capacity.
        is_served: bool,
    },
    /// It never answers this part of the requests, independently of each other, and the others immediately.
    Lost(f64),
    /// It never answers this part of the requests, independently of each other, and serves the others. What hangs takes no time of
    /// the server.
    Hang(f64),
}

/// A fault, and when it begins and ends, in seconds since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spell {
    /// The fault.
    pub fault: Fault,
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub to: f64,
}

impl Spell {
    fn contains(&self, time: f64) -> bool {
        time >= self.from && time < self.to
    }
}

/// A server that serves one request after the other, first come, first served, and has faults at times.
#[derive(Debug)]
pub struct Server {
    /// The faults. Of two at the same time, the first one is there.
    spells: Vec<Spell>,
    /// The time of a request, in seconds.
    service: f64,
    round_trip: f64,
    free: Cell<f64>,
    random: RefCell<Random>,
}

impl Server {
    /// Creates a server that can serve this many requests in a second.
    pub fn new(spells: Vec<Spell>, rate: f64, round_trip: f64, seed: u64) -> Self {
        let random = RefCell::new(Random::new(seed, "faults"));
        Self { spells, service: 1.0 / rate, round_trip, free: Cell::new(0.0), random }
    }

    /// Returns the time and the content of the response to a request that arrives now.
    pub fn respond(&self, now: Timestamp) -> (Timestamp, Response) {
        let time = now.saturating_since(Timestamp::START).as_secs_f64();
        let start = self.free.get().max(time);
        let serve = |end: f64| {
            self.free.set(end);
            end
        };
        let occurs = |part| self.random.borrow_mut().occurs(part);
        let (at, response) = match self.fault_at(time) {
            Some(Fault::Down) => (time, Err(CallError::Failed)),
            Some(Fault::Shed { factor, cost }) => {
                let service = self.service * factor;
                if start - time > LONGEST_WAIT {
                    serve(start + cost * service);
                    (time, Err(CallError::Failed))
                } else {
                    (serve(start + service), Ok(()))
                }
            }
            Some(Fault::Random { part, is_served }) => {
                let response = if occurs(part) { Err(CallError::Failed) } else { Ok(()) };
                (if is_served { serve(start + self.service) } else { time }, response)
            }
            Some(Fault::Lost(part)) => (if occurs(part) { f64::INFINITY } else { time }, Ok(())),
            Some(Fault::Hang(part)) if occurs(part) => (f64::INFINITY, Ok(())),
            _ => (serve(self.served(start)), Ok(())),
        };
        let at = if at.is_finite() { Timestamp::START.saturating_add(seconds(at + self.round_trip)) } else { NEVER };
        (at, response)
    }

    fn fault_at(&self, time: f64) -> Option<Fault> {
        self.spells.iter().find(|spell| spell.contains(time)).map(|spell| spell.fault)
    }

    /// Returns when a request is served whose turn comes at this time.
    fn served(&self, start: f64) -> f64 {
        let factor = if let Some(Fault::Slow(factor)) = self.fault_at(start) { factor } else { 1.0 };
        let end = start + self.service * factor;
        let stalls = |spell: &&Spell| spell.fault == Fault::Stall && end > spell.from && start < spell.to;
        self.spells.iter().find(stalls).map_or(end, |spell| spell.to + self.service)
    }
}

/// When an answer arrives that is lost.
const NEVER: Timestamp = Timestamp::from_origin(std::time::Duration::MAX);
