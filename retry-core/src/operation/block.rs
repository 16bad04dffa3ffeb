//! The waits before an attempt that blocks its thread.

use super::release::ReleaseGuard;
use super::wait::{Reason, skipped};
use super::{Call, OptionalObserver, RunningLimits, StateOf};
use crate::limit::EarlyWake;
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::strategy::RetryStrategy;
use crate::support::sync::{Thread, current_thread};
use crate::time::{BlockingTimer, Timestamp};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

impl<S: RetryStrategy, T: BlockingTimer + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Blocks the thread until the attempt is due. Returns the limit that prevents the attempt, if one does.
    ///
    /// A thread can't yield as a task can. So if the clock stands still, the attempt is sent without the strategy's
    /// permission after [`MAX_STANDING_WAITS`].
    pub(crate) fn block<L: RunningLimits>(self, operation: &mut StateOf<S, L, O>) -> Option<L::Cut> {
        let mut standing = StandingClock::default();
        while let Some((wait, reason)) = self.next_wait(operation) {
            let reason = skipped(operation, wait, reason);
            let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
            let send = match reason {
                Reason::Skipped(wait) => {
                    wait.end();
                    false
                }
                Reason::Delay(None) => {
                    self.timer().block(wait);
                    false
                }
                Reason::Delay(Some(wake)) => {
                    self.park_until(self.now().saturating_add(wait), &wake);
                    false
                }
                Reason::Limiter(wake) | Reason::Service(wake) => {
                    let is_woken = self.park(wait, wake.as_ref());
                    !is_woken && standing.is_exhausted_at(self.timer().now())
                }
            };
            if send {
                let attempt = guard.token.attempts();
                operation.record.attempted(|| attempt);
                self.tell(&operation.observed, Level::Trace, attempt, &move || EventKind::AttemptStarted);
            }
            guard.disarm();
            if send {
                break;
            }
        }
        operation.stopped
    }

    /// Parks the thread until this time, or until the wait is ended early. A thread can be unparked for another reason, and then
    /// parks again, unless the clock stands still.
    #[cold]
    fn park_until(self, end: Timestamp, wake: &EarlyWake) {
        loop {
            let now = self.now();
            let is_woken = self.park(end.saturating_since(now), Some(wake));
            let later = self.now();
            if is_woken || later >= end || later <= now {
                return;
            }
        }
    }

    /// Parks the thread until the wait is over. Returns whether the strategy ended it early.
    fn park(self, wait: Duration, wake: Option<&EarlyWake>) -> bool {
        if wake.is_none_or(|wake| !wake.register(&unparks_this_thread())) {
            self.timer().park(wait);
        }
        wake.is_some_and(EarlyWake::is_woken)
    }
}

/// The number of waits of a blocking call that may run to their end at the same reading of the clock. A wait that the
/// strategy ended early is not counted, because a coarse clock may show the same time after it.
const MAX_STANDING_WAITS: u32 = 100;

/// A counter of successive waits during which the clock stood still.
#[derive(Default)]
struct StandingClock {
    latest: Option<Timestamp>,
    waits: u32,
}

impl StandingClock {
    /// Counts a wait after which the clock shows this time. Returns whether it was the last allowed one.
    fn is_exhausted_at(&mut self, now: Timestamp) -> bool {
        if self.latest == Some(now) {
            self.waits += 1;
        } else {
            *self = Self { latest: Some(now), waits: 1 };
        }
        self.waits >= MAX_STANDING_WAITS
    }
}

/// Returns a waker that unparks the current thread.
fn unparks_this_thread() -> Waker {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    Waker::from(Arc::new(Unpark(current_thread())))
}
