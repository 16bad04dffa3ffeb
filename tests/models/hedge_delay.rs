//! The delay of `Hedge::p95`, which follows the calls.

use crate::program::{check, each};
use crate::support::{Failed, kept, millis, secs};
use proptest::collection::vec;
use proptest::prelude::*;
use retry_core::quota::NoQuota;
use retry_core::{ExponentialBackoff, Hedge, StandardRetryStrategy, retry};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// A call, and how often it is made.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It succeeds before the delay is over, after a part of it in percent.
    Answered(u32, u32),
    Failed(u32, u32),
    Dropped(u32, u32),
    /// It succeeds after the delay.
    Slow(u32),
}

fn steps() -> impl Strategy<Value = Step> {
    let times = || prop_oneof![4 => 1..40_u32, 1 => 40..400_u32];
    prop_oneof![
        6 => (0..80_u32, times()).prop_map(|(part, times)| Step::Answered(part, times)),
        1 => (0..80_u32, 1..5_u32).prop_map(|(part, times)| Step::Failed(part, times)),
        1 => (0..80_u32, 1..5_u32).prop_map(|(part, times)| Step::Dropped(part, times)),
        6 => (1..16_u32).prop_map(Step::Slow),
    ]
}

struct World {
    strategy: StandardRetryStrategy<ExponentialBackoff, NoQuota>,
    hedge: &'static Hedge,
    /// The calls that moved the delay, up to 256.
    calls: u32,
    /// The hedges of the first calls.
    early: u32,
    /// Whether each of the latest calls reached the delay, up to 4.
    latest: VecDeque<bool>,
    /// The delay, in steps from its start, and its floor.
    step: i32,
    floor: f64,
    /// The delays of the steps that were seen.
    seen: BTreeMap<i32, Duration>,
}

impl World {
    fn new() -> Self {
        Self {
            strategy: StandardRetryStrategy::new().with_quota(NoQuota),
            hedge: kept(Hedge::p95()),
            calls: 0,
            early: 0,
            latest: VecDeque::new(),
            step: 0,
            floor: 0.0,
            seen: BTreeMap::new(),
        }
    }

    /// Makes a call. Returns whether there was a hedge.
    async fn call(&self, time: Duration, outcome: Result<(), Failed>, dropped_after: Duration) -> bool {
        let calls = Cell::new(0);
        let call = retry(&self.strategy, || {
            calls.set(calls.get() + 1);
            // The hedge wins, so that there are others.
            let time = if calls.get() == 1 { time } else { Duration::ZERO };
            async move {
                sleep(time).await;
                outcome
            }
        });
        let _ = timeout(dropped_after, call.idempotent(true).hedge(self.hedge).run()).await;
        calls.get() > 1
    }

    /// The delay moves by so many steps.
    fn moves(&mut self, steps: i32) {
        self.latest.push_back(steps > 0);
        if self.latest.len() > 4 {
            self.latest.pop_front();
        }
        let before = self.step;
        self.step += if self.calls < 256 { 4 * steps } else { steps };
        // At its bounds it stays, which are not a whole number of these steps from the start.
        let delay = self.hedge.delay();
        if delay <= Duration::from_micros(1_004) || delay >= secs(59) {
            self.step = before;
            self.seen.clear();
        }
        if self.calls < 256 {
            self.calls += 1;
            self.floor = self.step.into();
        } else {
            self.floor = (self.floor + 0.125).min(self.step.into());
        }
    }

    /// Checks that the delay is that of its step: the same as before in the same step, and longer in a higher one.
    fn check(&mut self) {
        let delay = self.hedge.delay();
        assert!(delay + Duration::from_micros(5) >= millis(1) && delay <= secs(60), "{delay:?}");
        let seen = *self.seen.entry(self.step).or_insert(delay);
        assert_eq!(delay, seen, "the delay in step {}", self.step);
        let (below, above) = (self.seen.range(..self.step).next_back(), self.seen.range(self.step + 1..).next());
        assert!(below.is_none_or(|(_, below)| *below < delay) && above.is_none_or(|(_, above)| delay < *above));
    }

    async fn step(&mut self, step: Step) {
        let forever = secs(10_000_000);
        let (times, part) = match step {
            Step::Answered(part, times) | Step::Failed(part, times) | Step::Dropped(part, times) => (times, part),
            Step::Slow(times) => (times, 0),
        };
        for _ in 0..times {
            let delay = self.hedge.delay();
            // Tokio's timers have a resolution of a millisecond.
            let within = if delay < millis(4) { Duration::ZERO } else { delay * part / 100 };
            match step {
                Step::Answered(..) => {
                    assert!(!self.call(within, Ok(()), forever).await);
                    self.moves(-1);
                }
                Step::Failed(..) => assert!(!self.call(within, Err(Failed::FATAL), forever).await),
                Step::Dropped(..) => assert!(!self.call(forever, Ok(()), within).await),
                Step::Slow(_) => {
                    let has_hedge = self.call(delay + millis(5), Ok(()), forever).await;
                    // 256 steps double the delay.
                    let above = f64::from(self.step) - self.floor;
                    let expected = if self.latest.iter().filter(|reached| **reached).count() >= 2 {
                        Some(false)
                    } else if self.calls < 256 {
                        Some(self.early < self.calls / 20)
                    } else if above < 250.0 {
                        Some(true)
                    } else {
                        (above > 260.0).then_some(false)
                    };
                    self.early += u32::from(self.calls < 256 && has_hedge);
                    assert!(expected.is_none_or(|expected| has_hedge == expected), "{above} steps above the floor");
                    self.moves(19);
                }
            }
            self.check();
        }
    }
}

// Rules V1, V2, V16, V17.
#[test]
fn the_delay_of_a_hedge_goes_up_and_down_by_the_steps_of_the_rules() {
    check(file!(), 300, vec(steps(), 1..16), |steps| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut world = World::new();
        each(steps, |step| runtime.block_on(world.step(step)));
    });
}
