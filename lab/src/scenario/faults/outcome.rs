//! What happens in a run under an open load, and what is measured of it.

use super::super::{PerSecond, number, share};
use std::time::Duration;

/// How soon an operation succeeds that does not notice a fault any more.
const SOON: Duration = Duration::from_secs(2);

/// The number of seconds in which operations begin, by which a recovery is measured.
const STEADY_S: usize = 10;

/// The part of these operations that has to succeed soon.
const MOST: f64 = 0.95;

/// The minute after a fault, whose operations are bystanders.
const MINUTE_S: usize = 60;

/// The outcome of a run: events by the second of the run. What becomes of an operation is counted in the second in which it began,
/// so an operation that outlasts a fault does not make up for a later one.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The operations that began.
    begun: PerSecond,
    /// Those of them that succeeded.
    succeeded: PerSecond,
    /// Those of them that succeeded soon.
    soon: PerSecond,
    /// The successes by the second in which they came.
    goodput: PerSecond,
    /// The attempts that reached the server.
    attempts: PerSecond,
}

impl Outcome {
    /// Counts an operation that begins.
    pub fn begin(&mut self, now: Duration) {
        self.begun.count(now);
    }

    /// Counts an attempt that reaches the server.
    pub fn attempt(&mut self, now: Duration) {
        self.attempts.count(now);
    }

    /// Counts a success of an operation that began at this time.
    pub fn succeed(&mut self, began: Duration, now: Duration) {
        self.succeeded.count(began);
        if now.saturating_sub(began) <= SOON {
            self.soon.count(began);
        }
        self.goodput.count(now);
    }

    /// Adds the events of another run.
    pub fn add(&mut self, other: &Self) {
        self.begun.add(&other.begun);
        self.succeeded.add(&other.succeeded);
        self.soon.add(&other.soon);
        self.goodput.add(&other.goodput);
        self.attempts.add(&other.attempts);
    }

    /// Returns the seconds from the end of a fault to the recovery, if the run ends at `end`. `None` means that it never recovers.
    ///
    /// It is the first second from which, of the operations that begin in ten seconds, 95 % succeed within 2 s.
    pub fn recovery(&self, to: usize, end: usize) -> Option<f64> {
        // The last operations need some time to succeed.
        let last = end.checked_sub(STEADY_S + 2)?;
        (to..=last)
            .find(|&second| {
                let in_ten = |events: &PerSecond| number(events.between(second, second + STEADY_S));
                in_ten(&self.soon) >= MOST * in_ten(&self.begun)
            })
            .map(|second| number((second - to) as u64))
    }

    /// Returns the attempts for each operation that begins in these seconds.
    pub fn load(&self, from: usize, to: usize) -> f64 {
        share(self.attempts.between(from, to), self.begun.between(from, to))
    }

    /// Returns the successes in these seconds, in percent of the operations that begin in them.
    pub fn success(&self, from: usize, to: usize) -> f64 {
        100.0 * share(self.goodput.between(from, to), self.begun.between(from, to))
    }

    /// Returns the part of the operations that begin in these seconds and succeed, ever, in percent.
    pub fn bridged(&self, from: usize, to: usize) -> f64 {
        100.0 * share(self.succeeded.between(from, to), self.begun.between(from, to))
    }

    /// Returns the part of the operations that begin in the minute after a fault and are lost, in percent.
    pub fn bystanders(&self, to: usize) -> f64 {
        let begun = self.begun.between(to, to + MINUTE_S);
        100.0 * share(begun - self.succeeded.between(to, to + MINUTE_S), begun)
    }
}
