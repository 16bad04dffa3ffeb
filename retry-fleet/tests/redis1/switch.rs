//! The switch of a fleet, turned by a process and by an operator with the store's own client.

use crate::server::{PATIENCE, RedisServer};
use redis::{Commands, Connection};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch, Membership};
use std::sync::Arc;
use std::time::{Duration, Instant};

const HASH: &str = "retry-fleet:1:{orders}";
const SWITCH: &str = "retry-fleet:{orders}:switch";

fn join(server: &RedisServer) -> (Arc<FleetSwitch>, Membership) {
    let switch = Arc::new(FleetSwitch::new(|_| {}));
    let membership =
        Fleet::new("orders", RedisStore::from(server.client())).switch(Arc::clone(&switch)).join().unwrap();
    (switch, membership)
}

async fn wait_until_all_are(switches: [&FleetSwitch; 2], is_on: bool) {
    let started = Instant::now();
    while switches.iter().any(|switch| switch.is_on() != is_on) {
        assert!(started.elapsed() < PATIENCE, "not all are {}", if is_on { "on" } else { "off" });
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn write(operator: &mut Connection, text: &str, seconds: &str) {
    redis::cmd("SET").arg(&[SWITCH, text, "EX", seconds]).exec(operator).unwrap();
}

/// Waits for calls of both processes, and checks that both are off all the time.
async fn stay_off(both: [&FleetSwitch; 2]) {
    for _ in 0..150 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(both.iter().all(|switch| !switch.is_on()));
    }
}

// Rules F7, F34.
#[tokio::test]
async fn processes_and_operators_turn_the_retries_of_the_fleet_off_and_on() {
    let server = RedisServer::start(&[]);
    let mut operator = server.client().get_connection().unwrap();
    let ((first, membership), (second, other)) = (join(&server), join(&server));
    let both = [&*first, &*second];

    membership.turn_retries_off(Duration::from_secs(600), "ada", "a test").await.unwrap();
    assert!(!first.is_on(), "the caller knows it at once");
    let left: u64 = operator.ttl(SWITCH).unwrap();
    assert!((590..=600).contains(&left), "{left} s");
    assert_eq!(operator.get::<_, String>(SWITCH).unwrap(), "off ada: a test");
    wait_until_all_are(both, false).await;
    membership.turn_retries_on("bob").await.unwrap();
    wait_until_all_are(both, true).await;
    // The text, which older programs read, too, does not name who turned it on.
    assert_eq!(operator.get::<_, String>(SWITCH).unwrap(), "on");
    assert_eq!(operator.hget::<_, _, String>(HASH, "reason").unwrap(), "bob");

    write(&mut operator, "off bob: an incident", "600");
    wait_until_all_are(both, false).await;
    assert_eq!(other.switched_off().unwrap().reason, "bob: an incident");
    write(&mut operator, "on", "60");
    wait_until_all_are(both, true).await;
    // It is on again by itself.
    write(&mut operator, "1", "3");
    wait_until_all_are(both, false).await;
    wait_until_all_are(both, true).await;
}

// Rule F34.
#[tokio::test]
async fn an_operators_switch_survives_a_store_that_loses_its_keys() {
    let server = RedisServer::start(&[]);
    let mut operator = server.client().get_connection().unwrap();
    let ((first, _membership), (second, other)) = (join(&server), join(&server));
    let both = [&*first, &*second];
    write(&mut operator, "off ada: an incident", "600");
    wait_until_all_are(both, false).await;
    let _: () = redis::cmd("FLUSHALL").query(&mut operator).unwrap();
    stay_off(both).await;
    let _: () = operator.del(SWITCH).unwrap();
    stay_off(both).await;
    let _: () = operator.del(HASH).unwrap();
    stay_off(both).await;
    let off = other.switched_off().unwrap();
    assert_eq!(off.reason, "ada: an incident");
    assert!((Duration::from_secs(570)..Duration::from_secs(595)).contains(&off.off_for), "{off:?}");
    other.turn_retries_on("bob").await.unwrap();
    wait_until_all_are(both, true).await;
    let _: () = redis::cmd("FLUSHALL").query(&mut operator).unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(both.iter().all(|switch| switch.is_on()));
}
