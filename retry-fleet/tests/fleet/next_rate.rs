//! What a process computes when the store asks it for the next rate: which answers are measured, and which are not.

use crate::fake::{MEASURED, One};
use retry_core::time::Timestamp;
use retry_fleet::protocol::{LimitReply, Post, Step};
use retry_limits::GoodputEstimator;
use std::time::Duration;

/// The time of the step, by the clock of the store.
const NOW: u64 = 3_000;

fn by_store(millis: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_millis(millis))
}

/// An estimator that has measured nearly half of the limit of 200 for three seconds.
fn before() -> GoodputEstimator {
    let mut estimator = GoodputEstimator::for_all_at(200.0, by_store(0));
    estimator.accept(by_store(2_750), 275);
    estimator
}

/// What becomes of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Continues,
    BeginsAgain,
    Cut,
    BeginsAgainAndCut,
    /// The estimate stays, and the rate is the estimate.
    Stays,
}

impl Then {
    fn of(self, mut estimator: GoodputEstimator, accepted: u32) -> String {
        let now = by_store(NOW);
        estimator.accept(now, accepted);
        match self {
            Self::Continues => {}
            Self::BeginsAgain => estimator.pause(now),
            Self::Cut => estimator.reject(now),
            Self::BeginsAgainAndCut => {
                estimator.pause(now);
                estimator.reject(now);
            }
            Self::Stays => estimator = GoodputEstimator::for_all_at(estimator.estimate().unwrap(), now),
        }
        estimator.to_string()
    }
}

/// A step, by default one that is measured.
struct Case {
    version: u64,
    cut: u64,
    rate: Option<(f64, f64)>,
    waiting: u32,
    elapsed: u64,
    accepted: u64,
    rejected: u64,
    /// The numbers of processes in the replies, the last of which asks for the step. Before each but the first one, the store is silent
    /// if there are three.
    members: &'static [u32],
}

const CASE: Case = Case {
    version: 54,
    cut: 50,
    rate: Some((200.0, 200.0)),
    waiting: 10,
    elapsed: 250,
    accepted: 28,
    rejected: 0,
    members: &[20, 20],
};

/// The store is silent, and only half of the processes are back.
const HALF: &[u32] = &[20, 10, 10];

impl Case {
    fn posted(&self, state: Option<String>) -> Post {
        let Self { version, cut, rate, waiting, elapsed, accepted, rejected, members } = *self;
        let mut one = One::joined(members[0], MEASURED);
        let mut now = 0;
        for members in &members[1..members.len() - 1] {
            now = 1_500;
            one.answered(now, *members, MEASURED);
        }
        let step = Some(Step { version, now: NOW, elapsed, accepted, rejected, state });
        one.answered(now, members[members.len() - 1], LimitReply { version, cut, rate, satisfied: 0, waiting, step });
        assert_eq!(one.member.next_call_at(), crate::millis::at(now), "the rate is posted immediately");
        let posted = one.call(now).posted.unwrap();
        assert_eq!(one.call(now).posted, None, "it is posted once");
        posted
    }
}

// Rules F8, F27, F37, F38, F47.
#[test]
fn a_step_measures_what_was_accepted_unless_something_else_explains_it() {
    let texts = [Then::Continues, Then::BeginsAgain, Then::Cut, Then::BeginsAgainAndCut, Then::Stays]
        .map(|then| then.of(before(), 28));
    assert!((0..5).all(|one| (0..one).all(|other| texts[one] != texts[other])), "{texts:?}");

    for (case, then) in [
        (CASE, Then::Continues),
        // Far less was accepted than the rate allows, although processes wait.
        (Case { accepted: 27, ..CASE }, Then::BeginsAgain),
        (Case { accepted: 27, waiting: 1, ..CASE }, Then::BeginsAgain),
        (Case { accepted: 27, waiting: 50, ..CASE }, Then::BeginsAgain),
        // Each process sends less than once in the step.
        (Case { accepted: 27, waiting: 51, ..CASE }, Then::Continues),
        (Case { accepted: 0, waiting: 51, ..CASE }, Then::Continues),
        (Case { accepted: 118, elapsed: 1_000, ..CASE }, Then::Continues),
        (Case { accepted: 117, elapsed: 1_000, ..CASE }, Then::BeginsAgain),
        (Case { accepted: 13, rate: Some((100.0, 200.0)), ..CASE }, Then::Continues),
        (Case { accepted: 12, rate: Some((100.0, 200.0)), ..CASE }, Then::BeginsAgain),
        (Case { accepted: 0, rate: Some((259.0, 200.0)), ..CASE }, Then::BeginsAgain),
        // The rate doubles.
        (Case { accepted: 0, rate: Some((260.0, 200.0)), ..CASE }, Then::Continues),
        (Case { accepted: 0, rate: None, ..CASE }, Then::Continues),
        // Soon after a cut, not all rejections are reported.
        (Case { accepted: 0, version: 53, ..CASE }, Then::Continues),
        (Case { accepted: 0, version: 50, ..CASE }, Then::Continues),
        (Case { accepted: 0, version: 60, ..CASE }, Then::BeginsAgain),
        // No process waits.
        (Case { waiting: 0, ..CASE }, Then::Stays),
        (Case { accepted: 0, waiting: 0, ..CASE }, Then::Stays),
        (Case { waiting: 1, ..CASE }, Then::Continues),
        // Some have died.
        (Case { members: &[20, 18], ..CASE }, Then::Continues),
        (Case { members: &[20, 17], ..CASE }, Then::BeginsAgain),
        (Case { members: &[20, 17], waiting: 0, ..CASE }, Then::BeginsAgain),
        (Case { members: &[20, 17], rejected: 1, ..CASE }, Then::Cut),
        // Rejections, which count less in the first three steps.
        (Case { rejected: 1, ..CASE }, Then::Cut),
        (Case { version: 3, cut: 0, rejected: 1, ..CASE }, Then::Cut),
        (Case { version: 2, cut: 0, rejected: 28, ..CASE }, Then::Continues),
        (Case { version: 2, cut: 0, rejected: 29, ..CASE }, Then::Cut),
        (Case { version: 2, cut: 0, accepted: 3, rejected: 2, ..CASE }, Then::Continues),
        (Case { version: 0, cut: 0, rejected: 1, ..CASE }, Then::Continues),
        (Case { version: 0, cut: 0, accepted: 0, rejected: 1, ..CASE }, Then::Cut),
        // Half of the processes are back.
        (Case { members: HALF, ..CASE }, Then::BeginsAgain),
        (Case { members: HALF, accepted: 28, rejected: 3, ..CASE }, Then::BeginsAgainAndCut),
        (Case { members: HALF, accepted: 19, rejected: 2, ..CASE }, Then::BeginsAgainAndCut),
        (Case { members: HALF, accepted: 91, rejected: 9, ..CASE }, Then::BeginsAgainAndCut),
        (Case { members: HALF, accepted: 90, rejected: 10, ..CASE }, Then::Cut),
        (Case { members: HALF, accepted: 27, rejected: 3, ..CASE }, Then::Cut),
        (Case { members: &[20, 10, 20], accepted: 28, rejected: 3, ..CASE }, Then::Cut),
    ] {
        let posted = case.posted(Some(before().to_string()));
        let shown = format!(
            "step {} after {} by {:?}: {} and {} in {} ms, {} wait, {:?}",
            case.version, case.cut, case.rate, case.accepted, case.rejected, case.elapsed, case.waiting, case.members
        );
        assert_eq!(posted.state, then.of(before(), u32::try_from(case.accepted).unwrap()), "{then:?}: {shown}");
        let is_cut = matches!(then, Then::Cut | Then::BeginsAgainAndCut);
        assert_eq!((posted.version, posted.is_cut), (case.version, is_cut), "{shown}");
        assert_eq!((posted.accepted, posted.rejected), (case.accepted, case.rejected), "{shown}");
        let estimator: GoodputEstimator = posted.state.parse().unwrap();
        let expected = (estimator.rate(by_store(NOW)), estimator.estimate().unwrap());
        assert_eq!((posted.rate, posted.estimate), expected, "{shown}");
    }
}

// Rules F8, F25.
#[test]
fn after_a_gap_of_two_seconds_only_the_estimate_is_kept() {
    for (elapsed, then) in [(1_999, before()), (2_000, GoodputEstimator::for_all_at(200.0, by_store(NOW)))] {
        let case = Case { elapsed, accepted: 300, ..CASE };
        assert_eq!(case.posted(Some(before().to_string())).state, Then::Continues.of(then, 300), "{elapsed} ms");
    }
    // More than can be counted.
    let case = Case { accepted: 1 << 33, ..CASE };
    assert_eq!(case.posted(Some(before().to_string())).state, Then::Continues.of(before(), u32::MAX));
}

// Rules F8, F26, F39.
#[test]
fn without_a_state_a_step_continues_from_the_estimate_of_the_store_and_with_a_damaged_one_from_its_own() {
    let at = |estimate| GoodputEstimator::for_all_at(estimate, by_store(NOW));
    let lower = Case { rate: Some((50.0, 50.0)), ..CASE };
    assert_eq!(lower.posted(None).state, Then::Continues.of(at(50.0), 28));
    assert_eq!(lower.posted(Some("damaged".into())).state, Then::Continues.of(at(200.0), 28));
    assert_eq!(lower.posted(Some(before().to_string())).state, Then::Continues.of(before(), 28));

    // Before there is an estimate, nothing is known that a missing process could spoil.
    let begins = GoodputEstimator::for_all(by_store(NOW));
    let young = Case { version: 1, cut: 0, rate: None, ..CASE };
    for (case, then) in [
        (Case { accepted: 28, ..young }, Then::Continues),
        (Case { members: &[20, 17], ..young }, Then::Continues),
        (Case { waiting: 0, ..young }, Then::BeginsAgain),
    ] {
        let posted = case.posted(None);
        assert_eq!(posted.state, then.of(begins, 28), "{then:?}");
        assert_eq!((posted.rate, posted.estimate, posted.is_cut), (posted.rate, posted.rate, false));
    }
    // The first process of a fleet does not miss others.
    let mut one = One::new();
    let state = Some(before().to_string());
    let step = Step { version: 54, now: NOW, elapsed: 250, accepted: 28, rejected: 0, state };
    one.answered(0, 1, LimitReply { version: 54, cut: 50, waiting: 1, step: Some(step), ..MEASURED });
    assert_eq!(one.call(0).posted.unwrap().state, Then::Continues.of(before(), 28));
}
