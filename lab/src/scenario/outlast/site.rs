//! What a client calls: the replicas of a server.

use super::super::faults::Server;
use super::super::outage::index_of;
use super::super::seconds;
use super::world::{Answer, World};
use crate::World as Time;
use crate::call::{Call, CallError, Outcome};
use crate::world::Random;
use retry_core::time::{Clock, Timestamp};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// The replicas of a server, and the limits of those who call it.
pub(super) struct Site {
    time: Time,
    replicas: Vec<Server>,
    choices: RefCell<Random>,
    first_attempts: Vec<Answer>,
    attempt_timeout: Option<Duration>,
    max_time: Option<Duration>,
}

impl Site {
    pub(super) fn new(time: &Time, world: &World, live_s: Option<f64>, seed: u64) -> Rc<Self> {
        Rc::new(Self {
            time: time.clone(),
            replicas: world.servers(seed),
            choices: RefCell::new(Random::new(seed, "replicas")),
            first_attempts: world.first_attempts.clone(),
            attempt_timeout: world.timeout_s.map(seconds),
            max_time: live_s.map(seconds),
        })
    }

    /// Returns a call whose attempts all reach the server. `sent` is called with each of them.
    pub(super) fn plain_call(self: &Rc<Self>, sent: impl Fn() + 'static) -> Call {
        self.call_after(usize::MAX, sent)
    }

    /// Returns a call, whose first attempts may be lost. `sent` is called with each attempt.
    pub(super) fn call(self: &Rc<Self>, sent: impl Fn() + 'static) -> Call {
        self.call_after(0, sent)
    }

    fn call_after(self: &Rc<Self>, made: usize, sent: impl Fn() + 'static) -> Call {
        let (site, made) = (Rc::clone(self), Cell::new(made));
        let attempt = move || {
            sent();
            let (at, response) = site.respond(made.get());
            made.set(made.get().saturating_add(1));
            let arrives = site.time.sleep_until(at);
            async move {
                arrives.await;
                response
            }
        };
        let call = Call::new(&self.time, attempt);
        Call { attempt_timeout: self.attempt_timeout, max_time: self.max_time, ..call }
    }

    /// Returns the time and the content of the response to an attempt, by the number of those before it.
    fn respond(&self, made: usize) -> (Timestamp, Outcome) {
        let now = self.time.now();
        match self.first_attempts.get(made) {
            Some(Answer::Failed) => (now, Err(CallError::Failed)),
            Some(Answer::None) => (Timestamp::from_origin(Duration::MAX), Ok(())),
            None if self.replicas.len() == 1 => self.replicas[0].respond(now),
            None => {
                let choice = index_of(self.choices.borrow_mut().uniform(), self.replicas.len());
                self.replicas[choice].respond(now)
            }
        }
    }
}
