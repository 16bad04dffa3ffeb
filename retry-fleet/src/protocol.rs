//! What a process and the store tell each other. All of it is plain data.
//!
//! Numbers that grow are told in all, since the process began. The store keeps the larger of its own number and that of
//! the process. So calls and replies may be lost, late or repeated, and a replica that missed some of them catches up.
//!
//! ```
//! use retry_fleet::protocol::Call;
//!
//! let call = Call::new("process 1", "a name for a new epoch");
//! assert!(call.epoch.is_none() && !call.is_leaving);
//! ```

use retry_core::quota::QuotaKnowledge;
use std::time::Duration;

/// What a process tells the store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The unique name of the process.
    pub member: String,
    /// The epoch that the process knows. `None` before its first answer.
    pub epoch: Option<String>,
    /// The name of a new epoch, for a store that knows none.
    pub fresh: String,
    /// The time after which the process counts as gone if it does not call again.
    pub ttl: Duration,
    /// Whether the process leaves.
    pub is_leaving: bool,
    /// The number of processes, at most, that the call removes because their time is over. More than 1,000 are treated as 1,000.
    pub look_at: u32,
    /// What the process knows about retries, without what it was told, if it has a quota.
    pub quota: Option<Knowledge>,
    /// The part of the limit.
    pub limit: Option<LimitCall>,
    /// The last turn of the switch that the process knows. A store that was emptied takes it over.
    pub known_turn: Option<Turn>,
    /// Turns the switch. The store numbers the turn.
    pub turn: Option<Turn>,
}

impl Call {
    /// Creates a call that only says that the process is there.
    pub fn new(member: impl Into<String>, fresh: impl Into<String>) -> Self {
        Self {
            member: member.into(),
            epoch: None,
            fresh: fresh.into(),
            ttl: Duration::from_secs(30),
            is_leaving: false,
            look_at: 200,
            quota: None,
            limit: None,
            known_turn: None,
            turn: None,
        }
    }
}

/// A turn of the switch. The store and all processes carry the latest one, so that it is not lost with the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The number of the turn. Later turns have larger ones.
    pub number: u64,
    /// The time for which the retries of the fleet are still off, or zero if they are on.
    pub off_for: Duration,
    /// Who turned them off, and why: two texts with a colon and a space in between, or one of any form. Empty if they are on.
    pub reason: String,
}

/// What quotas by evidence know about retries, in thousandths of a retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// What was spent on retries and not given back. Below zero if successes have given back more.
    pub missing: i64,
    /// What may be missing.
    pub capacity: u64,
    /// The time since the latest timeout of an attempt, if there was one.
    pub timeout_age: Option<Duration>,
}

impl From<QuotaKnowledge> for Knowledge {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the floats saturate")]
    fn from(known: QuotaKnowledge) -> Self {
        Self {
            missing: (known.missing() * 1e3).round() as i64,
            capacity: (known.capacity() * 1e3).round() as u64,
            timeout_age: known.timeout_age(),
        }
    }
}

impl From<Knowledge> for QuotaKnowledge {
    #[expect(clippy::cast_precision_loss, reason = "more than 53 bits do not matter")]
    fn from(told: Knowledge) -> Self {
        Self::new(told.missing as f64 / 1e3, told.capacity as f64 / 1e3, told.timeout_age)
    }
}

/// What a process tells about the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitCall {
    /// The number of the step whose rate the process knew when it sent these requests. Rejections of requests that were sent
    /// before the last cut was known do not count.
    pub version: u64,
    /// The requests that were accepted in all.
    pub accepted: u64,
    /// The requests that were rejected in all.
    pub rejected: u64,
    /// What the process would send without the limit, in thousandths of a send per second. `None` if it waits for sends.
    pub demand: Option<u32>,
    /// The rate of the whole fleet without the store, and the estimate, if the process knows one. A store that was emptied
    /// goes on with those of the first process that knows some, within its first 40 steps.
    pub known: Option<(f64, f64)>,
    /// The outcome of a step.
    pub posted: Option<Post>,
}

/// A new rate, which a process has computed from the totals of a [`Step`].
#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    /// The number of the step.
    pub version: u64,
    /// The accepted requests of the step.
    pub accepted: u64,
    /// The rejected requests of the step.
    pub rejected: u64,
    /// The rate for the whole fleet, in sends per second.
    pub rate: f64,
    /// The estimate of the server's limit, in requests per second.
    pub estimate: f64,
    /// Whether the rate was cut, because requests were rejected.
    pub is_cut: bool,
    /// The state of the estimator, which is not empty.
    pub state: String,
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The epoch. It is another one after the store lost its memory.
    pub epoch: String,
    /// The number of processes.
    pub members: u32,
    /// The latest turn of the switch. `None` if nobody has turned it.
    pub turn: Option<Turn>,
    /// What the other processes know about retries, if the process told what it knows.
    pub quota: Option<Knowledge>,
    /// The part of the limit, if the process asked for it.
    pub limit: Option<LimitReply>,
}

impl Reply {
    /// Creates a reply without a quota and a limit, of a fleet whose switch was not turned.
    pub fn new(epoch: impl Into<String>, members: u32) -> Self {
        Self { epoch: epoch.into(), members, turn: None, quota: None, limit: None }
    }

    /// Returns whether the retries of the fleet are on.
    pub fn retries_enabled(&self) -> bool {
        self.turn.as_ref().is_none_or(|turn| turn.off_for.is_zero())
    }
}

/// What the store answers about the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitReply {
    /// The number of the next step.
    pub version: u64,
    /// The number of the step that followed the last cut.
    pub cut: u64,
    /// The rate for the whole fleet, in sends per second, and the estimate of the server's limit. `None` if nobody has
    /// posted them.
    pub rate: Option<(f64, f64)>,
    /// What the processes want that do not wait for sends, in thousandths of a send per second.
    pub satisfied: u64,
    /// The number of processes that wait for sends.
    pub waiting: u32,
    /// Asks the process to compute the next rate.
    pub step: Option<Step>,
}

/// What the next rate is computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the step.
    pub version: u64,
    /// The time of the store, in milliseconds.
    pub now: u64,
    /// The time since the last step, in milliseconds.
    pub elapsed: u64,
    /// The requests of the fleet that were accepted since the last step.
    pub accepted: u64,
    /// The requests of the fleet that were rejected since the last step.
    pub rejected: u64,
    /// The state of the estimator. `None` in the first step.
    pub state: Option<String>,
}
