//! What the store keeps of the processes, their knowledge and their limit. The script in Redis does the same.

use retry_fleet::Store;
use retry_fleet::protocol::{Call, Knowledge, LimitCall, LimitReply, Post, Reply, Step};
use retry_fleet::store::MemoryStore;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The largest number that the store knows.
const MOST: u64 = 1 << 52;

/// A call that counts for an hour.
fn call(member: &str) -> Call {
    let mut call = Call::new(member, "fresh");
    call.ttl = Duration::from_secs(3_600);
    call
}

fn with_quota(member: &str, missing: i64, capacity: u64) -> Call {
    let mut call = call(member);
    call.quota = Some(Knowledge { missing, capacity, timeout_age: None });
    call
}

fn with_limit(member: &str, limit: LimitCall) -> Call {
    let mut call = call(member);
    call.limit = Some(limit);
    call
}

/// Returns a step to post.
fn post(version: u64, rate: f64, estimate: f64) -> Post {
    Post { version, accepted: 0, rejected: 0, rate, estimate, is_cut: false, state: "state".into() }
}

fn posted(post: Post) -> LimitCall {
    LimitCall { posted: Some(post), ..LimitCall::default() }
}

fn leaving(mut call: Call) -> Call {
    call.is_leaving = true;
    call
}

/// Returns a call that counts for this time.
fn counts_for(ttl: Duration, mut call: Call) -> Call {
    call.ttl = ttl;
    call
}

/// Returns a call that removes at most so many processes.
fn removing(most: u32, mut call: Call) -> Call {
    call.look_at = most;
    call
}

/// A short time for a call to count.
const SHORT: Duration = Duration::from_secs(3);

/// A listener knows nothing itself, so the sums are those of the others.
fn sums(store: &mut MemoryStore, now: u64) -> (i64, u64) {
    let others = store.call(now, &removing(0, leaving(with_quota("listener", 0, 0)))).quota.unwrap();
    (others.missing, others.capacity)
}

fn limit(store: &mut MemoryStore, now: u64, member: &str, limit: LimitCall) -> LimitReply {
    store.call(now, &with_limit(member, limit)).limit.unwrap()
}

// Rules F2, F17.
#[test]
fn a_process_counts_until_exactly_the_end_of_its_time() {
    for (ttl, first, last) in [
        (Duration::from_secs(3), 0, 3_000),
        (Duration::from_micros(2_999_001), 0, 3_000),
        (Duration::from_secs(3_600), 5, 3_600_005),
        (Duration::MAX, 5, MOST),
    ] {
        for (now, members) in [(last - 1, 2), (last, 1)] {
            let mut store = MemoryStore::new();
            store.call(first, &counts_for(ttl, with_quota("p", 7, 9)));
            assert_eq!(store.members(), 1);
            let other = leaving(call("other"));
            assert_eq!(store.call(now, &other).members, members - 1, "{ttl:?}, {now}");
            assert_eq!(u32::try_from(store.members()), Ok(members - 1));
            assert_eq!(sums(&mut store, now), if members == 2 { (7, 9) } else { (0, 0) });
        }
    }
}

// Rule F29.
#[test]
fn the_end_of_a_time_is_written_only_if_it_moves_by_half_a_second() {
    for (again, until) in [(499, 3_000), (500, 3_500), (1_200, 4_200)] {
        for (now, members) in [(until - 1, 1), (until, 0)] {
            let mut store = MemoryStore::new();
            let process = counts_for(SHORT, call("p"));
            store.call(0, &process);
            store.call(again, &process);
            assert_eq!(store.call(now, &leaving(call("other"))).members, members, "again at {again}, {now}");
        }
    }
    // An end that is sooner.
    let mut store = MemoryStore::new();
    store.call(0, &call("p"));
    store.call(0, &counts_for(SHORT, call("p")));
    assert_eq!(store.call(3_000, &leaving(call("other"))).members, 0);
}

// Rule F29.
#[test]
fn a_call_removes_as_many_as_it_asks_for_and_the_number_of_processes_is_right_meanwhile() {
    for (asked, removed) in [(200, 200), (0, 0), (1, 1), (1_000, 1_000), (1_001, 1_000), (u32::MAX, 1_000)] {
        let mut store = MemoryStore::new();
        for member in 0..2_100 {
            store.call(0, &counts_for(SHORT, with_quota(&member.to_string(), 0, 1)));
        }
        for step in 1..=2 {
            let other = removing(asked, leaving(call("other")));
            assert_eq!(store.call(3_000, &other).members, 0);
            assert_eq!(sums(&mut store, 3_000).1, 2_100 - step * removed, "{asked}");
        }
    }
}

// Rule F22.
#[test]
fn a_process_that_was_removed_begins_again_even_if_its_call_removes_no_other() {
    for (now, rejected) in [(2_999, 4), (3_000, 0)] {
        let mut store = MemoryStore::new();
        let told = |rejected| LimitCall { rejected, ..LimitCall::default() };
        let process = |rejected| removing(0, counts_for(SHORT, with_limit("p", told(rejected))));
        store.call(0, &process(3));
        let step = store.call(now, &process(7)).limit.unwrap().step.unwrap();
        assert_eq!(step.rejected, rejected, "{now}");
        assert_eq!(store.members(), 1);
    }
}

// Rules F2, F11.
#[test]
fn numbers_that_are_too_large_are_treated_as_the_largest() {
    for (missing, known) in [(i64::MIN, -(1 << 34)), (i64::MAX, 1 << 34), (-(1 << 34) + 1, -(1 << 34) + 1)] {
        let mut store = MemoryStore::new();
        store.call(0, &with_quota("p", missing, u64::MAX));
        assert_eq!(sums(&mut store, 0), (known, 1 << 34));
        store.call(0, &with_quota("p", missing, (1 << 34) - 1));
        assert_eq!(sums(&mut store, 0), (known, (1 << 34) - 1));
    }
    let (mut store, told) =
        (MemoryStore::new(), |count| LimitCall { accepted: count, rejected: count, ..LimitCall::default() });
    limit(&mut store, 0, "p", told(0));
    limit(&mut store, 0, "q", told(0));
    limit(&mut store, 0, "q", told(1));
    let step = limit(&mut store, 1_000, "p", told(u64::MAX)).step.unwrap();
    assert_eq!((step.accepted, step.rejected), (MOST, MOST));
    limit(&mut store, 1_000, "other", told(0));
    let step = limit(&mut store, 2_000, "other", told(7)).step.unwrap();
    assert_eq!((step.accepted, step.rejected), (MOST, MOST), "the sum, too");
}

// Rules F2, F28.
#[test]
fn sums_are_those_over_the_processes_that_are_there_however_often_they_were_counted() {
    // The process calls, or leaves, after so many counts without a call, and the other one calls each time.
    for silent in 0..4 {
        for leaves in [false, true] {
            let mut store = MemoryStore::new();
            let mut now = 1_000;
            store.call(now, &with_quota("p", 3, 50));
            store.call(now, &with_quota("other", 1, 20));
            for counted in 1..=silent {
                now += 30_000;
                store.call(now, &with_quota("other", 1, 20));
                let expected = if counted < 2 { (4, 70) } else { (1, 20) };
                assert_eq!(sums(&mut store, now), expected, "a count takes those that have called since the last one");
            }
            let again = with_quota("p", 5, 60);
            store.call(now, &if leaves { leaving(again) } else { again });
            let expected = if leaves { (1, 20) } else { (6, 80) };
            assert_eq!(sums(&mut store, now), expected, "{silent} counts, {leaves}");
            for _ in 0..2 {
                now += 30_000;
                store.call(now, &with_quota("other", 1, 20));
                if !leaves {
                    store.call(now, &with_quota("p", 5, 60));
                }
                assert_eq!(sums(&mut store, now), expected, "{silent} counts, {leaves}");
            }
        }
    }
}

// Rule F2.
#[test]
fn a_process_that_has_left_or_has_no_quota_is_no_part_of_the_sums() {
    let mut store = MemoryStore::new();
    store.call(0, &call("no quota"));
    assert_eq!(sums(&mut store, 0), (0, 0));
    for _ in 0..2 {
        store.call(0, &with_quota("p", 3, 50));
        assert_eq!(sums(&mut store, 0), (3, 50));
        store.call(0, &leaving(with_quota("p", 3, 50)));
        assert_eq!(sums(&mut store, 0), (0, 0));
    }
}

// Rule F28.
#[test]
fn a_count_is_due_half_a_minute_after_the_last_one() {
    // The first count is at 30.5 s, and the process has not called since.
    for (now, capacity) in [(60_499, 70), (60_500, 20)] {
        let mut store = MemoryStore::new();
        store.call(500, &with_quota("p", 3, 50));
        for clock in [500, 30_499, 30_500] {
            store.call(clock, &with_quota("other", 1, 20));
            assert_eq!(sums(&mut store, clock), (4, 70), "{clock}");
        }
        assert_eq!(sums(&mut store, now).1, capacity, "{now}");
    }
}

// Rules F2, F9.
#[test]
fn processes_that_wait_and_the_demand_of_the_others_are_summed() {
    let mut store = MemoryStore::new();
    let told = |demand| LimitCall { demand, ..LimitCall::default() };
    let wants = |store: &mut MemoryStore, member: &str, demand| {
        let reply = limit(store, 1_000, member, told(demand));
        (reply.satisfied, reply.waiting)
    };
    store.call(1_000, &call("no limit"));
    assert_eq!(wants(&mut store, "a", Some(70)), (70, 0));
    assert_eq!(wants(&mut store, "b", None), (70, 1));
    assert_eq!(wants(&mut store, "c", None), (70, 2));
    assert_eq!(wants(&mut store, "d", Some(5)), (75, 2));
    assert_eq!(wants(&mut store, "b", Some(1)), (76, 1));
    assert_eq!(wants(&mut store, "a", None), (6, 2));
    let reply = store.call(1_000, &leaving(with_limit("c", told(None)))).limit.unwrap();
    assert_eq!((reply.satisfied, reply.waiting), (6, 1));
    // There are no more that wait than processes.
    let mut store = MemoryStore::new();
    for member in ["a", "b", "c"] {
        store.call(0, &counts_for(SHORT, with_limit(member, told(None))));
    }
    let reply = store.call(3_000, &removing(0, with_limit("d", told(None)))).limit.unwrap();
    assert_eq!(reply.waiting, 1);
}

// Rule F2.
#[test]
fn the_latest_timeout_is_that_of_any_process() {
    let mut store = MemoryStore::new();
    let mut timeout = |now, age: Option<u64>| {
        let mut call = call("p");
        call.quota = Some(Knowledge { timeout_age: age.map(Duration::from_millis), ..Knowledge::default() });
        store.call(now, &call).quota.unwrap().timeout_age.map(|age| age.as_millis())
    };
    assert_eq!(timeout(100, None), None);
    assert_eq!(timeout(100, Some(100)), None, "before the time of the store began");
    assert_eq!(timeout(100, Some(99)), Some(99));
    assert_eq!(timeout(1_000, Some(600)), Some(600));
    assert_eq!(timeout(1_000, Some(700)), Some(600));
    assert_eq!(timeout(1_000, Some(u64::MAX)), Some(600));
    assert_eq!(timeout(2_000, None), Some(1_600));
    assert_eq!(timeout(2_000, Some(0)), Some(0));
}

/// Returns the times at which a step is offered, in milliseconds, if a process asks in each.
fn offered(store: &mut MemoryStore, times: std::ops::Range<u64>) -> Vec<(u64, Step)> {
    let ask = |now| limit(store, now, "p", LimitCall::default()).step.map(|step| (now, step));
    times.filter_map(ask).collect()
}

// Rule F8.
#[test]
fn a_step_is_offered_after_a_quarter_of_a_second_to_one_process_and_after_a_second_to_another() {
    let mut store = MemoryStore::new();
    let reply = store.call(100, &leaving(with_limit("leaves", LimitCall::default())));
    assert_eq!(reply.limit.unwrap().step, None);
    let times = |steps: Vec<(u64, Step)>| steps.into_iter().map(|(now, step)| (now, step.elapsed)).collect::<Vec<_>>();
    assert_eq!(times(offered(&mut store, 100..2_200)), [(100, 0), (1_100, 1_000), (2_100, 2_000)]);
    let reply = limit(&mut store, 2_500, "p", posted(post(0, 50.0, 60.0)));
    assert_eq!((reply.version, reply.cut, reply.rate, reply.step), (1, 0, Some((50.0, 60.0)), None));
    let steps = offered(&mut store, 2_500..3_751);
    assert!(
        steps.iter().all(|(now, step)| step.version == 1 && step.now == *now && step.state.as_deref() == Some("state"))
    );
    assert_eq!(times(steps), [(2_750, 250), (3_750, 1_250)]);
    // A step that was computed before is ignored, and so is one that is not due.
    for version in [0, 2] {
        let reply = limit(&mut store, 3_751, "p", posted(post(version, 7.0, 7.0)));
        assert_eq!((reply.version, reply.rate), (1, Some((50.0, 60.0))));
    }
    // The numbers of a step that is posted are no part of the next one, and others that came meanwhile are.
    let told = |accepted, rejected| LimitCall { version: 1, accepted, rejected, ..LimitCall::default() };
    limit(&mut store, 3_751, "q", told(100, 10));
    limit(&mut store, 3_752, "q", told(130, 15));
    let post = Post { accepted: 20, rejected: 2, is_cut: true, ..post(1, 40.0, 45.0) };
    let reply = limit(&mut store, 3_760, "q", LimitCall { posted: Some(post), ..told(131, 16) });
    assert_eq!((reply.version, reply.cut), (2, 2));
    let step = limit(&mut store, 4_010, "p", LimitCall { version: 2, ..LimitCall::default() }).step.unwrap();
    assert_eq!((step.accepted, step.rejected), (11, 4));
}

// Rule F22.
#[test]
fn only_what_is_new_since_the_last_cut_is_counted_and_nothing_twice() {
    let mut store = MemoryStore::new();
    let told = |version, accepted, rejected| LimitCall { version, accepted, rejected, ..LimitCall::default() };
    // A process without a limit before has counted nothing.
    store.call(0, &call("p"));
    limit(&mut store, 0, "p", told(0, 5, 3));
    for repeated in [told(0, 5, 3), told(0, 2, 1), told(0, 5, 3)] {
        limit(&mut store, 1, "p", repeated);
    }
    // One that begins has counted before.
    limit(&mut store, 1, "q", told(0, 700, 70));
    limit(&mut store, 1, "q", told(0, 702, 71));
    let step = limit(&mut store, 1_100, "q", told(0, 702, 71)).step.unwrap();
    assert_eq!((step.accepted, step.rejected), (7, 4));
    let cut = Post { accepted: 7, rejected: 4, is_cut: true, ..post(0, 50.0, 60.0) };
    assert_eq!(limit(&mut store, 1_100, "q", LimitCall { posted: Some(cut), ..told(0, 702, 71) }).cut, 1);
    // The rejections of a process that does not know of the cut are ignored, and not counted later.
    limit(&mut store, 1_200, "p", told(0, 6, 9));
    limit(&mut store, 1_200, "q", told(1, 703, 72));
    limit(&mut store, 1_300, "p", told(1, 6, 10));
    let step = limit(&mut store, 1_350, "q", told(1, 703, 72)).step.unwrap();
    assert_eq!((step.accepted, step.rejected), (2, 2));
}

// Rules F28, F39.
#[test]
fn a_rate_or_an_estimate_that_is_none_is_treated_as_missing_and_so_is_an_empty_state() {
    const MOST_RATE: f64 = 9_007_199_254_740_992.0;
    for (rate, estimate, is_one) in [
        (0.0, 0.25, true),
        (0.25, 0.0, true),
        (MOST_RATE, MOST_RATE, true),
        (MOST_RATE + 2.0, 1.0, false),
        (1.0, MOST_RATE + 2.0, false),
        (-0.25, 1.0, false),
        (1.0, f64::NAN, false),
    ] {
        let mut store = MemoryStore::new();
        let reply = limit(&mut store, 0, "p", posted(post(0, rate, estimate)));
        assert_eq!(reply.rate, is_one.then_some((rate, estimate)), "{rate}, {estimate}");
    }
    let mut store = MemoryStore::new();
    limit(&mut store, 0, "p", posted(Post { state: String::new(), ..post(0, 1.0, 1.0) }));
    assert_eq!(limit(&mut store, 250, "p", LimitCall::default()).step.unwrap().state, None);
    // Numbers of steps that are too large.
    let huge = Post { version: u64::MAX, accepted: u64::MAX, rejected: u64::MAX, ..post(0, 1.0, 1.0) };
    assert_eq!(limit(&mut store, 250, "p", posted(huge)).version, 1);
}

// Rules F10, F26.
#[test]
fn a_state_that_takes_over_an_estimate_begins_a_step_without_former_answers() {
    let mut store = MemoryStore::new();
    let told = |accepted, rejected| LimitCall { accepted, rejected, ..LimitCall::default() };
    limit(&mut store, 0, "new", posted(post(0, 7.0, 8.0)));
    limit(&mut store, 0, "new", told(0, 0));
    limit(&mut store, 100, "new", told(5, 6));
    let known = LimitCall { known: Some((97.0, 100.0)), ..LimitCall::default() };
    // A process of this state has no other estimate to take over.
    let mut same = with_limit("same", known.clone());
    for epoch in [None, Some("fresh".to_owned())] {
        same.epoch = epoch;
        assert_eq!(store.call(100, &same).limit.unwrap().rate, Some((7.0, 8.0)));
    }
    let mut old = with_limit("old", known);
    old.epoch = Some("lost".into());
    let reply = store.call(200, &old).limit.unwrap();
    assert_eq!((reply.version, reply.cut, reply.rate, reply.step), (2, 0, Some((97.0, 100.0)), None));
    assert_eq!(offered(&mut store, 200..450), []);
    let expected = Step { version: 2, now: 450, elapsed: 250, accepted: 0, rejected: 0, state: None };
    assert_eq!(offered(&mut store, 450..451), [(450, expected)]);
}

// Rule F48.
#[test]
fn each_of_several_programs_is_told_of_another_one_for_a_minute_after_its_last_call() {
    let mut store = MemoryStore::new();
    let mut other = |now, program: &str| {
        let mut call = call(program);
        call.program = Some(program.into()).filter(|name: &String| !name.is_empty());
        store.call(now, &call).other_program
    };
    assert_eq!(other(0, "orders"), None);
    assert_eq!(other(1, ""), None);
    assert_eq!(other(1, "orders"), None);
    assert_eq!(other(2, "carts").as_deref(), Some("orders"));
    assert_eq!(other(3, "orders").as_deref(), Some("carts"));
    // A third one has no place, and sees the first.
    assert_eq!(other(4, "bills").as_deref(), Some("orders"));
    assert_eq!(other(5, "orders").as_deref(), Some("carts"));
    // In the first half of its minute, a program is not written again.
    assert_eq!(other(30_000, "orders").as_deref(), Some("carts"));
    assert_eq!(other(30_001, "orders").as_deref(), Some("carts"));
    assert_eq!(other(60_001, "orders").as_deref(), Some("carts"));
    assert_eq!(other(60_002, "orders"), None);
    // The place of a program that has gone is free.
    assert_eq!(other(60_003, "bills").as_deref(), Some("orders"));
    assert_eq!(other(60_004, "carts").as_deref(), Some("orders"));
    assert_eq!(other(90_000, "orders").as_deref(), Some("bills"));
}

// Rule F11.
#[test]
fn the_time_of_a_store_follows_its_clock() {
    let mut store = MemoryStore::new();
    let mut now = |clock| limit(&mut store, clock, "p", LimitCall::default()).step.map(|step| (step.now, step.elapsed));
    assert_eq!(now(5_000), Some((5_000, 0)));
    assert_eq!(now(2_000), None);
    assert_eq!(now(3_000), Some((6_000, 1_000)));
    assert_eq!(now(u64::MAX), Some((u64::MAX, u64::MAX - 5_000)));
}

#[test]
fn a_store_that_forgets_its_state_begins_another_one() {
    let mut store = MemoryStore::new();
    let reply = |store: &mut MemoryStore, fresh: &str| -> Reply { store.call(0, &Call::new("p", fresh)) };
    assert_eq!(reply(&mut store, "first").epoch, "first");
    assert_eq!(reply(&mut store, "second").epoch, "first");
    store.write_switch(Some("off"), 60_000);
    store.forget_state();
    assert_eq!(store.members(), 0);
    let second = reply(&mut store, "second");
    assert_eq!((second.epoch.as_str(), second.retries_enabled()), ("second", false));
    store.forget();
    let third = reply(&mut store, "third");
    assert_eq!((third.epoch.as_str(), third.retries_enabled()), ("third", true));
}

#[tokio::test(start_paused = true)]
async fn a_shared_store_in_memory_is_that_of_one_fleet() {
    let store = Arc::<Mutex<MemoryStore>>::default();
    let call = Call::new("p1", "fresh");
    store.clone().call("orders", &call).await.unwrap();
    assert_eq!(
        store.clone().call("carts", &call).await.unwrap_err().to_string(),
        "this `MemoryStore` is that of the fleet \"orders\", not of \"carts\": make one for each fleet"
    );
    store.clone().call("orders", &call).await.unwrap();
}
