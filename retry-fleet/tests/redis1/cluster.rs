//! The store in a cluster, without and with TLS.

use crate::authority::{Authority, start, url};
use crate::connection::{answered, call};
use crate::errors::told;
use crate::server::{PATIENCE, RedisServer};
use crate::tls::{join, wait_until};
use redis::cluster::ClusterClient;
use redis::{Client, Connection};
use retry_fleet::Store;
use retry_fleet::protocol::Call;
use retry_fleet::redis1::RedisStore;
use std::time::{Duration, Instant};
use tokio::time::timeout;

const HASH: &str = "retry-fleet:1:{orders}";

fn run(connection: &mut Connection, words: &[&str]) -> String {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    let answer: redis::Value = command.query(connection).unwrap();
    redis::from_redis_value(answer).unwrap_or_default()
}

fn wait_for_cluster(clients: &[Client]) {
    wait_for(clients, &["CLUSTER", "INFO"], "cluster_state:ok");
}

/// Waits until each of these servers answers this.
fn wait_for(clients: &[Client], words: &[&str], expected: &str) {
    let started = Instant::now();
    for client in clients {
        while !run(&mut client.get_connection().unwrap(), words).contains(expected) {
            assert!(started.elapsed() < PATIENCE, "the cluster does not say {expected}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Divides the slots among these masters, and lets the others know each other.
fn set_up(masters: &[Client], ports: &[u16]) {
    let share = 16_384 / masters.len() + 1;
    let slots: Vec<usize> = (0..16_384).collect();
    for (client, slots) in masters.iter().zip(slots.chunks(share)) {
        let mut node = client.get_connection().unwrap();
        redis::cmd("CLUSTER").arg("ADDSLOTS").arg(slots).exec(&mut node).unwrap();
    }
    let mut first = masters[0].get_connection().unwrap();
    for port in ports {
        run(&mut first, &["CLUSTER", "MEET", "127.0.0.1", &port.to_string()]);
    }
}

#[tokio::test]
async fn the_fleets_of_a_cluster_are_listed_node_by_node() {
    let nodes = ClusterClient::builder(["redis://127.0.0.1:1"]);
    let mut store = RedisStore::try_from(nodes).unwrap();
    assert_eq!(
        store.fleets().await.unwrap_err().to_string(),
        "can't list the fleets of a cluster: list those of each node"
    );
}

// Rule F12.
#[tokio::test]
async fn fleets_are_in_slots_of_a_cluster_and_return_with_their_node() {
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "500"];
    let mut servers = [RedisServer::start(&options), RedisServer::start(&options)];
    let clients = [0, 1].map(|index: usize| servers[index].client());
    set_up(&clients, &[servers[1].port]);
    wait_for_cluster(&clients);

    let url = format!("redis://127.0.0.1:{}", servers[0].port);
    let mut store = RedisStore::try_from(ClusterClient::builder([url])).unwrap();
    let names: Vec<String> = (0..10).map(|number| format!("fleet {number}")).collect();
    for name in &names {
        let mut turn = Call::new("p1", "fresh");
        turn.turn = Some(retry_fleet::protocol::Turn { off_for: Duration::from_secs(3600), ..Default::default() });
        // Both keys are in the slot, or else the node would refuse the script.
        let reply = timeout(PATIENCE, store.call(name, &turn)).await.unwrap().unwrap();
        assert!(!reply.retries_enabled());
    }
    for client in &clients {
        let size: usize = redis::cmd("DBSIZE").query(&mut client.get_connection().unwrap()).unwrap();
        assert!(size > 0, "each node has a part of the fleets");
    }

    answered(&mut store).await;
    for server in &mut servers {
        server.kill();
    }
    timeout(PATIENCE, store.call("orders", &Call::new("p1", "fresh"))).await.unwrap().unwrap_err();
    for server in &mut servers {
        server.restart(&options);
    }
    wait_for_cluster(&clients);
    answered(&mut store).await;
    assert!(format!("{store:?}").contains("the store in the cluster"));
}

// Rules F3, F12, F13.
#[tokio::test]
async fn processes_follow_a_failover_of_a_cluster_over_tls() {
    let (authority, other) = (Authority::new("the authority of all nodes"), Authority::new("another authority"));
    let files = authority.files();
    let options = files.options("+cluster|slots");
    let enabled = ["--cluster-enabled", "yes", "--cluster-node-timeout", "500"];
    // A majority of the masters elects the replica.
    let mut nodes = [(); 4].map(|()| start(&options, &enabled));
    let ports = [0, 1, 2, 3].map(|index: usize| nodes[index].port);
    let clients = ports.map(|port| authority.client(&format!("rediss://127.0.0.1:{port}"), None));
    set_up(&clients[..3], &ports[1..]);
    wait_for(&clients, &["CLUSTER", "INFO"], "cluster_known_nodes:4");
    wait_for_cluster(&clients);
    let mut replica = clients[3].get_connection().unwrap();
    let slot: usize = redis::cmd("CLUSTER").arg(&["KEYSLOT", "{orders}"]).query(&mut replica).unwrap();
    let owner = slot / (16_384 / 3 + 1);
    let name = run(&mut clients[owner].get_connection().unwrap(), &["CLUSTER", "MYID"]);
    run(&mut replica, &["CLUSTER", "REPLICATE", &name]);
    wait_for(&clients[3..], &["INFO", "replication"], "master_link_status:up");

    let known = [ports[(owner + 1) % 3], ports[3]].map(url);
    let store = |authority: &Authority| {
        let builder = ClusterClient::builder(known.clone()).certs(authority.certificates(None));
        RedisStore::try_from(builder).unwrap()
    };
    let error = told(&call(&mut store(&other)).await.unwrap_err());
    assert!(error.contains("can't connect to the store in the cluster: "), "{error}");
    assert!(error.contains("invalid peer certificate: UnknownIssuer"), "{error}");

    let (first, second) = (join("orders", store(&authority)), join("orders", store(&authority)));
    let both = [&first.1, &second.1];
    wait_until("both have joined", || both.iter().all(|one| one.status().members == 2)).await;
    let epoch = run(&mut clients[owner].get_connection().unwrap(), &["HGET", HASH, "epoch"]);
    assert!(!epoch.is_empty());
    // The write is in the replica, too.
    redis::cmd("WAIT").arg(&[1, 5_000]).exec(&mut clients[owner].get_connection().unwrap()).unwrap();
    nodes[owner].kill();
    let started = Instant::now();
    while first.1.turn_retries_off(Duration::from_secs(600), "ada", "a test").await.is_err() {
        assert!(started.elapsed() < PATIENCE, "the new master is not found");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    wait_until("the other one knows it", || second.1.switched_off().is_some()).await;
    wait_until("both are members", || both.iter().all(|one| one.status().members == 2)).await;
    assert!(both.iter().all(|one| one.status().is_connected == Some(true)));
    assert_eq!(run(&mut replica, &["HGET", HASH, "reason"]), "ada: a test", "the replica is the master");
    assert_eq!(run(&mut replica, &["HGET", HASH, "epoch"]), epoch, "it took over with the state");
}

#[test]
fn a_cluster_without_nodes_is_an_error() {
    let error = RedisStore::try_from(ClusterClient::builder(Vec::<String>::new())).unwrap_err();
    assert_eq!(error.to_string(), "invalid cluster of the store: invalid client config");
}
