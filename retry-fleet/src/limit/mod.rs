//! The limit of a fleet, as one process sees it.

mod alone;
mod step;

use crate::clock::At;
use crate::protocol::{LimitCall, LimitReply, Post};
use crate::random::Random;
use alone::{YOUNG, alone};
use retry_core::time::Timestamp;
use retry_limits::{PacedAnswers, PacedStrategy};
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::time::Duration;

/// The rate of a process before its first answer, in sends per second: about one request at a time.
const NEWCOMER: f64 = 10.0;
/// The time for which a process is treated as waiting after an operation had to wait, if its share is not small.
const WAITING: Duration = Duration::from_secs(1);
/// The number of sends in that time, if the share is small.
const SENDS: f64 = 4.0;
/// The longest such time.
const LONGEST: Duration = Duration::from_secs(60);
/// The shortest time over which a demand is measured.
const MEASURED: Duration = Duration::from_millis(100);
/// A process is treated as waiting only if it sends at least its rate divided by this.
const BUSY: f64 = 1.5;
/// The factor by which the demand is above what the process sends, so that it can grow.
const GROWTH: f64 = 1.25;
/// The largest factor by which a share above the even one is larger than what the process had or wanted at its last call, and the
/// fleet's rate than what it knew.
const FASTEST: f64 = 4.0;

/// The share below which a process sends more rarely than it calls, every 250 ms. Until the next call, such a share is higher or lower by up to
/// [`VARIATION`], at random, so that processes that begin together do not send together for minutes. On 100/s with a burst of
/// 0.1 s, 100 processes that begin together use 89 % of the limit in place of 75 %. If they begin within 30 s, it is 88 % in place of 91 %.
const SMALL_SHARE: f64 = 4.0;
const VARIATION: f64 = 0.25;

/// If fewer than this part of the processes are left after a call, some of them have died.
const LIVING: f64 = 0.9;

/// The longest time that the processes need to return after the store was emptied. The longest pause before a new connection
/// is half of it.
const GATHERING: Duration = Duration::from_secs(10);

/// A strategy whose rate the fleet sets.
trait Paced {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, now: Timestamp) -> PacedAnswers;

    /// Returns where the strategy is, whatever points to it.
    #[cfg(feature = "tokio")]
    fn address(&self) -> usize;
}

struct Strategy<S>(S);

impl<S: Deref<Target: PacedStrategy>> Paced for Strategy<S> {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, now: Timestamp) -> PacedAnswers {
        self.0.pace_at(rate, is_cut, &At(now))
    }

    #[cfg(feature = "tokio")]
    fn address(&self) -> usize {
        std::ptr::from_ref(&*self.0).addr()
    }
}

/// What the process knew before the store was emptied or silent.
#[derive(Clone, Copy, Debug)]
struct Former {
    /// The part of this process, from 0 to 1.
    part: f64,
    members: u32,
    until: Timestamp,
}

/// What the process knows about the limit.
pub(crate) struct LimitPart {
    strategy: Box<dyn Paced + Send + Sync>,
    random: Random,
    /// The rate of this process. `None` for its own estimate.
    rate: Option<f64>,
    /// The latest rate of the fleet and estimate in a reply.
    fleet: Option<(f64, f64)>,
    /// Whether the fleet has measured its estimate. Before its first cut, it has none, and replies contain its rate in place of it.
    is_measured: bool,
    members: u32,
    /// `None` if all are back.
    former: Option<Former>,
    version: u64,
    cut: u64,
    answers: PacedAnswers,
    measured_at: Timestamp,
    waited_at: Option<Timestamp>,
    /// What the process sent in about the last second, in sends per second.
    sent: f64,
    /// What its rate was in the same time. While the rate grows, both lag behind it.
    allowed: f64,
    /// The demand of the process, in sends per second. `None` if it waits for sends.
    demand: Option<f64>,
    posted: Option<Post>,
    /// The answers at the last call and its time, if it failed.
    alone: Option<(PacedAnswers, Timestamp)>,
    /// Whether this process has seen that the fleet is past its first steps. It stays true when the store is emptied, which counts the steps
    /// from zero again.
    is_grown: bool,
    /// Whether the share grows faster while calls fail.
    is_searching: bool,
}

impl LimitPart {
    pub(crate) fn new(
        strategy: impl Deref<Target: PacedStrategy> + Send + Sync + 'static,
        random: Random,
        now: Timestamp,
    ) -> Self {
        Self {
            strategy: Box::new(Strategy(strategy)),
            random,
            rate: None,
            fleet: None,
            is_measured: false,
            members: 1,
            former: None,
            version: 0,
            cut: 0,
            answers: PacedAnswers::default(),
            measured_at: now,
            waited_at: None,
            sent: 0.0,
            allowed: 0.0,
            demand: None,
            posted: None,
            alone: None,
            is_grown: false,
            is_searching: false,
        }
    }

    /// Returns where the strategy is.
    #[cfg(feature = "tokio")]
    pub(crate) fn address(&self) -> usize {
        self.strategy.address()
    }

    /// Begins to limit sends, as a newcomer.
    pub(crate) fn join(&mut self, now: Timestamp) {
        self.pace_at(Some(NEWCOMER), false, now);
    }

    fn pace_at(&mut self, rate: Option<f64>, is_cut: bool, now: Timestamp) -> PacedAnswers {
        self.rate = rate;
        self.strategy.pace_at(rate, is_cut, now)
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    pub(crate) fn call(&mut self, now: Timestamp) -> LimitCall {
        let answers = self.pace_at(self.rate, false, now);
        let elapsed = now.saturating_since(self.measured_at);
        if answers.waits > self.answers.waits {
            self.waited_at = Some(now);
        }
        if elapsed >= MEASURED {
            let answered = |answers: PacedAnswers| answers.accepted + answers.rejected;
            let sent = answered(answers).saturating_sub(answered(self.answers)) as f64 / elapsed.as_secs_f64();
            // A process with a small share sends, and waits, less often than once in a second.
            let window = self.rate.map_or(WAITING, |rate| {
                Duration::try_from_secs_f64(SENDS / rate).unwrap_or(LONGEST).clamp(WAITING, LONGEST)
            });
            let kept = (-elapsed.as_secs_f64() / window.as_secs_f64()).exp();
            let averaged = |average: f64, now: f64| kept * average + (1.0 - kept) * now;
            self.sent = averaged(self.sent, sent);
            let rate = self.rate.unwrap_or(0.0);
            self.allowed = averaged(self.allowed, rate);
            // Two requests that come at the same moment wait, too, however few they are. They need no larger share.
            let has_waited = self.waited_at.is_some_and(|at| now.saturating_since(at) < window);
            let is_waiting = has_waited && BUSY * self.sent >= rate.min(self.allowed);
            self.demand = if is_waiting { None } else { Some(GROWTH * sent) };
            (self.answers, self.measured_at) = (answers, now);
        }
        LimitCall {
            version: self.version,
            accepted: answers.accepted,
            rejected: answers.rejected,
            demand: self.demand.map(|demand| (1_000.0 * demand) as u32),
            known: self.fleet.filter(|_| self.is_measured).map(|fleet| (alone(fleet), fleet.1)),
            posted: self.posted.take(),
        }
    }

    /// Notes that the store was emptied. The next reply is from the new one.
    pub(crate) fn store_emptied(&mut self, now: Timestamp) {
        self.store_was_away(now);
        self.cut = 0;
    }

    /// Notes that the store did not answer for a while. The next reply may not know of all processes.
    pub(crate) fn store_was_away(&mut self, now: Timestamp) {
        let members = self.former.map_or(self.members, |former| former.members.max(self.members));
        let known = self.rate.zip(self.fleet).filter(|_| self.is_measured);
        let until = now.saturating_add(GATHERING);
        self.former = known.map(|(share, (rate, _))| Former { part: share / rate, members, until });
    }

    /// Takes a reply. Returns whether there is a new rate to post immediately.
    pub(crate) fn answered(&mut self, reply: &LimitReply, members: u32, now: Timestamp) -> bool {
        let has_fewer = f64::from(members) < LIVING * f64::from(self.members);
        (self.members, self.alone) = (members, None);
        self.former.take_if(|former| now >= former.until || members >= former.members);
        let is_cut = reply.cut != self.cut && reply.cut > 0;
        (self.version, self.cut) = (reply.version, reply.cut);
        self.is_measured |= reply.cut > 0;
        self.is_grown |= reply.version >= YOUNG;
        if let Some(step) = &reply.step {
            self.posted = Some(self.step(step, reply, has_fewer));
        }
        if let Some(rate) = reply.rate.filter(|(rate, _)| *rate > 0.0) {
            let rate = self.bounded(rate);
            self.fleet = Some(rate);
            let share = self.share(rate.0, reply, members);
            // The emptied store does not know of all processes yet.
            let most = self.former.map_or(share, |former| former.part * rate.0);
            let share = share.min(most);
            self.rate = Some(share);
            let rate = self.varied(share);
            self.strategy.pace_at(Some(rate), is_cut, now);
        }
        self.posted.is_some()
    }

    /// Returns a rate and an estimate of the fleet, bounded by those that the process knows: another program may have written to the
    /// store.
    fn bounded(&self, (rate, estimate): (f64, f64)) -> (f64, f64) {
        let most = self.fleet.map_or(f64::INFINITY, |(rate, estimate)| FASTEST * rate.max(estimate));
        (rate.min(most), estimate.min(most))
    }

    /// Returns the fair share of a rate: the equal part of each process that waits for sends, after the demand of the others is met.
    #[expect(clippy::cast_precision_loss, reason = "demands this large are not limited")]
    fn share(&self, rate: f64, reply: &LimitReply, members: u32) -> f64 {
        let satisfied = reply.satisfied as f64 / 1_000.0 - self.demand.unwrap_or(0.0);
        let waiting = reply.waiting.saturating_add(u32::from(self.demand.is_some()));
        let (share, even) = ((rate - satisfied) / f64::from(waiting.max(1)), rate / f64::from(members));
        // Processes that begin to send at the same moment would each take the rest, because none knows of the others yet.
        let used = self.rate.unwrap_or(rate).min(self.demand.unwrap_or(rate));
        share.min(FASTEST * used).max(even).min(rate)
    }

    /// Returns the rate until the next call, for this share.
    fn varied(&mut self, share: f64) -> f64 {
        if share < SMALL_SHARE { share * (1.0 + VARIATION * (2.0 * self.random.uniform() - 1.0)) } else { share }
    }

    /// Returns the rate of this process, in sends per second.
    pub(crate) const fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// Returns the rate of the fleet, in sends per second.
    pub(crate) fn fleet_rate(&self) -> Option<f64> {
        self.fleet.map(|(rate, _)| rate)
    }
}

impl Debug for LimitPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitPart").field("rate", &self.rate).field("fleet", &self.fleet).finish_non_exhaustive()
    }
}
