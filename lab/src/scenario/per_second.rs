//! Events counted by the second of the world in which they occur.

use crate::report::{Plot, Spread};
use std::time::Duration;

/// A count for each second.
#[derive(Clone, Debug, Default)]
pub struct PerSecond(Vec<u64>);

impl PerSecond {
    /// Counts an event.
    pub fn count(&mut self, at: Duration) {
        let second = usize::try_from(at.as_secs()).unwrap_or(usize::MAX);
        if self.0.len() <= second {
            self.0.resize(second + 1, 0);
        }
        self.0[second] += 1;
    }

    /// Adds the events of another run.
    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }

    /// Returns the number of events in a second.
    pub fn at(&self, second: usize) -> u64 {
        self.0.get(second).copied().unwrap_or(0)
    }

    /// Returns the number of events in the seconds from `from` to before `to`.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        (from..to).map(|second| self.at(second)).sum()
    }
}

/// Adds a line to a plot: the events per second over time, as means of `step` seconds, with the spread over the seeds.
pub fn add_line(plot: &mut Plot, name: &str, runs: &[&PerSecond], duration: usize, step: usize) {
    let step = step.max(1);
    for from in (0..duration).step_by(step) {
        let to = (from + step).min(duration);
        let length = super::number((to - from) as u64);
        let rates = runs.iter().map(|run| super::number(run.between(from, to)) / length);
        plot.add(name, super::number(from as u64), Spread::of(rates));
    }
}
