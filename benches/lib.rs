//! The calls that are measured: the same small operation bare, retried by this library, and retried by its peers.
//!
//! Call and loop live in one crate, as they do for a user, so that nothing here is inlined that would not be there.

pub mod bodies;
pub mod clocks;
pub mod operation;
pub mod ours;
pub mod peers;

use operation::Outcome;
use std::cell::Cell;
use std::hint::black_box;

/// A way to make the operation.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What it is called on the command line and in the tables.
    pub name: &'static str,
    run: fn(u64),
}

impl Scenario {
    /// Makes so many calls, one after the other, on a current-thread runtime of their own.
    pub fn run(&self, calls: u64) {
        (self.run)(calls);
    }

    /// The scenario of that name.
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
        /// All of them. What fails once is to be compared with `bare_fail_once`, the rest with `bare`.
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
    "scoped": ours::scoped,
    "adaptive_idle": ours::adaptive_idle,
    "adaptive_limiting": ours::adaptive_limiting,
    "tokio_retry": peers::tokio_retry,
    "tower": peers::tower,
    "backon": peers::backon,
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
    "attribute_fail_once_drawn": async |number| ours::flaky_drawn(number, &Cell::new(false)).await,
    "backon_fail_once": async |number| peers::flaky_backon(number, &Cell::new(false)).await,
}

/// Makes a call so many times, one after the other, on a current-thread runtime that never gets control back in
/// between.
///
/// # Panics
///
/// If a call fails: the measurement would be of something else.
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
