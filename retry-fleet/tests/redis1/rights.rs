//! What a user of the store may do whose permissions are those for one fleet, as OPERATING.md documents them.

use crate::connection::{HASH, whole_call};
use crate::server::{PATIENCE, RedisServer};
use crate::tls::{Events, wait_until};
use redis::{Client, Connection, RedisError, Value};
use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch, Store};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Starts a server with the documented user, and returns the URL of that user.
fn start(options: &[&str]) -> (RedisServer, String) {
    let server = RedisServer::start(options);
    let documented =
        include_str!("../../OPERATING.md").lines().find(|line| line.contains("ACL SETUSER orders")).unwrap();
    let mut command = redis::Cmd::new();
    for word in documented.trim_start_matches("127.0.0.1:6379> ").split_whitespace() {
        command.arg(word);
    }
    command.exec(&mut direct(&server)).unwrap();
    let url = format!("redis://orders:PASSWORD@127.0.0.1:{}", server.port);
    (server, url)
}

const PUBLISH: &str = "return redis.call('PUBLISH', 'orders', 'text')";

fn direct(server: &RedisServer) -> Connection {
    server.client().get_connection().unwrap()
}

fn run(connection: &mut Connection, words: &[&str]) -> Result<Value, RedisError> {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query(connection)
}

#[tokio::test]
async fn a_process_and_an_operator_of_one_fleet_can_do_everything() {
    let (server, url) = start(&[]);
    let join = || {
        let switch = Arc::new(FleetSwitch::new(|_| {}));
        let fleet = Fleet::new("orders", RedisStore::open(&url).unwrap());
        let membership = fleet.quota(Arc::new(EvidenceQuota::new())).switch(Arc::clone(&switch)).join().unwrap();
        (switch, membership)
    };
    let both = [join(), join()];
    let started = Instant::now();
    while both.iter().any(|(_, membership)| membership.status().members != 2) {
        assert!(started.elapsed() < PATIENCE, "not both have joined");
        sleep(Duration::from_millis(10)).await;
    }
    let mut operator = RedisStore::open(&url).unwrap();
    operator.call("orders", &whole_call()).await.unwrap();
    for is_on in [false, true] {
        if is_on {
            operator.turn_retries_on("orders", "bob").await.unwrap();
        } else {
            operator.turn_retries_off("orders", Duration::from_secs(60), "ada", "a test").await.unwrap();
        }
        while both.iter().any(|(switch, _)| switch.is_on() != is_on) {
            assert!(started.elapsed() < PATIENCE, "not both have seen the switch");
            sleep(Duration::from_millis(10)).await;
        }
    }
    let state = operator.state("orders").await.unwrap().unwrap();
    assert!(state.members >= 2 && state.switched_off.is_none(), "{state:?}");
    for (_, membership) in both {
        membership.leave().await;
    }
    // The names of all fleets are another permission.
    let error = operator.fleets().await.unwrap_err().to_string();
    assert!(error.contains("NoPerm: this user has no permissions to run the 'scan' command"), "{error}");
    RedisStore::from(server.client()).call("carts", &whole_call()).await.unwrap();
    run(&mut direct(&server), &["ACL", "SETUSER", "orders", "+scan"]).unwrap();
    let names: Vec<_> = operator.fleets().await.unwrap().into_keys().collect();
    assert_eq!(names, ["carts", "orders"], "they are those of all fleets");
}

#[tokio::test]
async fn another_fleet_is_refused_and_the_error_names_its_key_and_the_permission() {
    let (server, url) = start(&[]);
    // A longer name begins with the same letters.
    for name in ["carts", "orders2", "order"] {
        let mut other = RedisStore::from(server.client());
        other.call(name, &whole_call()).await.unwrap();
        let mut store = RedisStore::open(&url).unwrap();
        let errors = [
            store.call(name, &whole_call()).await.unwrap_err(),
            store.turn_retries_off(name, Duration::from_secs(60), "ada", "a test").await.unwrap_err(),
            store.state(name).await.unwrap_err(),
        ];
        for error in errors {
            let error = error.to_string();
            let key = format!("for the key \"retry-fleet:1:{{{name}}}\" failed: NoPerm: this user has no permissions");
            assert!(error.contains(&key), "{error}");
        }
        assert!(other.state(name).await.unwrap().unwrap().switched_off.is_none(), "{name}");
        // The connection is still used for the fleet of this user.
        store.call("orders", &whole_call()).await.unwrap();
    }
}

// Rule F5.
#[tokio::test]
#[cfg_attr(not(feature = "tracing"), ignore = "needs the feature `tracing`, or `--all-features`")]
async fn a_process_of_another_fleet_continues_alone_and_its_warning_names_the_key() {
    let events = Events::default();
    let _subscribed = events.listen();
    let (_server, url) = start(&[]);
    let quota = Arc::new(EvidenceQuota::new());
    quota.first_succeeded(0);
    let store = RedisStore::open(&url).unwrap();
    let membership = Fleet::new("carts", store).quota(Arc::clone(&quota)).join().unwrap();
    wait_until("it continues alone", || events.find("store_lost", "carts").is_some()).await;
    let event = events.find("store_lost", "carts").unwrap();
    assert!(event.contains("retry-fleet:1:{carts}") && event.contains("NoPerm"), "{event}");
    assert_eq!(membership.status().is_connected, None);
    assert!(quota.pay(14, Other, &TokioTimer).is_some());
}

#[test]
fn a_script_has_the_permissions_of_its_user_and_no_more() {
    let (server, url) = start(&[]);
    let mut admin = direct(&server);
    run(&mut admin, &["SET", "retry-fleet:{carts}:switch", "on"]).unwrap();
    run(&mut admin, &["HSET", HASH, "rate", "7"]).unwrap();
    let mut user = Client::open(url).unwrap().get_connection().unwrap();
    let read = format!("return redis.call('HGET', '{HASH}', 'rate')");
    assert_eq!(run(&mut user, &["EVAL", &read, "0"]).unwrap(), Value::BulkString(b"7".to_vec()));
    // Also with keys that the script does not declare, with commands that are not permitted, and with other people's scripts.
    let get = "return redis.call('GET', 'retry-fleet:{carts}:switch')";
    let Value::BulkString(loaded) = run(&mut admin, &["SCRIPT", "LOAD", get]).unwrap() else { panic!("no hash") };
    let (key, command) = ("can't access at least one of the keys", "can't run this command");
    let refused: [(&str, &[&str]); 7] = [
        (key, &["EVAL", get, "0"]),
        (key, &["EVAL", "return redis.call('SET', 'retry-fleet:{carts}:switch', 'off')", "0"]),
        (key, &["EVALSHA", str::from_utf8(&loaded).unwrap(), "0"]),
        (command, &["EVAL", "return redis.call('FLUSHALL')", "0"]),
        (command, &["EVAL", "return redis.call('KEYS', '*')", "0"]),
        (command, &["EVAL", PUBLISH, "0"]),
        ("not allowed from script", &["EVAL", "return redis.call('ACL', 'SETUSER', 'orders', 'allkeys')", "0"]),
    ];
    for (expected, words) in refused {
        let error = run(&mut user, words).unwrap_err().to_string();
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    assert_eq!(run(&mut admin, &["GET", "retry-fleet:{carts}:switch"]).unwrap(), Value::BulkString(b"on".to_vec()));
    // A user with the command still has no channel.
    run(&mut admin, &["ACL", "SETUSER", "orders", "+publish"]).unwrap();
    let error = run(&mut user, &["EVAL", PUBLISH, "0"]).unwrap_err().to_string();
    assert!(error.contains("can't publish to the channel"), "{error}");
}

#[tokio::test]
async fn a_pattern_in_the_name_of_a_fleet_is_escaped() {
    let server = RedisServer::start(&[]);
    let url = format!("redis://stars:PASSWORD@127.0.0.1:{}", server.port);
    for (name, is_refused) in [("a*", false), ("a\\*", true)] {
        let keys = [format!("~retry-fleet:1:{{{name}}}*"), format!("~retry-fleet:{{{name}}}:switch")];
        let words = ["ACL", "SETUSER", "stars", "reset", "on", ">PASSWORD", "+@all", &keys[0], &keys[1]];
        run(&mut direct(&server), &words).unwrap();
        let mut store = RedisStore::open(&url).unwrap();
        store.call("a*", &whole_call()).await.unwrap();
        assert_eq!(store.call("another", &whole_call()).await.is_err(), is_refused, "{name}");
    }
}

#[test]
fn a_script_that_does_not_end_blocks_all_users_of_the_server() {
    let (mut server, url) = start(&["--lua-time-limit", "50"]);
    let endless = |text: &'static str| {
        let mut user = Client::open(url.as_str()).unwrap().get_connection().unwrap();
        let script = std::thread::spawn(move || run(&mut user, &["EVAL", text, "0"]).unwrap_err().to_string());
        let mut admin = direct(&server);
        let started = Instant::now();
        while run(&mut admin, &["GET", "another key"]).err().is_none_or(|error| error.code() != Some("BUSY")) {
            assert!(started.elapsed() < PATIENCE, "the script does not run");
            std::thread::sleep(Duration::from_millis(10));
        }
        (script, admin)
    };
    let (script, mut admin) = endless("while true do end");
    run(&mut admin, &["SCRIPT", "KILL"]).unwrap();
    let error = script.join().unwrap();
    assert!(error.contains("killed"), "{error}");
    run(&mut admin, &["GET", "another key"]).unwrap();

    let (script, mut admin) = endless("redis.call('SET', 'retry-fleet:{orders}:switch', 'on') while true do end");
    let error = run(&mut admin, &["SCRIPT", "KILL"]).unwrap_err();
    assert_eq!(error.code(), Some("UNKILLABLE"), "{error}");
    // The server ends, and closes all connections.
    run(&mut admin, &["SHUTDOWN", "NOSAVE"]).unwrap_err();
    script.join().unwrap();
    server.restart(&[]);
}
