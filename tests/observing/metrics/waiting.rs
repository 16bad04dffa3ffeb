//! The metrics of operations that wait for the service.

use super::{Recorded, run, standard};
use crate::support::{Failed, poll_once};
use retry_core::observe::metrics::MetricsObserver;
use retry_core::{ExponentialBackoff, PatientRetryStrategy, TokenBucket, retry};
use std::future::ready;

/// Returns a strategy whose quota pays for nothing, so that each retry waits. It probes a second after a failure.
fn patient(max_attempts: u32) -> PatientRetryStrategy<ExponentialBackoff, TokenBucket> {
    PatientRetryStrategy::over(standard().max_attempts(max_attempts).quota_capacity(0))
}

// Rules O13, U19.
#[test]
fn operations_that_wait_are_a_gauge_and_how_long_they_wait_is_a_histogram() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let waiting = || recorder.values(r#"retry_waiting_operations{strategy="store"}"#);
    assert_eq!(run(&recorder, &observer, &patient(3), &[Err(Failed::SAFE), Ok(1)]), Ok(1));
    assert_eq!(waiting(), [1.0, 0.0, 0.0], "it waits, is sent, and succeeds");
    assert_eq!(recorder.values(r#"retry_service_wait_seconds{operation="get",strategy="store"}"#), [1.0]);
    assert_eq!(recorder.values(r#"retry_quota_mode{strategy="store"}"#), [4.0], "waiting");
    assert_eq!(recorder.count(r#"retry_retries_total{operation="get",strategy="store",error_type="other"}"#), 0);

    run(&recorder, &observer, &patient(2), &[Err(Failed::SAFE)]).unwrap_err();
    assert_eq!(waiting()[3..], [1.0, 0.0], "it waits in vain");
    assert_eq!(recorder.count(r#"retry_operations_total{operation="get",strategy="store",outcome="no_recovery"}"#), 1);
}

// Rules O13, U17, U19.
#[test]
fn the_gauge_forgets_a_dropped_operation_at_the_end_of_any_other() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), patient(2));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let fails = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE))).observer(&observer).name("get");
            let mut dropped = Box::pin(fails.run());
            poll_once(dropped.as_mut());
            drop(dropped);
            retry(&strategy, || ready(Ok::<u32, Failed>(1))).observer(&observer).name("put").run().await.unwrap();
        });
    });
    assert_eq!(recorder.values(r#"retry_waiting_operations{strategy="store"}"#), [1.0, 0.0]);
}
