//! What a process reports by events for `tracing`.

use crate::millis::at;
use crate::support::Process;
use retry_core::quota::EvidenceQuota;
use retry_fleet::protocol::{Call, Reply, Turn};
use retry_fleet::store::{MemoryStore, Store, StoreError};
use retry_fleet::{Fleet, FleetSwitch, Member};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tracing::field::Field;
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// A layer that keeps the names of warnings, and the fields of the last one.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<&'static str>>>, Arc<Mutex<BTreeMap<&'static str, String>>>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        assert_eq!((event.metadata().target(), *event.metadata().level()), ("retry_fleet", Level::WARN));
        self.0.lock().unwrap().push(event.metadata().name());
        let mut fields = BTreeMap::new();
        event.record(&mut |field: &Field, value: &dyn Debug| {
            fields.insert(field.name(), format!("{value:?}"));
        });
        *self.1.lock().unwrap() = fields;
    }
}

impl Warnings {
    /// Listens to the events of this thread.
    fn listen(&self) -> DefaultGuard {
        // With a single subscriber in the process, an event that a thread without one is the first to report is noted as one to
        // which nobody listens.
        static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&SECOND);
        tracing::subscriber::set_default(tracing_subscriber::registry().with(self.clone()))
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

// Rules F14, F31.
#[test]
fn each_warning_comes_once_until_its_opposite() {
    let warnings = Warnings::default();
    let _subscribed = warnings.listen();
    let (mut store, mut now) = (MemoryStore::new(), 1_000);
    let mut first = Process::new("first", now);
    let switch: &'static FleetSwitch = Box::leak(Box::new(FleetSwitch::new(|_| {})));
    let mut member = Member::new("orders", "second", at(now)).switch(switch);
    first.call(now, &mut store);
    assert_eq!(warnings.take(), [""; 0]);

    let mut call = |store: &mut MemoryStore, now: &mut u64| {
        *now += 1_000;
        let call = member.call(at(*now), false);
        member.answered(at(*now), &store.call(*now, &call));
        let call = member.call(at(*now), false);
        member.answered(at(*now), &store.call(*now, &call));
    };
    call(&mut store, &mut now);
    assert_eq!(warnings.take(), [""; 0]);

    let mut operator = Call::new("operator", "e");
    let turn = Turn { off_for: Duration::from_secs(2), ..Turn::default() };
    (operator.turn, operator.is_leaving) = (Some(turn), true);
    store.call(now, &operator);
    for _ in 0..4 {
        call(&mut store, &mut now);
    }
    assert_eq!(warnings.take(), ["switched", "switched"]);

    store.forget();
    call(&mut store, &mut now);
    call(&mut store, &mut now);
    assert_eq!(warnings.take(), ["store_emptied"]);
    for _ in 0..8 {
        now += 1_000;
        member.call(at(now), false);
        member.unanswered(at(now), &"refused");
    }
    assert_eq!(warnings.take(), ["store_lost"]);
    let call = member.call(at(now), false);
    member.answered(at(now), &store.call(now, &call));
    assert_eq!(warnings.take(), ["store_back"]);
}

// Rule F31.
#[test]
fn a_membership_that_is_dropped_immediately_and_a_fleet_of_one_are_reported() {
    let warnings = Warnings::default();
    let _subscribed = warnings.listen();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let join = || {
        let store = Answering(MemoryStore::new(), Arc::new(Mutex::new(true)));
        Fleet::new("oders", store).quota(Arc::new(EvidenceQuota::new())).join().unwrap()
    };
    runtime.block_on(async {
        for (time, leaves, expected) in [
            (10, false, vec!["membership_dropped"]),
            (10, true, vec![]),
            (2_000, false, vec![]),
            (59_000, true, vec![]),
            (200_000, true, vec!["stays_alone"]),
        ] {
            let membership = join();
            tokio::time::sleep(Duration::from_millis(time)).await;
            if leaves {
                membership.leave().await;
            } else {
                drop(membership);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(warnings.take(), expected, "{time} ms, {leaves}");
        }
    });

    // A minute from the first answer on.
    let (mut store, mut process) = (MemoryStore::new(), Process::new("process", 0));
    for (now, expected) in [(5_000, vec![]), (30_000, vec![]), (64_999, vec![]), (65_000, vec!["stays_alone"])] {
        process.call(now, &mut store);
        assert_eq!(warnings.take(), expected, "{now} ms");
    }

    // A process that others have left is not one whose fleet has another name.
    let (mut store, mut other) = (MemoryStore::new(), Process::new("other", 0));
    let mut process = Process::new("process", 0);
    let mut call = |process: &mut Process, now, leaves| {
        let call = process.member.call(at(now), leaves);
        process.answered(now, &store.call(now, &call));
    };
    call(&mut other, 1, false);
    call(&mut process, 1, false);
    call(&mut other, 2, true);
    for second in 1..200 {
        call(&mut process, 1_000 * second, false);
    }
    assert_eq!(warnings.take(), [""; 0]);
}

// Rules F31, F48.
#[test]
fn two_programs_in_one_fleet_are_reported_once_with_both_names() {
    let warnings = Warnings::default();
    let _subscribed = warnings.listen();
    let mut store = MemoryStore::new();
    let long = format!("{}é", "x".repeat(127));
    let member = |id: &str, program: &str| Member::new("orders", id, at(0)).program(program);
    let mut call = |member: &mut Member, now| {
        let call = member.call(at(now), false);
        member.answered(at(now), &store.call(now, &call));
    };
    let (mut first, mut second) = (member("first", "shop"), member("second", "shop"));
    let (mut cut, mut unnamed) = (member("cut", &long), member("unnamed", ""));
    for now in 1..5 {
        for member in [&mut first, &mut second, &mut unnamed] {
            call(member, now);
            assert_eq!(member.other_program(), None);
        }
    }
    assert_eq!(warnings.take(), [""; 0]);
    for now in 5..20 {
        call(&mut cut, now);
        call(&mut first, now);
    }
    assert_eq!(warnings.take(), ["other_program", "other_program"]);
    let expected = [("fleet", "orders"), ("program", "shop"), ("other", &long[..127])];
    for (name, value) in expected {
        assert_eq!(warnings.1.lock().unwrap()[name], format!("{value:?}"), "{name}");
    }
    assert_eq!((first.other_program(), cut.other_program()), (Some(&long[..127]), Some("shop")));
    // It has left for more than a minute, and comes back.
    call(&mut first, 70_000);
    assert_eq!(first.other_program(), None);
    call(&mut cut, 70_001);
    call(&mut first, 70_002);
    assert_eq!(warnings.take(), ["other_program"]);
}

/// A store that answers until it is turned off.
struct Answering(MemoryStore, Arc<Mutex<bool>>);

impl Store for Answering {
    async fn call(&mut self, _: &str, call: &Call) -> Result<Reply, StoreError> {
        if *self.1.lock().unwrap() { Ok(self.0.call(1_000, call)) } else { Err(StoreError::new("away")) }
    }
}
