//! The store behind a sentinel, without and with TLS.

use crate::authority::{Authority, Files, start, url};
use crate::connection::{answered, call};
use crate::errors::told;
use crate::server::{PATIENCE, RedisServer, free_port};
use crate::tls::{join, wait_until};
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{Client, Commands, IntoConnectionInfo, TlsMode};
use retry_fleet::redis1::RedisStore;
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HASH: &str = "retry-fleet:1:{orders}";

struct Sentinel {
    client: Client,
    port: u16,
    process: Child,
    _files: TempDir,
}

impl Sentinel {
    /// Starts a sentinel, which speaks TLS only, also to the servers, if it has a certificate.
    fn start(master: u16, tls: Option<(&Authority, &Files)>) -> Self {
        let files = tempfile::tempdir().unwrap();
        let port = free_port();
        let settings = files.path().join("sentinel.conf");
        let listen = match tls {
            None => format!("port {port}\n"),
            Some((_, files)) => {
                let named = files.settings.iter().map(|(name, path)| format!("{name} {}\n", path.display()));
                format!(
                    "port 0\ntls-port {port}\ntls-replication yes\ntls-auth-clients no\n{}",
                    named.collect::<String>()
                )
            }
        };
        let text = format!(
            "{listen}bind 127.0.0.1\ndir {}\nsentinel monitor main 127.0.0.1 {master} 1\n\
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
        let client = match tls {
            None => Client::open(format!("redis://127.0.0.1:{port}")).unwrap(),
            Some((authority, _)) => authority.client(&format!("rediss://127.0.0.1:{port}"), None),
        };
        Self { client, port, process, _files: files }
    }

    /// Waits until the sentinel can promote this replica.
    fn wait_for_replica(&self, port: u16) {
        let started = Instant::now();
        loop {
            let mut connection = self.client.get_connection().unwrap();
            let known: redis::Value = redis::cmd("SENTINEL").arg(&["REPLICAS", "main"]).query(&mut connection).unwrap();
            if format!("{known:?}").contains(&port.to_string()) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "the sentinel does not know the replica");
            std::thread::sleep(Duration::from_millis(50));
        }
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
    let sentinel = Sentinel::start(master.port, None);
    sentinel.wait_for_replica(replica.port);

    let nodes = vec![format!("redis://127.0.0.1:{}", sentinel.port)];
    let client = SentinelClient::build(nodes, String::from("main"), None, SentinelServerType::Master).unwrap();
    let mut store = RedisStore::from(client);
    let epoch = call(&mut store).await.unwrap().epoch;
    let mut direct = replica.connect().await;
    let started = Instant::now();
    while redis::cmd("EXISTS").arg(HASH).query_async::<u8>(&mut direct).await.unwrap() == 0 {
        assert!(started.elapsed() < PATIENCE, "the replica does not know the state");
        std::thread::sleep(Duration::from_millis(50));
    }
    master.kill();
    let reply = answered(&mut store).await;
    assert_eq!(reply.epoch, epoch, "the replica took over with the state");
    assert!(format!("{store:?}").contains("the store behind the sentinels"));
}

/// Creates a store as the docs of `RedisStore` do. It trusts one authority for the sentinels and one for the servers.
fn store(sentinel: &Sentinel, [for_sentinels, for_servers]: [&Authority; 2]) -> RedisStore {
    let user = url(0).into_connection_info().unwrap();
    let sentinels = [format!("rediss://127.0.0.1:{}", sentinel.port)];
    let sentinels = sentinels.map(|url| url.into_connection_info().unwrap().addr().clone());
    let client = SentinelClientBuilder::new(sentinels, "main", SentinelServerType::Master)
        .unwrap()
        .set_client_to_sentinel_certificates(for_sentinels.certificates(None))
        .set_client_to_redis_tls_mode(TlsMode::Secure)
        .set_client_to_redis_certificates(for_servers.certificates(None))
        .set_client_to_redis_username(user.redis_settings().username().unwrap())
        .set_client_to_redis_password(user.redis_settings().password().unwrap())
        .build()
        .unwrap();
    RedisStore::from(client)
}

// Rules F3, F12, F13.
#[tokio::test]
async fn processes_follow_the_master_over_tls_also_after_a_failover() {
    let (authority, other) = (Authority::new("the authority of all servers"), Authority::new("another authority"));
    let files = authority.files();
    let options = files.options("+role");
    let mut master = start(&options, &[]);
    let replica = start(&options, &["--replicaof", "127.0.0.1", &master.port.to_string()]);
    let sentinel = Sentinel::start(master.port, Some((&authority, &files)));
    sentinel.wait_for_replica(replica.port);

    for authorities in [[&other, &authority], [&authority, &other]] {
        let error = told(&call(&mut store(&sentinel, authorities)).await.unwrap_err());
        assert!(error.contains("can't connect to the store behind the sentinels: "), "{error}");
        assert!(error.contains("invalid peer certificate: UnknownIssuer"), "{error}");
    }

    let right = || store(&sentinel, [&authority, &authority]);
    let (first, second) = (join("orders", right()), join("orders", right()));
    let both = [&first.1, &second.1];
    wait_until("both have joined", || both.iter().all(|one| one.status().members == 2)).await;
    first.1.turn_retries_off(Duration::from_secs(600), "ada", "a test").await.unwrap();
    wait_until("the other one knows it", || second.1.switched_off().is_some()).await;
    // A server that is promoted closes its connections.
    let direct = authority.client(&format!("rediss://127.0.0.1:{}", replica.port), None);
    let field = |name: &str| direct.get_connection().unwrap().hget::<_, _, Option<String>>(HASH, name).unwrap();
    wait_until("the replica has the turn", || field("reason").as_deref() == Some("ada: a test")).await;
    let (epoch, turned) = (field("epoch"), field("turned"));

    master.kill();
    // A turn of one process reaches the other one by the replica, which is the master now.
    let started = Instant::now();
    while first.1.turn_retries_on("bob").await.is_err() {
        assert!(started.elapsed() < PATIENCE, "the new master is not found");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    wait_until("the other one knows it", || second.1.switched_off().is_none()).await;
    wait_until("both are members", || both.iter().all(|one| one.status().members == 2)).await;
    assert!(both.iter().all(|one| one.status().is_connected == Some(true)));
    assert!(field("turned") > turned, "the new master has the turn");
    assert_eq!(field("epoch"), epoch, "the replica took over with the state");
}
