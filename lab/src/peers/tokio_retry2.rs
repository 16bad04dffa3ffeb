//! tokio-retry2: an exponential backoff of 1, 2 and 4 s, each times 0.5 to 1.5 as its `jitter` does, which takes no seed.
//!
//! It sleeps on tokio's clock. The clock moves with the world, so a call is polled again when its delay is over.

use super::clock::TokioClock;
use super::{RETRIES, attempts};
use crate::call::{Call, Caller, Outcome};
use crate::strategies::Strategy;
use crate::world::Random;
use ::tokio_retry2::strategy::ExponentialBackoff;
use ::tokio_retry2::{Retry, RetryError};
use retry_core::time::Timer;
use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

pub(super) fn strategy() -> Strategy {
    Strategy::new("tokio-retry2", |seed| {
        Rc::new(TokioRetry { clock: TokioClock::new(), random: RefCell::new(Random::new(seed, "tokio-retry2")) })
    })
}

struct TokioRetry {
    clock: TokioClock,
    random: RefCell<Random>,
}

/// tokio's timers have this resolution.
const TICK: Duration = Duration::from_millis(1);

impl Caller for TokioRetry {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        Box::pin(async move {
            let (world, attempts) = (call.world.clone(), attempts(call));
            // The delay that the strategy has drawn and that was not slept yet.
            let drawn = Rc::new(Cell::new(None));
            let (next, random) = (Rc::clone(&drawn), &self.random);
            let delays = ExponentialBackoff::from_millis(2)
                .factor(500)
                .take(RETRIES.into())
                .map(|delay| delay.mul_f64(random.borrow_mut().uniform() + 0.5))
                .inspect(move |delay| next.set(Some(*delay)));
            let action = move || {
                let attempt = (attempts.borrow_mut())();
                async move { attempt.await.map_err(RetryError::transient) }
            };
            let mut retry = pin!(Retry::spawn(delays, action));
            let mut sleep = None;
            std::future::poll_fn(|context| {
                loop {
                    let polled = {
                        let _clock = self.clock.follow(&world);
                        retry.as_mut().poll(context)
                    };
                    if polled.is_ready() {
                        return polled;
                    }
                    if let Some(delay) = drawn.take() {
                        sleep = Some(Box::pin(world.sleep(delay + TICK)));
                    }
                    match sleep.as_mut().map(|sleep| sleep.as_mut().poll(context)) {
                        Some(Poll::Ready(())) => sleep = None,
                        _ => return Poll::Pending,
                    }
                }
            })
            .await
        })
    }
}
