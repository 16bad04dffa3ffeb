//! The store behind a sentinel.

use crate::connection::{answered, call};
use crate::server::{PATIENCE, RedisServer, free_port};
use redis::sentinel::{SentinelClient, SentinelServerType};
use retry_fleet::redis1::RedisStore;
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Sentinel {
    port: u16,
    process: Child,
    _files: TempDir,
}

impl Sentinel {
    fn start(master: u16) -> Self {
        let files = tempfile::tempdir().unwrap();
        let port = free_port();
        let settings = files.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor main 127.0.0.1 {master} 1\n\
             sentinel down-after-milliseconds main 300\nsentinel failover-timeout main 2000\n",
            files.path().display()
        );
        std::fs::write(&settings, text).unwrap();
        let program = std::env::var_os("RETRY_TEST_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
        let process = Command::new(program).arg(settings).arg("--sentinel").stdout(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(started.elapsed() < PATIENCE, "the sentinel does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { port, process, _files: files }
    }

    fn query(&self, words: &[&str]) -> String {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let answer: redis::Value =
            redis::cmd("SENTINEL").arg(words).query(&mut client.get_connection().unwrap()).unwrap();
        format!("{answer:?}")
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Rule F12.
#[tokio::test]
async fn the_store_follows_the_master_that_the_sentinel_names() {
    let mut master = RedisServer::start(&[]);
    let replica = RedisServer::start(&["--replicaof", "127.0.0.1", &master.port.to_string()]);
    let sentinel = Sentinel::start(master.port);
    let started = Instant::now();
    while !sentinel.query(&["REPLICAS", "main"]).contains(&replica.port.to_string()) {
        assert!(started.elapsed() < PATIENCE, "the sentinel does not know the replica");
        std::thread::sleep(Duration::from_millis(50));
    }

    let nodes = vec![format!("redis://127.0.0.1:{}", sentinel.port)];
    let client = SentinelClient::build(nodes, String::from("main"), None, SentinelServerType::Master).unwrap();
    let mut store = RedisStore::from(client);
    let epoch = call(&mut store).await.unwrap().epoch;
    let mut direct = replica.connect().await;
    let started = Instant::now();
    while redis::cmd("EXISTS").arg("retry-fleet:1:{orders}").query_async::<u8>(&mut direct).await.unwrap() == 0 {
        assert!(started.elapsed() < PATIENCE, "the replica does not know the state");
        std::thread::sleep(Duration::from_millis(50));
    }
    master.kill();
    let reply = answered(&mut store).await;
    assert_eq!(reply.epoch, epoch, "the replica took over with the state");
    assert!(format!("{store:?}").contains("the store behind the sentinels"));
}
