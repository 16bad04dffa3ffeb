//! The deadline of the attempt that begins now.

use super::release::ReleaseGuard;
use super::{Call, Deadline, OptionalObserver, RunningLimits, StateOf};
use crate::strategy::RetryStrategy;
use crate::time::Timer;

/// The deadline of an attempt under the limits `L`, and the sleep until the deadline.
pub(crate) type DeadlineAndSleep<L, Z> = (Deadline<<L as RunningLimits>::Cut>, Option<<L as RunningLimits>::Sleep<Z>>);

impl<S: RetryStrategy, T: Timer + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the deadline of the attempt that begins now, and the sleep until the deadline, as [`deadline`](Call::deadline) does. For a
    /// loop in which nothing else runs between the beginning of the operation and its first attempt.
    #[inline]
    pub(crate) fn prompt_deadline<L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
    ) -> DeadlineAndSleep<L, T::Sleep> {
        if L::IS_TIMED && operation.stopped.is_none() && operation.has_just_begun() && Self::is_unheard() {
            // An unmade token needs no guard.
            return self.deadline_as_read(&operation.limits);
        }
        self.deadline(operation)
    }

    /// Returns the deadline of the attempt that begins now, and the sleep until the deadline. Neither borrows the
    /// timer.
    ///
    /// There is no sleep if there is no limit, or if no time is left. In the second case, the attempt is polled once.
    #[inline]
    pub(crate) fn deadline<L: RunningLimits>(self, operation: &mut StateOf<S, L, O>) -> DeadlineAndSleep<L, T::Sleep> {
        if let Some(cut) = operation.stopped {
            return (Deadline::Over(cut), None);
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        // The clock is read again, because an observer may have taken time.
        operation.limits.remaining(&self.timer());
        let deadline = self.deadline_as_read(&operation.limits);
        guard.disarm();
        deadline
    }

    /// Returns the deadline by the time that the limits have read last.
    #[inline]
    fn deadline_as_read<L: RunningLimits>(self, limits: &L) -> DeadlineAndSleep<L, T::Sleep> {
        let next = limits.next_cut();
        (next.map_or(Deadline::Never, |(_, cut)| Deadline::Sleep(cut)), limits.sleep(&self.timer(), next))
    }
}
