//! The clock of the store is set to another time, or another node with another clock takes over.

use retry_fleet::protocol::{Call, LimitCall, Reply};
use retry_fleet::store::MemoryStore;
use std::time::Duration;

/// The time of the store's first clock, and of the next one, which is ten minutes behind.
const FIRST: u64 = 1_000_000_000;
const NEXT: u64 = FIRST - 600_000;

fn call(store: &mut MemoryStore, now: u64, member: &str) -> Reply {
    let mut call = Call::new(member, "fresh");
    call.ttl = Duration::from_secs(30);
    call.look_at = 100;
    call.limit = Some(LimitCall::default());
    store.call(now, &call)
}

// Rule F11.
#[test]
fn time_advances_after_the_clock_of_the_store_was_set_back() {
    let mut store = MemoryStore::new();
    for member in ["a", "b"] {
        call(&mut store, FIRST, member);
    }
    assert_eq!(call(&mut store, NEXT, "a").members, 2, "nobody is gone because of a clock");

    // A step without an answer is offered again, and a silent process is removed in time.
    assert!(call(&mut store, NEXT + 500, "a").limit.unwrap().step.is_none());
    assert!(call(&mut store, NEXT + 1_100, "a").limit.unwrap().step.is_some());
    assert_eq!(call(&mut store, NEXT + 29_000, "a").members, 2);
    assert_eq!(call(&mut store, NEXT + 31_000, "a").members, 1);
}
