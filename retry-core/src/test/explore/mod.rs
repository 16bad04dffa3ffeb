//! Runs a test again and again, each time with one failure at another place.

mod attempt;
mod judge;
mod place;
mod point;
mod report;
mod run;

pub(crate) use attempt::{Attempt, no_answer};
pub(crate) use place::{Fault, Unmade};
pub use point::{invariant, may_fail};
pub use report::{Finding, FindingKind, Findings};

use judge::{Fate, judge, may_follow_an_effect};
use place::{Case, Failing, Makers, Missing, Place, Site};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use run::{End, Observed, Test, run};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// Explores what failures do to a test that passes without them.
///
/// Each attempt can fail: it is not sent, its answer is lost after it succeeded, or it is cut at an await. An answer is lost only if
/// the attempt never awaited, or if awaits differ from run to run, as with real sockets; and after the whole attempt: if that has cleared what a retry needs, the finding is a false alarm,
/// which a fake that awaits or has points avoids. In an attempt whose fake calls [`may_fail`], only these points fail.
///
/// An exploration runs the test without failures, and then three times for each pass of such a place:
///
/// | case | what fails | what it shows |
/// |---|---|---|
/// | once | this pass | a retry that repeats an effect, or that begins with what the failed attempt left |
/// | not retried | this pass, after which no operation is retried, as with an empty quota | what giving up leaves behind |
/// | from then on | this pass and each later one of the same place | the same after the last attempt; retries that multiply or never end |
///
/// [`no_answer`](Explore::no_answer) makes the errors of attempts. Without it, only retries are checked. Calls with a
/// [hedge](crate#features) are not explored without points.
///
/// ```
/// use retry_core::test::explore;
/// use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
/// use std::cell::RefCell;
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(timeout)]
/// struct NoAnswer;
///
/// #[derive(Default)]
/// struct FakeStore(RefCell<Vec<u32>>);
///
/// impl FakeStore {
///     async fn append(&self, item: u32) -> Result<(), NoAnswer> {
///         self.0.borrow_mut().push(item);
///         Ok(())
///     }
/// }
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// // Wrong: it lacks `idempotent = false`.
/// #[retryable(strategy = STORE)]
/// async fn charge(store: &FakeStore, amount: u32) -> Result<(), NoAnswer> {
///     store.append(amount).await
/// }
///
/// let found = explore().no_answer(|| NoAnswer).run(|| {
///     let runtime = tokio::runtime::Builder::new_current_thread()
///         .enable_time()
///         .start_paused(true)
///         .build()
///         .unwrap();
///     runtime.block_on(async {
///         let store = FakeStore::default();
///         charge(&store, 5).await.unwrap();
///         assert_eq!(*store.0.borrow(), [5]);
///     });
/// });
/// // The test of a right program ends with `found.assert_none()`.
/// assert!(found.to_string().contains("the test fails after a retry"), "{found}");
/// ```
///
/// # What a finding is
///
/// - If the operation was retried, or its attempt succeeded in spite of the failure: a panic, and a result that differs from
///   the run without failures.
/// - If the attempt that failed was the last one, neither is a finding, because a caller may return the error, and a test may
///   unwrap it.
/// - In each case: a run that hangs or passes places without end, an [`invariant`] that does not hold, an operation that is
///   retried within an operation that is retried, too, and a request that has no answer and is repeated although the policy
///   says that it is not idempotent.
///
/// - If a place fails from then on, the operation gives up with an error, and the test passes with the same result: an error that is
///   swallowed. A program that may ignore it is tested by the result that its caller gets: `.run(|| save().is_ok())`.
///
/// So a test finds what it asserts: assert each effect, such as the whole log of the fake. A test that asserts the number of
/// requests or attempts fails after each retry. [`Findings::notes`] say where nothing is retried, and whether the test
/// notices no failure.
///
/// # What was not tried
///
/// [`Findings::assert_none`] fails if the exploration did not see what it is for: if an attempt is unchecked, or no answer was lost after
/// an effect. The report names the line to write. [`accept_unchecked`](Explore::accept_unchecked) says that this is meant.
///
/// A client and a server on a real socket need no points: give the exploration the client's error by [`no_answer`](Explore::no_answer).
/// To let the server fail itself, one line around it sets a point after its effect:
///
/// | fake | line |
/// |---|---|
/// | a service of tower | `service.map_result(\|answer\| may_fail(\|\| StoreError::NoAnswer).and(answer))` |
/// | axum, on the runtime of the test | in a `middleware::from_fn`, after `next.run(request).await`: `may_fail(\|\| StatusCode::GATEWAY_TIMEOUT)?` |
/// | wiremock, on its own threads | in the closure of `respond_with`: `handle.run(\|\| may_fail(..))`, with the handle of a guard in the test |
///
/// # What it is for
///
/// What the library does about the mistakes of a study ("If at First You Don't Succeed, Try, Try, Again...?", SOSP 2024, 70 issues):
///
/// | mistake | issues | here |
/// |---|---|---|
/// | an error is misjudged | 13 | labels and tables for known clients; a note of `explore` says which errors are not retried |
/// | no limit, or an unsafe one | 13 | impossible with the presets; `explore` finds endless loops, and retries within retries |
/// | state of a failed attempt is left | 12 | `explore` finds it, if the test asserts the effect |
/// | no delay | 10 | impossible: each preset has backoff with jitter |
/// | no retry, or it is off | 8 | a note of `explore`: failures outside of all retried operations |
/// | tracking of jobs | 8 | partly: an `invariant`; threads are not explored |
/// | cancelled work is retried | 4 | impossible, unless it is spawned |
///
/// # What a run is
///
/// A run has its own thread and its own [test guard](super::begin), so waits are skipped and strategies are fresh. Make
/// everything else in the closure: the fake and the runtime, with tokio's paused time if the code has timers. What is in a
/// static keeps its state from run to run. Points on other threads are explored if they enter the run by the
/// [handle](super::TestGuard::handle) of a guard that the test begins. Futures of fakes that never yield hide what happens
/// when operations interleave: call `tokio::task::yield_now().await` between the steps of a fake.
/// This also shows what a cut leaves behind.
///
/// The first exploration of a process wraps the panic hook: panics on the threads of runs are kept for the report, and
/// others reach the hook that was set before.
pub fn explore() -> Explore {
    Explore {
        time_limit: Duration::from_secs(10),
        max_cases: 300,
        seed: 0,
        only: None,
        accepts_unchecked: false,
        makers: Makers::default(),
    }
}

/// The settings of an exploration. Created by [`explore()`].
#[derive(Clone, Debug)]
#[must_use = "an exploration does nothing until `run` is called"]
pub struct Explore {
    time_limit: Duration,
    max_cases: usize,
    seed: u64,
    only: Option<String>,
    accepts_unchecked: bool,
    makers: Makers,
}

/// The note about cuts that another run does not reach.
const CUTS_DIFFER: &str =
    "awaits differ from run to run, as with real sockets, so answers are lost after the whole attempt, too";

/// The run without failures.
struct Baseline<T> {
    value: T,
    /// The number of operations that passed a place.
    operations: usize,
    places: Vec<Place>,
    /// The places at which attempts lose their answers if cuts differ from run to run.
    lost: Vec<Place>,
    missing: HashMap<Site, Missing>,
}

/// After so many runs that hang, the other cases are not run.
const MAX_HUNG: usize = 3;

impl Explore {
    /// Sets the real time after which a run hangs. The default is 10 s.
    ///
    /// The thread of a run that hangs is never ended, unless it passes a point. After three of them, the exploration stops,
    /// and [`Findings::unchecked`] says so.
    pub fn time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Sets the maximum number of cases, 300 by default. If there are more, a random sample of them is run, and
    /// [`Findings::unchecked`] says so.
    pub fn max_cases(mut self, max_cases: usize) -> Self {
        self.max_cases = max_cases;
        self
    }

    /// Sets the seed of the sample. The default is 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how an error of this type is made for a request without an answer. Call it once for each type of errors.
    ///
    /// The error is what the policy evaluates, what `on_retry` gets, and what the operation returns after its last attempt. It is
    /// made for errors that derive [`RetryInfo`](macro@crate::RetryInfo) and have no generic parameters, where the policy is the
    /// standard one.
    pub fn no_answer<E: 'static>(mut self, error: impl Fn() -> E + Send + Sync + 'static) -> Self {
        self.makers.add(error);
        self
    }

    /// Accepts that attempts are unchecked, and that no case loses an answer after an effect. Otherwise
    /// [`Findings::assert_none`] fails in these cases.
    pub fn accept_unchecked(mut self) -> Self {
        self.accepts_unchecked = true;
        self
    }

    /// Runs only one case, whose name a report gives.
    pub fn only(mut self, case: impl Into<String>) -> Self {
        self.only = Some(case.into());
        self
    }

    /// Explores a test.
    ///
    /// # Panics
    ///
    /// Panics if the test panics, hangs or breaks an invariant without failures, if two such runs return different results
    /// or pass different places, and if there is no case of the name that [`only`](Self::only) was given.
    #[track_caller]
    pub fn run<T>(self, test: impl Fn() -> T + Send + Sync + 'static) -> Findings
    where
        T: PartialEq + Debug + Send + 'static,
    {
        let test: Test<T> = Arc::new(test);
        let mut found = Findings {
            findings: Vec::new(),
            notes: Vec::new(),
            unchecked: Vec::new(),
            cases: 0,
            passes: 0,
            leaves_attempts: false,
            lost_answers: 0,
            accepts_unchecked: self.accepts_unchecked || self.only.is_some(),
        };
        let Baseline { value: expected, operations, places, mut lost, missing } = self.baseline(&test, &mut found);
        found.passes = places.len();
        let mut cases = self.cases(&places, &missing, &mut found);
        // More than any quota pays for.
        let limit = 1000 + 100 * places.len();
        let (mut hung, mut exhausted, mut noticed) = (0, 0, 0);
        let mut index = 0;
        while let Some(case) = cases.get(index).copied() {
            if hung == MAX_HUNG {
                found.unchecked.push(format!(
                    "{} cases, because {hung} runs hang, whose threads still exist",
                    cases.len() - index
                ));
                break;
            }
            index += 1;
            let observed = run(&test, Some(case), &self.makers, limit, self.time_limit);
            found.cases += 1;
            hung += usize::from(matches!(observed.end, End::Hung));
            let judgement = judge(&expected, operations, case, &observed);
            found.lost_answers += usize::from(may_follow_an_effect(case, &observed) && judgement.fate.is_some());
            let place = case.place.site.to_string();
            found.findings.extend(judgement.found.into_iter().map(|(kind, details)| Finding {
                kind,
                case: case.to_string(),
                place: place.clone(),
                details,
            }));
            if let End::Unmade(why) = &observed.end {
                found.leave(format!("{place}: {}", why.as_str()));
                continue;
            }
            match judgement.fate {
                None if observed.failures.is_empty() && case.place.is_cut() => {
                    found.note(CUTS_DIFFER.to_owned());
                    cases.extend(self.cases(&std::mem::take(&mut lost), &missing, &mut found));
                }
                None if observed.failures.is_empty() => {
                    found.leaves_attempts = true;
                    found.unchecked.push(format!("{case}: the run did not reach it"));
                }
                Some(Fate::GaveUp { name, reason }) if case.failing == Failing::Once => {
                    found.note(format!("{place}: not retried by `{name}` ({reason})"));
                }
                Some(Fate::Outside) => found.note(format!("{place}: outside of all retried operations")),
                _ => {}
            }
            if case.failing == Failing::Always && judgement.fate.is_some() {
                exhausted += 1;
                noticed += usize::from(judgement.is_noticed);
            }
        }
        if exhausted > 0 && noticed == 0 && found.findings.is_empty() {
            found.note("the test passes whatever fails: assert its effects".to_owned());
        }
        found
    }

    /// Runs the test twice without failures, and returns its result and the places that it passed.
    #[track_caller]
    fn baseline<T: PartialEq + Debug + Send + 'static>(&self, test: &Test<T>, found: &mut Findings) -> Baseline<T> {
        let mut once = || {
            let Observed { end, places, lost, operations, hedged, missing, violations, .. } =
                run(test, None, &self.makers, usize::MAX, self.time_limit);
            if let Some(violation) = violations.first() {
                panic!("an invariant of the explored test does not hold without failures: {violation}");
            }
            for name in hedged {
                found.leave(format!("`{name}`: the attempts of a call with a hedge fail at points only"));
            }
            match end {
                End::Returned(value) => Baseline { value, operations, places, lost, missing },
                End::Panicked(message) => panic!("the explored test fails without failures: {message}"),
                End::Hung | End::RanAway | End::Unmade(_) => panic!(
                    "the explored test does not end within {:?} without failures; `time_limit` sets another limit",
                    self.time_limit
                ),
            }
        };
        let (mut first, mut second) = (once(), once());
        assert!(
            first.value == second.value,
            "the explored test returns {:?}, then {:?}: make it repeatable",
            first.value,
            second.value
        );
        if first.places != second.places || self.only.is_some() {
            // How often a future is polled can differ.
            let differ = first.places != second.places;
            for run in [&mut first, &mut second] {
                run.places.retain(|place| !differ || !place.is_cut());
                run.places.append(&mut run.lost);
            }
            assert!(
                first.places == second.places,
                "two runs of the explored test pass different places: make it repeatable"
            );
            if differ {
                found.note(CUTS_DIFFER.to_owned());
            }
        }
        first
    }

    /// Returns the cases to run, in the order of their places.
    #[track_caller]
    fn cases(&self, places: &[Place], missing: &HashMap<Site, Missing>, found: &mut Findings) -> Vec<Case> {
        let failings = [Failing::Once, Failing::Refused, Failing::Always];
        let all = places.iter().flat_map(|place| failings.map(|failing| Case { place: *place, failing }));
        let mut can_be_made = |case: &Case| {
            let missing = missing.get(&case.place.site).and_then(|missing| match case.failing {
                Failing::Once => missing.once,
                Failing::Refused | Failing::Always => missing.at_the_end,
            });
            if let Some(why) = missing {
                found.leave(format!("{}: {}", case.place.site, why.as_str()));
            }
            missing.is_none()
        };
        let all: Vec<_> = all.filter(|case| can_be_made(case)).collect();
        if let Some(only) = &self.only {
            let case = all.iter().find(|case| case.to_string() == *only).copied();
            let Some(case) = case else {
                let names: Vec<_> = all.iter().map(|case| format!("\n  {case}")).collect();
                panic!("there is no case {only:?}: expected one of{}", names.concat());
            };
            return vec![case];
        }
        let mut cases: Vec<_> = all.into_iter().enumerate().collect();
        let number = cases.len();
        if number > self.max_cases {
            let drawn =
                |index: usize| Xoshiro256PlusPlus::seed_from_u64(self.seed ^ ((index as u64) << 32)).random::<u64>();
            cases.sort_by_key(|(index, _)| drawn(*index));
            cases.truncate(self.max_cases);
            cases.sort_by_key(|(index, _)| *index);
            found.unchecked.push(format!(
                "{} of {number} cases: the others are a sample with seed {}; `max_cases` sets its size",
                number - cases.len(),
                self.seed
            ));
        }
        cases.into_iter().map(|(_, case)| case).collect()
    }
}

impl Findings {
    /// Adds attempts that were not checked, once.
    fn leave(&mut self, unchecked: String) {
        self.leaves_attempts = true;
        if !self.unchecked.contains(&unchecked) {
            self.unchecked.push(unchecked);
        }
    }

    /// Adds a note once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
