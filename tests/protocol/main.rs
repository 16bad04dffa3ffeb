//! Checks the protocol of fleets with stateright: three processes, lost, late and repeated calls, lost and late replies, crashes, and a
//! store that is emptied.
//!
//! The transitions are those of the shipped code: [`Member`](retry_fleet::Member) and
//! [`MemoryStore`](retry_fleet::store::MemoryStore). `process` takes a member apart into values that can be compared, and puts it together again.
//!
//! Three things are possible in the protocol, and left out of the properties:
//!
//! - A turn of the switch whose call is executed again turns the switch again, whatever was turned in between.
//! - If a call is so late that its process was removed meanwhile, answers, and sends for others, are counted again with the next call of the
//!   process.
//! - If the call that created a state is executed again after the store was emptied, both states have the same epoch.
//!
//! `.ci/protocol` runs it. `RETRY_TEST_FAULTS` is the number of faults in a run.

mod conformance;
mod fleet;
mod line;
#[path = "../../retry-fleet/tests/fleet/millis.rs"]
mod millis;
mod mutation;
mod process;
mod record;
mod shares;
mod state;

/// The number of faults in a run.
fn faults() -> usize {
    std::env::var("RETRY_TEST_FAULTS").map_or(1, |faults| faults.parse().expect("RETRY_TEST_FAULTS is a number"))
}
