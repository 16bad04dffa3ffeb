//! Unknown errors that no observer and no subscriber hears of: lines on standard error in debug builds.

use crate::support::run_in_a_process;
use crate::support::subscribers::subscribe;
use retry_core::observe::set_stderr_warnings_enabled;
use retry_core::test::begin;
use retry_core::{
    ChainPolicy, Event, EventKind, Observer, RetryDirective, RetryErrorType, StandardRetryStrategy, policy_fn, retry,
    retry_blocking, retryable,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use tracing_subscriber::layer::SubscriberExt;

type AnyError = Box<dyn Error + Send + Sync>;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy = ChainPolicy::new(), blocking)]
fn read(path: &str) -> Result<BTreeMap<String, u32>, AnyError> {
    Err(format!("the token is in {path}").into())
}

/// Runs an operation of this name with an unknown error, which nothing hears of.
fn unheard(name: &'static str) {
    let call = retry_blocking(&STORE, || Err::<(), AnyError>("the token is secret".into()));
    call.name(name).policy(ChainPolicy::new()).run().unwrap_err();
}

/// Returns the lines that a child wrote to standard error.
fn lines(child: &str, variable: Option<&str>) -> Vec<String> {
    let output = run_in_a_process(&format!("unheard::{child}"), |command| {
        command.env_remove("RETRY_STDERR_WARNINGS");
        command.envs(variable.map(|value| ("RETRY_STDERR_WARNINGS", value)));
    });
    output.lines().filter(|line| line.starts_with("retry-core: ")).map(str::to_owned).collect()
}

#[test]
#[ignore = "run in its own process by the tests below"]
fn each_form() {
    for path in ["/a", "/b"] {
        read(path).unwrap_err();
        unheard("closure");
    }
    let unknown = policy_fn(|_: &Option<u32>| RetryDirective::fail(Some(RetryErrorType::Unknown)));
    retry_blocking(&STORE, || Some(1)).name("no result").policy(unknown).run();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut attempts = 0;
    let attempt = || {
        attempts += 1;
        std::future::ready(Err::<(), _>(attempts))
    };
    let policy = policy_fn(|outcome: &Result<(), i32>| match outcome {
        Err(2) => RetryDirective::fail(Some(RetryErrorType::Unknown)),
        _ => RetryDirective::retry(RetryErrorType::Other),
    });
    runtime.block_on(retry(&STORE, attempt).name("second").policy(policy).run()).unwrap_err();
}

// Rule O20.
#[test]
fn an_unknown_error_that_nothing_hears_of_is_a_line_on_standard_error_once_for_each_function() {
    let lines = lines("each_form", None);
    let beginnings = [
        "observing::unheard::read was not retried after attempt 1, because nothing classifies its error \
         `alloc::boxed::Box<dyn core::error::Error + core::marker::Send + core::marker::Sync>`. ",
        "closure was not retried after attempt 1, because nothing classifies its error \
         `alloc::boxed::Box<dyn core::error::Error + core::marker::Send + core::marker::Sync>`. ",
        "no result was not retried after attempt 1, because nothing classifies its outcome `core::option::Option<u32>`. ",
        "second was not retried after attempt 2, because nothing classifies its error `i32`. ",
    ];
    assert_eq!(lines.len(), beginnings.len(), "{lines:#?}");
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line.starts_with(&format!("retry-core: {beginning}")), "{line}");
        for way in
            ["`ChainPolicy::new().also(chain::typed::<MyError>)`", ".otherwise(..)", "`.when(|error| ..)`", "labels"]
        {
            assert!(line.contains(way), "{line}");
        }
        assert!(line.contains("RETRY_STDERR_WARNINGS=off") && !line.contains("token"), "{line}");
    }
}

// Rule O20.
#[test]
fn a_variable_turns_the_lines_off() {
    assert_eq!(lines("each_form", Some("off")), [""; 0]);
    assert_eq!(lines("each_form", Some("on")).len(), 4);
}

#[test]
#[ignore = "run in its own process by the test below"]
fn many_functions() {
    set_stderr_warnings_enabled(false);
    unheard("turned off");
    set_stderr_warnings_enabled(true);
    for number in 0..100 {
        unheard(format!("function {number}").leak());
    }
}

// Rule O20.
#[test]
fn a_process_has_at_most_20_lines_and_a_program_can_turn_them_off() {
    let lines = lines("many_functions", None);
    let functions: Vec<_> = lines.iter().map(|line| line.split(" was not").next().unwrap()).collect();
    let expected: Vec<_> = (0..20).map(|number| format!("retry-core: function {number}")).collect();
    assert_eq!(functions, expected);
}

#[test]
#[ignore = "run in its own process by the test below"]
fn heard() {
    struct Silent;
    impl Observer for Silent {
        fn observe(&self, _: &Event) {}
    }
    struct Uninterested;
    impl Observer for Uninterested {
        fn is_interested(&self, _: &'static str) -> bool {
            false
        }
        fn observe(&self, _: &Event) {}
    }
    fn call<O: Observer>(name: &'static str, observer: O) {
        let attempt = || Err::<(), AnyError>("no such table".into());
        let call = retry_blocking(&STORE, attempt).name(name).policy(ChainPolicy::new());
        call.observer(observer).run().unwrap_err();
    }

    call("observed", Silent);
    call("uninterested", Uninterested);
    {
        let _test = begin();
        unheard("guarded");
    }
    {
        let filter = tracing_subscriber::filter::Targets::new().with_target("other", tracing::Level::ERROR);
        let _subscribed = subscribe(tracing_subscriber::registry().with(filter));
        unheard("the subscriber filters the warning");
    }
    let known = policy_fn(|_: &Result<(), fmt::Error>| RetryDirective::fail(Some(RetryErrorType::Other)));
    retry_blocking(&STORE, || Err::<(), _>(fmt::Error)).policy(known).run().unwrap_err();
}

// Rule O20.
#[test]
fn what_an_observer_a_subscriber_or_a_guard_hears_has_no_line() {
    let lines = lines("heard", None);
    assert!(matches!(&lines[..], [line] if line.starts_with("retry-core: uninterested was not retried")), "{lines:#?}");
}

/// Counts warnings.
#[derive(Default)]
struct Count(std::cell::Cell<u32>);

impl Observer for Count {
    fn observe(&self, event: &Event) {
        self.0.set(self.0.get() + u32::from(matches!(event.kind, EventKind::UnknownError { .. })));
    }
}

// Rules O16, O20.
#[test]
fn a_line_does_not_use_up_the_warning_for_an_observer() {
    unheard("heard later");
    let count = Count::default();
    let call = retry_blocking(&STORE, || Err::<(), AnyError>("no such table".into()));
    call.name("heard later").policy(ChainPolicy::new()).observer(&count).run().unwrap_err();
    assert_eq!(count.0.get(), 1);
}
