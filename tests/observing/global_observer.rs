//! The observer of all operations of the process. It can be set once, so the tests run in their own process.

use crate::support::{Failed, Flaky, poll_once, run_in_a_process, secs};
use retry_core::observe::{GlobalObserverIsSet, set_global_observer};
use retry_core::time::ManualTimer;
use retry_core::{Event, Observer, StandardRetryStrategy, retry, retry_blocking, retryable};
use std::pin::pin;
use std::sync::{LazyLock, Mutex};

/// Collects the events of operations whose names do not begin with `ignored`.
struct Log(Mutex<Vec<String>>);

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Log {
    fn is_interested(&self, operation: &'static str) -> bool {
        !operation.starts_with("ignored")
    }

    fn observe(&self, event: &Event) {
        let line = format!("{} {} {}", event.operation, event.attempt, event.kind.as_str());
        self.0.lock().unwrap().push(line);
        if event.operation == "slow" {
            TIMER.advance(secs(2));
        }
    }
}

static TIMER: LazyLock<ManualTimer> = LazyLock::new(ManualTimer::new);
static GLOBAL: Log = Log(Mutex::new(Vec::new()));
static STORE: StandardRetryStrategy = StandardRetryStrategy::new().name("store");

#[retryable(strategy = STORE)]
async fn get(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

#[tokio::test(start_paused = true)]
#[ignore = "run in its own process by the test below"]
async fn child() {
    assert!(get(&Flaky::new(0, Failed::SAFE)).await.is_ok());
    assert!(GLOBAL.take().is_empty(), "it is not set yet");
    let mut early = Box::pin(retry(&STORE, std::future::pending::<Result<(), Failed>>).name("early").run());
    poll_once(early.as_mut());
    assert_eq!(set_global_observer(&GLOBAL), Ok(()));
    drop(early);

    assert!(get(&Flaky::new(1, Failed::SAFE)).await.is_ok());
    let name = "observing::global_observer::get";
    let events = ["1 attempt_started", "1 attempt_failed", "1 retry_scheduled", "2 attempt_started", "2 succeeded"];
    assert_eq!(GLOBAL.take(), events.map(|event| format!("{name} {event}")));

    let own = Log(Mutex::default());
    let call = retry(&STORE, async || Ok::<_, Failed>(())).observer(&own).name("both");
    assert!(call.run().await.is_ok());
    assert_eq!(own.take(), ["both 1 attempt_started", "both 1 succeeded"]);
    assert_eq!(GLOBAL.take(), ["both 1 attempt_started", "both 1 succeeded"]);

    assert!(retry_blocking(&STORE, || Ok::<_, Failed>(())).name("ignored").run().is_ok());
    assert!(GLOBAL.take().is_empty(), "it is not interested");

    // The time that it takes counts.
    let call = retry(&STORE, std::future::pending::<Result<(), Failed>>).name("slow").timer(&*TIMER);
    let mut slow = pin!(call.max_time(secs(3)).timed_out(|_| Failed::SAFE).run());
    poll_once(slow.as_mut());
    TIMER.advance(secs(1));
    assert_eq!(slow.await, Err(Failed::SAFE));
    assert_eq!(GLOBAL.take(), ["slow 1 attempt_started", "slow 1 stopped"]);

    let second: &'static Log = Box::leak(Box::new(Log(Mutex::default())));
    assert_eq!(set_global_observer(second), Err(GlobalObserverIsSet));
    assert_eq!(GlobalObserverIsSet.to_string(), "the global observer was set before");
    assert!(get(&Flaky::new(0, Failed::SAFE)).await.is_ok());
    assert_eq!((GLOBAL.take().len(), second.take().len()), (2, 0), "the first one stays");
}

// Rule O11.
#[test]
fn one_observer_gets_the_events_of_the_whole_process() {
    run_in_a_process("global_observer::child", |_| ());
}
