//! Errors that nothing classifies: their class, and the warning about them.

use crate::support::subscribers::subscribe;
use crate::support::{Recorder, kept, run_in_a_process};
use retry_core::classify::{Classification, chain};
use retry_core::test::begin;
use retry_core::{
    ChainPolicy, Event, Failure, Observer, RetryDirective, RetryError, RetryErrorType, RetryInfo, RetryQuota,
    RetrySafety, StandardRetryStrategy, policy_fn, retry, retry_blocking, retryable,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt::{self, Debug, Display, Write};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::{Layer, ServiceExt, service_fn};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, SubscriberExt};

type AnyError = Box<dyn Error + Send + Sync>;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy = ChainPolicy::new())]
async fn read(text: &'static str) -> Result<(), AnyError> {
    Err(text.into())
}

#[retryable(strategy = STORE, policy = |outcome| ChainPolicy::<chain::Owner>::new().evaluate_by_hand(outcome))]
async fn read_with_a_closure() -> Result<(), AnyError> {
    Err("no such table".into())
}

#[retryable(strategy = STORE, policy = ChainPolicy::new(), blocking, on_retry = |error, _| calls.set(calls.get() + u32::from(error.source().is_none())))]
fn read_blocking(calls: &Cell<u32>) -> Result<(), AnyError> {
    Err("no such table".into())
}

trait ByHand {
    fn evaluate_by_hand(&self, outcome: &Result<(), AnyError>) -> RetryDirective;
}

impl ByHand for ChainPolicy {
    fn evaluate_by_hand(&self, outcome: &Result<(), AnyError>) -> RetryDirective {
        match outcome {
            Ok(()) => RetryDirective::succeed(),
            Err(error) => self.evaluate_error(error),
        }
    }
}

/// Collects the warnings as lines, with all fields but the id.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> tracing_subscriber::Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if field.name() != "operation_id" {
                    write!(self.0, " {}={value:?}", field.name()).unwrap();
                }
            }
        }

        if *event.metadata().level() == tracing::Level::WARN {
            let mut line = Line(event.metadata().name().to_owned());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
    }
}

impl Warnings {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn subscribe(&self) -> tracing::subscriber::DefaultGuard {
        subscribe(tracing_subscriber::registry().with(self.clone()))
    }
}

/// The directive of a policy that knows nothing.
const UNKNOWN: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Unknown));

/// Collects the events.
#[derive(Default)]
struct Log(RefCell<Vec<Event>>);

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.borrow_mut().push(event.clone());
    }
}

impl Log {
    fn kinds(&self) -> Vec<&'static str> {
        self.0.borrow().iter().map(|event| event.kind.as_str()).collect()
    }

    /// Returns the debug text of the event about an unknown error, if there is one.
    fn warning(&self) -> Option<String> {
        let events = self.0.take();
        let found = events.iter().find(|event| event.kind.as_str() == "unknown_error");
        found.map(|event| format!("{:?}", event.kind))
    }
}

/// Runs one operation that fails with this error, and returns the text in its warning.
async fn text_of(error: impl Into<AnyError>) -> String {
    let (_test, log, error) = (begin(), Log::default(), RefCell::new(Some(error.into())));
    let fail = || async { Err::<(), AnyError>(error.take().unwrap()) };
    retry(&STORE, fail).policy(ChainPolicy::new()).observer(&log).run().await.unwrap_err();
    let warning = log.warning().expect("a warning");
    warning.strip_prefix("UnknownError { chain: Some(\"").unwrap().strip_suffix("\") }").unwrap().to_owned()
}

/// An error that knows how to do one thing badly.
enum Bad {
    Endless,
    Panics,
    Fails,
    Nested(u32, Option<Box<Bad>>),
}

impl Debug for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bad")
    }
}

impl Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endless => loop {
                f.write_str("é, ")?;
            },
            Self::Panics => panic!("in the text of an error"),
            Self::Fails => {
                f.write_str("half")?;
                Err(fmt::Error)
            }
            Self::Nested(depth, _) => write!(f, "level {depth}"),
        }
    }
}

impl Error for Bad {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Nested(_, source) => source.as_ref().map(|source| &**source as _),
            _ => None,
        }
    }
}

fn nested(depth: u32, innermost: Bad) -> Bad {
    (0..depth).rev().fold(innermost, |source, depth| Bad::Nested(depth, Some(Box::new(source))))
}

// Rules P8, G3.
#[tokio::test]
async fn an_error_that_no_link_knows_is_of_the_class_unknown_in_each_form() {
    let unknown = "attempt 1 failed (unknown)";
    let record = |test: retry_core::test::TestGuard| {
        test.only().assert_ended(1, Some(RetryError::NotRetryable));
        test.only().to_string()
    };

    let test = begin();
    read("no such table").await.unwrap_err();
    assert!(record(test).contains(unknown));

    let test = begin();
    read_with_a_closure().await.unwrap_err();
    assert!(record(test).contains(unknown));

    let (test, calls) = (begin(), Cell::new(0));
    read_blocking(&calls).unwrap_err();
    assert!(record(test).contains(unknown));
    assert_eq!(calls.get(), 1);

    let test = begin();
    let call = retry(&STORE, || async { Err::<(), _>(eyre::eyre!("no")) }).policy(ChainPolicy::new());
    assert!(call.run().await.is_err());
    assert!(record(test).contains(unknown));

    let test = begin();
    retry_blocking(&STORE, || Err::<(), _>(anyhow::anyhow!("no"))).policy(ChainPolicy::new()).run().unwrap_err();
    assert!(record(test).contains(unknown));

    let test = begin();
    let service = service_fn(|()| async { Err::<(), AnyError>("no".into()) });
    RetryLayer::new(&STORE).policy(ChainPolicy::new()).layer(service).oneshot(()).await.unwrap_err();
    assert!(record(test).contains(unknown));
}

// Rule P8.
#[tokio::test]
async fn an_error_with_retry_info_is_known_and_silent() {
    /// An enum without a label.
    #[allow(deprecated, reason = "the labels are left out on purpose")]
    #[derive(Debug, RetryInfo)]
    enum StoreError {
        NoSuchKey,
    }
    #[derive(Debug, RetryInfo)]
    struct ByChain(#[retry(with = chain::known)] AnyError);

    let warnings = Warnings::default();
    let _subscribed = warnings.subscribe();
    let test = begin();
    retry(&STORE, || async { Err::<(), _>(StoreError::NoSuchKey) }).run().await.unwrap_err();
    retry(&STORE, || async { Err::<(), _>(ByChain("no such table".into())) }).run().await.unwrap_err();
    retry(&STORE, || async { Err::<(), _>(fmt::Error) }).when(|_| false).run().await.unwrap_err();
    let known_no = |_: &(dyn Error + 'static)| Some(Classification::new(RetrySafety::No));
    let policy = ChainPolicy::new().also(known_no);
    retry(&STORE, || async { Err::<(), _>(fmt::Error) }).policy(policy).run().await.unwrap_err();
    for operation in test.operations() {
        assert!(operation.to_string().contains("attempt 1 failed (other)"), "{operation}");
    }
    assert!(warnings.take().is_empty());
}

// Rule O16.
#[tokio::test]
async fn the_first_unknown_error_of_a_function_is_a_warning_with_its_text_and_the_line_to_write() {
    let warnings = Warnings::default();
    let _subscribed = warnings.subscribe();
    let _test = begin();
    for text in ["no such table", "no such row"] {
        read(text).await.unwrap_err();
    }
    let all = warnings.take();
    let [warning] = &all[..] else { panic!("{all:?}") };
    assert!(warning.starts_with("unknown_error message="), "{warning}");
    assert!(warning.contains("ChainPolicy::new().also(chain::typed::<MyError>)"), "{warning}");
    assert!(warning.ends_with(r#" operation="observing::unknown::read" attempt=1 chain="no such table""#), "{warning}");

    // Other functions and forms have warnings of their own.
    read_with_a_closure().await.unwrap_err();
    read_blocking(&Cell::new(0)).unwrap_err();
    let named = |name| retry(&STORE, || async { Err::<(), _>(anyhow::anyhow!("no")) }).name(name);
    for name in ["one", "two", "one"] {
        named(name).policy(ChainPolicy::new()).run().await.unwrap_err();
    }
    for _ in 0..2 {
        let blocking = retry_blocking(&STORE, || Err::<(), _>(anyhow::anyhow!("no"))).name("three");
        blocking.policy(ChainPolicy::new()).run().unwrap_err();
        let service = service_fn(|()| async { Err::<(), AnyError>("no".into()) });
        let layer = RetryLayer::new(&STORE).policy(ChainPolicy::new()).name("four");
        layer.layer(service).oneshot(()).await.unwrap_err();
    }
    let operations: Vec<_> = warnings
        .take()
        .iter()
        .map(|line| line.split(" operation=").nth(1).unwrap().split(' ').next().unwrap().to_owned())
        .collect();
    let expected = [
        r#""observing::unknown::read_with_a_closure""#,
        r#""observing::unknown::read_blocking""#,
        r#""one""#,
        r#""two""#,
        r#""three""#,
        r#""four""#,
    ];
    assert_eq!(operations, expected);
}

// Rule V12.
#[tokio::test(start_paused = true)]
async fn a_strategy_that_sells_no_hedges_is_a_warning_once_for_each_function() {
    let warnings = Warnings::default();
    let _subscribed = warnings.subscribe();
    let hedge = kept(retry_core::Hedge::after(Duration::from_millis(10)));
    let call = async |name, strategy: &Recorder| {
        let attempt = || async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok::<_, fmt::Error>(())
        };
        let call = retry(strategy, attempt).when(|_| false).name(name);
        call.idempotent(true).hedge(hedge).run().await.unwrap();
    };
    call("sold", &Recorder::new().selling_hedges()).await;
    assert!(warnings.take().is_empty());
    for _ in 0..2 {
        call("not sold", &Recorder::new()).await;
    }
    let expected = r#"hedge_not_sent message=hedge not sent operation="not sold" attempt=1 reason="not_sold""#;
    assert_eq!(warnings.take(), [expected]);
}

// Rules O1, O16.
#[tokio::test]
async fn an_observer_is_told_once_before_the_failure() {
    let log = Log::default();
    let _test = begin();
    let call = || {
        let context = anyhow::Error::from(io::Error::other("no such table")).context("while reading");
        retry(&STORE, move || std::future::ready(Err::<(), _>(anyhow::anyhow!("{context}")))).name("read")
    };
    call().policy(ChainPolicy::new()).observer(&log).run().await.unwrap_err();
    assert_eq!(log.kinds(), ["attempt_started", "unknown_error", "attempt_failed", "stopped"]);
    let events = log.0.take();
    assert_eq!((events[1].operation, events[1].attempt), ("read", 1));
    assert_eq!(events[1].operation_id, events[0].operation_id);

    call().policy(ChainPolicy::new()).observer(&log).run().await.unwrap_err();
    assert_eq!(log.kinds(), ["attempt_started", "attempt_failed", "stopped"]);
}

// Rules G1, O16.
#[tokio::test]
async fn each_guard_warns_afresh_and_nothing_remains_of_it() {
    async fn is_told() -> bool {
        let log = Log::default();
        let call = retry(&STORE, || async { Err::<(), _>(anyhow::anyhow!("no")) }).name("fresh");
        call.policy(ChainPolicy::new()).observer(&log).run().await.unwrap_err();
        log.warning().is_some()
    }

    for _ in 0..2 {
        let _test = begin();
        assert_eq!((is_told().await, is_told().await), (true, false));
    }
    assert_eq!((is_told().await, is_told().await), (true, false), "outside of any guard");
    let _test = begin();
    assert!(is_told().await);
}

// Rule O16.
#[tokio::test]
async fn a_warning_that_nobody_would_get_is_not_used_up() {
    struct Uninterested;
    impl Observer for Uninterested {
        fn is_interested(&self, _: &'static str) -> bool {
            false
        }
        fn observe(&self, event: &Event) {
            panic!("{event:?}");
        }
    }

    let _test = begin();
    let fail = || async { Err::<(), AnyError>(Box::new(Bad::Panics)) };
    let call = || retry(&STORE, fail).name("unheard").policy(ChainPolicy::new());
    call().run().await.unwrap_err();
    call().observer(&Uninterested).run().await.unwrap_err();
    let log = Log::default();
    call().observer(&log).run().await.unwrap_err();
    assert!(log.warning().is_some());
}

// Rules O16, P8.
#[tokio::test]
async fn a_policy_can_say_that_an_outcome_is_unknown() {
    let (_test, log) = (begin(), Log::default());
    let policy = policy_fn(|outcome: &Result<u32, fmt::Error>| match outcome {
        Ok(0) => RetryDirective::fail(None),
        _ => UNKNOWN,
    });
    let call = |outcome, name| retry(&STORE, move || async move { outcome }).name(name).policy(policy).observer(&log);
    assert_eq!(call(Ok(1), "a").run().await, Ok(1));
    assert_eq!(log.warning().as_deref(), Some("UnknownError { chain: None }"));
    assert_eq!(call(Ok(0), "b").run().await, Ok(0));
    assert_eq!(log.warning(), None, "a failure without a class may well be known");
}

// Rule P8.
#[tokio::test(start_paused = true)]
async fn a_policy_that_retries_an_unknown_error_pays_as_for_any_other() {
    let (test, log, strategy) = (begin(), Log::default(), StandardRetryStrategy::aws_2_1());
    let policy = policy_fn(|_: &Result<(), fmt::Error>| RetryDirective::retry(RetryErrorType::Unknown));
    let call = retry(&strategy, || async { Err(fmt::Error) }).policy(policy).observer(&log);
    call.run().await.unwrap_err();
    assert_eq!(test.only().classes, [Some(RetryErrorType::Unknown); 3]);
    assert_eq!(strategy.quota().available(), 500 - 14 - 14);
    assert_eq!(log.warning(), None, "it was retried");
    assert_eq!(Failure::from_directive(UNKNOWN).error_type(), Some(RetryErrorType::Unknown));
}

// Rule O16.
#[tokio::test]
async fn the_text_has_each_link_of_the_chain() {
    let error = anyhow::Error::from(io::Error::other("no such table")).context("while reading");
    assert_eq!(text_of(error).await, "while reading, caused by: no such table", "the same text is not repeated");
    assert_eq!(text_of("two\nlines\tand a tab").await, "two lines and a tab");
    assert_eq!(text_of("").await, "");
}

// Rule O16.
#[tokio::test]
async fn the_text_is_bounded_and_survives_an_error_that_cannot_be_displayed() {
    let endless = text_of(Bad::Endless).await;
    assert!(endless.starts_with("é, é, ") && endless.ends_with('…'), "{endless}");
    assert!((190..=203).contains(&endless.len()), "{}", endless.len());
    let deep = text_of(nested(100, Bad::Endless)).await;
    assert!(deep.starts_with("level 0, caused by: level 1, caused by: "), "{deep}");
    assert!(deep.ends_with("caused by: level 7, .."), "{deep}");
    let long = (0..100).fold(Bad::Endless, |source, _| Bad::Nested(u32::MAX, Some(Box::new(source))));
    assert!(text_of(long).await.len() < 2_000);
    assert_eq!(text_of(Bad::Fails).await, "half");
    let panics = text_of(nested(2, Bad::Panics)).await;
    assert_eq!(panics, "level 0, caused by: level 1, caused by: (its text panicked)");
}

#[test]
#[ignore = "run in its own process by the test below"]
fn child() {
    let warnings = Warnings::default();
    let _subscribed = warnings.subscribe();
    for round in 0..2 {
        for number in 0..300 {
            let call = retry_blocking(&STORE, || Err::<(), AnyError>("no".into()));
            call.name(format!("function {number}")).policy(ChainPolicy::new()).run().unwrap_err();
        }
        assert_eq!(warnings.take().len(), if round == 0 { 256 } else { 0 });
    }
}

// Rule O16.
#[test]
fn at_most_256_functions_are_remembered() {
    run_in_a_process("unknown::child", |_| ());
}

/// An error whose author forgot a label.
#[derive(Debug, thiserror::Error, RetryInfo)]
#[allow(deprecated, reason = "the warning about the label is tested in tests/ui")]
#[error("the request failed")]
struct Forgotten(#[from] io::Error);

#[retryable(strategy = STORE, observer = log)]
async fn forgotten(log: &Log) -> Result<(), Forgotten> {
    Err(io::Error::from(io::ErrorKind::ConnectionRefused))?
}

// Rule O16.
#[tokio::test]
async fn an_error_without_a_label_is_heard_once() {
    let (test, log) = (begin(), Log::default());
    for _ in 0..2 {
        forgotten(&log).await.unwrap_err();
    }
    assert_eq!(log.kinds().iter().filter(|kind| **kind == "unknown_error").count(), 1);
    for operation in test.operations() {
        assert_eq!(operation.classes, [Some(RetryErrorType::Unknown)]);
        operation.assert_ended(1, Some(RetryError::NotRetryable));
    }
}
