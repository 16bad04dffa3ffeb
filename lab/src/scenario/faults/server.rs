//! A server that has a fault for some time.

use crate::call::{CallError, Outcome as Response};
use crate::scenario::seconds;
use crate::world::Random;
use retry_core::time::Timestamp;
use std::cell::{Cell, RefCell};

/// How long a server that sheds load lets a request wait, in seconds. It rejects requests that would wait longer.
const LONGEST_WAIT: f64 = 0.3;

/// What happens to a server.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

/// A server that serves one request after the other, first come, first served, and has a fault for some time.
#[derive(Debug)]
pub struct Server {
    fault: Fault,
    /// The time of a request, in seconds.
    service: f64,
    round_trip: f64,
    /// When the fault begins and ends, in seconds since the start.
    span: (f64, f64),
    free: Cell<f64>,
    random: RefCell<Random>,
}

impl Server {
    /// Creates a server that can serve this many requests in a second.
    pub fn new(fault: Fault, rate: f64, round_trip: f64, span: (f64, f64), seed: u64) -> Self {
        let random = RefCell::new(Random::new(seed, "faults"));
        Self { fault, service: 1.0 / rate, round_trip, span, free: Cell::new(0.0), random }
    }

    /// Returns the time and the content of the response to a request that arrives now.
    pub fn respond(&self, now: Timestamp) -> (Timestamp, Response) {
        let time = now.saturating_since(Timestamp::START).as_secs_f64();
        let (from, to) = self.span;
        let is_faulty = time >= from && time < to;
        let start = self.free.get().max(time);
        let serve = |end: f64| {
            self.free.set(end);
            end
        };
        let occurs = |part| is_faulty && self.random.borrow_mut().occurs(part);
        let failed_if = |is_failure| if is_failure { Err(CallError::Failed) } else { Ok(()) };
        let (at, response) = match self.fault {
            Fault::Stall => {
                let end = start + self.service;
                (serve(if end > from && start < to { to + self.service } else { end }), Ok(()))
            }
            Fault::Slow(factor) => {
                let is_slow = start >= from && start < to;
                (serve(start + if is_slow { self.service * factor } else { self.service }), Ok(()))
            }
            Fault::Down => (time, failed_if(is_faulty)),
            Fault::Shed { factor, cost } => {
                let service = if is_faulty { self.service * factor } else { self.service };
                if start - time > LONGEST_WAIT {
                    serve(start + cost * service);
                    (time, Err(CallError::Failed))
                } else {
                    (serve(start + service), Ok(()))
                }
            }
            Fault::Random { part, is_served } => {
                let response = failed_if(occurs(part));
                (if is_served { serve(start + self.service) } else { time }, response)
            }
            Fault::Lost(part) => (if occurs(part) { f64::INFINITY } else { time }, Ok(())),
        };
        let at = if at.is_finite() { Timestamp::START.saturating_add(seconds(at + self.round_trip)) } else { NEVER };
        (at, response)
    }
}

/// When an answer arrives that is lost.
const NEVER: Timestamp = Timestamp::from_origin(std::time::Duration::MAX);
