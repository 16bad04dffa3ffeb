//! The messages between a process and the store, as plain data.
//!
//! Counts are totals since the process started. The store keeps the larger of its number and the reported one. So calls and
//! replies may be lost, late or repeated, and a replica that missed some of them catches up.
//!
//! ```
//! use retry_fleet::protocol::Call;
//!
//! let call = Call::new("process 1", "a name for a new epoch");
//! assert!(call.epoch.is_none() && !call.is_leaving);
//! ```

use retry_core::quota::QuotaKnowledge;
use std::time::Duration;

/// A call of a process to the store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The unique name of the process.
    pub member: String,
    /// The epoch that the process knows. `None` before its first answer.
    pub epoch: Option<String>,
    /// The name for a new epoch, for a store without a state.
    pub fresh: String,
    /// The time after which the store removes the process if it does not call again.
    pub ttl: Duration,
    /// Whether the process leaves the fleet.
    pub is_leaving: bool,
    /// The largest number of processes that the call removes because their time is over. Above 1,000, it is 1,000.
    pub look_at: u32,
    /// What the process has learned about retries itself, if it has a quota.
    pub quota: Option<Knowledge>,
    /// The part about the operations that wait for the service, if the process has some that can.
    pub line: Option<LineCall>,
    /// The part about the limit, if the process has one.
    pub limit: Option<LimitCall>,
    /// The last turn of the switch that the process knows, from which an emptied store restores it.
    pub known_turn: Option<Turn>,
    /// Turns the switch. The store numbers the turn.
    pub turn: Option<Turn>,
    /// The name of the program, which is not empty.
    pub program: Option<String>,
}

impl Call {
    /// Creates a call without a quota, a limit or a switch.
    pub fn new(member: impl Into<String>, fresh: impl Into<String>) -> Self {
        Self {
            member: member.into(),
            epoch: None,
            fresh: fresh.into(),
            ttl: Duration::from_secs(30),
            is_leaving: false,
            look_at: 200,
            quota: None,
            line: None,
            limit: None,
            known_turn: None,
            turn: None,
            program: None,
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
    /// Who turned them off, and why: two texts with a colon and a space in between, or one of any form. If they are on, who
    /// turned them on, or empty if this is unknown or the time was over.
    pub reason: String,
}

/// What quotas by evidence have learned about retries. Amounts are in thousandths of a retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// The amount that was spent on retries and not refunded. Below zero if successes have refunded more.
    pub missing: i64,
    /// The capacity: the largest amount that can be spent without a refund.
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
    fn from(knowledge: Knowledge) -> Self {
        Self::new(knowledge.missing as f64 / 1e3, knowledge.capacity as f64 / 1e3, knowledge.timeout_age)
    }
}

/// The part of a call about the operations that wait for the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCall {
    /// The number of operations that wait and may be sent.
    pub waiting: u32,
    /// The time for which the first of them has waited.
    pub longest_wait: Duration,
    /// The total number of sends that this process has given to others, in halves. Its successes allowed them while operations of other
    /// processes waited, and none of its own operations used them.
    pub spare: u64,
}

/// The part of a reply about the operations that wait for the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineReply {
    /// The number of operations to send.
    pub granted: u32,
    /// Whether operations of any process waited recently.
    pub is_waiting: bool,
    /// The time for which operations of others have waited at least that are sent before those of this process. Zero if none are.
    pub least_wait: Duration,
}

/// The part of a call about the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitCall {
    /// The number of the step whose rate the process knew when it sent these requests. Rejections of requests that were sent
    /// before the last cut was known do not count.
    pub version: u64,
    /// The total number of accepted requests.
    pub accepted: u64,
    /// The total number of rejected requests.
    pub rejected: u64,
    /// The rate at which the process would send without the limit, in thousandths of a send per second. `None` if it waits for sends.
    pub demand: Option<u32>,
    /// The rate of the whole fleet without the store, and the estimate, if the process knows one. An emptied store
    /// restores them from the first process that knows them, within its first 40 steps.
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

/// The reply of the store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The epoch. It changes when the store loses its data.
    pub epoch: String,
    /// The number of processes.
    pub members: u32,
    /// The latest turn of the switch. `None` if it was never turned.
    pub turn: Option<Turn>,
    /// What the other processes know about retries, if the call had a quota.
    pub quota: Option<Knowledge>,
    /// The part about the operations that wait for the service, if the call had one.
    pub line: Option<LineReply>,
    /// The part about the limit, if the call had one.
    pub limit: Option<LimitReply>,
    /// The name of another program whose processes have called in the last minute, if the call had one.
    pub other_program: Option<String>,
}

impl Reply {
    /// Creates a reply without a quota and a limit, of a fleet whose switch was not turned.
    pub fn new(epoch: impl Into<String>, members: u32) -> Self {
        Self { epoch: epoch.into(), members, turn: None, quota: None, line: None, limit: None, other_program: None }
    }

    /// Returns whether the retries of the fleet are on.
    pub fn retries_enabled(&self) -> bool {
        self.turn.as_ref().is_none_or(|turn| turn.off_for.is_zero())
    }
}

/// The part of a reply about the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitReply {
    /// The number of the next step.
    pub version: u64,
    /// The number of the step that followed the last cut.
    pub cut: u64,
    /// The rate for the whole fleet, in sends per second, and the estimate of the server's limit. `None` if no process
    /// has posted them.
    pub rate: Option<(f64, f64)>,
    /// The demand of the processes that do not wait for sends, in thousandths of a send per second.
    pub satisfied: u64,
    /// The number of processes that wait for sends.
    pub waiting: u32,
    /// Asks the process to compute the next rate.
    pub step: Option<Step>,
}

/// The input for the next rate.
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
