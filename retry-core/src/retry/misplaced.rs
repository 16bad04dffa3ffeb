//! Methods that calls of closures don't have, with messages that say what to write.

use super::{Blocking, Retry};
use crate::support::misplaced::{
    ClosureForTheEnd, FutureBesideAThread, NumberOfRetries, StrategySettings, TimeoutOfACall, misplaced,
};

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L> {
    misplaced! { StrategySettings: backoff(base: A, cap: B) jitter(jitter: A) }
    misplaced! { NumberOfRetries: max_retries(retries: A) }
    misplaced! { TimeoutOfACall: timeout(timeout: A) }
    misplaced! { ClosureForTheEnd: on_end(on_end: A) }
}

impl<S, F, P, T, O, L> Retry<S, Blocking<F>, P, T, O, L> {
    misplaced! { FutureBesideAThread: stop_when(when: A) }
}
