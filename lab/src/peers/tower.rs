//! tower: its `Retry` service with the default numbers of its `TpsBudget` and of its exponential backoff.
//!
//! The delays are those of the sleeps that tower's backoff makes. The world sleeps them.

use super::clock::TokioClock;
use super::{RETRIES, attempts};
use crate::World;
use crate::call::{Attempt, Call, CallError, Caller, Outcome};
use crate::strategies::Strategy;
use crate::world::{Random, Sleep};
use ::tower::ServiceExt;
use ::tower::retry::backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff};
use ::tower::retry::budget::{Budget, TpsBudget};
use ::tower::retry::{self, Retry};
use ::tower::service_fn;
use ::tower::util::rng::Rng;
use retry_core::time::Timer;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

pub(super) fn strategy() -> Strategy {
    Strategy::new("tower", |seed| {
        let clock = TokioClock::new();
        let budget = {
            let _clock = clock.follow(&World::new());
            TpsBudget::default()
        };
        let random = Numbers(Rc::new(RefCell::new(Random::new(seed, "tower"))));
        // The numbers of `ExponentialBackoffMaker::default()`, with random numbers that have a seed.
        let backoff =
            ExponentialBackoffMaker::new(Duration::from_millis(50), Duration::from_millis(u64::MAX), 0.99, random);
        Rc::new(Tower { shared: Rc::new((clock, budget)), backoff: backoff.expect("the numbers of the default") })
    })
}

struct Tower {
    shared: Rc<(TokioClock, TpsBudget)>,
    backoff: ExponentialBackoffMaker<Numbers>,
}

/// Random numbers with a seed.
#[derive(Clone, Debug)]
struct Numbers(Rc<RefCell<Random>>);

impl Rng for Numbers {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a random number"
    )]
    fn next_u64(&mut self) -> u64 {
        // Half a step above, because tower's backoff wants no zero.
        ((self.0.borrow_mut().uniform() + f64::EPSILON / 2.0) * u64::MAX as f64) as u64
    }
}

/// The policy of an operation, as the documentation of tower's budgets has it, with a delay.
#[derive(Clone)]
struct Within {
    world: World,
    shared: Rc<(TokioClock, TpsBudget)>,
    backoff: ExponentialBackoff<Numbers>,
    left: u8,
}

impl retry::Policy<(), (), CallError> for Within {
    type Future = Sleep;

    fn retry(&mut self, (): &mut (), result: &mut Outcome) -> Option<Sleep> {
        let (clock, budget) = &*self.shared;
        let _clock = clock.follow(&self.world);
        if result.is_ok() {
            budget.deposit();
            return None;
        }
        if self.left == 0 || !budget.withdraw() {
            return None;
        }
        self.left -= 1;
        let delay = self.backoff.next_backoff().deadline().saturating_duration_since(Instant::now());
        Some(self.world.sleep(delay))
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

impl Caller for Tower {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        let (world, shared, backoff) =
            (call.world.clone(), Rc::clone(&self.shared), self.backoff.clone().make_backoff());
        let policy = Within { world, shared, backoff, left: RETRIES };
        let attempts = attempts(call);
        let service = service_fn(move |()| -> Attempt { (attempts.borrow_mut())() });
        Box::pin(Retry::new(policy, service).oneshot(()))
    }
}
