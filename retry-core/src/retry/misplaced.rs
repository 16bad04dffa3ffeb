//! Methods that calls of closures don't have, with messages that say what to write.

use super::{HedgedRetry, Retry};
use crate::operation::misplaced::{ClosureForTheEnd, SettingsAfterHedge, StrategySettings, misplaced};

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L> {
    misplaced! { StrategySettings: max_attempts(attempts: A) backoff(base: A, cap: B) jitter(jitter: A) }
    misplaced! { ClosureForTheEnd: on_end(on_end: A) }
}

impl<C> HedgedRetry<C> {
    misplaced! { StrategySettings: max_attempts(attempts: A) backoff(base: A, cap: B) jitter(jitter: A) }
    misplaced! { ClosureForTheEnd: on_end(on_end: A) }
    misplaced! {
        SettingsAfterHedge:
        idempotent(idempotent: A)
        when(when: A)
        retry_after(retry_after: A)
        policy(policy: A)
        weight(weight: A)
        used(used: A)
        observer(observer: A)
        name(name: A)
        on_retry(on_retry: A)
        timer(timer: A)
        max_time(time: A)
        deadline(deadline: A)
        attempt_timeout(time: A)
        unlimited_attempts()
        stop(stop: A)
    }
}
