//! The changing state of a quota, which threads share.

mod warnings;

use super::judgement::{Burst, Known};
use super::knowledge::{HALF_LIFE_MILLIS, Peers, QuotaKnowledge};
use super::millis::Millis;
use super::word::{Account, FLOOR, RETRY, Word};
use crate::quota::QuotaMode;
#[cfg(feature = "test")]
use crate::quota::balance::Balance;
use crate::support::outage_events;
#[cfg(feature = "test")]
use crate::support::session;
use crate::support::sync::{AtomicU8, AtomicU32, AtomicU64, Mutex, Ordering, PoisonError};
use crate::time::Clock;

/// The changing state of a quota, which threads share.
///
/// All of them change the word by compare-and-swap. A failure for which traffic is measured holds the lock meanwhile.
#[derive(Debug)]
pub(super) struct Ledger {
    /// A [`Word`].
    word: AtomicU64,
    /// When the burst of failures began, in [`Millis`]. The failure that begins a burst writes it before the word. So a
    /// thread that is late can write only a time that is close to it, and earlier, which seems to be less traffic. A hedge writes it
    /// after the word, but holds the lock, as all that read it do.
    began: AtomicU64,
    /// The last measured capacity, for events, and for whether hedges are sold.
    capacity: AtomicU32,
    /// 1 if too much was missing at the latest measured failure, for events, and for whether hedges are sold.
    is_short: AtomicU8,
    /// 1 if there are peers. Written only under the lock.
    has_peers: AtomicU8,
    /// What successes gave back beyond what was missing, since the peers were set.
    surplus: AtomicU32,
    /// 1 if a refusal was reported and the recovery from it was not. Written only under the lock.
    ///
    /// A refusal stores it and then writes the word; a success writes the word and then loads it. So the second of the two
    /// writes to the word sees what the other thread did before, and a recovery during a refusal is reported, too.
    is_dry: AtomicU8,
    /// No user code runs while it is locked, not even the clock, so it is never poisoned.
    rare: Mutex<Rare>,
    /// The quota of a fixed size that a test guard sets in place of this one.
    #[cfg(feature = "test")]
    pub(super) fixed: Option<Balance>,
}

/// The state that only few failures need.
#[derive(Debug)]
struct Rare {
    /// The latest timeout.
    timed_out: Option<Millis>,
    peers: Option<Peers>,
    /// The name of the strategy whose refused retry was reported.
    strategy: Option<outage_events::KeptName>,
}

impl Ledger {
    pub(super) const fn new() -> Self {
        Self {
            word: AtomicU64::new(Word::NEW.0),
            began: AtomicU64::new(0),
            capacity: AtomicU32::new(0),
            is_short: AtomicU8::new(0),
            has_peers: AtomicU8::new(0),
            surplus: AtomicU32::new(0),
            is_dry: AtomicU8::new(0),
            rare: Mutex::new(Rare { timed_out: None, peers: None, strategy: None }),
            #[cfg(feature = "test")]
            fixed: None,
        }
    }

    /// Creates the ledger for a test guard, as its options say.
    #[cfg(feature = "test")]
    pub(super) fn fresh() -> Self {
        let ledger = Self { fixed: session::quota().map(|capacity| Balance::full(capacity, None)), ..Self::new() };
        if session::begins_warm() {
            ledger.succeed(true);
        }
        ledger
    }

    /// Creates the ledger for a test guard, which there is not.
    #[cfg(not(feature = "test"))]
    pub(super) const fn fresh() -> Self {
        Self::new()
    }

    #[inline]
    fn word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.word().is_settled()
    }

    /// Returns the number of retries that could be paid now.
    pub(super) fn available(&self) -> u32 {
        self.capacity().saturating_sub(self.account().missing) / RETRY
    }

    /// Returns the number of retries that could be paid if none were missing.
    pub(super) fn full(&self) -> u32 {
        self.capacity() / RETRY
    }

    /// Returns the last measured capacity.
    pub(super) fn capacity(&self) -> u32 {
        self.capacity.load(Ordering::Relaxed).max(FLOOR)
    }

    /// Returns the word.
    pub(super) fn account(&self) -> Account {
        self.word().account()
    }

    /// Returns the mode of the quota.
    pub(super) fn mode(&self) -> QuotaMode {
        let account = self.account();
        let is_short = self.is_short.load(Ordering::Relaxed) != 0
            && (account.missing + RETRY > self.capacity() || self.has_peers());
        match account {
            Account { attempts: 0, .. } => QuotaMode::Full,
            _ if is_short => QuotaMode::Exhausted,
            Account { is_congested: true, .. } => QuotaMode::Congested,
            _ => QuotaMode::Spending,
        }
    }

    /// Records a failure, and pays for its retry if there is to be one. Reads the clock only if the time matters.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn pay(&self, is_timeout: bool, clock: &dyn Clock) -> bool {
        let mut word = self.word();
        while let Some(after) = word.paid_from_floor()
            && !is_timeout
        {
            match self.exchange(word, after) {
                Ok(()) => return true,
                Err(changed) => word = changed,
            }
        }
        self.pay_at(word, is_timeout, clock)
    }

    #[cold]
    #[inline(never)]
    fn pay_at(&self, word: Word, is_timeout: bool, clock: &dyn Clock) -> bool {
        let now = Millis::of(clock.now());
        let is_first = word == Word::SETTLED && !is_timeout && !self.has_peers();
        (is_first && self.begin(now)) || self.pay_measured(is_timeout, now)
    }

    /// Records the first failure of a burst, which is not a timeout, and pays for its retry, unless another thread was
    /// faster.
    fn begin(&self, now: Millis) -> bool {
        self.began.store(now.0, Ordering::Relaxed);
        self.capacity.store(0, Ordering::Relaxed);
        self.is_short.store(0, Ordering::Relaxed);
        let is_first = self.exchange(Word::SETTLED, Word::BEGUN).is_ok();
        // If peers are set meanwhile, either they see the burst, or this thread sees them.
        self.mark_peers();
        is_first
    }

    /// Records a failure for which traffic is measured, or for which timeouts matter.
    fn pay_measured(&self, is_timeout: bool, now: Millis) -> bool {
        let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = self.surplus(&rare, now);
        let pool = rare.peers.as_mut().and_then(|peers| peers.pool(surplus, now));
        if pool.is_none() && rare.peers.take().is_some() {
            self.has_peers.store(0, Ordering::Relaxed);
        }
        let mut word = Word(self.word.load(Ordering::Acquire));
        loop {
            let known = self.known(&rare, word);
            let began = known.burst.began;
            let (after, is_granted) = known.failed(is_timeout, now, pool);
            let changed = after.account.word();
            match self.exchange(word, if pool.is_some() { changed.with_peers() } else { changed }) {
                Ok(()) => {
                    self.rebase(began, after.burst.began);
                    self.capacity.store(after.burst.capacity, Ordering::Relaxed);
                    self.is_short.store(after.burst.is_short.into(), Ordering::Relaxed);
                    rare.timed_out = after.burst.timed_out;
                    return is_granted;
                }
                Err(changed) => word = changed,
            }
        }
    }

    /// Returns whether a hedge would not be paid for, as far as that is known without measuring traffic.
    pub(super) fn is_low(&self) -> bool {
        let account = self.account();
        !account.is_proven
            || self.mode() >= QuotaMode::Exhausted
            || account.doubts()
            || account.missing + RETRY > self.capacity() / 2
    }

    /// Pays for a hedge from the upper half of the capacity, and measures traffic from then on. A hedge is neither a failure nor a
    /// success.
    #[cold]
    pub(super) fn pay_hedge(&self, clock: &dyn Clock) -> bool {
        let now = Millis::of(clock.now());
        let rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut word = Word(self.word.load(Ordering::Acquire));
        loop {
            let Known { mut account, mut burst } = self.known(&rare, word);
            let began = burst.began;
            let doubts = account.doubts();
            if account.attempts == 0 {
                (account.attempts, burst.began) = (1, now);
            } else if self.mode() >= QuotaMode::Exhausted {
                return false;
            }
            let capacity = burst.measured(&mut account, now).max(FLOOR);
            if !account.is_proven || doubts || account.missing + RETRY > capacity / 2 {
                return false;
            }
            account.missing += RETRY;
            let changed = account.word();
            match self.exchange(word, if self.has_peers() { changed.with_peers() } else { changed }) {
                Ok(()) => {
                    self.rebase(began, burst.began);
                    self.capacity.store(capacity, Ordering::Relaxed);
                    return true;
                }
                Err(changed) => word = changed,
            }
        }
    }

    /// Replaces the time when the burst began, unless another thread has begun a new one meanwhile.
    fn rebase(&self, before: Millis, after: Millis) {
        _ = self.began.compare_exchange(before.0, after.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn known(&self, rare: &Rare, word: Word) -> Known {
        let began = Millis(self.began.load(Ordering::Relaxed));
        Known { account: word.account(), burst: Burst { began, timed_out: rare.timed_out, ..Burst::default() } }
    }

    /// Returns the knowledge of this quota, without its peers.
    pub(super) fn knowledge(&self, now: Millis) -> QuotaKnowledge {
        let rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        self.knowledge_of(&rare, now)
    }

    fn knowledge_of(&self, rare: &Rare, now: Millis) -> QuotaKnowledge {
        let Known { mut account, mut burst } = self.known(rare, Word(self.word.load(Ordering::Acquire)));
        // Half of the retries are not traffic. In a quota with little of it, the two of one operation would be a high rate, and
        // the sum over many such quotas would pay for too much. Without any, an outage of a second is not bridged.
        account.attempts = account.attempts.saturating_sub(account.missing / (2 * RETRY)).max(account.attempts.min(1));
        let capacity = if account.attempts > 0 { burst.measured(&mut account, now) } else { 0 };
        let age = burst.timed_out.map(|at| now.since(at));
        QuotaKnowledge::of(i64::from(account.missing) - self.surplus(rare, now), capacity.into(), age)
    }

    /// Keeps a surplus for the peers, if there are any.
    fn note_surplus(&self, amount: u32) {
        if self.has_peers() {
            let add = |surplus: u32| Some(surplus.saturating_add(amount));
            _ = self.surplus.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        }
    }

    /// Returns the surplus at this time. It is dropped if there was no report of the peers for long.
    fn surplus(&self, rare: &Rare, now: Millis) -> i64 {
        let heard = rare.peers.filter(|peers| now.since(peers.at) < 2 * HALF_LIFE_MILLIS);
        heard.map_or(0, |peers| peers.surplus + i64::from(self.surplus.load(Ordering::Relaxed)))
    }

    /// Sets the knowledge of the peers.
    pub(super) fn set_peers(&self, known: QuotaKnowledge, now: Millis) {
        let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = self.surplus(&rare, now) - self.knowledge_of(&rare, now).part_of_surplus(known);
        self.surplus.store(0, Ordering::Relaxed);
        let peers = Peers { known, surplus: surplus.max(0), reported: self.account().missing, at: now };
        rare.peers = Some(peers).filter(|_| known != QuotaKnowledge::default());
        self.has_peers.store(rare.peers.is_some().into(), Ordering::Relaxed);
        self.mark_peers();
    }

    /// Makes the next failure consult the knowledge of the peers, if there are any.
    fn mark_peers(&self) {
        if self.has_peers() {
            let marked = |bits| Some(Word(bits).with_peers().0);
            _ = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, marked);
        }
    }

    fn has_peers(&self) -> bool {
        self.has_peers.load(Ordering::Relaxed) != 0
    }

    /// Records a success.
    #[inline]
    pub(super) fn succeed(&self, is_first: bool) {
        let word = self.word();
        if !word.is_settled() {
            self.recover(word, is_first);
        }
    }

    /// Records a success in the word, which is not settled.
    #[cold]
    fn recover(&self, mut word: Word, is_first: bool) {
        while let Some(after) = word.succeeded_plainly(is_first) {
            match self.exchange(word, after) {
                Ok(()) => return self.note_recovery(after),
                Err(changed) => word = changed,
            }
        }
        self.recover_slow(word, is_first);
    }

    /// Records a success in a word that is not plain.
    #[inline(never)]
    fn recover_slow(&self, mut word: Word, is_first: bool) {
        while !word.is_settled() {
            let after = word.succeeded(is_first);
            match self.exchange(word, after) {
                Ok(()) => {
                    self.note_surplus(word.surplus(is_first));
                    return self.note_recovery(after);
                }
                Err(changed) => word = changed,
            }
        }
    }

    /// Gives back an amount whose retry was not sent.
    #[cold]
    pub(super) fn give_back(&self, amount: u32) {
        let mut word = self.word();
        loop {
            let after = word.given_back(amount);
            match self.exchange(word, after) {
                Ok(()) => return self.note_recovery(after),
                Err(changed) => word = changed,
            }
        }
    }

    /// Replaces the word, or returns the one that another thread wrote meanwhile.
    #[inline]
    fn exchange(&self, before: Word, after: Word) -> Result<(), Word> {
        let changed = self.word.compare_exchange(before.0, after.0, Ordering::AcqRel, Ordering::Acquire);
        changed.map(drop).map_err(Word)
    }
}
