//! Calls that wait are woken by evidence, also if they block their thread.

use super::{Waits, waits_with};
use crate::support::{ByHand, Failed, Flaky, secs};
use retry_core::time::StdTimer;
use retry_core::{RetryStrategy, Success, retry_blocking, retryable};
use std::thread;

#[retryable(strategy = strategy, blocking)]
fn fetch(strategy: &Waits, service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

/// Reports a success that took no time.
fn succeed(strategy: &Waits) {
    let clock = ByHand::at(secs(0));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.record_success(token, &Success::default(), &clock).unwrap();
}

// Rule U18.
#[test]
fn a_thread_that_blocks_is_woken_when_there_is_evidence() {
    let call = |form: usize, strategy: &Waits| {
        let service = Flaky::new(1, Failed::SAFE);
        if form == 0 {
            retry_blocking(strategy, || service.call()).timer(StdTimer).run()
        } else {
            fetch(strategy, &service)
        }
    };
    for form in 0..2 {
        // Its second attempt is the last one, so it is sent for evidence only.
        let strategy = waits_with(2).max_wait_for_service(secs(600));
        succeed(&strategy);
        let outcomes = thread::scope(|scope| {
            let calls = [(); 2].map(|()| scope.spawn(|| call(form, &strategy)));
            while strategy.waiting_operations() < Some(2) {
                thread::yield_now();
            }
            // They are counted before they are in the line, so more than three can be needed.
            while calls.iter().any(|call| !call.is_finished()) {
                succeed(&strategy);
                thread::yield_now();
            }
            calls.map(|call| call.join().unwrap())
        });
        assert_eq!(outcomes, [Ok(2), Ok(2)]);
        assert_eq!(strategy.waiting_operations(), Some(0));
    }
}
