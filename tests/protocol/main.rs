//! Checks the protocol of fleets with stateright: three processes, lost, late and repeated calls, lost and late replies, crashes, and a
//! store that is emptied.
//!
//! The transitions are those of the shipped code: [`Member`](retry_fleet::Member) and
//! [`MemoryStore`](retry_fleet::store::MemoryStore). `process` takes a member apart into values that can be compared, and puts it together again.
//!
//! `.ci/protocol` runs it. `RETRY_TEST_FAULTS` is the number of faults in a run.

mod conformance;
mod fleet;
mod mutation;
mod process;
mod record;
mod shares;
mod state;

/// The number of faults in a run.
fn faults() -> usize {
    std::env::var("RETRY_TEST_FAULTS").map_or(1, |faults| faults.parse().expect("RETRY_TEST_FAULTS is a number"))
}
