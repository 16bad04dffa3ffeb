//! When a connection is replaced, and how one is set up.

use crate::fake::FakeServer;
use crate::proxy::Proxy;
use crate::server::{PATIENCE, RedisServer, free_port};
use redis::Commands;
use retry_fleet::protocol::{Call, Knowledge, LimitCall, LineCall, Reply};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Store, StoreError};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// A deadline that a silent store does not meet.
const SOON: Duration = Duration::from_millis(100);
pub(crate) const HASH: &str = "retry-fleet:1:{orders}";

/// A call with all parts.
pub(crate) fn whole_call() -> Call {
    let mut call = Call::new("p1", "fresh");
    call.quota = Some(Knowledge { missing: 10, capacity: 100, timeout_age: None });
    call.line = Some(LineCall::default());
    call.limit = Some(LimitCall::default());
    call.program = Some("shop".into());
    call
}

pub(crate) async fn call(store: &mut RedisStore) -> Result<Reply, StoreError> {
    timeout(PATIENCE, store.call("orders", &whole_call())).await.expect("a call does not block")
}

/// Makes a call, and gives it up after a short time.
async fn is_answered_soon(store: &mut RedisStore) -> bool {
    timeout(SOON, store.call("orders", &whole_call())).await.is_ok_and(|outcome| outcome.is_ok())
}

/// Makes calls until one is answered.
pub(crate) async fn answered(store: &mut RedisStore) -> Reply {
    let started = Instant::now();
    loop {
        match timeout(SOON, store.call("orders", &whole_call())).await {
            Ok(Ok(reply)) => return reply,
            Ok(Err(error)) => assert!(started.elapsed() < PATIENCE, "the store is not back: {error}"),
            Err(_) => assert!(started.elapsed() < PATIENCE, "the store is not back"),
        }
        sleep(Duration::from_millis(10)).await;
    }
}

// Rule F12.
#[tokio::test]
async fn a_node_that_became_a_replica_is_left() {
    let (master, other) = (RedisServer::start(&[]), RedisServer::start(&[]));
    let proxy = Proxy::start(master.port);
    let mut store = RedisStore::open(&proxy.url()).unwrap();
    call(&mut store).await.unwrap();

    let mut direct = master.connect().await;
    let port = other.port.to_string();
    redis::cmd("REPLICAOF").arg("127.0.0.1").arg(port).query_async::<()>(&mut direct).await.unwrap();
    proxy.lead_to(other.port);
    let error = call(&mut store).await.unwrap_err();
    assert!(error.to_string().contains("read only replica"), "{error}");
    answered(&mut store).await;
    assert!(proxy.accepted() > 1, "a new connection found the other node");
}

// Rule F12.
#[tokio::test]
async fn older_servers_wrap_the_code_of_a_command_into_the_text() {
    let text = "-ERR Error running script (call to f_0123): @user_script:12: @user_script: 12: -READONLY You can't write \
                against a read only replica.\r\n";
    let server = FakeServer::start(text).await;
    let mut store = RedisStore::open(&server.url()).unwrap();
    let started = Instant::now();
    while server.accepted() < 3 {
        call(&mut store).await.unwrap_err();
        assert!(started.elapsed() < PATIENCE, "the node is not left");
        sleep(Duration::from_millis(5)).await;
    }
}

// Rule F12.
#[tokio::test]
async fn two_calls_in_a_row_without_an_answer_end_a_connection_and_one_does_not() {
    let server = RedisServer::start(&[]);
    let proxy = Proxy::start(server.port);
    let mut store = RedisStore::open(&proxy.url()).unwrap();
    call(&mut store).await.unwrap();

    for _ in 0..3 {
        proxy.silence(true);
        assert!(!is_answered_soon(&mut store).await);
        proxy.go_on();
        call(&mut store).await.unwrap();
    }
    assert_eq!(proxy.accepted(), 1);

    // This connection never answers again.
    proxy.silence(false);
    for _ in 0..2 {
        assert!(timeout(SOON, store.call("orders", &whole_call())).await.is_err(), "the peer is silent");
    }
    let third = timeout(SOON, store.call("orders", &whole_call())).await;
    assert!(third.is_ok(), "the third call does not wait for the silent peer");
    answered(&mut store).await;
    assert_eq!(proxy.accepted(), 2);
}

// Rule F12.
#[tokio::test]
async fn a_connection_that_is_cut_is_replaced_also_after_a_restart() {
    let mut server = RedisServer::start(&[]);
    let proxy = Proxy::start(server.port);
    let mut store = RedisStore::open(&proxy.url()).unwrap();
    call(&mut store).await.unwrap();
    proxy.cut();
    answered(&mut store).await;

    server.kill();
    call(&mut store).await.unwrap_err();
    server.restart(&[]);
    answered(&mut store).await;
}

// Rules F12, F30.
#[tokio::test]
async fn between_attempts_to_connect_a_call_fails_immediately() {
    // Each connection is closed before it is set up.
    let nowhere = Proxy::start(free_port());
    let mut store = RedisStore::open(&nowhere.url()).unwrap();
    let mut waits = 0;
    for _ in 0..20_000 {
        let error = call(&mut store).await.unwrap_err().to_string();
        waits += u32::from(error.contains("the next attempt to connect is in"));
    }
    assert!(waits > 19_900, "only {waits} calls of 20,000 did not connect");
    assert!(nowhere.accepted() >= 1 && nowhere.accepted() < 100, "{} attempts", nowhere.accepted());
}

#[tokio::test]
async fn an_attempt_to_connect_outlives_the_call_that_waits_for_it() {
    let server = RedisServer::start(&[]);
    let proxy = Proxy::start(server.port);
    // Each step of the setup takes longer than a call may.
    proxy.delay(SOON + SOON / 2);
    let mut store = RedisStore::open(&proxy.url()).unwrap();
    let started = Instant::now();
    while !format!("{store:?}").contains("is_connected: true") {
        is_answered_soon(&mut store).await;
        assert!(started.elapsed() < PATIENCE, "there is never a connection");
    }
    assert_eq!(proxy.accepted(), 1);
}

#[test]
fn a_store_can_move_to_another_runtime_and_needs_one() {
    let server = RedisServer::start(&[]);
    let mut store = RedisStore::from(server.client());
    let whole_call = whole_call();
    {
        let call = pin!(store.call("orders", &whole_call));
        let Poll::Ready(Err(error)) = call.poll(&mut Context::from_waker(Waker::noop())) else { panic!("no error") };
        assert_eq!(error.to_string(), "can't connect to the store: call it on a tokio runtime");
    }
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for _ in 0..2 {
        runtime().block_on(answered(&mut store));
    }
}

// Rule F12.
#[tokio::test]
async fn a_server_that_forgot_the_script_gets_its_text() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    for _ in 0..5 {
        call(&mut store).await.unwrap();
        call(&mut store).await.unwrap();
        let _: () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut direct).unwrap();
    }
    let statistics: String = redis::cmd("INFO").arg("commandstats").query(&mut direct).unwrap();
    assert!(statistics.contains("cmdstat_evalsha:calls=10,"), "{statistics}");
    assert!(statistics.contains("cmdstat_eval:calls=5,"), "{statistics}");
}

#[tokio::test]
async fn a_user_with_the_documented_permissions_suffices() {
    let server = RedisServer::start(&[]);
    let mut direct = server.connect().await;
    let documented = include_str!("../../README.md").lines().find(|line| line.contains("ACL SETUSER")).unwrap();
    let mut command = redis::Cmd::new();
    for word in documented.trim_start_matches("127.0.0.1:6379> ").split_whitespace() {
        command.arg(word);
    }
    command.query_async::<()>(&mut direct).await.unwrap();
    let mut store = RedisStore::open(&format!("redis://fleet:PASSWORD@127.0.0.1:{}", server.port)).unwrap();
    let mut turn = whole_call();
    for off_for in [Duration::from_secs(60), Duration::ZERO] {
        turn.turn = Some(retry_fleet::protocol::Turn { off_for, ..Default::default() });
        store.call("orders", &turn).await.unwrap();
        turn.is_leaving = true;
    }
    store.call("another", &turn).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn urls_choose_a_database_a_protocol_and_a_socket() {
    let files = tempfile::tempdir().unwrap();
    let socket = files.path().join("socket").display().to_string();
    let server = RedisServer::start(&["--unixsocket", &socket]);
    let urls = [
        (1, format!("redis://127.0.0.1:{}/1", server.port)),
        (2, format!("redis://127.0.0.1:{}/2?protocol=resp3", server.port)),
        (3, format!("redis+unix://{socket}?db=3")),
    ];
    for (database, url) in urls {
        call(&mut RedisStore::open(&url).unwrap()).await.unwrap();
        let mut direct = server.client().get_connection().unwrap();
        let _: () = redis::cmd("SELECT").arg(database).query(&mut direct).unwrap();
        assert!(direct.exists::<_, bool>(HASH).unwrap(), "{url}");
    }
}

/// The operating system lists the timers of its sockets.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_operating_system_watches_an_idle_connection() {
    let server = RedisServer::start(&[]);
    let mut store = RedisStore::from(server.client());
    call(&mut store).await.unwrap();
    let remote = format!("0100007F:{:04X}", server.port);
    let started = Instant::now();
    loop {
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let timers: Vec<&str> = sockets
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|words| words.len() > 5 && words[2] == remote && words[3] == "01")
            .map(|words| words[5])
            .collect();
        // 02 is the timer of keepalive; the rest is what is left of its 10 s, in hundredths.
        if let [timer] = timers[..]
            && let Some(left) = timer.strip_prefix("02:")
        {
            assert!(u32::from_str_radix(left, 16).unwrap() <= 1_000, "{timer}");
            break;
        }
        assert!(started.elapsed() < PATIENCE, "no timer runs: {timers:?}");
        sleep(SOON).await;
    }
}
