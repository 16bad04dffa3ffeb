//! The line of the operations that wait for the service, and the evidence by which they are sent.
//!
//! Operations wait in the order in which the quota refused them. What is sent of them is bounded by evidence that the service has room
//! for it: half a send for each fast success, and one at a time where nothing else is sent. Retries are background traffic, which uses
//! what the foreground leaves, as in RFC 6817 (LEDBAT).

mod grants;
mod probes;

use super::latency::Latency;
use super::outage::Outage;
use super::token::{Nanos, Ticket};
use crate::limit::Ready;
use crate::support::outage_events::KeptName;
use crate::time::Timestamp;
use grants::{Grants, Peers};
use probes::FIRST_PROBE_WAIT;
use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

/// The credit of a fast success while first attempts are sent. With more, a server that returns with a full queue stays full.
const CREDIT: u32 = 1;
/// The price of a send from the line: two fast successes.
const SEND: u32 = 2;
/// The most credit that is kept while no operation waits, or after a failure: less than a send. So each failure needs a new fast success
/// before a send follows.
const KEPT_CREDIT: u32 = 1;

/// The number of gaps whose mean is used.
const MEAN_GAPS: u32 = 8;

/// The number of first attempts whose gaps and latencies are measured at the start, and after operations have waited.
const LEARNED: u32 = 16;

/// A time before all others.
const ORIGIN: Timestamp = Timestamp::from_origin(Duration::ZERO);

/// The state of a line. Wakers run code of the executor, so the methods return those to wake once the state is unlocked.
#[derive(Debug)]
pub(super) struct Line {
    queue: VecDeque<Waiting>,
    /// The operations in the queue that may be sent as a probe.
    probers: VecDeque<Ticket>,
    next_ticket: Ticket,
    credit: u32,
    /// The credit of operations that were not sent after all, of which each success gives back one send. If the operation that joins next
    /// got it, one whose attempts are not sent would make them all immediately; given back together, they would be sent together.
    returned: u32,
    /// While operations of other processes of a fleet wait, what is kept for them.
    peers: Option<Peers>,
    grants: Grants,
    /// The latest time at which an attempt was sent, as far as it was measured.
    last_send: Timestamp,
    probe_wait: Duration,
    /// A random factor of the wait before the next probe, so that processes don't probe in step.
    jitter: f64,
    /// Whether a probe was sent while the process was cold.
    has_probed_cold: bool,
    /// Whether no first attempt was sent in this outage while an operation waited, as when one call is made after the other.
    is_sequential: bool,
    timeouts: Timeouts,
    latency: Latency,
    last_success: Option<Timestamp>,
    /// The latest first attempt whose gap to the next one counts, or the latest probe of a cold process since then.
    last_first: Option<Timestamp>,
    /// The latest time at which a first attempt was sent, or an operation began to wait while no other did.
    quiet_since: Timestamp,
    /// The mean time between two first attempts.
    gap: Option<Duration>,
    /// The number of gaps in the mean.
    gaps: u32,
    /// The first attempts that were measured since the start, or since operations have waited.
    learned: u32,
    /// Whether an operation has waited since the line was empty.
    has_waited: bool,
    outage: Option<Outage>,
}

/// Which failures were timeouts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Timeouts {
    None,
    Earlier,
    /// The latest one was.
    Latest,
}

/// An operation that waits.
#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    since: Nanos,
    end: End,
    waker: Option<Waker>,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) until: Nanos,
    /// Whether the operation is over then. Otherwise only its wait is.
    pub(super) is_hard: bool,
}

impl End {
    /// Returns whether there is time for an attempt with an answer that takes this long. Without it, an operation would be sent when
    /// it is almost over, and the server would work for nobody: while operations with equal time limits are sent as fast as they
    /// came, each one comes to the front of the line when its time is over.
    fn allows(&self, now: Timestamp, answer: Duration) -> bool {
        !self.is_hard || self.until.since(Nanos::of(now)) > answer
    }
}

/// The answer to an operation that waits.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) ready: Ready,
    /// Whether the operation is sent for a credit.
    pub(super) for_credit: bool,
    /// The operations to wake.
    pub(super) wakers: Vec<Waker>,
    /// Wakers that are not needed any more. They are dropped after the line is unlocked, because their `Drop` is the executor's code.
    pub(super) former: [Option<Waker>; 2],
}

impl Line {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            probers: VecDeque::new(),
            next_ticket: Ticket::MIN,
            credit: 0,
            returned: 0,
            peers: None,
            grants: Grants::Open,
            last_send: ORIGIN,
            probe_wait: FIRST_PROBE_WAIT,
            jitter: 1.0,
            has_probed_cold: false,
            is_sequential: true,
            timeouts: Timeouts::None,
            latency: Latency::new(),
            last_success: None,
            last_first: None,
            quiet_since: ORIGIN,
            gap: None,
            gaps: 0,
            learned: 0,
            has_waited: false,
            outage: None,
        }
    }

    /// Returns whether attempts are measured.
    pub(super) fn is_watching(&self) -> bool {
        !self.queue.is_empty()
            || self.learned < LEARNED
            || self.is_rare()
            || self.outage.is_some()
            || self.peers.is_some()
    }

    /// Records that a first attempt is sent, and whether no operation waits. Returns the outage that is over now, if one is.
    pub(super) fn first_sent(&mut self, now: Timestamp, is_idle: bool) -> Option<Outage> {
        self.forget_peers(now);
        self.last_send = self.last_send.max(now);
        self.quiet_since = now;
        if let Some(last) = self.last_first.replace(now) {
            let gap = now.saturating_since(last);
            // The mean of the first gaps, and then a moving one: a single short gap at the start would let a rare caller probe often.
            self.gaps = (self.gaps + 1).min(MEAN_GAPS);
            let mean = self.gap.unwrap_or_default();
            self.gap = Some(mean.saturating_mul(self.gaps - 1).saturating_add(gap) / self.gaps);
        }
        // Threads that saw late that enough was measured don't count.
        if self.learned < LEARNED {
            self.learned += 1;
            if self.learned == LEARNED {
                self.latency.learn();
            }
        }
        let over = self.outage.take_if(|outage| outage.first_sent(now, is_idle));
        self.is_sequential = over.is_some() || self.is_sequential && is_idle;
        if over.is_some() {
            self.grants = Grants::Open;
        }
        over
    }

    /// Records that the quota could not pay, so that an operation waits. Returns whether an outage begins.
    pub(super) fn refused(&mut self, now: Timestamp) -> bool {
        match &mut self.outage {
            Some(outage) => {
                outage.wait_began(now);
                false
            }
            none => {
                *none = Some(Outage::new(now));
                true
            }
        }
    }

    /// Records that a retry is sent.
    pub(super) fn retry_sent(&mut self, now: Timestamp) {
        self.last_send = self.last_send.max(now);
    }

    /// Records a failure of an attempt, with the time at which it was sent and its timeout, as far as they are known. Returns the waker of
    /// the operation that probes next, if it may be due earlier now.
    pub(super) fn failed(&mut self, is_timeout: bool, sent: Option<Nanos>, timeout: Option<Duration>) -> Vec<Waker> {
        self.grants.failed(sent);
        let is_earlier = !is_timeout && self.timeouts == Timeouts::Latest;
        self.timeouts = match self.timeouts {
            _ if is_timeout => Timeouts::Latest,
            Timeouts::Latest => Timeouts::Earlier,
            before => before,
        };
        self.keep_half_a_credit();
        self.latency.failed(timeout);
        if is_earlier { self.next_prober().into_iter().collect() } else { Vec::new() }
    }

    /// Records a success and how long it took, and returns the wakers of the operations that are sent now.
    pub(super) fn succeeded(&mut self, latency: Duration, now: Timestamp) -> Vec<Waker> {
        self.forget_peers(now);
        self.grants = Grants::Open;
        // Then the next probe may be due earlier.
        let is_earlier = self.probe_wait > FIRST_PROBE_WAIT || !self.latency.had_timely_answer() || self.is_rare();
        self.probe_wait = FIRST_PROBE_WAIT;
        self.last_success = Some(now);
        // Timeouts show a server with too much to do, which single sends of many processes keep busy. So after one, an answer must show
        // that there is no queue.
        let has_room = self.timeouts != Timeouts::Latest || self.latency.shows_no_queue(latency);
        let is_fast = self.latency.succeeded(latency);
        if self.queue.is_empty() && self.timeouts != Timeouts::None {
            self.latency.settle();
        }
        if is_fast {
            let earned = if self.is_quiet(now) && has_room { SEND } else { CREDIT };
            self.credit = self.credit.saturating_add(earned);
        }
        let returned = self.returned.min(SEND);
        self.returned -= returned;
        self.credit = self.credit.saturating_add(returned);
        let mut wakers = self.spend(now);
        if is_fast {
            self.leave_credit_to_peers(now);
        }
        if is_earlier {
            wakers.extend(self.next_prober());
        }
        wakers
    }

    /// Returns whether first attempts have ceased, as when all calls of a batch wait. Half a send for each success would leave them to the
    /// probes. With a whole one, they are sent one after another.
    fn is_quiet(&self, now: Timestamp) -> bool {
        now.saturating_since(self.quiet_since) > FIRST_PROBE_WAIT.max(self.usual_probe_wait())
    }

    /// Adds an operation at the end of the line. The last attempt of an operation is spent on evidence only, and `may_probe` is false.
    pub(super) fn join(&mut self, now: Timestamp, end: End, may_probe: bool) -> (Ticket, Vec<Waker>) {
        self.has_waited = true;
        if self.queue.is_empty() {
            // What was measured of earlier traffic says nothing about the gap to the next attempt.
            self.last_first = self.last_first.filter(|_| self.learned < LEARNED);
            self.last_send = self.last_send.max(now);
            self.quiet_since = now;
        }
        let ticket = self.next_ticket;
        self.next_ticket = ticket.saturating_add(1);
        self.queue.push_back(Waiting { ticket, since: Nanos::of(now), end, waker: None });
        if may_probe {
            self.probers.push_back(ticket);
        }
        (ticket, self.spend(now))
    }

    /// Sets the name of the strategy in the warning at the end of the outage.
    pub(super) const fn name_outage(&mut self, strategy: Option<KeptName>) {
        if let Some(outage) = &mut self.outage {
            outage.strategy = strategy;
        }
    }

    /// Records that an operation waits no longer, and when its wait has ended, if that is known.
    pub(super) fn wait_ended(&mut self, now: Option<Timestamp>, is_in_vain: bool) {
        if let Some(outage) = &mut self.outage {
            outage.wait_ended(now, is_in_vain);
        }
    }

    /// Removes an operation that does not wait any longer. If it was to be sent already, a success sends another one in its place. Also
    /// returns its waker, to be dropped after the line is unlocked.
    pub(super) fn leave(&mut self, ticket: Ticket) -> (Option<Waker>, Vec<Waker>) {
        self.wait_ended(None, true);
        if let Some(index) = self.position(ticket) {
            let own = self.queue[index].waker.take();
            (own, self.remove(index))
        } else {
            self.give_back();
            (None, Vec::new())
        }
    }

    /// Gives back the credit of an operation that is not sent after all. A success sends another one.
    pub(super) fn give_back(&mut self) {
        self.returned = self.returned.saturating_add(SEND);
        self.rest();
    }

    /// Answers an operation that waits, and stores its waker until it is sent. `cold_probe` says whether a process that has seen no
    /// success sends a probe soon.
    pub(super) fn ask(
        &mut self,
        ticket: Ticket,
        now: Timestamp,
        waker: Option<Waker>,
        cold_probe: bool,
        draw: impl FnOnce() -> f64,
    ) -> Answer {
        let Some(index) = self.position(ticket) else {
            self.last_send = self.last_send.max(now);
            self.wait_ended(Some(now), false);
            return Answer { ready: Ready::Now, for_credit: true, wakers: Vec::new(), former: [waker, None] };
        };
        let left = self.queue[index].end.until.since(Nanos::of(now));
        if left.is_zero() {
            let former = [waker, self.queue[index].waker.take()];
            self.wait_ended(Some(now), true);
            return Answer { ready: Ready::Stop, for_credit: false, wakers: self.remove(index), former };
        }
        let mut wait = left;
        let answer = self.latency.least().unwrap_or_default();
        if self.prober(|end| end.allows(now, answer)) == Some(index) {
            let at = self.probe_at(index, now, cold_probe);
            if now >= at {
                let former = [waker, self.queue[index].waker.take()];
                let wakers = self.remove(index);
                self.last_send = now;
                self.wait_ended(Some(now), false);
                if self.is_cold(cold_probe) {
                    self.has_probed_cold = true;
                    // This long wait is no gap between calls. A program that makes one after the other would probe so rarely that it loses
                    // later ones.
                    self.last_first = self.last_first.map(|_| now);
                }
                self.lengthen_probe_wait();
                self.jitter = 0.5 + draw() / 2.0;
                return Answer { ready: Ready::Now, for_credit: false, wakers, former };
            }
            wait = wait.min(at.saturating_since(now));
        }
        let former = std::mem::replace(&mut self.queue[index].waker, waker);
        Answer { ready: Ready::After(wait), for_credit: false, wakers: Vec::new(), former: [former, None] }
    }

    fn position(&self, ticket: Ticket) -> Option<usize> {
        self.queue.binary_search_by_key(&ticket, |waiting| waiting.ticket).ok()
    }

    /// Returns the operation that is sent as the next probe: the oldest one that may be.
    fn prober(&self, has_time: impl Fn(End) -> bool) -> Option<usize> {
        let mut places = self.probers.iter().filter_map(|ticket| self.position(*ticket));
        places.find(|index| has_time(self.queue[*index].end))
    }

    /// Removes an operation, and returns the waker of the operation that probes next, if it is another one now.
    fn remove(&mut self, index: usize) -> Vec<Waker> {
        let was = self.prober(|_| true);
        self.take(index);
        let wakers = if was == Some(index) { self.next_prober().into_iter().collect() } else { Vec::new() };
        self.rest();
        wakers
    }

    /// Takes an operation out of the queue.
    fn take(&mut self, index: usize) -> Option<Waiting> {
        let waiting = self.queue.remove(index)?;
        if let Ok(index) = self.probers.binary_search(&waiting.ticket) {
            self.probers.remove(index);
        }
        Some(waiting)
    }

    fn next_prober(&mut self) -> Option<Waker> {
        let next = self.prober(|_| true)?;
        self.queue[next].waker.take()
    }

    /// Returns the operations with enough time to be sent for a credit, the oldest one first.
    fn in_time(&self, now: Timestamp) -> impl Iterator<Item = (usize, &Waiting)> {
        let answer = self.latency.longest_fast().unwrap_or_default() * 2;
        self.queue.iter().enumerate().filter(move |(_, waiting)| waiting.end.allows(now, answer))
    }

    /// Returns the operation that is sent for the next credit, unless others wait for it much longer.
    fn next_sent(&self, now: Timestamp) -> Option<usize> {
        let own_until = self.peers.map_or(Nanos::NEVER, |peers| peers.own_until);
        self.in_time(now).next().filter(|(_, first)| first.since <= own_until).map(|(index, _)| index)
    }

    /// Sends as many operations as there is credit for.
    fn spend(&mut self, now: Timestamp) -> Vec<Waker> {
        let (mut wakers, before) = (Vec::new(), self.queue.len());
        while self.credit >= SEND
            && let Some(index) = self.next_sent(now)
        {
            self.credit -= SEND;
            wakers.extend(self.take(index).and_then(|waiting| waiting.waker));
        }
        // What no operation has time for is not saved for later ones, which would then be sent all together.
        self.credit = self.credit.min(SEND);
        // One that is sent may have no waker, because it was woken as the next probe and has not asked since.
        if self.queue.len() < before {
            wakers.extend(self.next_prober());
        }
        self.rest();
        wakers
    }

    /// Keeps at most [`KEPT_CREDIT`] of the credit and of what was given back.
    fn keep_half_a_credit(&mut self) {
        let all = self.credit.saturating_add(std::mem::take(&mut self.returned));
        self.credit = all.min(KEPT_CREDIT);
    }

    /// Begins a new measurement of a healthy service once no operation waits.
    fn rest(&mut self) {
        if self.queue.is_empty() {
            self.leave_sends_to_peers();
            // What was given back is for operations of other processes, too, but not before a success.
            if self.peers.is_none() {
                self.keep_half_a_credit();
            }
            if self.learned == LEARNED && self.has_waited {
                (self.learned, self.last_first) = (0, None);
                self.latency.measure_again();
            }
            self.has_waited = false;
        }
    }
}
