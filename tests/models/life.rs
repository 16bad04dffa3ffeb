//! The whole life of the limiters. Random programs drive a strategy through its modes, rates from elsewhere, limits that end
//! and begin, holds, operations that go away, and steps of the clock. After each step, each answer and each rate is compared
//! with the rules, written down plainly.

mod model;
mod rules;

use crate::program::{check, each};
use model::Life;
use proptest::collection::vec;
use proptest::prelude::*;
use retry_config::RetryMode;

/// One step of a program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    /// The clock is set back by so many milliseconds.
    SetBack(u64),
    /// One of the operations asks. If it has ended, the next one begins.
    Ask(usize),
    /// One of the operations is answered, also if it was not sent, and another one asks directly before.
    Answer(usize, Outcome),
    /// One of the operations goes away, whether it waits, has its send or was sent.
    Leave(usize),
    /// A rate from elsewhere begins or ends, and whether that is a cut.
    PaceAt(Option<f64>, bool),
    Mode(RetryMode),
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Success,
    Failure,
    /// The server rejects the request, and asks for a wait in milliseconds.
    Rejection(u64),
    /// It was sent, and nothing is heard of it.
    Unknown,
}

fn steps() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        6 => Just(Outcome::Success),
        1 => Just(Outcome::Failure),
        3 => Just(Outcome::Rejection(0)),
        1 => prop_oneof![Just(1_000_u64), 1_501..6_000_u64, Just(40_000)].prop_map(Outcome::Rejection),
        1 => Just(Outcome::Unknown),
    ];
    let rate = prop_oneof![1 => Just(None), 3 => prop_oneof![Just(0.5), Just(10.0), Just(200.0)].prop_map(Some)];
    let mode = prop_oneof![1 => Just(RetryMode::Standard), 1 => Just(RetryMode::Adaptive), 2 => Just(RetryMode::Paced)];
    prop_oneof![
        12 => (1..40_u64).prop_map(|time| Step::Advance(2 * time)),
        2 => (1..1_500_u64).prop_map(|time| Step::Advance(2 * time)),
        1 => (1..1_500_u64).prop_map(|time| Step::SetBack(2 * time)),
        24 => (0..8_usize).prop_map(Step::Ask),
        8 => (0..8_usize, outcome).prop_map(|(slot, outcome)| Step::Answer(slot, outcome)),
        2 => (0..8_usize).prop_map(Step::Leave),
        1 => (rate, any::<bool>()).prop_map(|(rate, is_cut)| Step::PaceAt(rate, is_cut)),
        1 => mode.prop_map(Step::Mode),
    ]
}

// Rules A4, A8, A9, A10, A11, A12, A13, L6, L8, L9, L10, L14, C19, K3.
#[test]
fn each_answer_is_that_of_the_rules_in_any_course_of_events() {
    let programs = (any::<bool>(), vec(steps(), 1..120));
    check(file!(), 1000, programs, |(has_ramp, steps)| {
        let mut life = Life::new(has_ramp);
        each(steps, |step| life.step(step));
        life.end();
    });
}
