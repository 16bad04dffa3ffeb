//! backon: `ExponentialBuilder::default()` with its jitter.

use super::attempts;
use crate::call::{Call, Caller, Outcome};
use crate::strategies::Strategy;
use ::backon::{ExponentialBuilder, Retryable};
use retry_core::time::Timer;
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;

pub(super) fn strategy() -> Strategy {
    Strategy::new("backon", |seed| Rc::new(Backon { seed: Cell::new(seed) }))
}

struct Backon {
    /// The seed of the jitter of the next call.
    seed: Cell<u64>,
}

impl Caller for Backon {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        self.seed.set(self.seed.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let builder = ExponentialBuilder::default().with_jitter().with_jitter_seed(self.seed.get());
        let (world, attempts) = (call.world.clone(), attempts(call));
        let attempt = move || (attempts.borrow_mut())();
        Box::pin(async move { attempt.retry(builder).sleep(move |delay| world.sleep(delay)).await })
    }
}
