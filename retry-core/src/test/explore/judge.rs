//! What is a finding, and what is not.

use super::FindingKind;
use super::place::{Case, Failing, Fault, Site};
use super::run::{End, Observed, Running};
use crate::policy::RetryErrorType;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What a run with a failure says about a test.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    pub(super) found: Vec<(FindingKind, String)>,
    /// What became of the failure; `None` if the run did not end, or if the failure did not happen.
    pub(super) fate: Option<Fate>,
    /// Whether the test noticed the failure, by a panic or another result.
    pub(super) is_noticed: bool,
}

/// What became of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The operation was retried, or its attempt succeeded in spite of the failure.
    Continued,
    /// The attempt that failed was the last one. The name is the operation's.
    GaveUp { name: &'static str, reason: &'static str },
    /// No operation was running.
    Outside,
}

/// Returns whether a failure may have followed an effect: an answer was lost, an attempt was cut, or the error of a point does not say
/// that the request was not carried out.
pub(super) fn may_follow_an_effect<T>(case: Case, observed: &Observed<T>) -> bool {
    match case.place.site {
        Site::Attempts(_, fault) => fault != Fault::NotSent,
        Site::Point(_) => observed.failures.iter().filter_map(|running| running.last()).any(|running| {
            let index = running.attempt.saturating_sub(1) as usize;
            let class = running.end.classes.get(index).copied().flatten();
            !matches!(class, Some(RetryErrorType::Throttling | RetryErrorType::Conflict))
        }),
    }
}

/// The reason of an operation that was dropped before its end, so that it had no error.
const DROPPED: &str = "dropped";

/// Judges a run by the run without failures.
///
/// The run without failures returned `expected`, and `operations` passed a place in it.
pub(super) fn judge<T: PartialEq + Debug>(
    expected: &T,
    operations: usize,
    case: Case,
    observed: &Observed<T>,
) -> Judgement {
    let mut found = Vec::new();
    match &observed.end {
        End::Hung => found.push((FindingKind::Hangs, "it did not end within the time limit".to_owned())),
        End::RanAway => found.push((FindingKind::NeverGivesUp, format!("{} passes", observed.passes))),
        _ => {}
    }
    if !found.is_empty() || observed.failures.is_empty() || matches!(observed.end, End::Unmade(_)) {
        return Judgement { found, ..Judgement::default() };
    }
    found.extend(observed.violations.iter().map(|message| (FindingKind::Invariant, message.clone())));
    if let Some(name) = observed.repeated {
        found.push((
            FindingKind::Repeats,
            format!("`{name}` is not idempotent, and its error says that a retry is safe"),
        ));
    }
    if case.failing == Failing::Always {
        found.extend(multiplied(&observed.failures).map(|details| (FindingKind::Multiplies, details)));
    }
    let fate = fate(&observed.failures);
    let difference = match &observed.end {
        End::Panicked(message) => Some((FindingKind::Breaks, message.clone())),
        End::Returned(value) if value != expected => {
            Some((FindingKind::Differs, format!("{value:?}\nwithout the failure: {expected:?}")))
        }
        _ => None,
    };
    let is_noticed = difference.is_some();
    match fate {
        Fate::Continued => found.extend(difference),
        // A further operation may have done the work in place of the one that gave up.
        Fate::GaveUp { name, reason }
            if case.failing == Failing::Always
                && reason != DROPPED
                && !is_noticed
                && found.is_empty()
                && observed.operations <= operations =>
        {
            let details = format!(
                "`{name}` gave up ({reason}), and the test passes with the same result\n\
                 if the caller is told, let the test return it, as in `.run(|| save().is_ok())`"
            );
            found.push((FindingKind::Swallowed, details));
        }
        Fate::GaveUp { .. } | Fate::Outside => {}
    }
    Judgement { found, fate: Some(fate), is_noticed }
}

/// An operation that was running at failures.
#[derive(Debug)]
struct Hit<'a> {
    /// The last attempt of it in which a point failed, and the end of the operation.
    last: &'a Running,
    /// The numbers of the failures at which it was running.
    failures: Vec<usize>,
}

impl Hit<'_> {
    /// Whether the attempt failed and was followed by another one.
    fn was_retried(&self) -> bool {
        self.last.end.attempts > self.last.attempt
    }

    /// Whether there was no attempt after the one that failed. An operation that was dropped then never ended.
    fn gave_up(&self) -> bool {
        !self.was_retried() && (!self.last.end.has_ended || self.last.end.reason.is_some())
    }
}

fn hits(failures: &[Vec<Running>]) -> BTreeMap<(usize, usize), Hit<'_>> {
    let mut hits = BTreeMap::new();
    for (number, failure) in failures.iter().enumerate() {
        for running in failure {
            let hit = hits.entry(running.id).or_insert_with(|| Hit { last: running, failures: Vec::new() });
            hit.last = running;
            hit.failures.push(number);
        }
    }
    hits
}

/// Returns what became of the failures. An operation that gave up within an operation that was retried did not give up.
fn fate(failures: &[Vec<Running>]) -> Fate {
    let hits = hits(failures);
    if hits.is_empty() {
        return Fate::Outside;
    }
    let is_within_a_retried = |id: &(usize, usize), hit: &Hit<'_>| {
        let covers = |outer: &Hit<'_>| hit.failures.iter().all(|failure| outer.failures.contains(failure));
        hits.range(..id).any(|(_, outer)| outer.was_retried() && covers(outer))
    };
    let gave_up = hits.iter().find(|(id, hit)| hit.gave_up() && !is_within_a_retried(id, hit));
    gave_up.map_or(Fate::Continued, |(_, hit)| Fate::GaveUp {
        name: hit.last.end.name,
        reason: hit.last.end.reason.map_or(DROPPED, |reason| reason.as_str()),
    })
}

/// Says whether an operation was retried within one attempt of another operation, which was then retried itself.
fn multiplied(failures: &[Vec<Running>]) -> Option<String> {
    let hits = hits(failures);
    let attempt_of = |id: &(usize, usize), failure: &usize| {
        failures[*failure].iter().find(|running| running.id == *id).map(|running| running.attempt)
    };
    for (id, inner) in hits.iter().filter(|(_, hit)| hit.last.end.attempts > 1) {
        for (outer_id, outer) in hits.range(..id) {
            let mut attempts = inner.failures.iter().map(|failure| attempt_of(outer_id, failure));
            let Some(Some(first)) = attempts.next() else { continue };
            if attempts.all(|attempt| attempt == Some(first))
                && inner.failures.len() > 1
                && outer.last.end.attempts > first
            {
                let (inner, outer) = (&inner.last.end, &outer.last.end);
                return Some(format!(
                    "`{}` made {} attempts within one attempt of `{}`, which made {}: {} failures in all",
                    inner.name,
                    inner.attempts,
                    outer.name,
                    outer.attempts,
                    failures.len()
                ));
            }
        }
    }
    None
}
