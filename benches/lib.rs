//! The measured calls: the same small operation alone, retried by this library, and retried by other crates.
//!
//! The call and the loop are in one crate, as in a user's program, so that the same inlining happens.

pub mod bodies;
pub mod clocks;
pub mod operation;
pub mod ours;
pub mod peers;
pub mod waiters;

use operation::Outcome;
use std::cell::Cell;
use std::hint::black_box;

/// One way to call the operation.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The name on the command line and in the tables.
    pub name: &'static str,
    run: fn(u64),
}

impl Scenario {
    /// Makes a number of calls, one after the other, on a new current-thread runtime.
    pub fn run(&self, calls: u64) {
        (self.run)(calls);
    }

    /// Returns the scenario of this name, if it exists.
    pub fn named(name: &str) -> Option<Self> {
        SCENARIOS.iter().copied().find(|scenario| scenario.name == name)
    }
}

impl std::fmt::Display for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! scenarios {
    ($($name:literal: $call:expr),+ $(,)?) => {
        /// All scenarios. Compare those that fail once with `bare_fail_once`, the others with `bare`.
        pub const SCENARIOS: &[Scenario] = &[$(Scenario { name: $name, run: |calls| repeat(calls, $call) }),+];
    };
}

scenarios! {
    "bare": operation::bare,
    "hand": ours::hand,
    "attribute": ours::attribute,
    "attribute_observed": ours::observed,
    "attribute_limited": ours::limited,
    "closure": ours::closure,
    "hedged": ours::hedged,
    "hedged_closure": ours::hedged_closure,
    "evidence": ours::evidence,
    "patient": ours::patient,
    "scoped": ours::scoped,
    "adaptive_idle": ours::adaptive_idle,
    "adaptive_limiting": ours::adaptive_limiting,
    "adaptive_crowd": ours::adaptive_crowd,
    "paced_idle": ours::paced_idle,
    "paced_limiting": ours::paced_limiting,
    "tokio_retry": peers::tokio_retry,
    "tower": peers::tower,
    "backon": peers::backon,
    "value_bare": async |number| Ok(bodies::value::bare(number).await.unwrap_or(number)),
    "value_hand": async |number| Ok(bodies::value::hand(number).await.unwrap_or(number)),
    "value_attribute": async |number| Ok(bodies::value::attribute(number).await.unwrap_or(number)),
    "string_bare": async |number| bodies::string::bare(number).await.map(|text| black_box(text).len() as u64),
    "string_hand": async |number| bodies::string::hand(number).await.map(|text| black_box(text).len() as u64),
    "string_attribute": async |number| bodies::string::attribute(number).await.map(|text| black_box(text).len() as u64),
    "mutable_bare": async |number| bodies::mutable::bare(&mut black_box(0), number).await,
    "mutable_hand": async |number| bodies::mutable::hand(&mut black_box(0), number).await,
    "mutable_attribute": async |number| bodies::mutable::attribute(&mut black_box(0), number).await,
    "large_error_bare": async |number| Ok(bodies::large_error::bare(number).await.unwrap_or(number)),
    "large_error_hand": async |number| Ok(bodies::large_error::hand(number).await.unwrap_or(number)),
    "large_error_attribute": async |number| Ok(bodies::large_error::attribute(number).await.unwrap_or(number)),
    "bare_fail_once": async |number| operation::bare_flaky(number, &Cell::new(false)).await,
    "hand_fail_once": async |number| ours::flaky_hand(number, &Cell::new(false)).await,
    "attribute_fail_once": async |number| ours::flaky_attribute(number, &Cell::new(false)).await,
    "closure_fail_once": async |number| ours::flaky_closure(number, &Cell::new(false)).await,
    "evidence_fail_once": async |number| ours::flaky_evidence(number, &Cell::new(false)).await,
    "patient_fail_once": async |number| ours::flaky_patient(number, &Cell::new(false)).await,
    "attribute_fail_once_drawn": async |number| ours::flaky_drawn(number, &Cell::new(false)).await,
    "backon_fail_once": async |number| peers::flaky_backon(number, &Cell::new(false)).await,
}

/// Makes a number of calls, one after the other, on a current-thread runtime that never regains control in between.
///
/// # Panics
///
/// Panics if a call fails, because the measurement would be invalid.
#[inline(never)]
pub fn repeat(calls: u64, call: impl AsyncFn(u64) -> Outcome) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime without I/O needs nothing that could fail").block_on(async {
        for number in 0..calls {
            let outcome = black_box(call(black_box(number)).await);
            assert!(outcome.is_ok(), "a call failed");
        }
    });
}
