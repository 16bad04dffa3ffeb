//! What one process holds, fetches and gives back.

use crate::support::{Process, at};
use retry_core::RetryQuota;
use retry_fleet::protocol::Reply;
use retry_fleet::store::MemoryStore;
use retry_fleet::{FleetQuota, Member};
use std::sync::Arc;

/// A process, its store, and the time in milliseconds.
struct Bench {
    process: Process,
    store: MemoryStore,
    now: u64,
}

impl Bench {
    fn new(quota: FleetQuota) -> Self {
        Self { process: Process::new("p1", quota, 1_000), store: MemoryStore::new(), now: 1_000 }
    }

    /// Makes the next call, when it is due.
    fn call(&mut self) {
        let due = self.process.member.next_call_at();
        while at(self.now) < due {
            self.now += 1;
        }
        let call = self.process.member.call(at(self.now), false);
        let reply = self.store.call(self.now, &call);
        self.process.answered(self.now, &reply);
    }

    /// Lets a call go unanswered, when it is due. Returns what the process asked for.
    fn lose(&mut self) -> u32 {
        let due = self.process.member.next_call_at();
        while at(self.now) < due {
            self.now += 1;
        }
        let call = self.process.member.call(at(self.now), false);
        self.process.unanswered(self.now);
        call.quota.unwrap().want
    }

    fn held(&self) -> u32 {
        self.process.quota.available()
    }

    fn balance(&self) -> i64 {
        self.store.balance().unwrap()
    }

    /// Lets others join, so that there are so many processes.
    fn others(&mut self, members: u32) {
        for number in 1..members {
            let mut other = Process::new(&format!("other{number}"), FleetQuota::new(1_000).pocket(0), self.now);
            let mut call = other.member.call(at(self.now), false);
            call.quota.as_mut().unwrap().want = 0;
            other.answered(self.now, &self.store.call(self.now, &call));
        }
    }
}

// Rule F4.
#[test]
fn the_pocket_pays_for_the_first_retry_before_the_first_answer_and_is_charged_then() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    assert!(bench.process.pay(14));
    assert!(!bench.process.pay(5), "one retry is in the pocket");
    bench.call();
    // The pocket, and two retries to hold, for the cost of three that were asked for.
    assert_eq!(i64::from(bench.held()) + bench.balance(), 1_000 - 14);

    let mut strict = Bench::new(FleetQuota::new(1_000).pocket(0));
    assert!(!strict.process.pay(5));
    strict.call();
    assert_eq!(i64::from(strict.held()) + strict.balance(), 1_000);
    assert!(strict.process.pay(5));
}

// Rule F4.
#[test]
fn the_pocket_is_the_cost_of_a_retry_and_at_most_the_capacity() {
    assert_eq!(FleetQuota::new(1_000).available(), 14);
    assert_eq!(FleetQuota::new(10).available(), 10);
    assert_eq!(FleetQuota::new(1_000).cost(5).available(), 5);
    assert_eq!(FleetQuota::new(1_000).pocket(20).available(), 20);
}

// Rules F3, F18.
#[test]
fn a_quiet_process_holds_two_retries_and_a_busy_one_what_it_needs() {
    let mut bench = Bench::new(FleetQuota::new(10_000));
    bench.call();
    assert_eq!(bench.held(), 28);
    for _ in 0..5 {
        while bench.process.pay(14) {}
        bench.call();
    }
    assert!(bench.held() > 100, "{} after many retries", bench.held());
    for _ in 0..20 {
        bench.call();
    }
    assert_eq!(bench.held(), 28, "it gives back what it does not need");
}

// Rules F3, F19.
#[test]
fn a_process_that_runs_low_calls_early_and_once() {
    let mut bench = Bench::new(FleetQuota::new(10_000));
    bench.call();
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    let regular = bench.process.member.next_call_at();
    assert!(bench.process.member.poll_woken(&context, at(bench.now)).is_pending());
    assert!(bench.process.pay(14));
    assert!(bench.process.member.poll_woken(&context, at(bench.now)).is_pending(), "a retry is left");
    assert!(bench.process.pay(14));
    assert!(bench.process.member.poll_woken(&context, at(bench.now)).is_ready());
    assert_eq!(bench.process.member.next_call_at(), at(bench.now + 20));
    assert!(at(bench.now + 20) < regular);
    assert!(!bench.process.pay(14));
    assert!(bench.process.member.poll_woken(&context, at(bench.now)).is_pending(), "the call is early already");
    bench.call();
    assert!(bench.held() >= 28);
}

// Rules F3, F19.
#[test]
fn without_a_balance_no_process_calls_early() {
    let mut bench = Bench::new(FleetQuota::new(28));
    bench.call();
    assert_eq!((bench.held(), bench.balance()), (28, 0));
    while bench.process.pay(14) {}
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(bench.process.member.poll_woken(&context, at(bench.now)).is_pending());
}

// Rules F3, F19.
#[test]
fn calls_are_a_second_apart_give_or_take_a_quarter() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    let mut pauses = Vec::new();
    for _ in 0..100 {
        bench.call();
        pauses.push(bench.process.member.next_call_at().saturating_since(at(bench.now)).as_millis());
    }
    assert!(pauses.iter().all(|pause| (750..=1_250).contains(pause)), "{pauses:?}");
    assert!(pauses.iter().any(|pause| *pause < 850) && pauses.iter().any(|pause| *pause > 1_150), "{pauses:?}");
}

// Rules F3, F18.
#[test]
fn refunds_fill_what_the_fleet_has_spent_and_nothing_else() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    bench.call();
    assert_eq!(bench.process.refund(100), 0, "nothing was spent");
    assert!(bench.process.pay(14));
    assert_eq!(bench.process.refund(100), 14);

    // Another process spends, and this one's successes pay for it.
    let mut other = Process::new("p2", FleetQuota::new(1_000), bench.now);
    let call = other.member.call(at(bench.now), false);
    other.answered(bench.now, &bench.store.call(bench.now, &call));
    while other.pay(14) {}
    let call = other.member.call(at(bench.now), false);
    other.answered(bench.now, &bench.store.call(bench.now, &call));
    bench.call();
    assert_eq!(bench.process.refund(100), 28);
}

// Rule F2.
#[test]
fn what_is_refunded_twice_is_not_kept() {
    let mut bench = Bench::new(FleetQuota::new(100));
    bench.call();
    let mut other = Process::new("p2", FleetQuota::new(100), bench.now);
    let call = other.member.call(at(bench.now), false);
    other.answered(bench.now, &bench.store.call(bench.now, &call));
    while bench.process.pay(14) {}
    bench.call();
    while bench.process.pay(14) {}
    bench.call();
    let call = other.member.call(at(bench.now), false);
    other.answered(bench.now, &bench.store.call(bench.now, &call));
    // Both are told of the same room.
    assert!(bench.process.refund(100) > 0 && other.refund(100) > 0);
    for _ in 0..3 {
        bench.call();
        let call = other.member.call(at(bench.now), false);
        other.answered(bench.now, &bench.store.call(bench.now, &call));
    }
    assert!(bench.balance() + i64::from(bench.held()) + i64::from(other.quota.available()) <= 100);
}

// Rule F5.
#[test]
fn after_three_seconds_without_an_answer_the_process_keeps_its_fair_share_and_asks_for_nothing() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    bench.others(20);
    bench.call();
    while bench.process.pay(14) {}
    assert!(bench.lose() > 0, "the store is not lost yet");
    while bench.process.member.status().is_connected == Some(true) {
        bench.lose();
    }
    assert!((3_000..6_000).contains(&(bench.now - 1_000)), "{}", bench.now);
    for _ in 0..3 {
        assert_eq!(bench.lose(), 0);
    }
    bench.process.refund(1_000);
    assert_eq!(bench.held(), 1_000 / 20);
    let before = bench.balance();
    bench.call();
    assert_eq!(bench.process.member.status().is_connected, Some(true));
    assert!(bench.balance() <= before, "no burst when it is back");
}

// Rules F5, F21.
#[test]
fn a_process_that_never_reached_the_store_has_its_pocket() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    assert!(bench.process.pay(14));
    for _ in 0..10 {
        bench.lose();
    }
    bench.process.refund(1_000);
    assert_eq!((bench.held(), bench.process.member.status().is_connected), (14, None));
}

// Rule F6.
#[test]
fn of_two_capacities_that_of_the_store_counts_until_no_process_asks_for_it() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    bench.call();
    let mut newer = Process::new("newer", FleetQuota::new(2_000), bench.now);
    let mut call = |bench: &mut Bench| {
        let call = newer.member.call(at(bench.now), false);
        bench.store.call(bench.now, &call).quota.unwrap().capacity
    };
    for _ in 0..60 {
        bench.call();
        assert_eq!(call(&mut bench), 1_000);
    }
    let since = bench.now;
    let changed = (0..60_000).step_by(1_000).find(|after| {
        bench.now = since + after;
        call(&mut bench) == 2_000
    });
    assert_eq!(changed, Some(31_000));
}

// Rule F2.
#[test]
fn a_process_that_leaves_gives_back_what_it_holds() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    bench.call();
    assert_eq!((bench.held(), bench.balance()), (28, 972));
    let call = bench.process.member.call(at(bench.now), true);
    bench.store.call(bench.now, &call);
    assert_eq!((bench.held(), bench.balance(), bench.store.members()), (0, 1_000, 0));
    // A repeated call changes nothing.
    bench.store.call(bench.now, &call);
    assert_eq!((bench.balance(), bench.store.members()), (1_000, 0));
}

// Rule F3.
#[test]
fn a_retry_that_costs_nothing_is_always_granted() {
    let quota = FleetQuota::new(100).pocket(0);
    assert!(quota.try_acquire(0, &retry_core::time::StdTimer));
    assert!(!quota.try_acquire(1, &retry_core::time::StdTimer));
}

// Rule F3.
#[test]
fn a_retry_that_costs_less_than_usual_is_fetched_too() {
    // A fair share of less than one retry, so nothing is held in quiet times.
    let mut bench = Bench::new(FleetQuota::new(200).pocket(0));
    for number in 0..20 {
        let mut other = Process::new(&format!("other{number}"), FleetQuota::new(200).pocket(0), bench.now);
        let mut call = other.member.call(at(bench.now), false);
        call.quota.as_mut().unwrap().want = 0;
        bench.store.call(bench.now, &call);
    }
    bench.call();
    bench.call();
    assert!(!bench.process.pay(5));
    bench.call();
    assert!(bench.process.pay(5), "{} are held, {} are left", bench.held(), bench.balance());
}

// Rules F3, F19.
#[test]
fn a_store_that_refuses_is_not_called_early_again_and_again() {
    let mut bench = Bench::new(FleetQuota::new(10_000));
    bench.call();
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut calls = 0;
    for now in bench.now..bench.now + 3_000 {
        bench.process.pay(14);
        let _ = bench.process.member.poll_woken(&context, at(now));
        if bench.process.member.next_call_at() <= at(now) {
            bench.process.member.call(at(now), false);
            bench.process.unanswered(now);
            calls += 1;
        }
    }
    assert!(calls <= 5, "{calls} calls in three seconds");
}

// Rules F3, F19.
#[test]
fn no_number_of_processes_makes_calls_rarer_than_the_memory_of_the_store() {
    let mut member = Member::new("orders", "p1", at(1_000)).quota(Arc::new(FleetQuota::new(100)));
    member.call(at(1_000), false);
    member.answered(at(1_000), &Reply::new("e", u32::MAX));
    assert!(member.next_call_at() <= at(1_000 + 12_500));
    // One call that is not answered is not a lost store.
    let now = at(13_500);
    member.call(now, false);
    member.unanswered(now, &"no answer");
    assert_eq!(member.status().is_connected, Some(true));
}

// Rules F4, F20.
#[test]
fn a_process_that_joins_again_and_again_is_charged_for_what_it_holds_only() {
    let (mut store, quota) = (MemoryStore::new(), Arc::new(FleetQuota::new(1_000)));
    for number in 0..10 {
        let mut member = Member::new("orders", format!("p{number}"), at(1_000)).quota(Arc::clone(&quota));
        for is_leaving in [false, true] {
            let call = member.call(at(1_000), is_leaving);
            member.answered(at(1_000), &store.call(1_000, &call));
        }
        assert_eq!((store.balance(), quota.available()), (Some(1_000), 0));
    }
    // Its first call was lost.
    let mut member = Member::new("orders", "p", at(1_000)).quota(Arc::new(FleetQuota::new(1_000)));
    member.call(at(1_000), false);
    member.unanswered(at(1_000), &"no answer");
    store.call(1_000, &member.call(at(1_000), true));
    assert_eq!(store.balance(), Some(1_000));
}

// Rule F4.
#[test]
fn a_cost_above_the_capacity_is_no_reason_to_hold_more_than_it() {
    assert_eq!(FleetQuota::new(10).cost(20).available(), 10);
    assert_eq!(FleetQuota::new(1_000).pocket(0).cost(5).available(), 0);
    let mut bench = Bench::new(FleetQuota::new(1_000).cost(u32::MAX));
    bench.call();
    assert_eq!(i64::from(bench.held()) + bench.balance(), 1_000);
}

// Rules F1, F17.
#[test]
fn a_call_that_arrives_after_its_process_was_forgotten_gives_nothing_back() {
    let mut bench = Bench::new(FleetQuota::new(1_000));
    bench.call();
    while bench.process.pay(14) {}
    bench.call();
    let sum = |bench: &Bench| i64::from(bench.held()) + bench.balance();
    // This call is late. The process gives the rest back with the next ones.
    let late = bench.process.member.call(at(bench.now), false);
    bench.process.unanswered(bench.now);
    for _ in 0..10 {
        bench.call();
    }
    let before = sum(&bench);
    bench.now += 60_000;
    bench.others(2);
    bench.store.call(bench.now, &late);
    for _ in 0..3 {
        bench.call();
    }
    assert!(sum(&bench) <= before, "{} instead of {before}", sum(&bench));

    // The same after the process has left.
    let late = bench.process.member.call(at(bench.now), false);
    let left = bench.process.member.call(at(bench.now), true);
    bench.store.call(bench.now, &left);
    let before = bench.balance();
    for call in [&late, &left, &late, &left] {
        bench.store.call(bench.now, call);
        assert!(bench.balance() <= before, "{} instead of {before}", bench.balance());
    }
}

// Rules F3, G1.
#[cfg(feature = "test")]
#[test]
fn under_a_test_guard_the_quota_is_whole_and_has_no_store() {
    static QUOTA: FleetQuota = FleetQuota::new(100);
    let pay = || QUOTA.try_acquire(60, &retry_core::time::StdTimer);
    for _ in 0..2 {
        let _test = retry_core::test::begin();
        assert_eq!((pay(), pay(), QUOTA.available()), (true, false, 40));
        QUOTA.refund(1_000);
        assert_eq!(QUOTA.available(), 100);
    }
    assert_eq!((pay(), QUOTA.available()), (false, 14));
}
