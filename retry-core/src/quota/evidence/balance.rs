//! The changing state of a quota, which threads share.

use super::burst::{Burst, Knowledge};
use super::word::{Account, RETRY, Word};
use crate::support::quota_events;
use crate::support::sync::{AtomicU8, AtomicU64, Mutex, Ordering, PoisonError};
use crate::time::{Latest, Observed, Timestamp};

/// The changing state of a quota, which threads share.
///
/// Successes change the word by compare-and-swap. Failures hold the lock, and change the word in the same way.
#[derive(Debug)]
pub(super) struct Balance {
    /// A [`Word`]. It publishes no other data, so relaxed ordering suffices, except where `is_dry` says so.
    word: AtomicU64,
    /// 1 if a refusal was told and the recovery from it was not. Written only under the lock.
    ///
    /// A refusal stores it and then writes the word; a success writes the word and then loads it. So the second of the two
    /// writes to the word sees what the other thread did before, and a recovery during a refusal is told, too.
    is_dry: AtomicU8,
    /// No user code runs while it is locked, not even the clock, so it is never poisoned.
    rare: Mutex<Rare>,
}

/// The state that only failures need.
#[derive(Debug)]
struct Rare {
    burst: Burst,
    /// The latest reading of the clock. `None` before the first one.
    latest: Option<Latest>,
    /// The name of the strategy whose refused retry was told.
    strategy: Option<quota_events::KeptName>,
}

impl Balance {
    pub(super) const fn new() -> Self {
        let burst = Burst { began: None, attempts: 0, congested: None, score: 0 };
        let rare = Mutex::new(Rare { burst, latest: None, strategy: None });
        Self { word: AtomicU64::new(Word::NEW.0), is_dry: AtomicU8::new(0), rare }
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
        self.account().available() / RETRY
    }

    /// Returns what successes change.
    pub(super) fn account(&self) -> Account {
        self.word().account()
    }

    /// Notes a failure, and pays for its retry if there is to be one.
    #[cold]
    pub(super) fn pay(&self, is_timeout: bool, now: Timestamp) -> bool {
        let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        let Observed { now, went_back_to } = rare.latest.get_or_insert(Latest::new(now)).observe(now);
        let mut word = self.word();
        loop {
            let mut knowledge = Knowledge { account: word.account(), burst: rare.burst };
            if let Some(to) = went_back_to {
                knowledge.set_back(to);
            }
            let (after, is_granted) = knowledge.failed(word.is_settled(), is_timeout, now);
            match self.exchange(word, after.account.word()) {
                Ok(()) => {
                    rare.burst = after.burst;
                    return is_granted;
                }
                Err(changed) => word = changed,
            }
        }
    }

    /// Notes a success.
    #[inline]
    pub(super) fn succeed(&self, is_first: bool) {
        let word = self.word();
        if !word.is_settled() {
            self.recover(word, is_first);
        }
    }

    #[cold]
    fn recover(&self, mut word: Word, is_first: bool) {
        while !word.is_settled() {
            let after = word.account().succeeded(is_first).word();
            match self.exchange(word, after) {
                Ok(()) => return self.note_recovery(after),
                Err(changed) => word = changed,
            }
        }
    }

    fn is_dry(&self) -> bool {
        self.is_dry.load(Ordering::Relaxed) != 0
    }

    /// Warns that a retry was refused, unless it has warned already and not recovered since.
    #[cold]
    pub(super) fn note_refusal(&self, strategy: Option<&str>) {
        if !quota_events::are_enabled() || self.is_dry() {
            return;
        }
        let name = strategy.and_then(quota_events::KeptName::keep);
        {
            let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_dry() {
                drop(rare);
                _ = name.and_then(quota_events::KeptName::take);
                return;
            }
            rare.strategy = name;
            self.is_dry.store(1, Ordering::Relaxed);
        }
        // The word is written, though not changed, so that a success sees that the quota is dry, or is seen here.
        let word = Word(self.word.fetch_add(0, Ordering::AcqRel));
        quota_events::exhausted(strategy, word.account().capacity / RETRY);
        self.note_recovery(word);
    }

    /// Warns that the quota has recovered, if a refusal was told and nothing is missing any more.
    fn note_recovery(&self, word: Word) {
        if quota_events::EXIST && word.is_settled() && self.is_dry() {
            let strategy = {
                let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
                if !self.is_dry() {
                    return;
                }
                self.is_dry.store(0, Ordering::Relaxed);
                rare.strategy.take()
            };
            let strategy = strategy.and_then(quota_events::KeptName::take);
            quota_events::recovered(strategy.as_deref(), word.account().capacity / RETRY);
        }
    }

    /// Gives back an amount that bought nothing.
    #[cold]
    pub(super) fn give_back(&self, amount: u32) {
        let mut word = self.word();
        while !word.is_settled() {
            let mut account = word.account();
            account.missing = account.missing.saturating_sub(amount);
            match self.exchange(word, account.word()) {
                Ok(()) => return,
                Err(changed) => word = changed,
            }
        }
    }

    /// Replaces the word, or returns the one that another thread wrote meanwhile.
    fn exchange(&self, before: Word, after: Word) -> Result<(), Word> {
        let changed = self.word.compare_exchange(before.0, after.0, Ordering::Acquire, Ordering::Relaxed);
        changed.map(drop).map_err(Word)
    }
}
