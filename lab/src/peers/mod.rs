//! Other retry crates, for comparison. Behind the feature `peers`.
//!
//! Each runs its own code. What a crate leaves to its user (which failures are retried, how often, with which jitter) is
//! chosen as its documentation shows. All of them make at most three retries, which is the default of backon.
//!
//! The budget of reqwest is tower's [`TpsBudget`](::tower::retry::budget::TpsBudget) with the same numbers as its default.
//! reqwest's policy around it is private and runs only inside its HTTP client, over sockets, so it has no row of its own.

mod aws_smithy;
mod backon;
mod clock;
mod tokio_retry2;
mod tower;

use crate::call::{Attempt, Call, CallError};
use crate::strategies::Strategy;
use retry_core::time::Timer;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

/// The most retries of an operation.
const RETRIES: u8 = 3;

/// Returns the strategies of all peers.
pub fn strategies() -> Vec<Strategy> {
    let [standard, adaptive] = aws_smithy::strategies();
    vec![backon::strategy(), tokio_retry2::strategy(), tower::strategy(), standard, adaptive]
}

/// A function that makes attempts, each with the time limit of its call.
fn attempts(call: Call) -> Rc<RefCell<dyn FnMut() -> Attempt>> {
    let Call { world, attempt_timeout, mut attempt, .. } = call;
    Rc::new(RefCell::new(move || -> Attempt {
        let running = attempt();
        let Some(limit) = attempt_timeout else { return running };
        let end = world.sleep(limit);
        Box::pin(async move {
            let (mut running, mut end) = (running, pin!(end));
            std::future::poll_fn(|context| match running.as_mut().poll(context) {
                Poll::Pending => end.as_mut().poll(context).map(|()| Err(CallError::TimedOut)),
                ready @ Poll::Ready(_) => ready,
            })
            .await
        })
    }))
}
