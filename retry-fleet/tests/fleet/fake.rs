//! One process with a strategy whose answers the test sets.

use crate::millis::at;
use retry_core::Clock;
use retry_fleet::Member;
use retry_fleet::protocol::{LimitCall, LimitReply, Reply};
use retry_limits::{PacedAnswers, PacedStrategy};
use std::sync::{Arc, Mutex};

/// The reply to a process of a fleet whose limit was measured, while all of ten wait.
pub(crate) const MEASURED: LimitReply =
    LimitReply { version: 50, cut: 1, rate: Some((200.0, 200.0)), satisfied: 0, waiting: 10, step: None };

/// A strategy that sends nothing itself, and notes the rates that the fleet sets.
#[derive(Default)]
pub(crate) struct Fake(Mutex<State>);

#[derive(Default)]
struct State {
    answers: PacedAnswers,
    /// Whether each rate was set after a cut.
    paced: Vec<(Option<f64>, bool)>,
}

impl PacedStrategy for Fake {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, _: &dyn Clock) -> PacedAnswers {
        let mut state = self.0.lock().unwrap();
        state.paced.push((rate, is_cut));
        state.answers
    }
}

/// A process whose calls and replies the test makes, with times in milliseconds.
pub(crate) struct One {
    pub(crate) member: Member,
    strategy: Arc<Fake>,
}

impl One {
    /// Creates a process that has made its first call.
    pub(crate) fn new() -> Self {
        let strategy = Arc::new(Fake::default());
        let member = Member::new("orders", "p1", at(0)).limit(Arc::clone(&strategy));
        let mut one = Self { member, strategy };
        assert_eq!(one.call(0), LimitCall::default());
        one
    }

    /// Creates a process that has received this reply in the same moment.
    pub(crate) fn joined(members: u32, reply: LimitReply) -> Self {
        let mut one = Self::new();
        one.answered(0, members, reply);
        one
    }

    /// Lets the server accept and reject requests, after so many had to wait.
    pub(crate) fn sends(&self, accepted: u64, rejected: u64, waits: u64) {
        let answers = &mut self.strategy.0.lock().unwrap().answers;
        answers.accepted += accepted;
        answers.rejected += rejected;
        answers.waits += waits;
    }

    pub(crate) fn call(&mut self, now: u64) -> LimitCall {
        self.member.call(at(now), false).limit.unwrap()
    }

    pub(crate) fn answered(&mut self, now: u64, members: u32, limit: LimitReply) {
        self.answered_in("epoch", now, members, limit);
    }

    pub(crate) fn answered_in(&mut self, epoch: &str, now: u64, members: u32, limit: LimitReply) {
        let mut reply = Reply::new(epoch, members);
        reply.limit = Some(limit);
        self.member.answered(at(now), &reply);
    }

    pub(crate) fn unanswered(&mut self, now: u64) {
        self.member.unanswered(at(now), &"no answer");
    }

    /// Returns the rates that were set since the last time, and whether each was set after a cut.
    pub(crate) fn take_paced(&self) -> Vec<(Option<f64>, bool)> {
        std::mem::take(&mut self.strategy.0.lock().unwrap().paced)
    }

    /// Asserts what the process may send, in sends per second.
    #[track_caller]
    pub(crate) fn assert_share(&self, expected: f64, case: &str) {
        let share = self.member.status().share.unwrap();
        assert!((share - expected).abs() < 1e-9 * expected, "{case}: {share} instead of {expected}");
        assert_eq!(self.strategy.0.lock().unwrap().paced.last().and_then(|paced| paced.0), Some(share), "{case}");
    }
}
