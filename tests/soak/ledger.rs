//! What a quota must have left, by the events of the operations that it pays for.

use crate::problem::{equal, lock};
use retry_core::strategy::RetryCosts;
use retry_core::{Event, EventKind, Observer, OperationId, RetryErrorType, RetryQuota, TokenBucket};
use std::collections::HashMap;
use std::sync::Mutex;

/// The costs of the strategy, all of them different.
pub(crate) const COSTS: RetryCosts = RetryCosts::new(3).throttling(5).timeout(7).conflict(1);

/// What an operation has paid for and not lost yet.
#[derive(Clone, Copy)]
enum Paid {
    /// A retry that waits: whatever ends it, the payment comes back.
    Waits(u32),
    /// An attempt that was sent: the payment comes back if it succeeds.
    Sent(u32),
}

#[derive(Default)]
struct Accounts {
    operations: HashMap<OperationId, Paid>,
    lost: u32,
}

/// Observes the operations of a strategy that refunds the last cost after a retry, and nothing at the first attempt.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Accounts>);

impl Observer for Ledger {
    fn observe(&self, event: &Event) {
        let mut accounts = lock(&self.0);
        let before = accounts.operations.get(&event.operation_id).copied();
        let sent = match before {
            Some(Paid::Sent(cost)) => cost,
            _ => 0,
        };
        let (now, lost) = match (event.kind, before) {
            (EventKind::RetryScheduled { error_type, .. }, _) => {
                (Some(Paid::Waits(COSTS.of(error_type.unwrap_or(RetryErrorType::Other)))), sent)
            }
            (EventKind::AttemptStarted, Some(Paid::Waits(cost))) => (Some(Paid::Sent(cost)), 0),
            (EventKind::HedgeSent, _) => (Some(Paid::Sent(COSTS.of(RetryErrorType::Other))), sent),
            (EventKind::HedgeEnded { won: false, .. } | EventKind::Stopped { .. }, _) => (None, sent),
            (EventKind::Succeeded { .. }, _) => (None, 0),
            _ => return,
        };
        accounts.lost += lost;
        match now {
            Some(paid) => accounts.operations.insert(event.operation_id, paid),
            None => accounts.operations.remove(&event.operation_id),
        };
    }
}

impl Ledger {
    /// Records a problem unless the bucket, which was full, lacks what was lost. To be called when no operation runs.
    pub(crate) fn check(&self, bucket: &TokenBucket) {
        let accounts = lock(&self.0);
        let dropped = accounts.operations.values().map(|paid| match paid {
            Paid::Waits(_) => 0,
            Paid::Sent(cost) => *cost,
        });
        equal("the quota lacks", bucket.capacity() - bucket.available(), accounts.lost + dropped.sum::<u32>());
    }
}
