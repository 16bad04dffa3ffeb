//! Messages that take time.

use super::{Random, Sleep, World};
use retry_core::time::Timer;
use std::cell::RefCell;
use std::time::Duration;

/// A network, on which each message takes a normally distributed time.
#[derive(Debug)]
pub struct Network {
    world: World,
    random: RefCell<Random>,
    mean: Duration,
    deviation: Duration,
}

impl Network {
    /// Creates a network on which a message takes |Normal(`mean`, `deviation`)|.
    pub fn new(world: &World, mean: Duration, deviation: Duration, seed: u64) -> Self {
        let random = RefCell::new(Random::new(seed, "network"));
        Self { world: world.clone(), random, mean, deviation }
    }

    /// Sends a message: returns a future that is ready when the message arrives.
    pub fn message(&self) -> Sleep {
        let time = self.random.borrow_mut().normal(self.mean, self.deviation);
        self.world.sleep(time)
    }
}
