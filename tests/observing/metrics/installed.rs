//! The metrics of the process, which count the operations of every call.

use super::{Recorded, adaptive, standard};
use crate::script::{Script, judge};
use crate::support::{Failed, by_evidence, run_in_a_process, secs};
use retry_core::observe::GlobalObserverIsSet;
use retry_core::observe::metrics::{MetricsObserver, install};
use retry_core::{
    Event, Jitter, Observer, PatientRetryStrategy, StandardRetryStrategy, policy_fn, retry, retry_blocking,
};
use std::cell::Cell;

/// Makes the same calls with each strategy, with this observer or with none.
macro_rules! make_calls {
    ($($observer:expr)?) => {
        make_calls!(standard(); $($observer)?);
        make_calls!(StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)); $($observer)?);
        make_calls!(adaptive(); $($observer)?);
        make_calls!(by_evidence().jitter(Jitter::Fixed(1.0)).name("evidence"); $($observer)?);
        make_calls!(PatientRetryStrategy::new().seed(1).name("patient"); $($observer)?);
    };
    ($strategy:expr; $($observer:expr)?) => {
        let strategy = $strategy;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        for outcomes in [
            &[Ok(1)][..],
            &[Err(Failed::THROTTLED.after(secs(3))), Err(Failed::TIMEOUT), Ok(1)],
            &[Err(Failed::FATAL)],
            &[Err(Failed::SAFE)],
            &[Ok(1)],
        ] {
            runtime.block_on(async {
                let script = Script::new(outcomes.iter().map(|it| (secs(1), it.map_err(crate::script::Error::Failed))));
                // A clock of its own, and tokio's.
                let call = retry(&strategy, || script.attempt()).policy(policy_fn(judge)).timer(&script.timer);
                _ = call$(.observer($observer))?.name("get").max_time(secs(60)).run().await;
                _ = retry(&strategy, || script.attempt())$(.observer($observer))?.name("again").run().await;
                // It is dropped in its first attempt.
                let cut = retry(&strategy, std::future::pending::<Result<(), Failed>>)$(.observer($observer))?.name("cut");
                _ = tokio::time::timeout(secs(1), cut.run()).await;
            });
        }
    };
}

/// An observer that ignores all events.
struct Nothing;

impl Observer for Nothing {
    fn observe(&self, _: &Event) {}
}

#[test]
#[ignore = "run in its own process by the test below"]
fn child() {
    let (by_event, recorder, observer) = (Recorded::default(), Recorded::default(), MetricsObserver::new());
    metrics::with_local_recorder(&by_event, || {
        make_calls!(&observer);
    });
    metrics::set_global_recorder(recorder.clone()).map_err(|_| "a recorder was set").unwrap();
    assert_eq!(install(), Ok(()));
    assert_eq!(install(), Err(GlobalObserverIsSet));
    make_calls!();
    let values = || std::mem::take(&mut recorder.0.lock().unwrap().values);
    let expected = std::mem::take(&mut by_event.0.lock().unwrap().values);
    let operations = expected.iter().filter(|(name, _)| name.starts_with("retry_operations_total"));
    assert_eq!(operations.map(|(_, values)| values.len()).sum::<usize>(), 5 * 5 * 2, "all but those that were dropped");
    assert_eq!(values(), expected, "without an observer of the call");
    make_calls!(&Nothing);
    assert_eq!(values(), expected, "with one");
    let described = |recorder: &Recorded| recorder.0.lock().unwrap().described.clone();
    assert_eq!(described(&recorder), described(&by_event));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (strategy, outcomes) = (standard(), Cell::new(0));
        let attempt = async || if outcomes.replace(outcomes.get() + 1) % 2 == 0 { Err(Failed::SAFE) } else { Ok(1) };
        let counts = async || {
            _ = retry(&strategy, attempt).name("idle").run().await;
            [
                r#"retry_operations_total{operation="idle",strategy="store",outcome="ok"}"#,
                r#"retry_failed_attempts_total{operation="idle",strategy="store",error_type="other"}"#,
            ]
            .map(|name| recorder.count(name))
        };
        assert_eq!(counts().await, [1, 1]);
        recorder.remove_metrics();
        tokio::time::advance(secs(2)).await;
        assert_eq!(counts().await, [2, 2], "metrics that were removed are registered again");
    });

    let call = retry_blocking(&StandardRetryStrategy::new(), || Ok::<_, Failed>(())).name("blocking").run();
    assert_eq!(call, Ok(()));
    assert_eq!(recorder.count(r#"retry_operations_total{operation="blocking",outcome="ok"}"#), 1);
}

// Rules O11, O13.
#[test]
fn metrics_are_installed_once_for_the_whole_process_and_count_what_an_observer_counts() {
    run_in_a_process("metrics::installed::child", |_| ());
}
