//! The steered delay of hedges.

use super::early_wake::{Endless, Failed, Gate};
use loom::thread;
use retry_core::{Hedge, retry};
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Makes calls that are answered before the delay.
fn answered(hedge: &Hedge, calls: u32) {
    for _ in 0..calls {
        let gate = Gate::new(1);
        let call = pin!(retry(&*gate, || ready(Ok::<_, Failed>(()))).timer(Endless).hedge(hedge).run());
        assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}

// Rule V1.
#[test]
fn threads_lose_no_step_of_the_delay() {
    loom::model(|| {
        let expected = {
            let hedge = Hedge::p95();
            answered(&hedge, 3);
            hedge.delay()
        };
        let hedge = Arc::new(Hedge::p95());
        let _ = format!("{hedge:?}");
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&hedge);
            thread::spawn(move || answered(&other, 1))
        });
        answered(&hedge, 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(hedge.delay(), expected);
    });
}
