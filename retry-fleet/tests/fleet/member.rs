//! When a process calls, what it tells the store, and when it treats the store as lost.

use crate::millis::at;
use retry_core::quota::{EvidenceQuota, QuotaKnowledge};
use retry_fleet::protocol::{Call, Knowledge, Reply, Turn};
use retry_fleet::{FleetSwitch, Member};
use retry_limits::PacedRetryStrategy;
use std::sync::Arc;
use std::time::Duration;

fn member() -> Member {
    Member::new("orders", "p1", at(0))
}

fn with_quota() -> Member {
    member().quota(Arc::new(EvidenceQuota::new()))
}

fn with_limit() -> Member {
    member().limit(Arc::new(PacedRetryStrategy::new()))
}

fn millis(member: &Member) -> f64 {
    member.next_call_at().saturating_since(at(0)).as_secs_f64() * 1e3
}

/// The first intervals of processes with these names, as multiples of the average one.
const NAMED: [(&str, [f64; 3]); 3] = [
    ("p1", [0.958_295_46, 1.129_883_17, 1.143_470_34]),
    ("p2", [1.105_630_18, 0.970_790_21, 1.151_392_09]),
    ("", [1.140_209_23, 0.804_233_50, 0.823_026_44]),
];

// Rule F4.
#[test]
fn the_times_of_calls_are_those_of_the_name_on_every_machine() {
    for (id, factors) in NAMED {
        for (member, interval) in [
            (Member::new("orders", id, at(0)), 1_000.0),
            (Member::new("orders", id, at(0)).quota(Arc::new(EvidenceQuota::new())), 500.0),
            (Member::new("orders", id, at(0)).limit(Arc::new(PacedRetryStrategy::new())), 250.0),
        ] {
            let mut member = member;
            assert!(millis(&member) == 0.0, "the first call is due immediately");
            for factor in factors {
                member.answered(at(0), &Reply::new("epoch", 1));
                let gap = millis(&member);
                assert!((gap / interval - factor).abs() < 1e-6, "{id}: {gap} ms instead of {factor}");
            }
        }
    }
    // A call that fails is followed by another one at the same time as one that was answered.
    let mut member = member();
    member.unanswered(at(0), &"no answer");
    assert!((millis(&member) / 1_000.0 - NAMED[0].1[0]).abs() < 1e-6);
}

// Rules F4, F17.
#[test]
fn in_a_large_fleet_calls_are_rarer_and_a_silent_process_is_removed_later() {
    for (members, interval, ttl) in [
        (1, 1_000, 3_000),
        (2_000, 1_000, 3_000),
        (3_000, 1_500, 3_000),
        (4_000, 2_000, 3_500),
        (20_000, 10_000, 17_500),
        (4_000_000_000, 10_000, 17_500),
    ] {
        let mut member = member();
        member.answered(at(0), &Reply::new("epoch", members));
        let expected = f64::from(interval) * NAMED[0].1[0];
        assert!((millis(&member) / expected - 1.0).abs() < 1e-6, "{members}: {} ms", millis(&member));
        assert_eq!(member.call(at(0), false).ttl, Duration::from_millis(ttl), "{members}");
    }
    assert_eq!(with_limit().call(at(0), false).ttl, Duration::from_secs(3));
    assert_eq!(with_quota().call(at(0), false).ttl, Duration::from_secs(3));
}

#[test]
fn a_call_names_the_process_and_a_fresh_epoch_and_says_what_it_has() {
    let mut member = member();
    assert_eq!((member.status().members, member.status().is_connected), (1, None));
    let first = member.call(at(0), false);
    assert_eq!((first.member.as_str(), first.fresh.as_str(), first.epoch), ("p1", "p1.1", None));
    assert!(!first.is_leaving && first.quota.is_none() && first.limit.is_none());
    member.answered(at(0), &Reply::new("an epoch", 0));
    assert_eq!((member.status().members, member.status().is_connected), (1, Some(true)));
    let second = member.call(at(0), true);
    assert_eq!((second.fresh.as_str(), second.epoch.as_deref(), second.is_leaving), ("p1.2", Some("an epoch"), true));
    member.answered(at(0), &Reply::new("another", 5));
    assert_eq!((member.status().members, member.call(at(0), true).epoch.as_deref()), (5, Some("another")));
    assert!(with_quota().call(at(0), false).quota.is_some() && with_limit().call(at(0), false).limit.is_some());
    let shown = format!("{member:?}");
    assert!(shown.starts_with("Member { fleet: \"orders\", status: FleetStatus { is_connected: Some(true)"), "{shown}");
}

// Rule F5.
#[test]
fn the_store_is_lost_when_a_call_fails_and_the_last_answer_is_old() {
    for (members, patience) in [(1, 3_000), (2_400, 3_000), (4_000, 5_000), (100_000, 25_000)] {
        let mut member = member();
        member.answered(at(1_000), &Reply::new("epoch", members));
        member.unanswered(at(1_000 + patience - 1), &"no answer");
        assert_eq!(member.status().is_connected, Some(true), "{members}");
        member.unanswered(at(1_000 + patience), &"no answer");
        assert_eq!(member.status().is_connected, Some(false), "{members}");
        member.answered(at(1_000 + patience), &Reply::new("epoch", members));
        assert_eq!(member.status().is_connected, Some(true), "{members}");
    }
}

// Rule F42.
#[test]
fn a_process_that_has_left_takes_nothing_from_the_reply() {
    let switch: &'static FleetSwitch = Box::leak(Box::new(FleetSwitch::new(|_| {})));
    let mut member = member().switch(switch);
    member.call(at(0), true);
    let mut reply = Reply::new("epoch", 1);
    reply.turn = Some(Turn { number: 1, off_for: Duration::from_secs(60), reason: String::new() });
    member.answered(at(0), &reply);
    assert!(switch.is_on() && member.switched_off(at(0)).is_none() && member.next_call_at() == at(0));
}

// Rules F7, F34.
#[test]
fn a_process_carries_the_last_turn_of_the_switch_with_its_end_and_the_reason_until_then() {
    let switch: &'static FleetSwitch = Box::leak(Box::new(FleetSwitch::new(|_| {})));
    let mut member = member().switch(switch);
    assert_eq!(member.call(at(0), false).known_turn, None);
    let turned = |off_for, reason: &str, number| {
        let mut reply = Reply::new("epoch", 1);
        reply.turn = Some(Turn { number, off_for: Duration::from_millis(off_for), reason: reason.into() });
        reply
    };
    member.answered(at(1_000), &turned(5_000, "ada: why", 7));
    assert!(!switch.is_on() && !member.status().retries_enabled);
    for (now, off_for, reason) in [(1_000, 5_000, "ada: why"), (5_999, 1, "ada: why"), (6_000, 0, ""), (9_000, 0, "")] {
        let known = member.call(at(now), false).known_turn.unwrap();
        let expected = Turn { number: 7, off_for: Duration::from_millis(off_for), reason: reason.into() };
        assert_eq!(known, expected, "{now}");
        let off = member.switched_off(at(now)).map(|off| (off.off_for, off.reason));
        assert_eq!(off, (off_for > 0).then_some((expected.off_for, expected.reason)), "{now}");
    }
    member.unanswered(at(5_999), &"no answer");
    assert!(!switch.is_on());
    member.unanswered(at(6_000), &"no answer");
    assert!(switch.is_on() && member.status().retries_enabled);
    member.answered(at(7_000), &turned(0, "bob", 8));
    let known = member.call(at(7_000), false).known_turn.unwrap();
    assert_eq!((known.off_for, known.reason.as_str()), (Duration::ZERO, "bob"));
    // A turn by this process is reported immediately, and only once.
    member.turn_retries_off(Duration::from_secs(60), "eve: why", at(7_001));
    assert_eq!(member.next_call_at(), at(7_001));
    let turn = Some(Turn { number: 0, off_for: Duration::from_secs(60), reason: "eve: why".into() });
    assert_eq!((member.call(at(7_001), false).turn, member.call(at(7_001), false).turn), (turn, None));
}

#[test]
fn a_reply_says_whether_retries_are_on() {
    let reply = |off_for: Option<u64>| {
        let mut reply = Reply::new("epoch", 1);
        reply.turn = off_for.map(|off_for| Turn { off_for: Duration::from_millis(off_for), ..Turn::default() });
        reply.retries_enabled()
    };
    assert_eq!([None, Some(0), Some(1)].map(reply), [true, true, false]);
    let call = Call::new("p1", "fresh");
    assert_eq!((call.ttl, call.look_at, call.is_leaving), (Duration::from_secs(30), 200, false));
}

// Rule F1.
#[test]
fn knowledge_is_told_in_thousandths_of_a_retry() {
    for (retries, told) in [(0.0, 0_i64), (1.5, 1_500), (0.031_25, 31), (0.046_875, 47)] {
        let age = Some(Duration::from_millis(20));
        let known = Knowledge::from(QuotaKnowledge::new(-retries, retries, age));
        assert_eq!((known.missing, known.capacity, known.timeout_age), (-told, told.unsigned_abs(), age));
        let known = QuotaKnowledge::from(Knowledge { missing: 1_500, capacity: 2_500, timeout_age: age });
        assert_eq!(known, QuotaKnowledge::new(1.5, 2.5, age));
    }
}

// Rules F6, F9, G1.
#[cfg(feature = "test")]
#[test]
fn under_a_test_guard_nothing_of_a_reply_and_of_a_failed_call_reaches_the_test() {
    use crate::fake::MEASURED;
    use crate::support::Process;
    use retry_core::RetryErrorType::Other;
    use retry_core::RetryQuota;
    let mut reply = Reply::new("epoch", 10);
    reply.quota = Some(Knowledge { missing: 100_000, capacity: 10_000, timeout_age: None });
    reply.limit = Some(MEASURED);
    let mut process = Process::new("p1", 0);
    process.answered(0, &reply);
    assert!(!process.pays(Other, 0));
    let strategy = Arc::new(PacedRetryStrategy::new());
    let mut member = member().limit(Arc::clone(&strategy));
    member.answered(at(0), &reply);
    assert_eq!(strategy.send_rate(), Some(20.0));

    let _test = retry_core::test::begin();
    process.quota.first_succeeded(0);
    process.answered(0, &reply);
    assert!(process.pays(Other, 0), "a test has a quota of its own");
    member.answered(at(0), &reply);
    assert_eq!(strategy.send_rate(), None);
    for now in [100, 10_000] {
        member.unanswered(at(now), &"no answer");
        assert_eq!(strategy.send_rate(), None);
    }
}
