//! What an exploration found, for a person.

use std::fmt;

/// What an [exploration](super::explore()) found. `Display` is a report.
#[derive(Clone, Debug)]
#[must_use = "assert it, as in `explore().run(test).assert_none()`"]
#[non_exhaustive]
pub struct Findings {
    /// The failures that break the test, in the order of their places.
    pub findings: Vec<Finding>,
    /// What is not wrong, but worth knowing: failures that nothing retries, and a test that notices no failure.
    pub notes: Vec<String>,
    /// The cases that were not run, or whose failure did not happen.
    pub unchecked: Vec<String>,
    /// The number of cases that were run. Each is a run with one failing place.
    pub cases: usize,
    /// How often the run without failures passed a place that can fail: a point, or an attempt that passes no point.
    pub passes: usize,
    /// Whether an attempt was not checked.
    pub(super) leaves_attempts: bool,
    /// The number of cases whose failure may have followed an effect.
    pub(super) lost_answers: usize,
    /// Whether it is meant that something is not checked.
    pub(super) accepts_unchecked: bool,
}

/// A failure that breaks a test.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The case, for [`Explore::only`](super::Explore::only): the place, how often it was passed, and how it failed.
    pub case: String,
    /// The place that failed: a point as `file:line:column`, or the name of an operation and how its attempt failed.
    pub place: String,
    /// The message of the panic, the two results, or the numbers of attempts.
    pub details: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// The test panics although the operation was retried.
    Breaks,
    /// The result of the test differs although the operation was retried.
    Differs,
    /// An invariant does not hold.
    Invariant,
    /// The test does not end.
    Hangs,
    /// The test passes places without end.
    NeverGivesUp,
    /// A request that is not idempotent is sent again after it had no answer.
    Repeats,
    /// An operation is retried, and so is an operation within it.
    Multiplies,
    /// The operation gave up, and the test passes with the same result. So the program, or the test, ignores an error.
    Swallowed,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Breaks => "the test fails after a retry",
            Self::Differs => "the result differs after a retry",
            Self::Invariant => "an invariant does not hold",
            Self::Hangs => "the test hangs",
            Self::NeverGivesUp => "the test never gives up",
            Self::Repeats => "a request that is not idempotent is repeated",
            Self::Multiplies => "retries multiply",
            Self::Swallowed => "an error is swallowed",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.place, self.kind)?;
        for line in self.details.lines() {
            writeln!(f, "    {line}")?;
        }
        write!(f, "    to run this case alone: explore().only({:?})", self.case)
    }
}

impl Findings {
    /// Asserts that nothing was found, and that the exploration saw what it is for.
    ///
    /// # Panics
    ///
    /// Panics with the report if there is a finding, or if no case was run. Unless the exploration
    /// [accepts](super::Explore::accept_unchecked) it, it also panics if an attempt is unchecked, and if no case lost an answer after an
    /// effect. The report names the line to write.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(self.findings.is_empty() && self.cases > 0 && !self.is_blind(), "{self}");
    }

    /// Returns whether the exploration did not see what it is for, and that is not accepted.
    fn is_blind(&self) -> bool {
        !self.accepts_unchecked && (self.leaves_attempts || self.lost_answers == 0)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { findings, notes, unchecked, cases, passes, .. } = self;
        if *cases == 0 {
            writeln!(f, "nothing was explored: the test makes no retried call, and its fake does not call `may_fail`")?;
        } else {
            writeln!(f, "{cases} cases of {passes} places, {} findings", findings.len())?;
        }
        // One mistake is usually found by many cases.
        let mut shown: Vec<&Finding> = Vec::new();
        for finding in findings {
            let is_like = |other: &&Finding| (other.kind, &other.place) == (finding.kind, &finding.place);
            if shown.iter().any(is_like) {
                continue;
            }
            shown.push(finding);
            writeln!(f, "{}. {finding}", shown.len())?;
            let more = findings.iter().filter(is_like).count() - 1;
            if more > 0 {
                writeln!(f, "    the same in further cases of this place: {more}")?;
            }
        }
        for (title, lines) in [("note", notes), ("unchecked", unchecked)] {
            for line in lines {
                writeln!(f, "{title}: {line}")?;
            }
        }
        if *cases > 0 && self.is_blind() {
            if self.lost_answers == 0 {
                writeln!(
                    f,
                    "unchecked: no case lost an answer after an effect; write `may_fail(|| error)?` in the fake after its effect, \
                     with an error that may mean that the request was carried out, such as one with `#[retry(timeout)]`"
                )?;
            }
            writeln!(f, "`assert_none` fails; if nothing else is to be checked, write `explore().accept_unchecked()`")?;
        }
        Ok(())
    }
}
