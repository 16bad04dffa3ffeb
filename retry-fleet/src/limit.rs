//! The limit of a fleet, as one process sees it.

use crate::protocol::{LimitCall, LimitReply, Post, Step};
use retry_core::Clock;
use retry_core::limit::{GoodputEstimator, PacedAnswers};
use retry_core::strategy::PacedStrategy;
use retry_core::time::Timestamp;
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::time::Duration;

/// The rate of a process before its first answer, in sends per second: about one request at a time.
const NEWCOMER: f64 = 10.0;
/// The time for which a process counts as waiting after an operation had to wait, if its share is not small.
const WAITING: Duration = Duration::from_secs(1);
/// The number of sends in that time, if the share is small.
const SENDS: f64 = 4.0;
/// The longest such time.
const LONGEST: Duration = Duration::from_mins(1);
/// The shortest time over which a demand is measured.
const MEASURED: Duration = Duration::from_millis(100);
/// A process that waits for sends uses its rate, up to this factor.
const BUSY: f64 = 1.5;
/// What a process may soon send more than it does now, as a factor.
const GROWTH: f64 = 1.25;
/// The largest factor by which a share above the even one is larger than what the process had or wanted at its last call, and the
/// fleet's rate than what it knew.
const FASTEST: f64 = 4.0;

/// The time without a step, in milliseconds, after which the store was lost or the fleet idle.
const LONGEST_STEP: u64 = 2_000;
/// The part of the estimate below which a rate is that of probes, because the server rejects all.
const PROBING: f64 = 0.8;
/// The part of the estimate that is used while the store is lost, because nobody measures then.
const ALONE: f64 = 0.97;

/// The factor of the estimate from which on a rate is one of a search for a higher limit.
const SEARCHING: f64 = 1.3;
/// The part of what a rate allows that is answered at least if all processes send, and the number of requests by which it can be
/// less by chance.
const UNUSED: f64 = 0.6;
const FEW: f64 = 2.0;
/// The number of steps since a cut, a second, after which no rejections are reported any more.
const QUIET: u64 = 4;

/// What a process that waits for sends adds to its share while the store is lost: a part of it with each accepted request, and a part
/// in each second at most.
const PROBE: (f64, f64) = (0.001, 0.01);
/// The factor of the share after rejections. With that growth, 1 % of the requests are rejected in the long run.
const PROBE_CUT: f64 = 0.9;

/// The number of first steps in which few rejections cut nothing.
const TOGETHER: u64 = 3;

/// The longest time after the store was emptied in which its processes come back. The longest pause before a new connection
/// is half of it.
const GATHERING: Duration = Duration::from_secs(10);
/// If at least one of so many requests is rejected, the limit has fallen meanwhile.
const FALLEN: u64 = 10;

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
        struct At(Timestamp);
        impl Clock for At {
            fn now(&self) -> Timestamp {
                self.0
            }
        }
        self.0.pace_at(rate, is_cut, &At(now))
    }

    #[cfg(feature = "tokio")]
    fn address(&self) -> usize {
        std::ptr::from_ref(&*self.0).addr()
    }
}

/// What the process knew when the store was emptied or away.
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
    /// The rate of this process. `None` for its own estimate.
    rate: Option<f64>,
    /// The rate of the fleet and the estimate, as they were last told.
    fleet: Option<(f64, f64)>,
    /// Whether the fleet has measured its estimate. Before its first cut, it has none, and its rate is told in its place.
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
    /// What the process wants, in sends per second. `None` if it waits for sends.
    demand: Option<f64>,
    posted: Option<Post>,
    /// The answers at the last call and its time, if it failed.
    alone: Option<(PacedAnswers, Timestamp)>,
}

impl LimitPart {
    pub(crate) fn new(strategy: impl Deref<Target: PacedStrategy> + Send + Sync + 'static, now: Timestamp) -> Self {
        Self {
            strategy: Box::new(Strategy(strategy)),
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
            let slow =
                self.rate.map_or(Duration::ZERO, |rate| Duration::try_from_secs_f64(SENDS / rate).unwrap_or(LONGEST));
            let window = WAITING.max(slow.min(LONGEST));
            let kept = (-elapsed.as_secs_f64() / window.as_secs_f64()).exp();
            let averaged = |average: f64, now: f64| kept * average + (1.0 - kept) * now;
            self.sent = averaged(self.sent, sent);
            self.allowed = averaged(self.allowed, self.rate.unwrap_or(0.0));
            // Two requests that come at the same moment wait, too, however few they are. They need no larger share.
            let has_waited = self.waited_at.is_some_and(|at| now.saturating_since(at) < window);
            let is_waiting = has_waited && self.rate.is_none_or(|rate| BUSY * self.sent >= rate.min(self.allowed));
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

    /// Takes a reply. Returns whether there is a new rate to post at once.
    pub(crate) fn answered(&mut self, reply: &LimitReply, members: u32, now: Timestamp) -> bool {
        (self.members, self.alone) = (members, None);
        self.former.take_if(|former| now >= former.until || members >= former.members);
        let is_cut = reply.cut != self.cut && reply.cut > 0;
        (self.version, self.cut) = (reply.version, reply.cut);
        self.is_measured |= reply.cut > 0;
        if let Some(step) = &reply.step {
            self.posted = Some(self.step(step, reply));
        }
        if let Some(rate) = reply.rate.filter(|(rate, _)| *rate > 0.0) {
            let rate = self.bounded(rate);
            self.fleet = Some(rate);
            let share = self.share(rate.0, reply, members);
            // The emptied store does not know of all processes yet.
            let most = self.former.map_or(share, |former| former.part * rate.0);
            self.pace_at(Some(share.min(most)), is_cut, now);
        }
        self.posted.is_some()
    }

    /// Returns a rate and an estimate of the fleet, bounded by those that the process knows: somebody may have written others into
    /// the store.
    fn bounded(&self, (rate, estimate): (f64, f64)) -> (f64, f64) {
        let most = self.fleet.map_or(f64::INFINITY, |(rate, estimate)| FASTEST * rate.max(estimate));
        (rate.min(most), estimate.min(most))
    }

    /// Returns the fair share of a rate: what everyone gets who waits for sends, after those who want less.
    #[expect(clippy::cast_precision_loss, reason = "such demands are no limit")]
    fn share(&self, rate: f64, reply: &LimitReply, members: u32) -> f64 {
        let satisfied = reply.satisfied as f64 / 1_000.0 - self.demand.unwrap_or(0.0);
        let waiting = reply.waiting.saturating_add(u32::from(self.demand.is_some()));
        let (share, even) = ((rate - satisfied) / f64::from(waiting.max(1)), rate / f64::from(members));
        // Processes that begin to send at the same moment would each take the rest, because none knows of the others yet.
        let used = self.rate.unwrap_or(rate).min(self.demand.unwrap_or(rate));
        share.min(FASTEST * used).max(even).min(rate)
    }

    /// Computes the next rate from what the whole fleet was answered.
    fn step(&self, step: &Step, reply: &LimitReply) -> Post {
        let now = Timestamp::from_origin(Duration::from_millis(step.now));
        let known = step.state.as_ref().and_then(|state| state.parse::<GoodputEstimator>().ok());
        // With a state that somebody has damaged, the estimate is that which the process knows.
        let told = if known.is_none() && step.state.is_some() { self.fleet.or(reply.rate) } else { reply.rate };
        let estimate = known.as_ref().map_or(told.map(|(_, estimate)| estimate), GoodputEstimator::estimate);
        // After a gap, nobody knows what was sent in it at which rate, so only the estimate goes on.
        let known = known.filter(|_| step.elapsed < LONGEST_STEP);
        let mut estimator = known.unwrap_or_else(|| match estimate {
            Some(estimate) => GoodputEstimator::for_all_at(estimate, now),
            None => GoodputEstimator::for_all(now),
        });
        estimator.accept(now, u32::try_from(step.accepted).unwrap_or(u32::MAX));
        // Of processes that are not back yet, nobody knows what was accepted.
        if self.former.is_some() && step.rejected.saturating_mul(FALLEN) < step.accepted.saturating_add(step.rejected) {
            estimator.pause(now);
        }
        // Processes that start together send their first requests at the same moment, which says little about the limit.
        let is_cut = step.rejected > if step.version < TOGETHER { step.accepted } else { 0 };
        if is_cut {
            estimator.reject(now);
        } else if Self::is_unused(step, reply) {
            estimator.pause(now);
        } else if reply.waiting == 0 {
            // What was accepted says nothing about the limit then. The rate does not grow, either: an idle fleet that came back
            // with a rate far above the estimate would learn of the rejections too late.
            match estimator.estimate() {
                Some(estimate) => estimator = GoodputEstimator::for_all_at(estimate, now),
                None => estimator.pause(now),
            }
        }
        let rate = estimator.rate(now);
        Post {
            version: step.version,
            accepted: step.accepted,
            rejected: step.rejected,
            rate,
            estimate: estimator.estimate().unwrap_or(rate),
            is_cut,
            state: estimator.to_string(),
        }
    }

    /// Returns whether the fleet was answered far less than its rate allows, although processes wait: some of them are gone with their
    /// shares, and the store does not know it yet. Then what was accepted says nothing about the limit.
    #[expect(clippy::cast_precision_loss, reason = "such numbers are no rates")]
    fn is_unused(step: &Step, reply: &LimitReply) -> bool {
        // While the rate doubles, answers come far behind it.
        let Some((rate, _)) = reply.rate.filter(|(rate, estimate)| *rate < SEARCHING * estimate) else { return false };
        let (allowed, accepted) = (rate * step.elapsed as f64 / 1_000.0, step.accepted as f64);
        // A limit that has fallen shows in rejections, not all of which are reported.
        let is_rejected = step.rejected > 0 || step.version < reply.cut.saturating_add(QUIET);
        reply.waiting > 0 && !is_rejected && accepted < UNUSED * allowed - FEW
    }

    /// Goes on without the store: with the share of the estimate, which does not depend on the moment, and from there carefully by
    /// its own answers. A process that is not in the fleet has an estimate of its own. So has one that was rejected before the
    /// fleet had an estimate.
    pub(crate) fn go_alone(&mut self, is_member: bool, now: Timestamp) {
        self.posted = None;
        let is_shared = is_member && (self.is_measured || self.answers.rejected == 0);
        let factor = self.probe(now);
        // Before the first rate, a newcomer goes on as one.
        let share = self.rate.map(|share| factor * self.fleet.map_or(share, |fleet| share * alone(fleet) / fleet.0));
        // The share stays if the store is lost for longer.
        self.fleet = self.fleet.map(|fleet| (alone(fleet), fleet.1));
        self.pace_at(share.filter(|_| is_shared), false, now);
    }

    /// Returns the factor by which the share changes by the answers since the last failed call.
    fn probe(&mut self, now: Timestamp) -> f64 {
        let Some((before, since)) = self.alone.replace((self.answers, now)) else { return 1.0 };
        let (with_each, in_a_second) = PROBE;
        let accepted = u32::try_from(self.answers.accepted.saturating_sub(before.accepted)).unwrap_or(u32::MAX);
        if self.answers.rejected > before.rejected {
            PROBE_CUT
        } else if self.demand.is_none() {
            1.0 + (with_each * f64::from(accepted)).min(in_a_second * now.saturating_since(since).as_secs_f64())
        } else {
            1.0
        }
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

/// Returns the rate of a fleet while nobody measures, from its rate and the estimate.
fn alone((rate, estimate): (f64, f64)) -> f64 {
    // After rejections in a row, the rate is far below the estimate, and stays there. After a cut it is a little below.
    if rate < PROBING * estimate { rate } else { ALONE * estimate }
}

impl Debug for LimitPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitPart").field("rate", &self.rate).field("fleet", &self.fleet).finish_non_exhaustive()
    }
}
