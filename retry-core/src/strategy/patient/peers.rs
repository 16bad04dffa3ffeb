//! What the lines of several processes tell each other.

use super::PatientRetryStrategy;
use crate::time::Clock;
use std::time::Duration;

/// For processes that share their evidence that the service answers, as those of a fleet do (the crate `retry-fleet`): successes that no
/// operation of one process uses send operations of another one.
impl<B, Q> PatientRetryStrategy<B, Q> {
    /// Returns the number of sends to ask other processes for: one for each operation in the line with enough time left. Once a send that they have granted has
    /// failed, it is at most 1, and no more often than probes are sent, until an attempt of this process succeeds. Also returns how long the
    /// operation that is sent first has waited in the line.
    pub fn wanted_sends(&self, clock: &dyn Clock) -> (u32, Duration) {
        let now = clock.now();
        self.with_line(|line| line.change(|line| (line.wanted(now), Vec::new())))
    }

    /// Takes what successes have allowed since the last call, and no operation of this process used, and returns it in halves of a send. It
    /// is 0 unless operations of others wait, as the last [`grant`](Self::grant) says.
    pub fn take_spare_halves(&self, clock: &dyn Clock) -> u32 {
        let now = clock.now();
        self.with_line(|line| line.change(|line| (line.take_spare(now), Vec::new())))
    }

    /// Sends this many operations that wait, for which other processes have given up sends. `others_wait` says whether operations of others
    /// wait, and how long those that are sent first have waited at least; zero if this is unknown. If others wait, successes are measured
    /// until the next call, for at most 15 s, and sends are kept for them that no operation of this process uses. An operation that began
    /// to wait more than 2 s later uses none.
    pub fn grant(&self, sends: u32, others_wait: Option<Duration>, clock: &dyn Clock) {
        let now = clock.now();
        self.with_line(|line| line.change(|line| ((), line.set_peers(sends, others_wait, now))));
    }
}
