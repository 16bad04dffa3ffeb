//! The changing state of a quota, which threads share.

use super::burst::{Burst, Knowledge};
use super::word::{Account, RETRY, Word};
use crate::support::sync::{AtomicU64, Mutex, Ordering, PoisonError};
use crate::time::{Latest, Observed, Timestamp};

/// The changing state of a quota, which threads share.
///
/// Successes change the word by compare-and-swap. Failures hold the lock, and change the word in the same way.
#[derive(Debug)]
pub(super) struct Balance {
    /// A [`Word`]. It publishes no other data, so relaxed ordering suffices.
    word: AtomicU64,
    /// No user code runs while it is locked, not even the clock, so it is never poisoned.
    rare: Mutex<Rare>,
}

/// The state that only failures need.
#[derive(Debug)]
struct Rare {
    burst: Burst,
    /// The latest reading of the clock. `None` before the first one.
    latest: Option<Latest>,
}

impl Balance {
    pub(super) const fn new() -> Self {
        let burst = Burst { began: None, attempts: 0, congested: None, score: 0 };
        Self { word: AtomicU64::new(Word::NEW.0), rare: Mutex::new(Rare { burst, latest: None }) }
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
            match self.exchange(word, word.account().succeeded(is_first).word()) {
                Ok(()) => return,
                Err(changed) => word = changed,
            }
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
        let changed = self.word.compare_exchange(before.0, after.0, Ordering::Relaxed, Ordering::Relaxed);
        changed.map(drop).map_err(Word)
    }
}
