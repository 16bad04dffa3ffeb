//! The switch of a fleet, turned by a process and by an operator with the store's own client.

use crate::server::{PATIENCE, RedisServer};
use redis::Commands;
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch, Membership};
use std::sync::Arc;
use std::time::{Duration, Instant};

const OFF: &str = "retry-fleet:{orders}:off";

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

// Rule F7.
#[tokio::test]
async fn processes_and_operators_turn_the_retries_of_the_fleet_off_and_on() {
    let server = RedisServer::start(&[]);
    let mut operator = server.client().get_connection().unwrap();
    let ((first, membership), (second, _other)) = (join(&server), join(&server));
    let both = [&*first, &*second];

    membership.turn_retries_off(Duration::from_mins(10)).await.unwrap();
    assert!(!first.is_on(), "the caller knows it at once");
    let left: u64 = operator.ttl(OFF).unwrap();
    assert!((590..=600).contains(&left), "{left} s");
    wait_until_all_are(both, false).await;
    membership.turn_retries_on().await.unwrap();
    wait_until_all_are(both, true).await;

    let _: () = redis::cmd("SET").arg(&[OFF, "1", "EX", "600"]).query(&mut operator).unwrap();
    wait_until_all_are(both, false).await;
    let _: () = operator.del(OFF).unwrap();
    wait_until_all_are(both, true).await;
    // It goes on again by itself.
    let _: () = redis::cmd("SET").arg(&[OFF, "1", "EX", "3"]).query(&mut operator).unwrap();
    wait_until_all_are(both, false).await;
    wait_until_all_are(both, true).await;
}
