//! Methods that layers don't have, with messages that say what to write.

use super::{HedgedLayer, RetryLayer};
use crate::operation::misplaced::{SettingsAfterHedge, StrategySettings, misplaced};

impl<S, P, C, A, T, O, L> RetryLayer<S, P, C, A, T, O, L> {
    misplaced! { StrategySettings: max_attempts(attempts: X) backoff(base: X, cap: Y) jitter(jitter: X) }
}

impl<L, H> HedgedLayer<L, H> {
    misplaced! { StrategySettings: max_attempts(attempts: X) backoff(base: X, cap: Y) jitter(jitter: X) }
    misplaced! {
        SettingsAfterHedge:
        idempotent(idempotent: X)
        policy(policy: X)
        policy_with(policy: X)
        clone_with(clone: X)
        before_attempt(change: X)
        weight(weight: X)
        name(name: X)
        timer(timer: X)
        observer(observer: X)
        max_time(time: X)
        attempt_timeout(time: X)
        stop(stop: X)
    }
}
