//! A fleet in virtual time: its store behind a network.

use crate::World;
use crate::world::Random;
use retry_core::time::{Clock, Timer, Timestamp};
use retry_fleet::Member;
use retry_fleet::protocol::{Call, Reply};
use retry_fleet::store::MemoryStore;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// The time within which the store has to answer a call, as in the task of the fleet.
const DEADLINE: Duration = Duration::from_secs(1);

/// The store of a fleet, behind a network. It can be away once.
#[derive(Debug)]
pub struct FleetStore {
    world: World,
    memory: RefCell<MemoryStore>,
    random: RefCell<Random>,
    /// The shortest and the longest time of a message.
    message: (Duration, Duration),
    away: Option<(Timestamp, Timestamp)>,
    /// The part of the messages that are lost.
    lost: f64,
    calls: Cell<u64>,
}

impl FleetStore {
    /// Creates an empty store. A message to it or from it takes a time between the shortest and the longest one.
    pub fn new(world: &World, message: (Duration, Duration), seed: u64) -> Self {
        Self {
            world: world.clone(),
            memory: RefCell::default(),
            random: RefCell::new(Random::new(seed, "store")),
            message,
            away: None,
            lost: 0.0,
            calls: Cell::new(0),
        }
    }

    /// Sets the times between which the store answers nothing. Messages are lost then.
    #[must_use]
    pub fn away(mut self, from: Timestamp, to: Timestamp) -> Self {
        self.away = Some((from, to));
        self
    }

    /// Sets the part of the messages, of both directions, that are lost, independently of each other.
    #[must_use]
    pub fn losing(mut self, part: f64) -> Self {
        self.lost = part;
        self
    }

    /// Forgets everything.
    pub fn forget(&self) {
        self.memory.borrow_mut().forget();
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Runs a process of the fleet, until it leaves at this time, or for ever.
    pub async fn run(self: Rc<Self>, mut member: Member, leaves: Option<Timestamp>) {
        loop {
            let next = member.next_call_at();
            self.world.sleep_until(leaves.map_or(next, |leaves| leaves.min(next))).await;
            let is_leaving = leaves.is_some_and(|leaves| leaves <= self.world.now());
            let call = member.call(self.world.now(), is_leaving);
            let reply = self.call(&call).await;
            if is_leaving {
                return;
            }
            match reply {
                Some(reply) => member.answered(self.world.now(), &reply),
                None => member.unanswered(self.world.now(), &"no answer within a second"),
            }
        }
    }

    /// Makes a call.
    async fn call(&self, call: &Call) -> Option<Reply> {
        let sent = self.world.now();
        self.calls.set(self.calls.get() + 1);
        if self.message().await {
            let millis = self.world.now().since_origin().as_millis().try_into().unwrap_or(u64::MAX);
            let reply = self.memory.borrow_mut().call(millis, call);
            let is_in_time = self.message().await && self.world.now() < sent.saturating_add(DEADLINE);
            if is_in_time {
                return Some(reply);
            }
        }
        self.world.sleep_until(sent.saturating_add(DEADLINE)).await;
        None
    }

    /// Waits until a message arrives. Returns whether it does.
    async fn message(&self) -> bool {
        let (shortest, longest) = self.message;
        let (part, is_lost) = {
            let mut random = self.random.borrow_mut();
            (random.uniform(), self.lost > 0.0 && random.occurs(self.lost))
        };
        self.world.sleep(shortest + longest.saturating_sub(shortest).mul_f64(part)).await;
        let now = self.world.now();
        !is_lost && self.away.is_none_or(|(from, to)| now < from || now >= to)
    }
}
