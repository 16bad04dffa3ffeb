//! The store in a cluster.

use crate::connection::answered;
use crate::server::{PATIENCE, RedisServer};
use redis::Connection;
use redis::cluster::ClusterClient;
use retry_fleet::Store;
use retry_fleet::protocol::Call;
use retry_fleet::redis1::RedisStore;
use std::time::{Duration, Instant};
use tokio::time::timeout;

fn run(connection: &mut Connection, words: &[&str]) -> String {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    let answer: redis::Value = command.query(connection).unwrap();
    redis::from_redis_value(answer).unwrap_or_default()
}

fn wait_for_cluster(servers: &[RedisServer; 2]) {
    let started = Instant::now();
    for server in servers {
        while !run(&mut server.client().get_connection().unwrap(), &["CLUSTER", "INFO"]).contains("cluster_state:ok") {
            assert!(started.elapsed() < PATIENCE, "the cluster does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

// Rule F12.
#[tokio::test]
async fn fleets_are_in_slots_of_a_cluster_and_return_with_their_node() {
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "500"];
    let mut servers = [RedisServer::start(&options), RedisServer::start(&options)];
    let mut nodes = [0, 1].map(|index: usize| servers[index].client().get_connection().unwrap());
    for (node, slots) in nodes.iter_mut().zip([0..8192_u16, 8192..16384]) {
        let slots: Vec<_> = slots.collect();
        redis::cmd("CLUSTER").arg("ADDSLOTS").arg(slots).query::<()>(node).unwrap();
    }
    run(&mut nodes[0], &["CLUSTER", "MEET", "127.0.0.1", &servers[1].port.to_string()]);
    wait_for_cluster(&servers);

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
    for node in &mut nodes {
        let size: usize = redis::cmd("DBSIZE").query(node).unwrap();
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
    wait_for_cluster(&servers);
    answered(&mut store).await;
    assert!(format!("{store:?}").contains("the store in the cluster"));
}

#[test]
fn a_cluster_without_nodes_is_an_error() {
    let error = RedisStore::try_from(ClusterClient::builder(Vec::<String>::new())).unwrap_err();
    assert_eq!(error.to_string(), "invalid cluster of the store: invalid client config");
}
