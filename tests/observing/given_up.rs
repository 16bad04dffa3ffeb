//! The warnings that operations gave up, with the texts of their errors.

use crate::support::subscribers::subscribe;
use crate::support::{Failed, kept, millis, secs};
use retry_core::quota::NoQuota;
use retry_core::{
    ChainPolicy, ExponentialBackoff, Hedge, Jitter, RetryDirective, RetryErrorType, RetryInfo, StandardRetryPolicy,
    StandardRetryStrategy, TimedOut, retry, retry_blocking, retryable,
};
use retry_tower::RetryLayer;
use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Debug, Display, Write};
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tower::{Layer as _, ServiceExt, service_fn};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

type AnyError = Box<dyn Error + Send + Sync>;

static STORE: StandardRetryStrategy<ExponentialBackoff, NoQuota> = StandardRetryStrategy::new().with_quota(NoQuota);

/// Two attempts, and a quota for a single retry.
static POOR: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).max_attempts(2).quota_capacity(5);

/// A layer that keeps the `stopped` and `unknown_error` events as lines: target, level, name, reason, number and text.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if let name @ ("reason" | "also_refused" | "chain" | "error_type" | "attempt") = field.name() {
                    write!(self.0, " {name}={value:?}").unwrap();
                }
            }
        }

        let metadata = event.metadata();
        if ["stopped", "unknown_error"].contains(&metadata.name()) {
            let mut line = Line(format!("{} {} {}", metadata.target(), metadata.level(), metadata.name()));
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
    }
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Returns the lines of an operation.
async fn lines(operation: impl Future) -> Vec<String> {
    let lines = Lines::default();
    let _guard = subscribe(tracing_subscriber::registry().with(lines.clone()));
    operation.await;
    lines.take()
}

/// Returns the only line of an operation.
async fn line(operation: impl Future) -> String {
    let lines = lines(operation).await;
    let [line] = &lines[..] else { panic!("{lines:#?}") };
    line.clone()
}

/// An error with a source.
#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct Broken(fmt::Error);

impl Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pipe\nis broken")
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl From<TimedOut> for Broken {
    fn from(_: TimedOut) -> Self {
        BROKEN
    }
}

/// An error that can be copied.
#[derive(Clone, Copy, Debug, RetryInfo)]
#[retry(timeout)]
struct Displayed;

impl Display for Displayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("displayed")
    }
}

impl Error for Displayed {}

/// A derived error that borrows.
#[derive(Debug, RetryInfo)]
#[retry(timeout, safe)]
struct Lent<'a>(&'a str);

impl Display for Lent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Lent<'_> {}

/// An error for some parameters.
#[derive(Debug, RetryInfo)]
#[retry(timeout, safe)]
struct Generic<T>(T);

impl<T: Display> Display for Generic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Debug + Display> Error for Generic<T> {}

#[derive(Debug, RetryInfo)]
#[retry(timeout, safe)]
struct NoError;

const BROKEN: Broken = Broken(fmt::Error);

const TEXT: &str = "the pipe is broken, caused by: an error occurred when formatting an argument";

fn ended(reason: &str) -> String {
    format!("retry_core::text WARN stopped attempt=5 reason=\"{reason}\" error_type=\"timeout\" chain=\"{TEXT}\"")
}

#[retryable(strategy = STORE, idempotent)]
async fn an_error() -> Result<(), Broken> {
    Err(BROKEN)
}

#[retryable(strategy = STORE, idempotent, attempt_timeout = "1s", on_retry = |_, _| {})]
async fn with_limits_and_on_retry() -> Result<(), Broken> {
    Err(BROKEN)
}

#[retryable(strategy = STORE, idempotent, on_end = |_| {})]
async fn with_on_end() -> Result<(), Broken> {
    Err(BROKEN)
}

#[retryable(strategy = STORE, idempotent, hedge = "p95")]
async fn with_a_hedge() -> Result<(), Broken> {
    Err(BROKEN)
}

#[retryable(strategy = STORE, policy = |_| RetryDirective::retry(RetryErrorType::Timeout))]
async fn a_borrowed_error<'a>(text: &'a str) -> Result<(), Borrowed<'a>> {
    Err(Borrowed(text))
}

/// An error that borrows.
#[derive(Debug)]
struct Borrowed<'a>(&'a str);

impl Display for Borrowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text {:?}", self.0)
    }
}

impl Error for Borrowed<'_> {}

#[retryable(strategy = STORE, policy = ChainPolicy::new().also(|_| Some(retry_core::classify::Classification::of(&BROKEN))))]
async fn an_owner() -> Result<(), AnyError> {
    Err(BROKEN.into())
}

#[retryable(strategy = STORE, policy = |_| RetryDirective::retry(RetryErrorType::Timeout))]
async fn an_owner_and_a_closure() -> anyhow::Result<()> {
    Err(BROKEN.into())
}

#[retryable(strategy = STORE)]
async fn no_error() -> Result<(), Failed> {
    Err(Failed::TIMEOUT)
}

#[retryable(strategy = STORE)]
async fn any_error<E: RetryInfo + Copy>(error: E) -> Result<(), E> {
    Err(error)
}

#[retryable(strategy = STORE)]
async fn any_displayed_error<E: RetryInfo + Error + Copy>(error: E) -> Result<(), E> {
    Err(error)
}

#[retryable(strategy = STORE, policy = |_| RetryDirective::retry(RetryErrorType::Timeout))]
async fn no_result() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, idempotent)]
async fn part_of_the_type_is_inferred() -> Result<impl Sized, Broken> {
    Err::<(), _>(BROKEN)
}

#[retryable(strategy = STORE, idempotent, max_time = "1500ms")]
async fn that_hangs() -> Result<(), Broken> {
    sleep(secs(60)).await;
    Ok(())
}

// Rule O22.
#[tokio::test(start_paused = true)]
async fn an_attribute_says_the_text_of_each_error_that_has_one() {
    let max_attempts = ended("max_attempts");
    assert_eq!(line(an_error()).await, max_attempts);
    assert_eq!(line(with_limits_and_on_retry()).await, max_attempts);
    assert_eq!(line(with_on_end()).await, max_attempts);
    assert_eq!(line(with_a_hedge()).await, max_attempts);
    assert_eq!(line(an_owner()).await, max_attempts);
    assert_eq!(line(an_owner_and_a_closure()).await, max_attempts);
    let borrowed =
        r#"retry_core::text WARN stopped attempt=5 reason="max_attempts" error_type="timeout" chain="text \"\"""#;
    assert_eq!(line(a_borrowed_error("")).await, borrowed);
    let time =
        format!("retry_core::text WARN stopped attempt=1 reason=\"max_time\" error_type=\"none\" chain=\"{TEXT}\"");
    assert_eq!(line(that_hangs()).await, time);
}

// Rule O22.
#[tokio::test(start_paused = true)]
async fn an_error_without_a_text_leaves_a_line_without_one() {
    let expected = r#"retry_core WARN stopped attempt=5 reason="max_attempts" error_type="timeout""#;
    assert_eq!(line(no_error()).await, expected);
    assert_eq!(line(any_error(Failed::TIMEOUT)).await, expected);
    assert_eq!(line(no_result()).await, expected);
    assert_eq!(line(part_of_the_type_is_inferred()).await, expected);
    // The bound is known.
    let text = format!("{} chain=\"displayed\"", expected.replace("retry_core", "retry_core::text"));
    assert_eq!(line(any_displayed_error(Displayed)).await, text);
}

// Rule O22.
#[tokio::test(start_paused = true)]
async fn a_closure_says_the_text_that_its_policy_knows() {
    let policy = ChainPolicy::new().also(|_| Some(retry_core::classify::Classification::of(&BROKEN)));
    let fail = || async { Err::<(), _>(BROKEN) };
    assert_eq!(line(retry(&STORE, fail).policy(policy).run()).await, ended("max_attempts"));
    let hedge = kept(Hedge::after(millis(10)));
    assert_eq!(
        line(retry(&STORE, fail).policy(policy.idempotent(true)).hedge(hedge).run()).await,
        ended("max_attempts")
    );
    let blocking = async {
        let known = ChainPolicy::new().also(|_| Some(retry_core::classify::Classification::of(&BROKEN)));
        _ = retry_blocking(&STORE, || Err::<(), _>(BROKEN)).policy(known).max_time(secs(0)).run();
    };
    let blocked = line(blocking).await;
    assert!(blocked.starts_with("retry_core"), "{blocked}");
    // `when` knows what to retry, and not the error.
    let line = line(retry(&STORE, fail).when(|_| true).run()).await;
    assert!(line.starts_with("retry_core WARN stopped attempt=5"), "{line}");
}

// Rule O22.
#[tokio::test(start_paused = true)]
async fn a_derived_error_says_its_text_to_the_standard_policy() {
    let policy = StandardRetryPolicy::new().idempotent(true);
    let fail = || async { Err::<(), _>(BROKEN) };
    let max_attempts = ended("max_attempts");
    assert_eq!(line(retry(&STORE, fail).policy(policy).run()).await, max_attempts);
    assert_eq!(line(retry(&STORE, fail).policy(&&policy).run()).await, max_attempts);
    assert_eq!(line(retry(&STORE, fail).idempotent(true).used(|_| 1).run()).await, max_attempts);
    assert_eq!(
        line(retry(&STORE, || async { Err::<(), _>(Box::new(&BROKEN)) }).policy(policy).run()).await,
        max_attempts
    );
    let hedge = kept(Hedge::after(millis(10)));
    assert_eq!(line(retry(&STORE, fail).idempotent(true).hedge(hedge).run()).await, max_attempts);
    let blocking = async {
        let fail = || Err::<(), _>(BROKEN);
        _ = retry_blocking(&STORE, fail).idempotent(true).max_time(secs(0)).run();
    };
    let blocked = line(blocking).await;
    assert!(blocked.contains(&format!("chain=\"{TEXT}\"")), "{blocked}");
    let service = RetryLayer::new(&STORE).idempotent(true).layer(service_fn(|(): ()| async { Err::<(), _>(BROKEN) }));
    assert_eq!(line(service.oneshot(())).await, max_attempts);

    let text = "retry_core::text WARN stopped attempt=5 reason=\"max_attempts\" error_type=\"timeout\" chain=\"lent\"";
    let lent = String::from("lent");
    assert_eq!(line(retry(&STORE, async || Err::<(), _>(Lent(&lent))).run()).await, text);
    // This is no `Error`, or rustc can't see that it is one.
    for line in [
        line(retry(&STORE, || async { Err::<(), _>(NoError) }).run()).await,
        line(retry(&STORE, || async { Err::<(), _>(Generic(Displayed)) }).run()).await,
    ] {
        assert_eq!(line, r#"retry_core WARN stopped attempt=5 reason="max_attempts" error_type="timeout""#);
    }
}

// Rules O16, O22.
#[tokio::test(start_paused = true)]
async fn a_warning_about_an_unknown_derived_error_has_its_text() {
    #[allow(deprecated, reason = "the label is forgotten on purpose")]
    #[derive(Debug, RetryInfo)]
    enum Unlabelled {
        Inner { source: fmt::Error },
    }
    impl Display for Unlabelled {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("unlabelled")
        }
    }
    impl Error for Unlabelled {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            let Self::Inner { source } = self;
            Some(source)
        }
    }

    let lines = lines(retry(&STORE, || async { Err::<(), _>(Unlabelled::Inner { source: fmt::Error }) }).run()).await;
    assert_eq!(
        lines[0],
        "retry_core::text WARN unknown_error attempt=1 chain=\"unlabelled, caused by: an error occurred when formatting an argument\""
    );
}

// Rules O16, O22.
#[tokio::test(start_paused = true)]
async fn a_filter_can_drop_the_texts_and_keep_the_warnings() {
    let _test = retry_core::test::begin();
    let lines = Lines::default();
    let filter =
        Targets::new().with_target("retry_core", Level::WARN).with_target("retry_core::text", LevelFilter::OFF);
    let _guard = subscribe(tracing_subscriber::registry().with(lines.clone()).with(filter));
    _ = an_error().await;
    let unknown = retry(&STORE, || async { Err::<(), _>(BROKEN) }).name("unknown").policy(ChainPolicy::new());
    _ = unknown.run().await;
    let expected = [
        r#"retry_core WARN stopped attempt=5 reason="max_attempts" error_type="timeout""#,
        "retry_core WARN unknown_error attempt=1",
    ];
    assert_eq!(lines.take(), expected);
}

// Rule O22.
#[tokio::test(start_paused = true)]
async fn nothing_asks_for_a_text_that_nobody_gets() {
    #[derive(Debug)]
    struct Asked<'a>(&'a Cell<u32>);
    impl Display for Asked<'_> {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.set(self.0.get() + 1);
            Ok(())
        }
    }
    impl Error for Asked<'_> {}
    #[retryable(strategy = STORE, policy = |_| RetryDirective::retry(RetryErrorType::Timeout))]
    async fn fail(asked: &Cell<u32>) -> Result<(), Asked<'_>> {
        Err(Asked(asked))
    }

    let asked = Cell::new(0);
    _ = fail(&asked).await;
    {
        let filter = Targets::new().with_target("retry_core::text", LevelFilter::OFF);
        let _guard = subscribe(tracing_subscriber::registry().with(Lines::default()).with(filter));
        _ = fail(&asked).await;
    }
    assert_eq!(asked.get(), 0);
    line(fail(&asked)).await;
    assert_eq!(asked.get(), 1, "once, at the end");
}

// Rules O6, O22.
#[tokio::test(start_paused = true)]
async fn while_a_quota_refuses_many_the_first_is_a_warning_and_then_one_with_their_number_each_ten_seconds() {
    let _test = retry_core::test::begin().real_time();
    let refused = async |name| {
        let call = retry(&POOR, || async { Err::<(), _>(Failed::SAFE) }).name(name);
        assert!(call.run().await.is_err());
    };
    refused("first").await;
    let warnings = |lines: Vec<String>| -> Vec<String> {
        let quota = lines.into_iter().filter(|line| line.contains("WARN") && line.contains("quota_exhausted"));
        quota.map(|line| line.split("also_refused=").nth(1).unwrap().to_owned()).collect()
    };
    let all = lines(async {
        for _ in 0..29 {
            refused("many").await;
        }
    });
    assert_eq!(warnings(all.await), ["0"]);
    sleep(millis(9_999)).await;
    assert_eq!(warnings(lines(refused("many")).await), [""; 0]);
    assert_eq!(warnings(lines(refused("other")).await), ["0"], "each function has its own");
    sleep(millis(1)).await;
    assert_eq!(warnings(lines(refused("many")).await), ["29"]);
    assert_eq!(warnings(lines(refused("many")).await), [""; 0]);
    sleep(secs(100)).await;
    assert_eq!(warnings(lines(refused("many")).await), ["1"]);
}
