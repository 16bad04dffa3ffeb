//! A stale replica that becomes the master, over TLS: what the processes restore in it, and what it keeps.

use crate::authority::{Authority, start, url};
use crate::connection::call;
use crate::faults::assert_sums;
use crate::proxy::Proxy;
use crate::server::{PATIENCE, RedisServer};
use crate::tls::{join, wait_until};
use redis::{Commands, Connection};
use retry_core::RetryErrorType::Other;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::Store;
use retry_fleet::protocol::{Call, LimitCall, LimitReply, Post};
use retry_fleet::redis1::RedisStore;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const HASH: &str = "retry-fleet:1:{orders}";

/// A call of a process with a limit, which knows this rate.
fn limit_call(known: f64, posted: Option<Post>) -> Call {
    let mut call = Call::new("the process with a limit", "fresh");
    call.ttl = Duration::from_secs(600);
    call.limit = Some(LimitCall { known: Some((known, known)), posted, ..LimitCall::default() });
    call
}

async fn limit(store: &mut RedisStore, call: &Call) -> LimitReply {
    store.call("orders", call).await.unwrap().limit.unwrap()
}

/// Makes the next step of the limit, which sets this rate.
async fn set_rate(store: &mut RedisStore, rate: f64) {
    let started = Instant::now();
    let step = loop {
        if let Some(step) = limit(store, &limit_call(rate, None)).await.step {
            break step;
        }
        assert!(started.elapsed() < PATIENCE, "no step is due");
        sleep(Duration::from_millis(20)).await;
    };
    let (version, state) = (step.version, String::from("a state"));
    let post = Post { version, accepted: 0, rejected: 0, rate, estimate: rate, is_cut: false, state };
    assert_eq!(limit(store, &limit_call(rate, Some(post))).await.rate, Some((rate, rate)));
}

fn field(server: &mut Connection, name: &str) -> String {
    server.hget::<_, _, Option<String>>(HASH, name).unwrap().unwrap_or_default()
}

fn missing(server: &mut Connection) -> i64 {
    field(server, "missing").parse().unwrap_or(0)
}

// Rules F3, F12, F34, F39.
#[tokio::test]
async fn a_stale_replica_that_is_promoted_gets_the_sums_and_the_switch_and_keeps_its_limit() {
    let (authority, other) = (Authority::new("the authority of both servers"), Authority::new("another authority"));
    let files = authority.files();
    let options = files.options("");
    let mut master = start(&options, &[]);
    let (link, front) = (Proxy::start(master.port), Proxy::start(master.port));
    let replica = start(&options, &["--replicaof", "127.0.0.1", &link.port.to_string()]);
    let direct = |server: &RedisServer| {
        authority.client(&format!("rediss://127.0.0.1:{}", server.port), None).get_connection().unwrap()
    };
    let (mut old, mut new) = (direct(&master), direct(&replica));
    let error = call(&mut RedisStore::from(other.client(&url(front.port), None))).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{}: invalid peer certificate: UnknownIssuer", front.port)), "{error}");

    let store = || RedisStore::from(authority.client(&url(front.port), None));
    let (first, second, mut third) = (join("orders", store()), join("orders", store()), store());
    wait_until("both have joined", || second.1.status().members == 2).await;
    set_rate(&mut third, 100.0).await;
    let started = Instant::now();
    while field(&mut new, "rate") != "100" {
        assert!(started.elapsed() < PATIENCE, "the replica does not know the rate");
        sleep(Duration::from_millis(20)).await;
    }

    // The replica receives nothing any more.
    link.silence(true);
    set_rate(&mut third, 50.0).await;
    let started = Instant::now();
    while missing(&mut old) < 3_000 {
        assert!(started.elapsed() < PATIENCE, "only {} is missing", missing(&mut old));
        first.0.first_succeeded(0);
        first.0.pay(14, Other, &TokioTimer);
        sleep(Duration::from_millis(10)).await;
    }
    first.1.turn_retries_off(Duration::from_secs(600), "ada", "a test").await.unwrap();
    wait_until("the other one knows it", || second.1.switched_off().is_some()).await;
    let stale = ["rate", "reason"].map(|name| field(&mut new, name));
    assert_eq!((stale, missing(&mut new) < 3_000), (["100", ""].map(String::from), true), "the replica is stale");

    master.kill();
    front.lead_to(replica.port);
    redis::cmd("REPLICAOF").arg(&["NO", "ONE"]).exec(&mut new).unwrap();
    let started = Instant::now();
    while missing(&mut new) < 2_000 || field(&mut new, "reason") != "ada: a test" {
        assert!(started.elapsed() < PATIENCE, "{} {:?}", missing(&mut new), field(&mut new, "reason"));
        assert!(second.1.switched_off().is_some(), "the retries stay off");
        sleep(Duration::from_millis(20)).await;
    }
    assert_sums(&mut new);
    wait_until("both are back", || [&first, &second].iter().all(|one| one.1.status().is_connected == Some(true))).await;
    assert_eq!(first.1.switched_off().unwrap().reason, "ada: a test");
    let off_until: u64 = field(&mut new, "off_until").parse().unwrap();
    assert!(off_until > field(&mut new, "now").parse().unwrap(), "it is off in the new master");
    // This process still has its connection to the old master.
    assert!(third.call("orders", &limit_call(50.0, None)).await.is_err());
    let started = Instant::now();
    let reply = loop {
        if let Ok(reply) = third.call("orders", &limit_call(50.0, None)).await {
            break reply;
        }
        assert!(started.elapsed() < PATIENCE, "the third process is not back");
        sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(reply.limit.unwrap().rate, Some((100.0, 100.0)), "the limit of the replica");
}
