//! What failures change, and the judgement on a failure.

use super::word::{Account, FLOOR, MAX_CAPACITY, RETRY, STREAK};
use crate::time::Timestamp;
use std::time::Duration;

/// The capacity is what the caller's own traffic was in this time: 1 5/8 seconds. With less, an outage of one second is not
/// bridged by retries; with more, a server that is down gets more of them.
const CAPACITY_MILLIS: u64 = 1_625;

/// A time that is added to the time that was measured, so that the first failures of a burst are not a high rate. With less,
/// quotas with little traffic spend more on a server that is down.
const ADDED_MILLIS: u64 = 500;

/// The missing amount that timeouts can add up to, beyond the capacity: half of it. So the retries after congestion begin
/// later the longer it lasted, which a server without room for the retries needs.
const DEBT_DIVISOR: u32 = 2;

/// The capacity beyond the measured one after a retry has succeeded, if no attempt has timed out since: two retries. So a
/// quota with little traffic that learned that retries help is not empty after two failures in a row.
const HELPED: u32 = 2 * RETRY;

/// How long a timeout makes the quota doubt successes of retries. The shorter it is, the more often the retries of
/// independent failures fill the queue of a server without room for them.
const DOUBT: Duration = Duration::from_secs(120);

/// The successes that make good for a failure, in the score by which timeouts are retried.
const SUCCESSES_PER_FAILURE: u32 = 5;

/// The time over which traffic is measured. After it, older attempts count less.
const WINDOW: Duration = Duration::from_secs(10);

/// What a quota knows beside its [`Account`]. Only failures change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Burst {
    /// When the quota began to count attempts, or `None` if it has seen no failure.
    pub(super) began: Option<Timestamp>,
    /// The attempts since then that it saw.
    pub(super) attempts: u32,
    /// The latest timeout.
    pub(super) congested: Option<Timestamp>,
    /// The successes, less five for each failure: from 0 to 32.
    pub(super) score: u32,
}

/// All that a quota knows, as a plain value. The judgement is a pure function on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Knowledge {
    pub(super) account: Account,
    pub(super) burst: Burst,
}

impl Knowledge {
    /// Notes that an attempt failed, and returns whether it is retried.
    pub(super) fn failed(self, is_settled: bool, is_timeout: bool, now: Timestamp) -> (Self, bool) {
        let Self { mut account, mut burst } = self;
        let mut began = match burst.began {
            Some(began) if !is_settled => {
                burst.attempts = burst.attempts.saturating_add(account.successes);
                burst.score = (burst.score + account.successes).min(STREAK);
                began
            }
            _ => {
                burst.attempts = 0;
                burst.score = if account.is_proven { SUCCESSES_PER_FAILURE } else { 0 };
                account.has_helped = false;
                now
            }
        };
        burst.attempts = burst.attempts.saturating_add(1);
        let mut age = now.saturating_since(began);
        if age > WINDOW {
            burst.attempts /= 2;
            age /= 2;
            began = now.saturating_sub(age);
        }
        burst.began = Some(began);
        account.successes = 0;
        if is_timeout {
            burst.congested = Some(now);
            account.has_helped = false;
        }
        account.is_congested = burst.congested.is_some_and(|at| now.saturating_since(at) < DOUBT);

        let measured = burst.traffic_of(CAPACITY_MILLIS, age);
        account.capacity = measured.max(FLOOR) + if account.has_helped { HELPED } else { 0 };
        let is_doubtful = is_timeout && burst.score < SUCCESSES_PER_FAILURE;
        burst.score = burst.score.saturating_sub(SUCCESSES_PER_FAILURE);
        let is_granted = !is_doubtful && account.missing.saturating_add(RETRY) <= account.capacity;
        if is_granted {
            account.missing += RETRY;
        } else if is_timeout {
            let most = account.capacity.max(measured + measured / DEBT_DIVISOR);
            account.missing = account.missing.max((account.missing + RETRY).min(most));
        }
        (Self { account, burst }, is_granted)
    }

    /// Moves times that are after this one to it, because the clock was set back.
    pub(super) fn set_back(&mut self, to: Timestamp) {
        let Burst { began, congested, .. } = &mut self.burst;
        *began = began.map(|at| at.min(to));
        *congested = congested.map(|at| at.min(to));
    }
}

impl Burst {
    /// Returns what the attempts of this time would cost, as retries. The attempt that began the burst counts as half an attempt,
    /// because it is not known how long there was none before.
    fn traffic_of(&self, millis: u64, age: Duration) -> u32 {
        let age = age.as_secs().saturating_mul(1000).saturating_add(age.subsec_millis().into());
        let halves = u64::from(self.attempts).saturating_mul(2).saturating_sub(1);
        let cost = halves * millis * u64::from(RETRY / 2);
        u32::try_from(cost / age.saturating_add(ADDED_MILLIS)).unwrap_or(u32::MAX).min(MAX_CAPACITY)
    }
}
