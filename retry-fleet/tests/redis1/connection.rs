//! When a connection is replaced, and what the errors say.

use crate::fake::FakeServer;
use crate::proxy::Proxy;
use crate::server::{PATIENCE, RedisServer, free_port};
use redis::Commands;
use retry_fleet::protocol::{Call, LimitCall, QuotaCall, Reply};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Store, StoreError};
use std::error::Error;
use std::fmt::Write;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// A deadline that a silent store does not meet.
const SOON: Duration = Duration::from_millis(100);
const HASH: &str = "retry-fleet:{orders}";

/// A call with all parts.
fn whole_call() -> Call {
    let mut call = Call::new("p1", "fresh");
    call.quota = Some(QuotaCall { capacity: 100, cost: 14, ..QuotaCall::default() });
    call.limit = Some(LimitCall::default());
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

/// Returns all that an error tells.
pub(crate) fn told(error: &StoreError) -> String {
    let mut told = format!("{error} {error:?}");
    let mut next = error.source();
    while let Some(error) = next {
        let _ = write!(told, " {error} {error:?}");
        next = error.source();
    }
    told
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

// Rule F13.
#[tokio::test]
async fn another_type_under_the_key_is_told_by_older_servers_too() {
    let text = "-ERR Error running script (call to f_0123): @user_script:28: WRONGTYPE Operation against a key holding the \
                wrong kind of value\r\n";
    let server = FakeServer::start(text).await;
    let mut store = RedisStore::open(&server.url()).unwrap();
    let error = call(&mut store).await.unwrap_err().to_string();
    assert!(error.contains("expected a hash"), "{error}");
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

// Rule F12.
#[tokio::test]
async fn between_attempts_to_connect_a_call_fails_at_once() {
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

#[test]
fn a_client_that_panics_is_told_from_a_runtime_that_has_ended() {
    // The runtime can't open a socket.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut store = RedisStore::open("redis://127.0.0.1").unwrap();
    let error = runtime.block_on(call(&mut store)).unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:6379: the client panicked") && error.contains("`enable_all`"), "{error}");
    assert!(error.contains("crypto provider of rustls"), "{error}");
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

// Rule F13.
#[tokio::test]
async fn another_type_under_the_key_is_an_error_that_names_the_key() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    for command in ["SET", "SADD"] {
        let mut other = redis::cmd(command);
        let _: () = other.arg(HASH).arg("text").query(&mut direct).unwrap();
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains(r#"the key "retry-fleet:{orders}""#) && error.contains("expected a hash"), "{error}");
        let _: () = direct.del(HASH).unwrap();
        call(&mut store).await.unwrap();
        let _: () = direct.del(HASH).unwrap();
    }
    // Any type under the key of the switch means off.
    let _: () = direct.lpush(format!("{HASH}:off"), "text").unwrap();
    assert!(!call(&mut store).await.unwrap().retries_enabled);
    let mut turn = whole_call();
    turn.off_for = Some(Duration::ZERO);
    assert!(store.call("orders", &turn).await.unwrap().retries_enabled);
}

// Rule F11.
#[tokio::test]
async fn fields_that_are_no_numbers_count_as_missing() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let first = call(&mut store).await.unwrap();
    let fields: Vec<String> = direct.hkeys(HASH).unwrap();
    assert!(fields.len() > 10);
    for text in ["text", "", "inf", "-inf", "nan", "1e300", "0x10", "-5", "7.5", "1 2 3", "1 2 3 4 5 6 7"] {
        for field in fields.iter().filter(|field| *field != "epoch") {
            let _: () = direct.hset(HASH, field, text).unwrap();
            let outcome = call(&mut store).await;
            assert!(outcome.is_ok(), "{field} = {text:?}: {outcome:?}");
        }
    }
    assert_eq!(call(&mut store).await.unwrap().epoch, first.epoch);

    // Without an epoch, nothing is left of the state.
    let _: () = direct.hset(HASH, "m:other", "1 2 3 4 5 6 7").unwrap();
    let _: () = direct.hdel(HASH, "epoch").unwrap();
    assert_eq!(call(&mut store).await.unwrap().members, 1);
    let other: Option<String> = direct.hget(HASH, "m:other").unwrap();
    assert_eq!(other, None);
}

// Rule F11.
#[tokio::test]
async fn what_somebody_else_wrote_into_the_sums_or_entries_is_made_good_within_a_minute() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let process = |member: &str, held, demand| {
        let mut call = Call::new(member, "fresh");
        call.ttl = Duration::from_hours(24);
        call.quota = Some(QuotaCall { capacity: 1_000, cost: 14, held, ..QuotaCall::default() });
        call.limit = Some(LimitCall { demand, ..LimitCall::default() });
        call
    };
    let calls = [process("p1", 100, None), process("p2", 200, Some(7_000)), process("p3", 300, Some(5))];
    let mut sums = async |server: &mut redis::Connection| {
        for call in &calls {
            timeout(PATIENCE, store.call("orders", call)).await.unwrap().unwrap();
        }
        server.hmget::<_, _, Vec<String>>(HASH, &["members", "held", "satisfied", "waiting"]).unwrap()
    };
    let right = ["3", "600", "7005", "1"];
    assert_eq!(sums(&mut direct).await, right);
    let entry: String = direct.hget(HASH, "m:p2").unwrap();
    let damages = [
        vec![("m:p1", "garbage"), ("m:p2", "1 2 3")],
        vec![("m:p3", "")],
        // An entry that nobody wrote.
        vec![("m:p4", "1 2 3 4 5 6 7 8 9")],
        vec![("m:p4", entry.as_str())],
        vec![("held", "7")],
        vec![("held", "900"), ("members", "9000"), ("satisfied", "1"), ("waiting", "500")],
        vec![("held", "garbage"), ("members", "garbage"), ("satisfied", "garbage"), ("waiting", "garbage")],
        vec![("held", "900"), ("counted", "garbage")],
        vec![("held", "900"), ("counted", "9007199254740992")],
    ];
    for damage in damages {
        direct.hset_multiple::<_, _, _, ()>(HASH, &damage).unwrap();
        sums(&mut direct).await;
        direct.hincr::<_, _, _, ()>(HASH, "now", 60_000).unwrap();
        direct.hdel::<_, _, ()>(HASH, "m:p4").unwrap();
        assert_eq!(sums(&mut direct).await, right, "{damage:?}");
    }
    // An operator deletes entries.
    direct.hdel::<_, _, ()>(HASH, &["m:p1", "m:p3"]).unwrap();
    sums(&mut direct).await;
    direct.hincr::<_, _, _, ()>(HASH, "now", 60_000).unwrap();
    assert_eq!(sums(&mut direct).await, right);
}

#[tokio::test]
async fn a_store_without_memory_does_not_begin_a_state_that_it_would_lose_again() {
    let server = RedisServer::start(&["--maxmemory", "1", "--maxmemory-policy", "allkeys-random"]);
    let mut store = RedisStore::from(server.client());
    for _ in 0..3 {
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains("OOM"), "{error}");
    }
}

// Rule F13.
#[tokio::test]
async fn an_answer_of_another_form_is_an_error_that_names_the_key_and_the_field() {
    let good =
        ["fresh", "1", "0", "0", "100", "0", "100", "", "0", "0", "0", "5", "0", "0", "", "1", "0", "", "0", "7"];
    let list = |fields: &[&str]| {
        fields.iter().fold("*20\r\n".to_owned(), |list, field| format!("{list}${}\r\n{field}\r\n", field.len()))
    };
    let server = FakeServer::start(list(&good)).await;
    call(&mut RedisStore::open(&server.url()).unwrap()).await.unwrap();

    let names = [
        (1, "members"),
        (2, "off"),
        (3, "given"),
        (4, "balance"),
        (5, "room"),
        (6, "capacity"),
        (7, "rate"),
        (8, "satisfied"),
        (9, "waiting"),
        (10, "step"),
        (11, "now"),
        (12, "accepted"),
        (13, "rejected"),
        (15, "version"),
        (16, "cut"),
        (17, "estimate"),
        (18, "elapsed"),
        (19, "entry"),
    ];
    let mut cases: Vec<(String, String)> = Vec::new();
    for (index, name) in names {
        let mut fields = good;
        fields[index] = "many";
        cases.push((list(&fields), format!("{name:?}")));
    }
    for (index, name) in [(1, "members"), (3, "given"), (5, "room")] {
        let mut fields = good;
        fields[index] = "-1";
        cases.push((list(&fields), format!("{name:?}")));
    }
    let too_few = list(&good).replacen("*20", "*19", 1).replacen("$5\r\nfresh\r\n", "", 1);
    for answer in [too_few, "+OK\r\n".into(), ":7\r\n".into(), "$-1\r\n".into(), "*0\r\n".into()] {
        cases.push((answer, "a list of 20 fields".into()));
    }
    cases.push((list(&good).replacen("$5\r\nfresh\r\n", "*0\r\n", 1), "\"epoch\"".into()));
    for (answer, expected) in cases {
        let server = FakeServer::start(answer.clone()).await;
        let mut store = RedisStore::open(&server.url()).unwrap();
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains(r#""retry-fleet:{orders}""#) && error.contains(&expected), "{answer:?}: {error}");
    }
}

// Rule F13.
#[tokio::test]
async fn no_error_and_no_debug_output_contains_a_password() {
    const PASSWORD: &str = "pass-w0rd";
    let with_password = |port: u16| format!("redis://reader:{PASSWORD}@127.0.0.1:{port}/0");
    let by_hello = |port: u16| with_password(port) + "?protocol=resp3";
    let invalid = [
        format!("redis://reader:{PASSWORD}@127.0.0.1:port/"),
        format!("rediss://reader:{PASSWORD}@127.0.0.1:port/"),
        format!("http://reader:{PASSWORD}@127.0.0.1/"),
        format!("redis://reader:{PASSWORD}@127.0.0.1/{PASSWORD}"),
        format!("redis://reader:{PASSWORD}@127.0.0.1/?protocol={PASSWORD}"),
        PASSWORD.to_owned(),
    ];
    for url in invalid {
        let error = told(&RedisStore::open(&url).unwrap_err());
        assert!(error.contains("invalid URL of the store: ") && !error.contains(PASSWORD), "{error}");
        assert_eq!(error.contains("`tokio-rustls-comp`"), url.starts_with("rediss:"), "{error}");
    }
    // A server may repeat the words of a command that it refuses.
    let unknown = format!("-ERR unknown words: AUTH reader {PASSWORD}\r\n");
    let (real, fake) = (RedisServer::start(&["--requirepass", "another"]), FakeServer::start(unknown).await);
    let nobody = free_port();
    for (port, url, expected) in [
        (nobody, with_password(nobody), "refused"),
        (real.port, with_password(real.port), "authentication failed"),
        (real.port, by_hello(real.port), "WRONGPASS"),
        (fake.port, with_password(fake.port), "authentication failed"),
        (fake.port, by_hello(fake.port), "ERR (response error)"),
    ] {
        let mut store = RedisStore::open(&url).unwrap();
        let first = told(&call(&mut store).await.unwrap_err());
        assert!(first.contains(expected) && first.contains(&format!("127.0.0.1:{port}")), "{first}");
        let next = told(&call(&mut store).await.unwrap_err());
        for told in [first, next, format!("{store:?} {store:#?}")] {
            assert!(!told.contains(PASSWORD), "{told}");
        }
    }
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
    for off_for in [Duration::from_mins(1), Duration::ZERO] {
        turn.off_for = Some(off_for);
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
