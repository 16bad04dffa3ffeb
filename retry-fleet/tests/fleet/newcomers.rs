//! Processes that join when little or nothing is left, and those that come back.

use crate::support::{Process, at};
use retry_core::RetryQuota;
use retry_fleet::FleetQuota;
use retry_fleet::store::MemoryStore;

/// Lets a process call, and returns what it told that it has given back in all.
fn call(process: &mut Process, store: &mut MemoryStore, now: u64) -> u64 {
    let call = process.member.call(at(now), false);
    let reply = store.call(now, &call);
    process.answered(now, &reply);
    call.quota.unwrap().back
}

fn process(name: &str, capacity: u32) -> Process {
    Process::new(name, FleetQuota::new(capacity), 0)
}

// Rule F1.
#[test]
fn a_newcomer_keeps_no_pocket_that_the_fleet_cannot_pay_for() {
    let mut store = MemoryStore::new();
    let mut first = process("first", 42);
    call(&mut first, &mut store, 0);
    assert!(first.pay(14), "its pocket");
    // 14 are left in the store. The second process has them as its pocket, and the third one joins with a debt.
    let (mut second, mut third) = (process("second", 42), process("third", 42));
    call(&mut second, &mut store, 10);
    assert_eq!((second.quota.available(), store.balance()), (14, Some(0)));
    call(&mut third, &mut store, 20);
    assert_eq!((third.quota.available(), store.balance()), (0, Some(-14)));
    assert_eq!((call(&mut third, &mut store, 1_000), store.balance()), (14, Some(0)));
}

// Rule F1.
#[test]
fn a_newcomer_keeps_the_part_of_its_pocket_that_the_fleet_can_pay_for() {
    let mut store = MemoryStore::new();
    call(&mut process("first", 42), &mut store, 0);
    let mut second = Process::new("second", FleetQuota::new(42).pocket(20), 0);
    call(&mut second, &mut store, 10);
    assert_eq!((second.quota.available(), store.balance()), (14, Some(-6)));
    assert_eq!((call(&mut second, &mut store, 1_000), store.balance()), (6, Some(0)));
}
