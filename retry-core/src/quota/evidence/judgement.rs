//! The decision on the retry of a failure for which traffic is measured.

use super::knowledge::{DOUBT_MILLIS, Pool};
use super::millis::Millis;
use super::word::{Account, FLOOR, MAX_CAPACITY, RETRY, STREAK, SUCCESSES_PER_FAILURE};

/// The capacity is the caller's own traffic in this time: 1 5/8 seconds. With less, an outage of one second is not bridged
/// by retries; with more, a server that is down gets more retries.
const CAPACITY_MILLIS: u64 = 1_625;

/// A time that is added to the measured time, so that the first failures of a burst are not a high rate. With less,
/// quotas with little traffic spend more on a server that is down.
const ADDED_MILLIS: u64 = 500;

/// The limit of the missing amount after timeouts, beyond the capacity: half of it. So after longer congestion, retries
/// begin later, which a server without room for them needs.
const DEBT_DIVISOR: u32 = 2;

/// The capacity beyond the measured one after a retry has succeeded, if no attempt has timed out since: two retries. So a
/// quota with little traffic that learned that retries help is not empty after two failures in a row.
const HELPED: u32 = 2 * RETRY;

/// The multiple of its own capacity that a quota can spend between two reports of its peers, if they have enough to spare:
/// twice. So quotas that exchange reports every second do not spend the same amount many times.
const LENT: u32 = 2;

/// The part of the capacity that pays for retries of timeouts if there are peers: half of it. A single quota doubts a timeout
/// by its own successes, but few of a thousand quotas see more than two timeouts of a stalled server.
const TIMEOUTS_DIVISOR: i64 = 2;

/// The time over which traffic is measured. Attempts over a longer time count as the same rate over half of it.
const WINDOW_MILLIS: u64 = 10_000;

/// The part of a quota's knowledge that depends on the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Burst {
    /// When the quota began to count attempts, if there was a failure that is not forgotten.
    pub(super) began: Millis,
    /// The latest timeout, if it is recent.
    pub(super) timed_out: Option<Millis>,
    /// The most that may be missing for a retry to be paid, as measured at the latest failure that needed it.
    pub(super) capacity: u32,
    /// Whether the latest failure that needed it found too much missing.
    pub(super) is_short: bool,
}

/// The complete knowledge of a quota, as a plain value. The decision is a pure function of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) account: Account,
    pub(super) burst: Burst,
}

impl Known {
    /// Records that an attempt failed, and returns whether it is retried. The pool is the knowledge of the peers, if there
    /// are any.
    ///
    /// The least capacity suffices for a retry while at most one is missing, so
    /// [`paid_from_floor`](super::word::Word::paid_from_floor) decides in the same way without measuring traffic.
    pub(super) fn failed(self, is_timeout: bool, now: Millis, pool: Option<Pool>) -> (Self, bool) {
        let Self { mut account, mut burst } = self;
        // Times after this one were read before the clock was set back. They are treated as now.
        burst.began = burst.began.min(now);
        burst.timed_out = burst.timed_out.map(|at| at.min(now));
        if account.attempts == 0 {
            burst.began = now;
        }
        account.attempts = account.attempts.saturating_add(1);
        account.score = (account.score + account.successes).min(STREAK);
        account.successes = 0;
        if is_timeout {
            burst.timed_out = Some(now);
            account.has_helped = false;
        }
        burst.timed_out = burst.timed_out.filter(|at| now.since(*at) < DOUBT_MILLIS);
        account.is_congested = burst.timed_out.is_some() || pool.is_some_and(|pool| pool.is_congested);

        let measured = burst.measured(&mut account, now);
        let helped = if account.has_helped { HELPED } else { 0 };
        burst.capacity = measured.max(FLOOR) + helped;
        let missing = account.missing.saturating_add(RETRY);
        burst.is_short = match pool {
            None => missing > burst.capacity,
            // The peers may have as much to spare as this quota has, but not more before they know of it.
            Some(pool) => {
                let capacity = (i64::from(measured) + pool.capacity).max(FLOOR.into()) + i64::from(helped);
                let capacity = if is_timeout { capacity / TIMEOUTS_DIVISOR } else { capacity };
                let spent = missing.saturating_sub(pool.reported);
                i64::from(missing) + pool.missing > capacity || spent > burst.capacity * LENT
            }
        };
        let is_doubtful = is_timeout && account.score < SUCCESSES_PER_FAILURE;
        account.score = account.score.saturating_sub(SUCCESSES_PER_FAILURE);
        let is_granted = !is_doubtful && !burst.is_short;
        if is_granted {
            account.missing += RETRY;
        } else if is_timeout {
            let most = burst.capacity.max(measured + measured / DEBT_DIVISOR);
            account.missing = account.missing.max((account.missing + RETRY).min(most));
        }
        (Self { account, burst }, is_granted)
    }
}

impl Burst {
    /// Returns the cost of as many retries as there are attempts in [`CAPACITY_MILLIS`]. The attempt that began the
    /// burst is half an attempt, because it is not known how long there was none before.
    pub(super) fn measured(&mut self, account: &mut Account, now: Millis) -> u32 {
        let mut age = now.since(self.began);
        if age > WINDOW_MILLIS {
            let half = WINDOW_MILLIS / 2;
            let attempts = u64::from(account.attempts) * half / age;
            account.attempts = u32::try_from(attempts).map_or(account.attempts, |attempts| attempts.max(1));
            (age, self.began) = (half, Millis(now.0 - half));
        }
        let halves = 2 * u64::from(account.attempts) - 1;
        let cost = halves * CAPACITY_MILLIS * u64::from(RETRY / 2);
        u32::try_from(cost / (age + ADDED_MILLIS)).map_or(MAX_CAPACITY, |cost| cost.min(MAX_CAPACITY))
    }
}
