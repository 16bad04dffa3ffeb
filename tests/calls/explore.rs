//! Explorations: what they run, what they find, and what they do not find.

mod corpus;
mod drivers;
mod history;
mod holdout;
mod sockets;
mod strict;

use corpus::{Form, PAIRS, Program, RIGHT};
use holdout::HELD_OUT;
use retry_core::test::{Explore, Finding, FindingKind, Findings, begin, explore, invariant, may_fail};
use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
enum Failed {
    #[retry(throttling)]
    SlowDown,
    #[retry(timeout)]
    NoAnswer,
    #[retry(fault = "client")]
    Refused,
}

thread_local! {
    /// Whether the fakes of this thread have no points.
    static HAS_NO_POINTS: Cell<bool> = const { Cell::new(false) };
}

/// A request arrives, or is rejected before it has an effect.
#[track_caller]
fn sent() -> Result<(), Failed> {
    if HAS_NO_POINTS.get() { Ok(()) } else { may_fail(|| Failed::SlowDown) }
}

/// An answer arrives, or is lost.
#[track_caller]
fn answered() -> Result<(), Failed> {
    if HAS_NO_POINTS.get() { Ok(()) } else { may_fail(|| Failed::NoAnswer) }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(future)
}

/// An exploration of a test with runs that hang. A run that does not hang takes milliseconds.
fn exploration_of_hangs() -> Explore {
    explore().time_limit(Duration::from_secs(1))
}

/// Explores a blocking call whose attempt is `attempt`.
fn explore_call<T, F>(attempt: impl Fn() -> F + Send + Sync + 'static) -> Findings
where
    T: PartialEq + std::fmt::Debug + Send + 'static,
    F: FnMut() -> Result<T, Failed>,
{
    explore().run(move || retry_blocking(&STORE, attempt()).name("call").run().unwrap())
}

fn kinds(found: &Findings) -> Vec<FindingKind> {
    found.findings.iter().map(|finding| finding.kind).collect()
}

/// Returns how each case failed: the last part of its name.
fn cases(found: &Findings) -> Vec<&str> {
    found.findings.iter().filter_map(|finding| finding.case.rsplit(", ").next()).collect()
}

fn panic_of<T: std::fmt::Debug>(run: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    payload.downcast_ref::<String>().cloned().or_else(|| Some((*payload.downcast_ref::<&str>()?).to_owned())).unwrap()
}

/// Returns the names of the programs with a finding.
fn found(programs: &[(&'static str, Program)], wrong: bool, strong: bool) -> Vec<&'static str> {
    let has_finding = |name: &str, program: Program| {
        let exploration = if name == "permit" { exploration_of_hangs() } else { explore() };
        let found = exploration.run(move || program(Form { wrong, strong }));
        assert!(found.cases > 0);
        !found.findings.is_empty()
    };
    programs.iter().filter(|(name, program)| has_finding(name, *program)).map(|(name, _)| *name).collect()
}

// Rule G8.
#[test]
fn strong_tests_find_each_mistake_of_the_corpus() {
    assert_eq!(found(&PAIRS, true, true), PAIRS.map(|(name, _)| name));
    assert_eq!(found(&PAIRS, false, true), [""; 0]);
    // Both tests assert more than the effect: which server answered, and the number of attempts.
    assert_eq!(found(&RIGHT, false, true), ["fallback_in_attempt", "counted"]);
}

// Rule G8.
#[test]
fn mistakes_that_the_rules_were_not_written_for_are_found() {
    // What a policy does not retry is a note.
    let all_but_policy: Vec<_> = HELD_OUT.iter().map(|(name, _)| *name).filter(|name| *name != "policy").collect();
    assert_eq!(found(&HELD_OUT, true, true), all_but_policy);
    assert_eq!(found(&HELD_OUT, true, false), ["budget", "complete", "layers"]);
    for strong in [true, false] {
        assert_eq!(found(&HELD_OUT, false, strong), [""; 0]);
    }
}

// Rule G8.
#[test]
fn tests_that_only_unwrap_find_mistakes_that_end_in_an_error_or_do_not_end() {
    let of_these = ["create", "delete", "permit", "nested", "nonce", "connection", "endless"];
    assert_eq!(found(&PAIRS, true, false), of_these);
    assert_eq!(found(&PAIRS, false, false), [""; 0]);
    assert_eq!(found(&RIGHT, false, false), [""; 0]);
}

// Rules G8, G10.
#[test]
fn without_points_strong_tests_find_most_mistakes_with_more_false_alarms() {
    fn found(programs: &[(&'static str, Program)], wrong: bool) -> Vec<&'static str> {
        let has_finding = |program: Program| {
            let found = explore().no_answer(|| Failed::NoAnswer).run(move || {
                HAS_NO_POINTS.set(true);
                program(Form { wrong, strong: true });
            });
            !found.findings.is_empty()
        };
        programs.iter().filter(|(_, program)| has_finding(*program)).map(|(name, _)| *name).collect()
    }
    let expected =
        ["charge", "key", "parts", "pages", "create", "delete", "add", "nested", "cursor", "nonce", "endless"];
    assert_eq!(found(&PAIRS, true), [&expected[..], &["refund", "shared"]].concat());
    let expected = ["progress", "checksum", "flag", "budget", "complete", "layers", "stale", "rows", "detached"];
    assert_eq!(found(&HELD_OUT, true), expected);
    // Their attempts change state after the request, and an answer without a point is lost after that.
    assert_eq!(found(&PAIRS, false), ["cursor", "refund", "shared"]);
    assert_eq!(found(&HELD_OUT, false), ["flag", "budget", "ids", "detached"]);
    assert_eq!(found(&RIGHT, false), ["counted"]);
}

// Rule G7.
#[test]
fn outside_of_an_exploration_no_point_fails() {
    assert_eq!(sent(), Ok(()));
    let test = begin();
    let held = Rc::new(());
    let holds = Rc::clone(&held);
    invariant(move || drop(holds));
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(retry_blocking(&STORE, answered).run(), Ok(()));
    test.only().assert_ended(1, None);
}

// Rule G7.
#[test]
fn each_pass_fails_once_without_a_retry_and_from_then_on() {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&runs);
    let found = explore().run(move || {
        let passes = RefCell::new(Vec::new());
        let attempt = || {
            for point in ["sent", "answered"] {
                let outcome = if point == "sent" { sent() } else { answered() };
                passes.borrow_mut().push((point, outcome.is_ok()));
                outcome?;
            }
            Ok::<_, Failed>(())
        };
        let _ = retry_blocking(&STORE, attempt).run();
        let text: String = passes.take().iter().map(|(point, ok)| if *ok { &point[..1] } else { "-" }).collect();
        log.lock().unwrap().push(text);
    });
    // Two runs without failures, then three for each of the two points.
    assert_eq!(*runs.lock().unwrap(), ["sa", "sa", "-sa", "-", "-----", "s-sa", "s-", "s-s-s-s-s-"]);
    assert_eq!((found.cases, found.passes), (6, 2));
}

// Rule G7.
#[test]
fn retries_before_the_failure_are_not_refused() {
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&attempts);
    let found = explore().run(move || {
        let mut attempt = 0;
        let call = || {
            attempt += 1;
            if attempt < 3 { Err(Failed::SlowDown) } else { sent() }
        };
        let report = retry_blocking(&STORE, call).report();
        log.lock().unwrap().push(report.attempts);
        report.outcome.is_ok()
    });
    // Two runs without failures: the fake fails by itself, in two attempts that pass no point. Each is not sent once. Then the
    // point fails once, not retried, and from then on.
    assert_eq!(*attempts.lock().unwrap(), [3, 3, 4, 4, 4, 3, 5]);
    assert!(found.findings.is_empty(), "{found}");
}

// Rule G8.
#[test]
fn a_retry_that_breaks_an_assertion_or_changes_the_result_is_found() {
    let found = explore_call(|| {
        let mut attempts = 0;
        move || {
            attempts += 1;
            sent()?;
            assert!(attempts < 2, "attempt {attempts}");
            Ok(())
        }
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));
    assert!(found.findings[0].details.ends_with("\nattempt 2"), "{found}");

    let found = explore_call(|| {
        let mut attempts = 0;
        move || {
            attempts += 1;
            sent().map(|()| attempts)
        }
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Differs], vec!["once"]));
    assert_eq!(found.findings[0].details, "2\nwithout the failure: 1");
}

// Rule G8.
#[test]
fn an_operation_that_gives_up_is_not_a_finding_but_its_hang_and_its_invariant_are() {
    explore_call(|| answered).assert_none();
    // After a retry, a failure that is not injected is a finding.
    let found = explore_call(|| {
        let mut attempts = 0;
        move || {
            attempts += 1;
            sent()?;
            if attempts == 1 { Ok(()) } else { Err(Failed::Refused) }
        }
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));

    let found = explore().run(|| {
        let is_locked = Rc::new(Cell::new(true));
        let lock = Rc::clone(&is_locked);
        // Points no longer fail when it runs.
        invariant(move || assert_eq!((lock.get(), sent()), (false, Ok(())), "still locked"));
        retry_blocking(&STORE, sent).run().unwrap();
        is_locked.set(false);
    });
    assert_eq!(kinds(&found), [FindingKind::Invariant; 2]);
    assert_eq!(cases(&found), ["not retried", "from then on"]);
    assert!(found.findings[0].details.contains("still locked"), "{found}");

    // An operation that gives up within one that is retried does not give up for the test.
    let found = explore().run(|| {
        let charges = Cell::new(0);
        let charge = || {
            charges.set(charges.get() + 1);
            answered()
        };
        let inner = || retry_blocking(&STORE, charge).idempotent(false).run();
        retry_blocking(&STORE, inner).run().unwrap();
        assert_eq!(charges.get(), 1);
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Breaks], vec!["once"]));

    let found = exploration_of_hangs().run(|| {
        if retry_blocking(&STORE, sent).run().is_err() {
            loop {
                std::thread::park();
            }
        }
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Hangs; 2], vec!["not retried", "from then on"]));
}

// Rule G8.
#[test]
fn retries_that_multiply_or_never_end_are_found() {
    let found = explore().run(|| {
        let inner = || retry_blocking(&STORE, sent).name("inner").run();
        retry_blocking(&STORE, inner).name("outer").run().unwrap();
    });
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::Multiplies], vec!["from then on"]));
    let expected = "`inner` made 5 attempts within one attempt of `outer`, which made 5: 25 failures in all";
    assert_eq!(found.findings[0].details, expected);

    let found = explore().run(|| while retry_blocking(&STORE, sent).run().is_err() {});
    assert_eq!((kinds(&found), cases(&found)), (vec![FindingKind::NeverGivesUp], vec!["from then on"]));
    assert_eq!(found.findings[0].details, "1100 passes");
}

/// Passes a point when it is dropped, also while the thread unwinds.
struct Closes;

impl Drop for Closes {
    fn drop(&mut self) {
        let _ = sent();
    }
}

// Rule G8.
#[test]
fn a_point_does_not_unwind_a_thread_that_unwinds_already() {
    let found = explore().run(|| {
        let _closes = Closes;
        while retry_blocking(&STORE, sent).run().is_err() {}
    });
    assert_eq!(kinds(&found), [FindingKind::NeverGivesUp]);
}

// Rule G8.
#[test]
fn notes_say_what_is_not_retried_and_that_a_test_notices_nothing() {
    let refused = explore().run(|| retry_blocking(&STORE, || may_fail(|| Failed::Refused)).name("call").run().unwrap());
    let place = refused.notes[0].split(": not retried").next().unwrap().to_owned();
    assert_eq!(refused.notes, [format!("{place}: not retried by `call` (not_retryable)")]);
    assert!(place.contains("explore.rs:"), "{place}");

    let outside = explore().run(|| {
        (0..2).for_each(|_| sent().unwrap());
        retry_blocking(&STORE, || Ok::<_, Failed>(())).run().unwrap();
    });
    assert!(outside.notes[0].ends_with(": outside of all retried operations"), "{outside}");
    assert_eq!(outside.notes.len(), 1);
    assert!(outside.findings.is_empty());

    let ignored = explore().run(|| {
        let _ = sent();
    });
    assert_eq!(ignored.notes[1..], ["the test passes whatever fails: assert its effects"]);
}

// Rule G9.
#[test]
fn runs_are_under_a_guard_which_inner_guards_and_handles_belong_to() {
    let found = explore().run(|| {
        let test = begin().max_attempts(2);
        let handle = test.handle();
        let sum = std::thread::spawn(move || handle.run(|| retry_blocking(&STORE, || sent().map(|()| 1)).run()));
        let passed = sum.join().unwrap();
        let operation = test.only();
        passed.unwrap();
        (operation.attempts, test.skipped().len())
    });
    // The other thread's point fails: one retry, whose wait is skipped, changes the record that the test returns.
    assert_eq!(found.findings[0].details, "(2, 1)\nwithout the failure: (1, 0)");
    assert_eq!((found.cases, cases(&found)), (3, vec!["once"]));
}

// Rule G9.
#[test]
fn a_run_that_hangs_is_left_behind_until_it_passes_a_point_and_three_end_the_explore() {
    let ended = Arc::new(AtomicU32::new(0));
    let ends = Arc::clone(&ended);
    let found = exploration_of_hangs().run(move || {
        struct Counts(Arc<AtomicU32>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let _counts = Counts(Arc::clone(&ends));
        for _ in 0..2 {
            if retry_blocking(&STORE, sent).report().attempts > 1 {
                loop {
                    std::thread::sleep(Duration::from_millis(10));
                    let _ = answered();
                }
            }
        }
        retry_blocking(&STORE, sent).run().unwrap();
    });
    // Once and from then on for the first pass, and once for the second one.
    assert_eq!(kinds(&found), [FindingKind::Hangs; 3]);
    assert_eq!((found.cases, found.passes), (4, 3));
    assert_eq!(found.unchecked, ["5 cases, because 3 runs hang, whose threads still exist"]);
    // Two runs without failures, and four cases.
    for _ in 0..500 {
        if ended.load(Ordering::Relaxed) == 2 + 4 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a thread does not end: {ended:?} ended");
}

// Rule G9.
#[test]
fn more_cases_than_the_maximum_are_a_sample_by_a_seed() {
    let sample = |seed| {
        let failed = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&failed);
        let found = explore().max_cases(4).seed(seed).run(move || {
            let attempts = [0; 10].map(|_| retry_blocking(&STORE, sent).report().attempts);
            log.lock().unwrap().push(attempts);
        });
        assert_eq!((found.cases, found.passes), (4, 10));
        let expected = format!("26 of 30 cases: the others are a sample with seed {seed}; `max_cases` sets its size");
        assert_eq!(found.unchecked, [expected]);
        let failed = failed.lock().unwrap();
        failed.clone()
    };
    assert_eq!(sample(0), sample(0));
    assert_ne!(sample(0), sample(1));
}

// Rule G9.
#[test]
fn one_case_runs_alone_and_the_report_says_how() {
    let broken = || {
        let attempts = Cell::new(0);
        for _ in 0..2 {
            let attempt = || {
                attempts.set(attempts.get() + 1);
                sent()
            };
            retry_blocking(&STORE, attempt).run().unwrap();
        }
        attempts.get()
    };
    let found = explore().run(broken);
    let Finding { place, case, .. } = found.findings[1].clone();
    assert_eq!(case, format!("{place}, pass 2, once"));
    let alone = explore().only(case.clone()).run(broken);
    assert_eq!((alone.findings, alone.cases), (vec![found.findings[1].clone()], 1));

    let report = format!(
        "6 cases of 2 places, 2 findings\n1. {place}: the result differs after a retry\n    3\n    without the failure: \
         2\n    to run this case alone: explore().only(\"{place}, pass 1, once\")\n    the same in further cases of this place: 1\n\
         unchecked: no case lost an answer after an effect; write `may_fail(|| error)?` in the fake after its effect, with an \
         error that may mean that the request was carried out, such as one with `#[retry(timeout)]`\n`assert_none` fails; if \
         nothing else is to be checked, write `explore().accept_unchecked()`\n"
    );
    assert_eq!(found.to_string(), report);
    let message = panic_of(|| explore().only("elsewhere").run(broken));
    assert!(message.starts_with("there is no case \"elsewhere\": expected one of\n  "), "{message}");
    assert!(message.contains(&case), "{message}");
}

// Rule G9.
#[test]
fn a_test_that_does_not_pass_and_repeat_without_failures_is_refused() {
    let message = panic_of(|| explore().run(|| panic!("broken")));
    assert!(message.starts_with("the explored test fails without failures: "), "{message}");
    assert!(message.ends_with("broken"), "{message}");

    let message = panic_of(|| explore().time_limit(Duration::from_millis(50)).run(std::thread::park));
    assert!(message.starts_with("the explored test does not end within 50ms without failures"), "{message}");

    let message = panic_of(|| explore().run(|| invariant(|| panic!("broken"))));
    assert!(message.starts_with("an invariant of the explored test does not hold without failures: "), "{message}");

    let runs = AtomicU32::new(0);
    let message = panic_of(|| explore().run(move || runs.fetch_add(1, Ordering::Relaxed)));
    assert_eq!(message, "the explored test returns 0, then 1: make it repeatable");

    let runs = AtomicU32::new(0);
    let message =
        panic_of(|| explore().run(move || (0..runs.fetch_add(1, Ordering::Relaxed)).for_each(|_| sent().unwrap())));
    assert_eq!(message, "two runs of the explored test pass different places: make it repeatable");
}

// Rule G9.
#[test]
fn an_exploration_without_a_place_is_not_a_pass() {
    let found = explore().run(|| ());
    assert!(found.findings.is_empty());
    let message = panic_of(|| found.assert_none());
    assert_eq!(
        message,
        "nothing was explored: the test makes no retried call, and its fake does not call `may_fail`\n"
    );
}
