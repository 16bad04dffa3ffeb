//! The steered delay of hedges.

use super::early_wake::{Endless, Failed, Gate};
use loom::thread;
use retry_core::{Hedge, retry};
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Waker};

/// Keeps a hedge until the process ends, as a static does.
fn kept(hedge: Hedge) -> &'static Hedge {
    Box::leak(Box::new(hedge))
}

/// Makes calls that are answered before the delay.
fn answered(hedge: &'static Hedge, calls: u32) {
    for _ in 0..calls {
        let gate = Gate::new(1);
        let call =
            pin!(retry(&*gate, || ready(Ok::<_, Failed>(()))).timer(Endless).idempotent(true).hedge(hedge).run());
        assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}

// Rule V1.
#[test]
fn threads_lose_no_step_of_the_delay() {
    loom::model(|| {
        let expected = {
            let hedge = kept(Hedge::p95());
            answered(hedge, 3);
            hedge.delay()
        };
        let hedge = kept(Hedge::p95());
        let _ = format!("{hedge:?}");
        let threads = [(); 2].map(|()| thread::spawn(|| answered(hedge, 1)));
        answered(hedge, 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(hedge.delay(), expected);
    });
}
