//! Hedges: a second attempt beside the first one, if there is no answer for long.
//!
//! ```
//! use retry_core::{Hedge, PatientRetryStrategy, RetryInfo, TimedOut, retry};
//!
//! # #[derive(Debug, RetryInfo)]
//! # struct Failed;
//! # async fn get(key: &str) -> Result<String, Failed> { Ok(key.to_owned()) }
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//! static GET: Hedge = Hedge::p95();
//!
//! # async fn example() -> Result<(), Failed> {
//! let object = retry(&STORE, || get("key")).idempotent(true).hedge(&GET).run().await?;
//! # Ok(())
//! # }
//! ```

mod results;
mod steered;
mod wins;

use crate::support::Shared;
use crate::support::sync::{AtomicU64, Ordering};
use results::Results;
use std::time::Duration;
use steered::Steered;
use wins::Wins;

/// The delay after which a call gets a second attempt beside the first one, and what the delay has learned.
///
/// Make one static for each kind of call, such as each function that calls a service, and pass it to
/// [`Retry::hedge`](crate::Retry::hedge). In the attribute, `hedge = "p95"` makes one. Calls whose usual times differ, such as reads of a row and scans, need different ones.
///
/// # When to use one
///
/// A hedge shortens the slowest calls, if a few answers are slow for a reason that the next server does not share. It is not a way to
/// survive an outage: retries are, and both are paid from one quota. Do not use it
///
/// - for calls that must not be executed twice at the same time, such as most writes,
/// - if all requests use one connection or one replica, where the second attempt waits behind the first one,
/// - at a high load, above about half of what the servers can do.
///
/// [`p95`](Hedge::p95) does nothing where more than 5 % of the answers are slow: its delay is then as long as they are. If one of ten replicas
/// is always slow, take a shorter, fixed delay ([`after`](Hedge::after)), let the hedge ask another replica
/// ([`is_hedge`](crate::AttemptContext::is_hedge)), and take a [`StandardRetryStrategy`](crate::StandardRetryStrategy) with its bucket: the quota of
/// the [`PatientRetryStrategy`](crate::PatientRetryStrategy) sells hedges for at most 4.7 % of the calls. It also does nothing if the quota is always low, so that it sells
/// no hedges. With the feature `tracing`, the warning `hedges_do_little` says so, once for each function: hedges helped fewer than 10 of
/// the last 1,000 calls that reached the delay.
///
/// This is what the delay of [`p95`](Hedge::p95) did to calls of ten servers, of whose requests 2 % took 20 times as long as usual. A
/// server works on 4 or on 32 requests at a time, the others wait, and abandoned requests are served, too. The scenario `tail`
/// of the lab has more of them.
///
/// | load | requests at a time | median | 99 % of the calls | 99.9 % |
/// |---|---|---|---|---|
/// | 30 % | 4 | 10 ms | 40 ms instead of 201 ms | 79 ms instead of 454 ms |
/// | 60 % | 4 | 12 ms, 3 % more | 124 ms instead of 215 ms | 264 ms instead of 469 ms |
/// | 80 % | 4 | 21 ms, 13 % more | 316 ms instead of 316 ms | 473 ms instead of 502 ms |
/// | 80 % | 32 | 11 ms, 3 % more | 46 ms instead of 202 ms | 83 ms instead of 454 ms |
///
/// These are other worlds, each with ten servers (30 where one hangs) that work on one request at a time, a median of 10 ms, and a load of 30 %, with the
/// [`PatientRetryStrategy`](crate::PatientRetryStrategy) (the scenario `hedges` of the lab). The fixed delay is 30 ms, asks another server, and
/// has a [`StandardRetryStrategy`](crate::StandardRetryStrategy):
///
/// | world | measure | no hedge | [`p95`](Hedge::p95) | fixed |
/// |---|---|---|---|---|
/// | one server of 30 hangs: 3 % of the answers are slow | 99 % of the calls | 1,717 ms | 69 ms | |
/// | the same, with attempts of at most 0.1 s | 99 % | 814 ms | 69 ms | |
/// | 3 % of the requests take 6 times as long, 4 requests at a time | 99 % | 75 ms | 42 ms | |
/// | each server pauses 1 s in 20: more than 5 % are slow | 99 % | 878 ms | 629 ms | 65 ms |
/// | one server of ten is always 20 times as slow: 10 %, at a load of 2 % | 99 % | 604 ms | 363 ms | 49 ms |
/// | all answers take three times as long for a while | 99 % | 877 ms | 873 ms | |
/// | a load of 80 % | median | 30 ms | 30 ms | |
/// | a load of 95 % | median | 104 ms | 104 ms | |
/// | a load of 110 % for 11 s, one process | failed calls | 20 % | 20 % | |
/// | a load of 110 % for 11 s, 50 processes | failed calls | 20 % | 22 % | |
///
/// So use [`p95`](Hedge::p95) up to a load of half, and if fewer than 5 % of the answers are slow. At a higher load it does less, because
/// the hedge waits in queues, too. If servers are overloaded, many processes that each make few calls still send some hedges before they know.
///
/// If one of the ten servers is three times as slow as the others and near its capacity, hedges add load to it as well: with 4 requests at a
/// time and a load of 30 %, 99 % of the calls took 766 ms instead of 635 ms.
///
/// Do not shorten the time limit of attempts instead. A limit that cuts slow attempts throws their work away, and their retries wait for
/// the backoff. With a limit of 50 ms, 99 % of the calls took 626 ms at a load of 30 %. At 60 %, 1 % of them failed, and at 80 %,
/// 30 %.
///
/// # Costs
///
/// A call with a hedge that learns its delay writes one number that all calls share, and its future has room for two attempts.
/// Calls without a hedge cost nothing more.
#[derive(Debug)]
pub struct Hedge {
    fixed: Option<Duration>,
    /// A [`Steered`]. The number publishes no other data, so relaxed ordering suffices. Each change starts from the
    /// number as it is at that time, so no thread's change is lost.
    steered: Shared<AtomicU64>,
    results: Results,
    wins: Wins,
}

/// The ratio of the delay to the time of a hedge's answer above which the hedge came too late to help.
const LATE: u32 = 10;

/// The finding that hedges do little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LittleHelp {
    /// The number of calls that a hedge helped.
    pub(crate) helped: u32,
    /// The number of calls that reached the delay.
    pub(crate) calls: u32,
    /// The present delay.
    pub(crate) delay: Duration,
}

/// What happens at the end of a call's delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The delay has grown meanwhile, so the call waits for the rest.
    Later(Duration),
    /// It is time for the hedge.
    Now,
    /// Most calls are slow at present, so there is no hedge.
    AllSlow,
    /// The call is one of the first, and there is no hedge.
    WarmingUp,
    /// Few of the last hedges won, so it is time for the hedge after this further time, if there is no answer by then.
    AfterLonger(Duration),
}

impl Hedge {
    /// Creates a delay that follows the calls, so that 5 % of them reach it.
    ///
    /// A call that reaches the delay raises it, and a success before it lowers it by a 19th of that. No clock is read. The delay
    /// starts at 50 ms, and is at least 1 ms and at most one minute. During the first 256 calls, it moves faster.
    ///
    /// If at most half of the last 64 hedges won, as near the capacity of the servers, a hedge is sent after twice the delay, and only if
    /// there is no answer by then. So hedges become rare where they only add load. They are sent at the delay again once a sixth to a
    /// quarter of the calls that reach it have no answer after twice the delay.
    ///
    /// If the delay is more than twice as long as it was 2,000 calls ago, or 2 of the latest 4 calls reached it, all calls are slow, and there are no
    /// hedges. During the first 256 calls, at most one in 20 has a hedge, because the delay is a guess then.
    pub const fn p95() -> Self {
        Self { fixed: None, steered: Self::new_state(), results: Results::new(), wins: Wins::new() }
    }

    /// Creates a delay that is always the same. A delay of zero starts both attempts at the same time.
    ///
    /// Without a limit on the share of calls that reach the delay, only the quota limits the hedges.
    pub const fn after(delay: Duration) -> Self {
        Self { fixed: Some(delay), steered: Self::new_state(), results: Results::new(), wins: Wins::new() }
    }

    /// Returns the present delay.
    pub fn delay(&self) -> Duration {
        self.fixed.unwrap_or_else(|| self.with_state(|state| Steered(state.load(Ordering::Relaxed)).delay()))
    }

    /// Returns whether there can be hedges. A test guard allows none, unless the test asks for them.
    #[inline]
    pub(crate) fn is_allowed() -> bool {
        #[cfg(feature = "test")]
        let is_allowed = crate::support::session::allows_hedges();
        #[cfg(not(feature = "test"))]
        let is_allowed = true;
        is_allowed
    }

    /// Returns whether a test guard wants to see hedges that calls would otherwise get rarely, or later.
    fn is_tested() -> bool {
        #[cfg(feature = "test")]
        let is_tested = crate::support::session::current().is_some();
        #[cfg(not(feature = "test"))]
        let is_tested = false;
        is_tested
    }

    const fn new_state() -> Shared<AtomicU64> {
        Shared::new(AtomicU64::new(Steered::NEW.0))
    }

    #[inline]
    fn with_state<R>(&self, using: impl FnOnce(&AtomicU64) -> R) -> R {
        self.steered.with(|| AtomicU64::new(Steered::NEW.0), using)
    }

    /// Records that a call succeeded before the delay.
    #[inline]
    pub(crate) fn answered(&self) {
        if self.fixed.is_none() {
            let change = |bits| Some(Steered(bits).answered().0);
            _ = self.with_state(|state| state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change));
        }
    }

    /// Records that a hedge was not sent or did not win, or after which time it won. Returns how many of the last calls that reached the
    /// delay a hedge helped, if hedges do little.
    #[cold]
    pub(crate) fn note(&self, won_after: Option<Duration>) -> Option<LittleHelp> {
        // If the delay of `p95` is far longer than an answer, more than 5 % of the answers are slow.
        let is_late = |answer: Duration| self.fixed.is_none() && self.delay() > answer.saturating_mul(LATE);
        let has_helped = won_after.is_some_and(|answer| !is_late(answer));
        let helped = self.results.note(has_helped)?;
        Some(LittleHelp { helped, calls: results::CALLS, delay: self.delay() })
    }

    /// Records the end of a hedge that was sent.
    pub(crate) fn ended(&self, won: bool) {
        if self.fixed.is_none() {
            self.wins.note(won);
        }
    }

    /// Records that a call waited this long without an answer. Only a call that waited as long as the present delay reaches it:
    /// otherwise, calls that run at the same time would all raise it, far above the time that any of them waited.
    #[cold]
    pub(crate) fn reached(&self, waited: Duration) -> Due {
        if self.fixed.is_some() {
            return Due::Now;
        }
        let change = |bits| (Steered(bits).delay() <= waited).then(|| Steered(bits).reached().0);
        match self.with_state(|state| state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)) {
            Ok(bits) => {
                let delay = Steered(bits).delay();
                let few_win = || !Self::is_tested() && self.wins.are_few();
                self.unless_all_slow(Steered(bits), || if few_win() { Due::AfterLonger(delay) } else { Due::Now })
            }
            Err(bits) => Due::Later(Steered(bits).delay().saturating_sub(waited)),
        }
    }

    /// Records that a call whose hedge was not sent at the delay, because few win, has no answer after twice the delay.
    #[cold]
    pub(crate) fn unanswered(&self) -> Due {
        let state = self.with_state(|state| Steered(state.load(Ordering::Relaxed)));
        self.unless_all_slow(state, || {
            self.wins.note_without(false);
            Due::Now
        })
    }

    /// Records the end of a call that had no answer at the delay, and ended before twice the delay, without a hedge.
    #[cold]
    pub(crate) fn ended_without(&self, is_answered: bool) {
        self.wins.note_without(is_answered);
    }

    /// Returns what is due for a call that waited for long, if not all calls are slow by this state of the delay.
    fn unless_all_slow(&self, state: Steered, due: impl FnOnce() -> Due) -> Due {
        if state.is_far_above_its_floor() || (!Self::is_tested() && state.is_reached_by_many()) {
            return Due::AllSlow;
        }
        match (due(), state.early_calls()) {
            (Due::Now, Some(calls)) if !Self::is_tested() && !self.wins.permit_early(calls) => Due::WarmingUp,
            (due, _) => due,
        }
    }
}
