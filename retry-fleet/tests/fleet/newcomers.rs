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

// Rules F1, F4, F16.
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

// Rules F1, F4.
#[test]
fn a_newcomer_keeps_the_part_of_its_pocket_that_the_fleet_can_pay_for() {
    let mut store = MemoryStore::new();
    call(&mut process("first", 42), &mut store, 0);
    let mut second = Process::new("second", FleetQuota::new(42).pocket(20), 0);
    call(&mut second, &mut store, 10);
    assert_eq!((second.quota.available(), store.balance()), (14, Some(-6)));
    assert_eq!((call(&mut second, &mut store, 1_000), store.balance()), (6, Some(0)));
}

/// Lets processes call until all of them hold two retries.
fn settle(processes: &mut [Process], store: &mut MemoryStore) {
    for now in [0, 1_000, 2_000] {
        for process in processes.iter_mut() {
            call(process, store, now);
        }
    }
    assert!(processes.iter().all(|process| process.quota.available() == 28));
}

// Rules F1, F17.
#[test]
fn a_process_that_was_silent_for_long_is_not_charged_again() {
    let (mut store, mut processes) = (MemoryStore::new(), [process("first", 100), process("second", 100)]);
    settle(&mut processes, &mut store);
    call(&mut processes[1], &mut store, 31_000);
    call(&mut processes[1], &mut store, 40_000);
    assert_eq!((store.members(), store.balance()), (1, Some(44)));
    call(&mut processes[0], &mut store, 41_000);
    assert_eq!((store.members(), store.balance()), (2, Some(44)));
}

// Rules F1, F5, F21.
#[test]
fn an_emptied_store_goes_on_with_what_was_not_spent() {
    let (mut store, mut processes) = (MemoryStore::new(), [process("first", 100), process("second", 100)]);
    settle(&mut processes, &mut store);
    store.forget();
    for process in &mut processes {
        call(process, &mut store, 3_000);
    }
    assert_eq!(store.balance(), Some(44));
    // What is spent stays spent.
    for process in &mut processes {
        assert!(process.pay(14));
    }
    for now in [4_000, 5_000] {
        for process in &mut processes {
            call(process, &mut store, now);
        }
    }
    assert_eq!(store.balance(), Some(16));
    store.forget();
    for process in &mut processes {
        call(process, &mut store, 6_000);
    }
    assert_eq!(store.balance(), Some(16));
}
