//! The places that can fail, and what is noted while one run of a test passes them.

use super::super::record;
use crate::support::session::{self, Session, lock};
use crate::support::sync::Mutex;
use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How an attempt fails without a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// Before its body runs.
    NotSent,
    /// After its body succeeded.
    Lost,
    /// At an await of its body, which is dropped.
    Cut,
}

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Site {
    /// A point of a fake.
    Point(&'static Location<'static>),
    /// The attempts of the operations of this name.
    Attempts(&'static str, Fault),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point(location) => location.fmt(f),
            Self::Attempts(name, Fault::NotSent) => write!(f, "`{name}` not sent"),
            Self::Attempts(name, Fault::Lost) => write!(f, "`{name}` without an answer"),
            Self::Attempts(name, Fault::Cut) => write!(f, "`{name}` cut at an await"),
        }
    }
}

/// A site, and how often it was passed, with this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) site: Site,
    pub(super) pass: usize,
}

impl Place {
    /// Whether an attempt loses its answer here.
    pub(super) const fn loses_an_answer(&self) -> bool {
        matches!(self.site, Site::Attempts(_, Fault::Lost))
    }

    /// Whether an attempt is cut here.
    pub(super) const fn is_cut(&self) -> bool {
        matches!(self.site, Site::Attempts(_, Fault::Cut))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, pass {}", self.site, self.pass)
    }
}

/// How a place fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// Once.
    Once,
    /// Once, and no operation is retried from then on, as with an empty quota.
    Refused,
    /// From then on, so that the last attempt fails, too.
    Always,
}

/// A place that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) place: Place,
    pub(super) failing: Failing,
}

impl Case {
    fn fails(&self, place: Place) -> bool {
        place.site == self.place.site
            && (place.pass == self.place.pass || self.failing == Failing::Always && place.pass > self.place.pass)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.failing {
            Failing::Once => "once",
            Failing::Refused => "not retried",
            Failing::Always => "from then on",
        };
        write!(f, "{}, {how}", self.place)
    }
}

/// The closures that make the errors of requests without an answer, by the types of the errors.
#[derive(Clone, Debug, Default)]
pub(super) struct Makers(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

// No closure is called while anything is half changed.
impl UnwindSafe for Makers {}
impl RefUnwindSafe for Makers {}

type Maker<E> = Box<dyn Fn() -> E + Send + Sync>;

impl Makers {
    pub(super) fn add<E: 'static>(&mut self, make: impl Fn() -> E + Send + Sync + 'static) {
        let maker: Maker<E> = Box::new(make);
        self.0.insert(TypeId::of::<E>(), Arc::new(maker));
    }

    /// Returns an error of this type, if there is a closure for it.
    pub(super) fn make<E: 'static>(&self) -> Option<E> {
        self.0.get(&TypeId::of::<E>())?.downcast_ref::<Maker<E>>().map(|make| make())
    }
}

/// One run of a test.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) case: Option<Case>,
    /// The largest number of passes, after which the run is unwound.
    pub(super) limit: usize,
    pub(super) makers: Makers,
    pub(super) passed: Mutex<Passed>,
}

/// What happened in a run.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// The places, in the order in which they were passed. An attempt that is a place has its number.
    pub(super) places: Vec<(Place, Option<usize>)>,
    pub(super) counts: HashMap<Site, usize>,
    /// Whether a point was passed in each attempt.
    pub(super) attempts: Vec<bool>,
    /// The attempts that awaited something.
    pub(super) awaited: HashSet<usize>,
    /// The operations that were running at any place: their sessions and their indices there.
    pub(super) operations: HashSet<(usize, usize)>,
    /// The attempts with a hedge, with the names of their operations.
    pub(super) hedged: Vec<(usize, &'static str)>,
    pub(super) failures: Vec<Failure>,
    /// Why the failure could not be made.
    pub(super) unmade: Option<Unmade>,
    /// What can't be made, as far as the run without failures shows it.
    pub(super) missing: HashMap<Site, Missing>,
    /// The operation that repeated a request although it is not idempotent.
    pub(super) repeated: Option<&'static str>,
    pub(super) ran_away: bool,
    /// Whether the test has ended, so that no place fails any longer.
    pub(super) has_ended: bool,
    /// Whether the exploration no longer waits for the run.
    pub(super) is_abandoned: bool,
}

/// Why a failure can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmade {
    /// The policy evaluates outcomes only, and there is none.
    Directive,
    /// The operation ends, and has no error to return.
    Outcome,
}

impl Unmade {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Directive => {
                "its policy evaluates outcomes only; a point in the fake makes one: `may_fail(|| error)?` after its effect"
            }
            Self::Outcome => {
                "there is no error to return; `explore().no_answer(|| error)` makes one of a type that derives `RetryInfo`"
            }
        }
    }
}

/// What is missing for a failure: what the policy says about it, and its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) once: Option<Unmade>,
    pub(super) at_the_end: Option<Unmade>,
}

/// A failure of a place, with the operations that were running: their indices, and their attempts.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) session: Arc<Session>,
    pub(super) running: Vec<(usize, u32)>,
}

/// The payload that unwinds a run.
pub(super) struct Abandoned;

/// Returns the run of this thread, and its session.
pub(super) fn current() -> Option<(Arc<Session>, Arc<Run>)> {
    let session = session::current()?;
    let run = Arc::clone(&session.exploration()?.run).downcast().ok()?;
    Some((session, run))
}

#[derive(Clone, Copy)]
enum Now {
    Passes,
    Fails,
    Unwinds,
}

/// Unwinds a run, unless its thread unwinds already: a second panic would abort the process.
pub(super) fn unwind() {
    if !std::thread::panicking() {
        resume_unwind(Box::new(Abandoned));
    }
}

impl Run {
    /// Passes a site, and returns whether it fails. `attempts` are those within which a point is passed, or the one that is passed
    /// itself.
    pub(super) fn fails(&self, session: &Arc<Session>, site: Site, attempts: &[usize]) -> bool {
        let running = record::running(session);
        let now = {
            let mut passed = lock(&self.passed);
            if passed.is_abandoned {
                Now::Unwinds
            } else if passed.has_ended {
                Now::Passes
            } else if passed.places.len() >= self.limit {
                passed.ran_away = true;
                Now::Unwinds
            } else {
                let address = Arc::as_ptr(session) as usize;
                passed.operations.extend(running.iter().map(|(index, _)| (address, *index)));
                let count = passed.counts.entry(site).or_default();
                *count += 1;
                let place = Place { site, pass: *count };
                let whole = match site {
                    Site::Point(_) => {
                        for attempt in attempts {
                            passed.attempts[*attempt] = true;
                        }
                        None
                    }
                    Site::Attempts(..) => attempts.first().copied(),
                };
                passed.places.push((place, whole));
                if let Some(case) = self.case.filter(|case| case.fails(place)) {
                    if let (Failing::Refused, Some(exploration)) = (case.failing, session.exploration()) {
                        exploration.refuses_retries.store(true, Ordering::Relaxed);
                    }
                    passed.failures.push(Failure { session: Arc::clone(session), running });
                    Now::Fails
                } else {
                    Now::Passes
                }
            }
        };
        match now {
            Now::Passes => false,
            Now::Fails => true,
            Now::Unwinds => {
                unwind();
                false
            }
        }
    }
}
