//! The warnings of a quota that refuses retries, and of its recovery.

use super::super::word::{RETRY, Word};
use super::Ledger;
use crate::support::outage_events;
use crate::support::sync::{Ordering, PoisonError};

impl Ledger {
    fn is_dry(&self) -> bool {
        self.is_dry.load(Ordering::Relaxed) != 0
    }

    /// Warns that a retry was refused, unless it has warned already and not recovered since.
    #[cold]
    pub(in super::super) fn note_refusal(&self, strategy: Option<&str>) {
        // Most refusals by a dry quota don't lock.
        if !outage_events::are_enabled() || self.is_dry() {
            return;
        }
        {
            let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(_) = self.is_dry.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed) else { return };
            rare.strategy = strategy.and_then(outage_events::KeptName::keep);
        }
        // The word is written, though not changed, so that either a success sees that the quota is dry, or this thread
        // sees the success.
        let word = Word(self.word.fetch_add(0, Ordering::AcqRel));
        outage_events::exhausted(strategy, self.capacity() / RETRY);
        self.note_recovery(word);
    }

    /// Warns that the quota has recovered, if a refusal was reported and nothing is missing any more.
    pub(super) fn note_recovery(&self, word: Word) {
        if outage_events::EXIST && word.is_settled() && self.is_dry() {
            let strategy = {
                let mut rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
                let Ok(_) = self.is_dry.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed) else { return };
                rare.strategy.take()
            };
            let strategy = strategy.and_then(outage_events::KeptName::take);
            outage_events::recovered(strategy.as_deref(), self.capacity() / RETRY);
        }
    }
}
