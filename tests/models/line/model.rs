//! The rules of the line, written down plainly. Times are in milliseconds.

/// The longest latency of a fast success: 15 % of a timeout of one second.
const FAST: u64 = 150;
/// The longest time until a probe where nothing is sent.
const LONGEST_PROBE_WAIT: u64 = 30_000;
const NANOS: u64 = 1_000_000;

/// The end of a wait, and whether the operation is over then.
type End = Option<(u64, bool)>;

/// An operation that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    place: usize,
    end: End,
    may_probe: bool,
    /// When it joined the line; `None` before that.
    joined: Option<u64>,
    /// Whether there was a credit for it.
    is_to_be_sent: bool,
}

impl Waiting {
    /// Returns whether it has more time than this.
    fn has_more_than(&self, time: u64, now: u64) -> bool {
        self.end.is_none_or(|(end, is_hard)| !is_hard || end > now + time)
    }
}

/// What the answer to an operation that asks can be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    pub(super) may_wait: bool,
    pub(super) may_send: bool,
    pub(super) may_stop: bool,
    /// The time that is left to it.
    pub(super) left: Option<u64>,
    /// The time since it joined the line.
    pub(super) waited: u64,
}

/// What sends that others granted have shown since the latest success.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grants {
    Open,
    /// The first was granted at this time.
    Tried(u64),
    Failed,
}

pub(super) struct Model {
    /// In the order of the line. Those that have not joined yet are anywhere.
    line: Vec<Waiting>,
    /// In halves.
    credit: u32,
    /// The credit that operations gave back, in halves. Only a success sends another one for it.
    given_back: u32,
    /// While operations of other processes wait, the credit for them, in halves, and when it was last known that they do.
    peers: Option<(u32, u64)>,
    /// An operation that joined the line later leaves own successes to the others.
    own_until: Option<u64>,
    grants: Grants,
    last_send: u64,
    /// The probes since the latest success.
    probes: u32,
    has_probed: bool,
    /// The first attempts since operations have waited.
    firsts: u32,
    /// Whether an operation was in the line since it was empty.
    has_waited: bool,
    /// The latest first attempt whose gap to the next one counts.
    last_first: Option<u64>,
    /// The latest first attempt, or the time at which the first operation joined the line.
    quiet_since: u64,
    /// The mean gap of the latest ones, in nanoseconds, and their number.
    gap: u64,
    gaps: u64,
    was_timeout: bool,
    /// In halves.
    earned: u32,
    all_probes: u32,
    all_sends: u32,
    /// The halves of sends that were given to other processes.
    all_given: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            line: Vec::new(),
            credit: 0,
            given_back: 0,
            peers: None,
            own_until: None,
            grants: Grants::Open,
            last_send: 0,
            probes: 0,
            has_probed: false,
            firsts: 0,
            has_waited: false,
            last_first: None,
            quiet_since: 0,
            gap: 0,
            gaps: 0,
            was_timeout: false,
            earned: 0,
            all_probes: 0,
            all_sends: 0,
            all_given: 0,
        }
    }

    /// Returns the number of operations that wait, whether they have joined the line or not.
    pub(super) fn waiting(&self) -> u32 {
        u32::try_from(self.line.len()).unwrap()
    }

    fn in_line(&self) -> impl Iterator<Item = &Waiting> {
        self.line.iter().filter(|waiting| waiting.joined.is_some() && !waiting.is_to_be_sent)
    }

    /// Returns whether nobody waits here or elsewhere, so that attempts need not be measured.
    pub(super) fn is_settled(&self) -> bool {
        self.is_empty() && self.peers.is_none()
    }

    /// Returns whether nobody is in the line.
    fn is_empty(&self) -> bool {
        self.in_line().next().is_none()
    }

    /// Returns the number of sends to ask others for, and how long the operation has waited that would be sent first.
    pub(super) fn wanted(&self, now: u64) -> (u32, u64) {
        let in_time = || self.in_line().filter(|waiting| waiting.has_more_than(2 * FAST, now));
        let (count, is_early) = (u32::try_from(in_time().count()).unwrap(), now < self.last_send + self.probe_wait());
        let waited = in_time().next().map_or(0, |first| now - first.joined.unwrap());
        (if self.grants == Grants::Failed { count.min((!is_early).into()) } else { count }, waited)
    }

    fn probe_wait(&self) -> u64 {
        1_000 * 2_u64.pow(self.probes.min(4))
    }

    pub(super) fn take_spare(&mut self, now: u64) -> u32 {
        self.forgets_peers(now);
        let Some((spare, _)) = &mut self.peers else { return 0 };
        self.all_given += *spare;
        std::mem::take(spare)
    }

    /// Others grant sends, and their operations wait or not.
    pub(super) fn peers(&mut self, granted: u32, wait: Option<u64>, was_measured: bool, now: u64) {
        if !was_measured {
            self.last_first = None;
            self.quiet_since = now;
        }
        self.forgets_peers(now);
        self.peers = wait.map(|_| (self.peers.map_or(0, |(spare, _)| spare), now));
        self.own_until = None;
        self.credit += 2 * granted;
        self.earned += 2 * granted;
        let before = self.in_line().count();
        self.spend(now);
        self.own_until = wait.filter(|wait| *wait > 0).map(|wait| now - wait + 2_000);
        if granted > 0 && self.in_line().count() < before {
            match self.grants {
                Grants::Open => self.grants = Grants::Tried(now),
                Grants::Tried(_) => {}
                Grants::Failed => self.probes += 1,
            }
        }
    }

    fn forgets_peers(&mut self, now: u64) {
        let knew = self.peers.is_some();
        self.peers = self.peers.filter(|(_, known_at)| now - known_at <= 15_000);
        if knew && self.peers.is_none() && self.is_empty() {
            self.keeps_half();
        }
    }

    pub(super) fn begins(&mut self, now: u64, is_measured: bool) {
        if is_measured {
            self.forgets_peers(now);
            self.sends(now);
            self.firsts = 16.min(self.firsts + 1);
            self.quiet_since = now;
            if let Some(last) = self.last_first.replace(now) {
                self.gaps = 8.min(self.gaps + 1);
                self.gap = (self.gap * (self.gaps - 1) + (now - last) * NANOS) / self.gaps;
            }
        } else {
            assert!(self.is_settled() && self.firsts >= 16, "it is not measured after {} others", self.firsts);
        }
    }

    pub(super) fn sends(&mut self, now: u64) {
        self.last_send = self.last_send.max(now);
    }

    /// An attempt fails, which was sent at this time if it was measured.
    pub(super) fn fails(&mut self, is_timeout: bool, sent: Option<u64>) {
        if let Grants::Tried(at) = self.grants
            && sent.is_some_and(|sent| at <= sent)
        {
            self.grants = Grants::Failed;
        }
        self.was_timeout = is_timeout;
        self.keeps_half();
    }

    pub(super) fn succeeds(&mut self, now: u64, latency: u64) {
        self.forgets_peers(now);
        let is_fast = latency <= FAST;
        self.probes = 0;
        self.grants = Grants::Open;
        if is_fast {
            let missed = (8 * self.gap).clamp(1_000 * NANOS, 30_000 * NANOS);
            let is_quiet = (now - self.quiet_since) * NANOS > missed;
            // 1.5 times the least latency, which is zero.
            let is_brief = latency == 0;
            let earned = if is_quiet && (!self.was_timeout || is_brief) { 2 } else { 1 };
            self.credit += earned;
            self.earned += earned;
        }
        let back = self.given_back.min(2);
        self.given_back -= back;
        self.credit += back;
        self.spend(now);
        if is_fast
            && self.next_sent(now).is_none()
            && let Some((spare, _)) = &mut self.peers
        {
            *spare += std::mem::take(&mut self.credit);
        }
    }

    /// Returns the place in the line of the operation that is sent for the next credit.
    fn next_sent(&self, now: u64) -> Option<usize> {
        let is_next = |waiting: &Waiting| {
            waiting.joined.is_some() && !waiting.is_to_be_sent && waiting.has_more_than(2 * FAST, now)
        };
        let own_until = self.own_until.filter(|_| self.peers.is_some());
        let index = self.line.iter().position(is_next)?;
        Some(index).filter(|index| own_until.is_none_or(|until| self.line[*index].joined.unwrap() <= until))
    }

    /// Sends the oldest operations that have time for a fast answer, twice.
    fn spend(&mut self, now: u64) {
        while self.credit >= 2 {
            let Some(index) = self.next_sent(now) else { break };
            self.line[index].is_to_be_sent = true;
            self.credit -= 2;
        }
        self.credit = self.credit.min(2);
        self.rests();
    }

    fn rests(&mut self) {
        if self.is_empty() {
            if let Some((spare, _)) = &mut self.peers {
                *spare += self.credit / 2 * 2;
                self.credit %= 2;
            } else {
                self.keeps_half();
            }
            if self.firsts == 16 && self.has_waited {
                self.firsts = 0;
                self.last_first = None;
            }
            self.has_waited = false;
        }
    }

    fn keeps_half(&mut self) {
        self.credit = 1.min(self.credit + std::mem::take(&mut self.given_back));
    }

    pub(super) fn refused(&mut self, place: usize, end: End, may_probe: bool) {
        self.line.push(Waiting { place, end, may_probe, joined: None, is_to_be_sent: false });
    }

    pub(super) fn joins(&mut self, place: usize, now: u64) {
        if self.is_empty() {
            self.last_send = self.last_send.max(now);
            self.quiet_since = now;
            self.last_first = self.last_first.filter(|_| self.firsts < 16);
        }
        self.has_waited = true;
        let index = self.line.iter().position(|waiting| waiting.place == place).unwrap();
        let waiting = self.line.remove(index);
        self.line.push(Waiting { joined: Some(now), ..waiting });
        self.spend(now);
    }

    /// Returns the operation that is sent as the next probe: the oldest one that may be and has time.
    fn prober(&self, now: u64) -> Option<usize> {
        self.in_line().find(|waiting| waiting.may_probe && waiting.has_more_than(0, now)).map(|waiting| waiting.place)
    }

    /// Returns what the answer to an operation can be.
    pub(super) fn asks(&self, place: usize, now: u64) -> Verdict {
        let waiting = *self.line.iter().find(|waiting| waiting.place == place).unwrap();
        let left = waiting.end.map(|(end, _)| end.saturating_sub(now));
        let verdict = Verdict { left, waited: now - waiting.joined.unwrap(), ..Verdict::default() };
        if waiting.is_to_be_sent {
            return Verdict { may_send: true, ..verdict };
        }
        if left == Some(0) {
            return Verdict { may_stop: true, ..verdict };
        }
        if self.prober(now) != Some(place) {
            return Verdict { may_wait: true, ..verdict };
        }
        let most = self.probe_wait();
        let least = if self.has_probed { most / 2 } else { most };
        let passed = now.saturating_sub(self.last_send);
        Verdict { may_wait: passed < LONGEST_PROBE_WAIT, may_send: passed >= least, ..verdict }
    }

    /// An operation that has asked is sent. Returns whether it is sent for a credit.
    pub(super) fn sent(&mut self, place: usize, now: u64) -> bool {
        let index = self.line.iter().position(|waiting| waiting.place == place).unwrap();
        let waiting = self.line.remove(index);
        self.sends(now);
        self.all_sends += 1;
        if !waiting.is_to_be_sent {
            self.probes += 1;
            self.all_probes += 1;
            self.has_probed = true;
            self.rests();
        }
        waiting.is_to_be_sent
    }

    /// An operation that had a credit was not sent after all.
    pub(super) fn gives_back(&mut self) {
        self.all_sends -= 1;
        self.returns();
    }

    fn returns(&mut self) {
        self.given_back += 2;
        self.rests();
    }

    /// An operation does not wait any longer.
    pub(super) fn leaves(&mut self, place: usize) {
        let index = self.line.iter().position(|waiting| waiting.place == place).unwrap();
        let waiting = self.line.remove(index);
        if waiting.is_to_be_sent {
            self.returns();
        } else if waiting.joined.is_some() {
            self.rests();
        }
    }

    /// Returns the time by which an operation must ask by itself, if it is not woken.
    pub(super) fn must_ask_by(&self, place: usize) -> Option<u64> {
        let waiting = self.line.iter().find(|waiting| waiting.place == place)?;
        if waiting.is_to_be_sent {
            return Some(0);
        }
        let end = waiting.end.map(|(end, _)| end);
        let oldest = self.in_line().find(|waiting| waiting.may_probe);
        let probes_by = oldest.filter(|oldest| oldest.place == place).map(|_| self.last_send + LONGEST_PROBE_WAIT);
        end.into_iter().chain(probes_by).min()
    }

    /// No more is sent than the evidence allows.
    pub(super) fn check_total(&self) {
        let all = 2 * (self.all_sends - self.all_probes) + self.all_given;
        assert!(all <= self.earned, "{all} halves of a send, {} halves of a credit", self.earned);
    }
}
