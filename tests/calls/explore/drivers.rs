//! Attempts that fail without a point in a fake, in each form of a retried call.

use super::{Failed, STORE, block_on, cases, kinds, panic_of, sent};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::test::{Explore, FindingKind, begin, explore};
use retry_core::{
    AttemptContext, ChainPolicy, ErrorInfo, Hedge, RetryInfo, RetryPolicy, RetrySafety, StandardRetryPolicy,
    StandardRetryStrategy, policy_fn, retry, retry_blocking, retry_with_context, retryable,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn with_answers() -> Explore {
    explore().no_answer(|| Failed::NoAnswer)
}

/// Notes in a text what happens in a run, and keeps the texts of all runs.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<Vec<String>>>);

impl Runs {
    fn begin(&self) {
        self.0.lock().unwrap().push(String::new());
    }

    fn note(&self, what: impl std::fmt::Display) {
        write!(self.0.lock().unwrap().last_mut().unwrap(), "{what}").unwrap();
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[retryable(strategy = STORE)]
async fn attribute(runs: &Runs, awaits: u32) -> Result<(), Failed> {
    for _ in 0..awaits {
        runs.note('(');
        tokio::task::yield_now().await;
    }
    runs.note('x');
    Ok(())
}

#[retryable(strategy = STORE, attempt_timeout = "1s")]
async fn limited(runs: &Runs, awaits: u32) -> Result<(), TimedOrFailed> {
    attempt(runs, awaits).await.map_err(TimedOrFailed::Failed)
}

#[derive(Debug, RetryInfo)]
enum TimedOrFailed {
    #[retry(transparent)]
    Failed(Failed),
    #[retry(transparent)]
    TimedOut(retry_core::TimedOut),
}

impl From<retry_core::TimedOut> for TimedOrFailed {
    fn from(timed_out: retry_core::TimedOut) -> Self {
        Self::TimedOut(timed_out)
    }
}

async fn attempt(runs: &Runs, awaits: u32) -> Result<(), Failed> {
    for _ in 0..awaits {
        runs.note('(');
        tokio::task::yield_now().await;
    }
    runs.note('x');
    Ok(())
}

#[retryable(strategy = STORE, blocking)]
fn attribute_blocking(runs: &Runs) -> Result<(), Failed> {
    runs.note('x');
    Ok(())
}

/// Returns what happens in each run of a test, which returns whether the call succeeded.
fn explored(exploration: Explore, test: impl Fn(&Runs) -> bool + Send + Sync + 'static) -> Vec<String> {
    let runs = Runs::default();
    let log = runs.clone();
    let found = exploration.run(move || {
        log.begin();
        test(&log)
    });
    assert!(found.unchecked.is_empty() && found.findings.is_empty(), "{found}");
    runs.take()
}

fn note_end<E: std::fmt::Debug>(runs: &Runs, outcome: Result<(), E>) -> bool {
    let is_ok = outcome.is_ok();
    runs.note(match outcome {
        Ok(()) => ".".to_owned(),
        Err(error) => format!("{error:?}"),
    });
    is_ok
}

/// Two runs without failures, then the attempt is not sent, and then its answer is lost: each once, not retried, and from then
/// on.
const WITHOUT_AWAITS: [&str; 8] = ["x.", "x.", "x.", "NoAnswer", "NoAnswer", "xx.", "xNoAnswer", "xxxxxNoAnswer"];

/// The same with an attempt that is cut at its await.
const WITH_AN_AWAIT: [&str; 8] = ["(x.", "(x.", "(x.", "NoAnswer", "NoAnswer", "((x.", "(NoAnswer", "(((((NoAnswer"];

// Rule G10.
#[test]
fn an_attempt_of_each_form_is_not_sent_or_loses_its_answer() {
    let test = |runs: &Runs| note_end(runs, block_on(retry(&STORE, || attempt(runs, 0)).run()));
    assert_eq!(explored(with_answers(), test), WITHOUT_AWAITS);
    let test = |runs: &Runs| note_end(runs, block_on(attribute(runs, 0)));
    assert_eq!(explored(with_answers(), test), WITHOUT_AWAITS);
    let test = |runs: &Runs| {
        let attempt = || {
            runs.note('x');
            Ok::<_, Failed>(())
        };
        note_end(runs, retry_blocking(&STORE, attempt).run())
    };
    assert_eq!(explored(with_answers(), test), WITHOUT_AWAITS);
    let test = |runs: &Runs| note_end(runs, attribute_blocking(runs));
    assert_eq!(explored(with_answers(), test), WITHOUT_AWAITS);
    let test = |runs: &Runs| {
        let log = runs.clone();
        let service = service_fn(move |()| {
            let log = log.clone();
            async move { attempt(&log, 0).await }
        });
        note_end(runs, block_on(RetryLayer::with_handle(&STORE).layer(service).oneshot(())))
    };
    assert_eq!(explored(with_answers(), test), WITHOUT_AWAITS);
}

// Rule G10.
#[test]
fn an_attempt_that_awaits_is_cut_there_instead() {
    let test = |runs: &Runs| note_end(runs, block_on(retry(&STORE, || attempt(runs, 1)).run()));
    assert_eq!(explored(with_answers(), test), WITH_AN_AWAIT);
    let test = |runs: &Runs| note_end(runs, block_on(attribute(runs, 1)));
    assert_eq!(explored(with_answers(), test), WITH_AN_AWAIT);
    let test = |runs: &Runs| {
        let log = runs.clone();
        let service = service_fn(move |()| {
            let log = log.clone();
            async move { attempt(&log, 1).await }
        });
        note_end(runs, block_on(RetryLayer::with_handle(&STORE).layer(service).oneshot(())))
    };
    assert_eq!(explored(with_answers(), test), WITH_AN_AWAIT);
    // With limits.
    let with_answers = || explore().no_answer(|| TimedOrFailed::Failed(Failed::NoAnswer));
    let test = |runs: &Runs| {
        let end = block_on(limited(runs, 1)).map_err(|error| match error {
            TimedOrFailed::Failed(failed) => failed,
            TimedOrFailed::TimedOut(_) => Failed::Refused,
        });
        note_end(runs, end)
    };
    assert_eq!(explored(with_answers(), test), WITH_AN_AWAIT);
}

// Rule G10.
#[test]
fn an_attempt_that_passes_a_point_fails_there_only() {
    let found = explore().run(|| {
        let attempt = || retry_blocking(&STORE, || sent()).name("inner").run();
        retry_blocking(&STORE, attempt).name("outer").run().unwrap();
        retry_blocking(&STORE, || Ok::<_, Failed>(())).name("beside").run().unwrap();
    });
    assert_eq!((found.passes, found.cases), (3, 5), "{found}");
}

// Rule G10.
#[test]
fn a_call_with_a_hedge_fails_at_points_only_and_is_unchecked_without_them() {
    static GET: Hedge = Hedge::p95();
    let test = |points: bool| {
        let get = || async move { if points { sent() } else { Ok(()) } };
        block_on(retry(&STORE, get).name("get").idempotent(true).hedge(&GET).run()).unwrap();
    };
    let found = with_answers().run(move || test(false));
    assert_eq!(found.unchecked, ["`get`: the attempts of a call with a hedge fail at points only"]);
    assert_eq!(found.cases, 0);
    let found = with_answers().run(move || test(true));
    assert_eq!((found.cases, found.unchecked.len()), (3, 0), "{found}");
}

/// An error for which there is no value.
#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct Valueless;

// Rule G11.
#[test]
fn without_an_error_what_needs_one_is_unchecked() {
    let found = explore().run(|| retry_blocking(&STORE, || Ok::<_, Valueless>(())).name("call").run().unwrap());
    let why =
        "there is no error to return; `explore().no_answer(|| error)` makes one of a type that derives `RetryInfo`";
    let expected = [format!("`call` not sent: {why}"), format!("`call` without an answer: {why}")];
    assert_eq!((found.cases, &found.unchecked[..]), (2, &expected[..]));
    assert!(panic_of(|| found.assert_none()).ends_with("write `explore().accept_unchecked()`\n"));

    // What a run shows too late ends this run, so the failure has no consequence.
    let found = explore().run(|| {
        let _test = begin().max_attempts(1);
        retry_blocking(&STORE, || Ok::<_, Valueless>(())).name("call").run().unwrap();
    });
    assert_eq!((found.cases, &found.unchecked[..]), (2, &expected[..]));
    assert!(found.findings.is_empty() && found.notes.is_empty(), "{found}");

    // This policy can evaluate outcomes only.
    let found = with_answers().run(|| {
        retry_blocking(&STORE, || Ok::<_, Failed>(())).name("call").when(|_| true).run().unwrap();
    });
    let why =
        "its policy evaluates outcomes only; a point in the fake makes one: `may_fail(|| error)?` after its effect";
    let expected = [format!("`call` not sent: {why}"), format!("`call` without an answer: {why}")];
    assert_eq!(found.unchecked, expected);

    // A run without failures sees the other policy of this name last, so a run with a failure shows it too late.
    let found = with_answers().run(|| {
        let call = || retry_blocking(&STORE, || Ok::<_, Failed>(())).name("call");
        call().when(|_| true).run().unwrap();
        call().run().unwrap();
    });
    assert_eq!(found.unchecked, expected);
    assert!(found.findings.is_empty() && found.notes.is_empty(), "{found}");
}

// Rule G11.
#[test]
fn an_error_is_made_once_for_each_failure_of_a_run() {
    let runs = Runs::default();
    let makes = runs.clone();
    let exploration = explore().no_answer(move || {
        makes.note('m');
        Failed::NoAnswer
    });
    let log = runs.clone();
    let found = exploration.run(move || {
        log.begin();
        note_end(&log, retry_blocking(&STORE, || Ok::<_, Failed>(())).run())
    });
    assert!(found.unchecked.is_empty() && found.findings.is_empty(), "{found}");
    let five_times = "mmmmmNoAnswer";
    let expected = ["m.", "mNoAnswer", five_times, "m.", "mNoAnswer", five_times];
    assert_eq!(runs.take()[2..], expected);
}

// Rule G11.
#[test]
fn the_error_of_a_failure_is_the_outcome_if_the_time_is_over_in_a_later_attempt() {
    let runs = Runs::default();
    let log = runs.clone();
    let found = explore().no_answer(|| TimedOrFailed::Failed(Failed::NoAnswer)).run(move || {
        log.begin();
        let attempt = async |context: AttemptContext| {
            if context.attempt() == 1 { Ok::<_, TimedOrFailed>(()) } else { std::future::pending().await }
        };
        note_end(&log, block_on(retry_with_context(&STORE, attempt).max_time(Duration::from_secs(5)).run()));
    });
    assert!(kinds(&found).iter().all(|kind| *kind == FindingKind::Swallowed), "the test ignores the error: {found}");
    let runs = runs.take();
    assert_eq!(runs[..2], ["."; 2]);
    assert_eq!(runs[2..], ["Failed(NoAnswer)"; 6]);
}

// Rule G11.
#[test]
fn the_policy_evaluates_the_error_and_on_retry_gets_it() {
    let test = |runs: &Runs| {
        let call = retry_blocking(&STORE, || Ok::<_, Failed>(())).idempotent(false);
        note_end(runs, call.on_retry(|error, _| runs.note(format_args!("{error:?},"))).run())
    };
    let final_one = ["NoAnswer,NoAnswer"; 3];
    let runs = explored(with_answers(), test);
    assert_eq!(runs[..3], [".", ".", "NoAnswer,."], "an attempt that was not sent is repeated");
    assert_eq!(runs[5..], final_one, "one without an answer is not");

    let refused = explored(explore().no_answer(|| Failed::Refused), |runs| {
        note_end(runs, retry_blocking(&STORE, || Ok::<_, Failed>(())).run())
    });
    assert_eq!(refused[5..], ["Refused"; 3]);
}

// Rule G11.
#[test]
fn policies_forward_the_failure() {
    fn retried(policy: impl RetryPolicy<Result<u32, Failed>> + Clone + Send + Sync + 'static) -> Vec<String> {
        explored(with_answers(), move |runs| {
            let call = retry_blocking(&STORE, || Ok::<_, Failed>(1)).policy(policy.clone());
            note_end(runs, call.run().map(|_| ()))
        })
    }

    let standard = StandardRetryPolicy::new().idempotent(false);
    let expected = [".", ".", ".", "NoAnswer", "NoAnswer", "NoAnswer", "NoAnswer", "NoAnswer"];
    assert_eq!(retried(standard), expected);
    assert_eq!(retried(Arc::new(standard)), expected);
    assert_eq!(retried(Box::leak(Box::new(standard)) as &'static StandardRetryPolicy), expected);
    let used = explored(with_answers(), move |runs| {
        let call = retry_blocking(&STORE, || Ok::<_, Failed>(1)).policy(Box::new(standard)).used(|_| 1);
        note_end(runs, call.run().map(|_| ()))
    });
    assert_eq!(used, expected);

    // A chain has no value, so only the retry is checked.
    let found = explore().run(|| {
        let sum = Cell::new(0);
        let add = || {
            sum.set(sum.get() + 1);
            Ok::<_, std::io::Error>(())
        };
        retry_blocking(&STORE, add).policy(ChainPolicy::new()).name("add").run().unwrap();
        assert_eq!(sum.get(), 1);
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]), "{found}");
    let found = explore().run(|| {
        let whole = ChainPolicy::new().idempotent(false).whole_first(|_: &std::io::Error| None);
        retry_blocking(&STORE, || Ok::<_, std::io::Error>(())).policy(whole).name("add").run().unwrap();
    });
    assert!(kinds(&found).is_empty() && !found.to_string().contains("evaluates outcomes only"), "{found}");
    let found = explore().run(|| {
        let policy = policy_fn(|_: &Result<(), Failed>| retry_core::RetryDirective::succeed());
        retry_blocking(&STORE, || Ok(())).policy(policy).name("call").run().unwrap();
    });
    assert!(found.unchecked.concat().contains("evaluates outcomes only"), "{found}");
}

/// Its server says that nothing was carried out, which is wrong if the answer is lost.
#[derive(Clone, Copy, Debug)]
struct SafeByMistake;

impl ErrorInfo for SafeByMistake {}

impl RetryInfo for SafeByMistake {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

#[derive(Debug, RetryInfo)]
enum Mislabelled {
    #[retry(transparent)]
    Lost(SafeByMistake),
}

// Rule G11.
#[test]
fn a_request_that_is_not_idempotent_and_repeated_is_found_by_tests_that_assert_nothing() {
    let found = explore().no_answer(|| Mislabelled::Lost(SafeByMistake)).run(|| {
        retry_blocking(&STORE, || Ok::<_, Mislabelled>(())).idempotent(false).name("charge").run().unwrap();
    });
    assert_eq!(kinds(&found), [FindingKind::Repeats; 3], "{found}");
    assert!(found.findings[0].case.starts_with("`charge` without an answer, pass 1"), "{found}");
}

/// A strategy of its own, which the attempt must not borrow.
struct Writer {
    retry: Arc<StandardRetryStrategy>,
    wrong: bool,
    buffered: Vec<u8>,
}

impl Writer {
    #[retryable(strategy = self.retry, idempotent)]
    async fn close(&mut self, store: &RefCell<Vec<u8>>) -> Result<(), Failed> {
        let data = if self.wrong { std::mem::take(&mut self.buffered) } else { self.buffered.clone() };
        tokio::task::yield_now().await;
        *store.borrow_mut() = data;
        self.buffered.clear();
        Ok(())
    }
}

// Rule G10.
#[test]
fn a_failed_attempt_that_took_buffered_data_is_found_without_points() {
    fn close(wrong: bool) {
        let store = RefCell::default();
        let retry = Arc::new(StandardRetryStrategy::new());
        block_on(Writer { retry, wrong, buffered: b"data".to_vec() }.close(&store)).unwrap();
        assert_eq!(*store.borrow(), b"data");
    }
    let found = with_answers().run(|| close(true));
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));
    assert!(found.to_string().contains("close` cut at an await: the test fails after a retry"), "{found}");
    with_answers().run(|| close(false)).assert_none();
}

// Rule G10.
#[test]
fn a_body_that_is_empty_in_the_second_attempt_is_found_without_points() {
    /// The body of a request is a stream, and a clone of the request shares it.
    #[derive(Clone)]
    struct Upload(Rc<RefCell<Vec<u8>>>);

    fn upload(wrong: bool) {
        let received = Rc::new(RefCell::new(Vec::new()));
        let server = Rc::clone(&received);
        let service = service_fn(move |request: Upload| {
            let server = Rc::clone(&server);
            async move {
                let body = if wrong { request.0.take() } else { request.0.borrow().clone() };
                tokio::task::yield_now().await;
                *server.borrow_mut() = body;
                Ok::<_, Failed>(())
            }
        });
        let request = Upload(Rc::new(RefCell::new(b"title".to_vec())));
        block_on(RetryLayer::with_handle(&STORE).layer(service).oneshot(request)).unwrap();
        assert_eq!(*received.borrow(), b"title");
    }
    let found = with_answers().run(|| upload(true));
    assert_eq!(kinds(&found), [FindingKind::Breaks], "{found}");
    with_answers().run(|| upload(false)).assert_none();
}

// Rule G10.
#[test]
fn a_request_that_is_repeated_after_a_lost_answer_is_found_without_points() {
    fn create(wrong: bool) {
        let created = Rc::new(RefCell::new(Vec::new()));
        let server = Rc::clone(&created);
        let service = service_fn(move |name: &'static str| {
            server.borrow_mut().push(name);
            std::future::ready(Ok::<_, Failed>(()))
        });
        let policy = move |_: &&str| StandardRetryPolicy::new().idempotent(wrong);
        let client = RetryLayer::with_handle(&STORE).policy_with(policy).layer(service);
        block_on(client.oneshot("job")).unwrap();
        assert_eq!(*created.borrow(), ["job"]);
    }
    let found = with_answers().run(|| create(true));
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));
    with_answers().run(|| create(false)).assert_none();
}

/// The example of docs/testing.md.
#[derive(Default)]
struct FakeStore {
    log: Mutex<Vec<u32>>,
}

impl FakeStore {
    #[expect(clippy::unused_async, reason = "a client would send a request")]
    async fn append(&self, item: u32) -> Result<(), Failed> {
        self.log.lock().unwrap().push(item);
        Ok(())
    }
}

/// Wrong: it lacks `idempotent = false`.
#[retryable(strategy = STORE)]
async fn charge_wrong(store: &FakeStore, amount: u32) -> Result<(), Failed> {
    store.append(amount).await
}

#[retryable(strategy = STORE, idempotent = false)]
async fn charge(store: &FakeStore, amount: u32) -> Result<(), Failed> {
    store.append(amount).await
}

// Rules G10, G11.
#[test]
fn charges_once_whatever_fails() {
    with_answers()
        .run(|| {
            block_on(async {
                let store = FakeStore::default();
                charge(&store, 5).await.unwrap();
                assert_eq!(*store.log.lock().unwrap(), [5]);
            });
        })
        .assert_none();
    let found = with_answers().run(|| {
        block_on(async {
            let store = FakeStore::default();
            charge_wrong(&store, 5).await.unwrap();
            assert_eq!(*store.log.lock().unwrap(), [5]);
        });
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));
    let expected = "charge_wrong` without an answer: the test fails after a retry\n";
    assert!(found.to_string().contains(expected), "{found}");
}
