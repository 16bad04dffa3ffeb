//! A member that runs on tokio, in virtual time.

use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::protocol::{Call, Reply, Turn};
use retry_fleet::store::{MemoryStore, Store, StoreError};
use retry_fleet::{Fleet, FleetSwitch, JoinError};
use retry_limits::PacedRetryStrategy;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A store that processes share, which can be turned away.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    store: MemoryStore,
    calls: Vec<Duration>,
    away: Away,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Away {
    #[default]
    No,
    Refuses,
    Silent,
}

// Rule F48.
#[tokio::test(start_paused = true)]
async fn a_program_is_named_by_its_file_unless_the_fleet_names_it() {
    let shared = Shared::default();
    let file = std::env::current_exe().unwrap();
    let file = file.file_name().unwrap().to_str().unwrap().trim_end_matches(std::env::consts::EXE_SUFFIX);
    let unnamed = Fleet::new("orders", shared.clone()).join().unwrap();
    let named = Fleet::new("orders", shared.clone()).program("carts").join().unwrap();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(unnamed.other_program().as_deref(), Some("carts"));
    assert_eq!(named.other_program().as_deref(), Some(file));
    unnamed.leave().await;
    sleep(Duration::from_secs(61)).await;
    assert_eq!(named.other_program(), None);
}

impl Shared {
    fn set_away(&self, away: Away) {
        self.0.lock().unwrap().away = away;
    }

    fn calls(&self) -> usize {
        self.0.lock().unwrap().calls.len()
    }

    fn members(&self) -> usize {
        self.0.lock().unwrap().store.members()
    }

    /// Turns the switch as an operator does.
    fn turn_off_for(&self, off_for: Duration) {
        let mut state = self.0.lock().unwrap();
        let mut call = Call::new("operator", "e");
        (call.turn, call.is_leaving) = (Some(Turn { off_for, ..Turn::default() }), true);
        let now = now();
        state.store.call(now, &call);
    }
}

/// The time of the store, in milliseconds.
fn now() -> u64 {
    use retry_core::Clock;
    u64::try_from(TokioTimer.now().since_origin().as_millis()).unwrap()
}

impl Store for Shared {
    async fn call(&mut self, fleet: &str, call: &Call) -> Result<Reply, StoreError> {
        assert_eq!(fleet, "orders");
        let away = {
            let mut state = self.0.lock().unwrap();
            state.calls.push(Duration::from_millis(now()));
            state.away
        };
        match away {
            Away::No => {
                sleep(Duration::from_millis(2)).await;
                Ok(self.0.lock().unwrap().store.call(now(), call))
            }
            Away::Refuses => Err(StoreError::new("connection refused")),
            Away::Silent => std::future::pending().await,
        }
    }
}

/// Returns a quota of which an attempt has succeeded.
fn quota() -> Arc<EvidenceQuota> {
    let quota = Arc::new(EvidenceQuota::new());
    quota.first_succeeded(0);
    quota
}

/// Notes a failed attempt, and returns whether its retry is paid for.
fn pay(quota: &EvidenceQuota) -> bool {
    quota.pay(14, Other, &TokioTimer).is_some()
}

// Rules F1, F4.
#[tokio::test(start_paused = true)]
async fn a_process_joins_immediately_and_receives_the_knowledge_of_the_others_twice_a_second() {
    let (store, busy, quiet) = (Shared::default(), quota(), quota());
    let join =
        |quota: &Arc<EvidenceQuota>| Fleet::new("orders", store.clone()).quota(Arc::clone(quota)).join().unwrap();
    let memberships = [join(&busy), join(&quiet)];
    assert_eq!(memberships[0].status().is_connected, None);
    sleep(Duration::from_millis(5)).await;
    assert_eq!((memberships[0].status().is_connected, store.members()), (Some(true), 2));
    for _ in 0..300 {
        sleep(Duration::from_millis(10)).await;
        pay(&busy);
    }
    sleep(Duration::from_millis(1_300)).await;
    assert!(!pay(&quiet), "the other one has spent what both can");
    let before = store.calls();
    sleep(Duration::from_secs(60)).await;
    let calls = store.calls() - before;
    assert!((220..260).contains(&calls), "{calls} calls in a minute");
}

// Rule F2.
#[tokio::test(start_paused = true)]
async fn a_process_leaves_and_so_does_one_whose_membership_is_dropped() {
    let (store, quota) = (Shared::default(), quota());
    for is_dropped in [false, true] {
        let membership = Fleet::new("orders", store.clone()).quota(Arc::clone(&quota)).join().unwrap();
        sleep(Duration::from_millis(5)).await;
        assert_eq!(store.members(), 1);
        if is_dropped {
            drop(membership);
            sleep(Duration::from_millis(5)).await;
        } else {
            membership.leave().await;
        }
        assert_eq!(store.members(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_joins_one_fleet_only() {
    let quota = quota();
    let first = Fleet::new("orders", Shared::default()).quota(Arc::clone(&quota)).join();
    let second = Fleet::new("orders", Shared::default()).quota(Arc::clone(&quota)).join();
    assert_eq!(second.unwrap_err(), JoinError::AlreadyJoined);
    sleep(Duration::from_millis(5)).await;
    for _ in 0..3 {
        let again = Fleet::new("orders", Shared::default()).quota(Arc::clone(&quota)).join();
        assert_eq!(again.unwrap_err(), JoinError::AlreadyJoined);
    }
    drop(first);
}

// Rule F32.
#[tokio::test(start_paused = true)]
async fn a_limit_and_a_switch_join_one_fleet_only_too() {
    let fleet = || Fleet::new("orders", Shared::default());
    let (limit, switch) = (Arc::new(PacedRetryStrategy::new()), Arc::new(FleetSwitch::new(|_| {})));
    for _ in 0..2 {
        let first = fleet().limit(Arc::clone(&limit)).switch(Arc::clone(&switch)).join().unwrap();
        let outcomes = [
            fleet().limit(Arc::clone(&limit)).join(),
            fleet().switch(Arc::clone(&switch)).join(),
            // What is refused frees nothing.
            fleet().quota(quota()).switch(Arc::clone(&switch)).join(),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.unwrap_err(), JoinError::AlreadyJoined);
        }
        first.leave().await;
    }
    assert!(fleet().limit(limit).switch(switch).join().is_ok());
}

// Rule F32.
#[tokio::test(start_paused = true)]
async fn a_part_that_is_given_twice_is_an_error() {
    let fleet = || Fleet::new("orders", Shared::default());
    let limit = || Arc::new(PacedRetryStrategy::new());
    let switch = || Arc::new(FleetSwitch::new(|_| {}));
    for twice in [
        fleet().quota(quota()).quota(quota()),
        fleet().limit(limit()).limit(limit()),
        fleet().switch(switch()).switch(switch()),
    ] {
        let error = twice.join().unwrap_err();
        assert_eq!(error, JoinError::GivenTwice);
        let expected = "can't join the fleet: its quota, strategy, limit or switch is given twice; give it one of each";
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn without_a_runtime_joining_is_an_error() {
    let error = Fleet::new("orders", Shared::default()).join().unwrap_err();
    assert_eq!(error.to_string(), "can't join the fleet: call `join` on a tokio runtime");
    for name in ["", "a}b", "{a", &"n".repeat(129)] {
        assert_eq!(Fleet::new(name, Shared::default()).join().unwrap_err(), JoinError::InvalidName);
    }
    for name in ["n", &"n".repeat(128)] {
        assert_eq!(Fleet::new(name, Shared::default()).join().unwrap_err(), JoinError::NoRuntime);
    }
}

#[test]
fn the_error_of_a_fleet_or_its_store_says_what_to_write_or_what_caused_it() {
    for (error, advice) in [
        (JoinError::InvalidName, "expected a name of 1 to 128 bytes without braces"),
        (JoinError::GivenTwice, "give it one of each"),
        (JoinError::NoRuntime, "call `join` on a tokio runtime"),
        (JoinError::AlreadyJoined, "give each fleet a separate one"),
    ] {
        let text = error.to_string();
        assert!(text.starts_with("can't join the fleet: ") && text.ends_with(advice), "{text}");
    }
    let error = StoreError::new("no answer of the store");
    assert!(std::error::Error::source(&error).is_none());
    let error = error.caused_by("the line is cut");
    assert_eq!(error.to_string(), "no answer of the store");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the line is cut");
}

#[test]
fn a_switch_is_printed_with_its_state() {
    let switch = FleetSwitch::new(|_| ());
    assert_eq!(format!("{switch:?}"), "FleetSwitch { is_on: true, .. }");
}

// Rule F3.
#[tokio::test(start_paused = true)]
async fn a_process_returns_by_itself_to_a_store_that_refused_or_was_silent() {
    for away in [Away::Refuses, Away::Silent] {
        let (store, quota) = (Shared::default(), quota());
        let membership = Fleet::new("orders", store.clone()).quota(Arc::clone(&quota)).join().unwrap();
        sleep(Duration::from_millis(5)).await;
        store.set_away(away);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(membership.status().is_connected, Some(false));
        let started = Instant::now();
        assert!(pay(&quota) && pay(&quota), "it decides alone");
        assert_eq!(started.elapsed(), Duration::ZERO);
        store.set_away(Away::No);
        // The deadline of a call that is on its way and the longest interval.
        sleep(Duration::from_millis(1_000 + 625 + 10)).await;
        assert_eq!(membership.status().is_connected, Some(true));
    }
}

// Rule F3.
#[test]
fn a_process_whose_runtime_has_ended_continues_alone_and_can_join_again() {
    let (store, quota) = (Shared::default(), quota());
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    for members in [1, 2] {
        let membership = runtime().block_on(async {
            let membership = Fleet::new("orders", store.clone()).quota(Arc::clone(&quota)).join().unwrap();
            sleep(Duration::from_millis(5)).await;
            membership
        });
        // The store knows it by another name than before.
        assert_eq!((membership.status().is_connected, store.members()), (Some(false), members));
        assert!(pay(&quota));
    }
    let limit = Arc::new(PacedRetryStrategy::new());
    let membership = runtime().block_on(async {
        let membership = Fleet::new("orders", Shared::default()).limit(Arc::clone(&limit)).join().unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(membership.status().share, membership.status().rate);
        membership
    });
    let status = membership.status();
    assert_eq!((limit.send_rate(), status.share), (status.share, Some(97.0)), "{status:?}");
}

// Rules F34, F41.
#[tokio::test(start_paused = true)]
async fn a_name_and_a_reason_are_cut_to_128_bytes_but_not_within_a_character() {
    let membership = Fleet::new("orders", Shared::default()).join().unwrap();
    let long = "n".repeat(129);
    for (by, reason, expected) in [
        ("", "", ": ".to_owned()),
        ("ada", "why", "ada: why".to_owned()),
        (&long[1..], &long, format!("{}: {}", &long[1..], &long[1..])),
        (&format!("{}\u{e9}e", &long[2..]), "why", format!("{}: why", &long[2..])),
        (&format!("{}\u{20ac}", &long[2..]), "why", format!("{}: why", &long[2..])),
        (&format!("{}\u{20ac}", &long[4..]), "why", format!("{}\u{20ac}: why", &long[4..])),
    ] {
        membership.turn_retries_off(Duration::from_secs(60), by, reason).await.unwrap();
        assert_eq!(membership.switched_off().unwrap().reason, expected);
    }
}

// Rule F34.
#[tokio::test(start_paused = true)]
async fn retries_are_turned_off_for_a_millisecond_at_least() {
    let membership = Fleet::new("orders", Shared::default()).join().unwrap();
    for (given, off_for) in [(0, 1_000), (500, 1_000), (1_000, 1_000), (60_000, 60_000)] {
        membership.turn_retries_off(Duration::from_micros(given), "ada", "why").await.unwrap();
        assert_eq!(membership.switched_off().unwrap().off_for, Duration::from_micros(off_for));
    }
}

static TURNED: AtomicU32 = AtomicU32::new(0);

// Rules F7, F34.
#[tokio::test(start_paused = true)]
async fn a_switch_that_anyone_turns_is_seen_within_a_second_and_a_half_and_ends_when_it_should_even_if_the_store_is_lost()
 {
    let store = Shared::default();
    let switch = Arc::new(FleetSwitch::new(|_| {
        TURNED.fetch_add(1, Ordering::Relaxed);
    }));
    let member = Fleet::new("orders", store.clone()).switch(Arc::clone(&switch)).join().unwrap();
    let other = Fleet::new("orders", store.clone()).join().unwrap();
    sleep(Duration::from_secs(5)).await;
    assert!(switch.is_on() && TURNED.load(Ordering::Relaxed) == 0 && member.switched_off().is_none());

    store.turn_off_for(Duration::from_secs(20));
    sleep(Duration::from_millis(1_500)).await;
    assert!(!switch.is_on() && !member.status().retries_enabled);
    store.set_away(Away::Silent);
    sleep(Duration::from_secs(17)).await;
    assert!(!switch.is_on(), "the last value stays");
    sleep(Duration::from_secs(4)).await;
    assert!(switch.is_on(), "its time is over");
    assert_eq!(TURNED.load(Ordering::Relaxed), 2, "it is only told of changes");
    store.set_away(Away::No);
    sleep(Duration::from_millis(2_500)).await;

    other.turn_retries_off(Duration::from_secs(600), "ada", "a test").await.unwrap();
    sleep(Duration::from_millis(1_500)).await;
    assert!(!switch.is_on());
    let off = member.switched_off().unwrap();
    assert_eq!(off.reason, "ada: a test");
    assert!((Duration::from_secs(595)..Duration::from_secs(600)).contains(&off.off_for), "{off:?}");
    other.turn_retries_on("bob").await.unwrap();
    sleep(Duration::from_millis(1_500)).await;
    assert!(switch.is_on() && member.switched_off().is_none());
    // Who turned it on is kept like who turned it off, also if the store is emptied.
    let turned_on = |store: &Shared| store.0.lock().unwrap().store.call(now(), &Call::new("late", "e")).turn.unwrap();
    assert_eq!(turned_on(&store).reason, "bob");
    store.0.lock().unwrap().store.forget();
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(turned_on(&store).reason, "bob");
    other.turn_retries_off(Duration::from_secs(3), "ada", "again").await.unwrap();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(turned_on(&store).reason, "", "nobody turned it on: its time is over");
    store.0.lock().unwrap().store.forget();
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(turned_on(&store).reason, "");
    store.set_away(Away::Refuses);
    assert_eq!(
        other.turn_retries_off(Duration::MAX, "ada", "a test").await.unwrap_err().to_string(),
        "connection refused"
    );
}

// Rule F34.
#[tokio::test(start_paused = true)]
async fn a_switch_survives_a_store_that_is_emptied_with_its_end_and_its_reason() {
    let store = Shared::default();
    let switches = [(); 3].map(|()| Arc::new(FleetSwitch::new(|_| {})));
    let join =
        |switch: &Arc<FleetSwitch>| Fleet::new("orders", store.clone()).switch(Arc::clone(switch)).join().unwrap();
    let (first, second) = (join(&switches[0]), join(&switches[1]));
    first.turn_retries_off(Duration::from_secs(120), "ada", "the table is overloaded").await.unwrap();
    for _ in 0..20 {
        sleep(Duration::from_secs(5)).await;
        store.0.lock().unwrap().store.forget();
        for _ in 0..200 {
            sleep(Duration::from_millis(10)).await;
            assert!(!switches[0].is_on());
        }
        if first.switched_off().is_some_and(|off| off.off_for < Duration::from_secs(10)) {
            break;
        }
    }
    // A process that joined since knows it, too.
    let third = join(&switches[2]);
    sleep(Duration::from_secs(2)).await;
    for membership in [&first, &second, &third] {
        let off = membership.switched_off().unwrap();
        assert_eq!(off.reason, "ada: the table is overloaded");
        assert!(off.off_for < Duration::from_secs(9), "{off:?}");
    }
    sleep(Duration::from_secs(9)).await;
    assert!(switches.iter().all(|switch| switch.is_on()), "its time is over");

    // A process that did not see a later turn does not undo it, not even after the store was emptied.
    second.turn_retries_off(Duration::from_secs(3600), "bob", "again").await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let mut late = Call::new("late", "e");
    late.known_turn = store.0.lock().unwrap().store.call(now(), &Call::new("late", "e")).turn;
    second.turn_retries_on("bob").await.unwrap();
    sleep(Duration::from_secs(2)).await;
    store.0.lock().unwrap().store.forget();
    store.0.lock().unwrap().store.call(now(), &late);
    sleep(Duration::from_secs(3)).await;
    assert!(switches.iter().all(|switch| switch.is_on()));
}
