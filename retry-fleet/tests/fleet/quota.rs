//! What the processes of a fleet learn from each other.

use crate::millis::at;
use crate::random::Random;
use crate::support::Process;
use retry_core::RetryErrorType::{Other, Timeout};
use retry_core::RetryQuota;
use retry_core::quota::QuotaMode;
use retry_fleet::protocol::{Call, Knowledge};
use retry_fleet::store::MemoryStore;
use std::time::Duration;

const NOTHING: Knowledge = Knowledge { missing: 0, capacity: 0, timeout_age: None };

/// Makes a call that reports this, and returns what the others know.
fn others(store: &mut MemoryStore, now: u64, member: &str, reported: Knowledge) -> Knowledge {
    let mut call = Call::new(member, "fresh");
    call.ttl = Duration::from_secs(3);
    call.quota = Some(reported);
    store.call(now, &call).quota.expect("a reply to a report")
}

// Rule F1.
#[test]
fn a_process_knows_of_the_failures_of_the_others_before_its_first_one() {
    let (mut store, mut now) = (MemoryStore::new(), 10_000);
    let (mut busy, mut quiet) = (Process::new("busy", now), Process::new("quiet", now));
    for _ in 0..200 {
        now += 10;
        busy.pays(Other, now);
    }
    assert_eq!(busy.quota.mode(), Some(QuotaMode::Exhausted));
    busy.call(now, &mut store);
    quiet.call(now, &mut store);
    assert!(!quiet.pays(Other, now), "the others have spent what all together can");
    assert!(Process::new("alone", now).pays(Other, now));
}

// Rule F1.
#[test]
fn a_process_learns_from_the_others_that_retries_help() {
    let (mut store, mut now) = (MemoryStore::new(), 10_000);
    let mut processes: Vec<_> = (0..50).map(|id| Process::new(&id.to_string(), now)).collect();
    let mut random = Random(7);
    let mut refused = [0; 2];
    for step in 0..12_000_u32 {
        now += 10;
        let index = random.below(50) as usize;
        // Two of five attempts fail.
        if random.below(5) < 2 {
            let is_paid = processes[index].pays(Other, now);
            refused[(step / 6_000) as usize] += u32::from(!is_paid);
            if is_paid && random.below(5) >= 2 {
                processes[index].quota.retry_succeeded(1, 0);
            }
        } else {
            processes[index].quota.first_succeeded(0);
        }
        if step % 2 == 0 {
            processes[(step / 2 % 50) as usize].call(now, &mut store);
        }
    }
    assert!(refused[1] < 6_000 / 100, "{refused:?} retries of some 2,400 are refused");
}

// Rule F1.
#[test]
fn a_timeout_of_one_process_makes_the_others_doubt() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let (mut slow, mut other) = (Process::new("slow", now), Process::new("other", now));
    slow.pays(Timeout, now);
    slow.call(now + 100, &mut store);
    other.call(now + 200, &mut store);
    other.pays(Other, now + 300);
    other.quota.retry_succeeded(1, 0);
    other.pays(Other, now + 300);
    assert_eq!(other.quota.mode(), Some(QuotaMode::Congested));
}

// Rule F2.
#[test]
fn the_latest_report_of_a_process_counts_until_it_has_left_or_its_time_is_over() {
    let mut store = MemoryStore::new();
    let report =
        |missing, age| Knowledge { missing, capacity: 80_000, timeout_age: Option::map(age, Duration::from_millis) };
    for _ in 0..3 {
        others(&mut store, 1_000, "a", report(40_000, Some(500)));
    }
    assert_eq!(others(&mut store, 1_000, "listener", NOTHING), report(40_000, Some(500)));
    others(&mut store, 2_000, "a", report(-10_000, None));
    assert_eq!(others(&mut store, 2_000, "listener", NOTHING), report(-10_000, Some(1_500)));
    assert_eq!(others(&mut store, 4_900, "listener", NOTHING), report(-10_000, Some(4_400)));
    // Its own report is not what the others know.
    assert_eq!(others(&mut store, 4_900, "a", report(5_000, None)).capacity, 0);
    assert_eq!(others(&mut store, 4_900, "listener", NOTHING).missing, 5_000);
    let gone = Knowledge { timeout_age: Some(Duration::from_millis(7_500)), ..NOTHING };
    assert_eq!(others(&mut store, 8_000, "listener", NOTHING), gone);
    others(&mut store, 8_000, "b", report(1_000, None));
    let mut leaving = Call::new("b", "fresh");
    (leaving.quota, leaving.is_leaving) = (Some(report(1_000, None)), true);
    store.call(8_100, &leaving);
    assert_eq!(others(&mut store, 8_100, "listener", NOTHING).missing, 0);
}

// Rule F2.
#[test]
fn lost_late_and_repeated_reports_leave_the_share_that_is_missing() {
    let (mut store, mut random) = (MemoryStore::new(), Random(3));
    let mut late: Vec<(u64, String, Knowledge)> = Vec::new();
    let mut least = u64::MAX;
    for step in 0..10_000_u64 {
        let now = 1_000 + step * 10;
        let (id, capacity) = (format!("p{}", random.below(50)), u64::from(random.below(320)) * 2);
        let reported = Knowledge { missing: i64::try_from(capacity / 2).unwrap(), capacity, timeout_age: None };
        // A third of the reports are lost.
        if random.one_in(3) {
            late.push((now + 900, id, reported));
        } else if random.one_in(2) {
            others(&mut store, now, &id, reported);
        }
        late.retain(|(at, id, reported)| {
            if *at <= now {
                others(&mut store, now, id, *reported);
            }
            *at > now
        });
        let heard = others(&mut store, now, "listener", NOTHING);
        assert_eq!(2 * heard.missing, i64::try_from(heard.capacity).unwrap());
        assert!(heard.capacity < 50 * 640, "{heard:?}");
        if step > 1_000 {
            least = least.min(heard.capacity);
        }
    }
    assert!(least > 50 * 100, "{least}");
}

// Rule F3.
#[test]
fn a_store_that_was_emptied_knows_all_again_with_the_next_reports() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let mut processes: Vec<_> = (0..10).map(|id| Process::new(&id.to_string(), now)).collect();
    for process in &processes {
        while process.pays(Other, now + 500) {}
    }
    let mut round = |now, store: &mut MemoryStore| {
        let replies = processes.iter_mut().map(|process| process.call(now, store));
        replies.last().and_then(|reply| reply.quota).unwrap()
    };
    let before = round(now + 500, &mut store);
    assert!(before.missing > 17_000, "{before:?}");
    store.forget();
    assert_eq!(round(now + 500, &mut store), before);
}

// Rule F3.
#[test]
fn without_answers_a_process_decides_alone_after_a_while() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let mut process = Process::new("p", now);
    others(&mut store, now, "other", Knowledge { missing: 100_000, capacity: 10_000, timeout_age: None });
    process.call(now, &mut store);
    assert!(!process.pays(Other, now));
    process.unanswered(now + 1_000);
    assert!(!process.pays(Other, now + 1_000), "what was heard counts for a while");
    process.unanswered(now + 90_000);
    assert!(process.pays(Other, now + 90_000));
}

// Rule F4.
#[test]
fn calls_are_half_a_second_apart_give_or_take_a_quarter_and_rarer_in_large_fleets() {
    let (mut store, mut process) = (MemoryStore::new(), Process::new("p", 0));
    let mut gaps = Vec::new();
    let mut now = 0;
    for _ in 0..200 {
        process.call(now, &mut store);
        let next = process.member.next_call_at().saturating_since(at(0)).as_millis();
        let next = u64::try_from(next).unwrap() + 1;
        gaps.push(next - now);
        now = next;
    }
    let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
    assert!((375..400).contains(least) && (600..=626).contains(most), "{least} to {most} ms");
    for (members, expected) in [(1_000, 500.0), (5_000, 2_500.0), (4_000_000_000, 10_000.0)] {
        let call = process.member.call(at(now), false);
        let mut reply = store.call(now, &call);
        reply.members = members;
        process.answered(now, &reply);
        let gap = process.member.next_call_at().saturating_since(at(now)).as_secs_f64() * 1e3;
        assert!((gap / expected - 1.0).abs() <= 0.2501, "{members}: {gap} ms");
    }
}

// Rule F1.
#[test]
fn between_two_reports_no_number_lets_a_process_spend_more_than_twice_its_own_capacity() {
    for missing in [i64::MAX, 0, i64::MIN] {
        let mut store = MemoryStore::new();
        let huge = Knowledge { missing, capacity: u64::MAX, timeout_age: Some(Duration::MAX) };
        for member in ["a", "b", "c"] {
            others(&mut store, 100_000, member, huge);
        }
        let mut process = Process::new("p", 100_000);
        process.call(100_000, &mut store);
        // All attempts fail, a thousand in each second.
        let paid = (0..20_000).filter(|step| process.pays(Other, 100_000 + step)).count();
        assert!(paid < 20_000 / 3, "{paid}");
    }
}

// Rule F6.
#[cfg(feature = "test")]
#[test]
fn a_test_has_a_quota_of_its_own_and_shares_nothing() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let mut process = Process::new("p", now);
    others(&mut store, now, "other", Knowledge { missing: 100_000, capacity: 10_000, timeout_age: None });
    process.call(now, &mut store);
    assert!(!process.pays(Other, now));
    let _test = retry_core::test::begin();
    process.quota.first_succeeded(0);
    assert!(process.pays(Other, now));
    assert_eq!(process.call(now, &mut store).quota, None);
}
