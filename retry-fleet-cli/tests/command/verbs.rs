//! Each verb.

use crate::run::{run, run_at, run_without_user, until, url};
use crate::server::RedisServer;
use redis::Commands;
use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch, Membership};
use retry_limits::PacedRetryStrategy;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A process of a fleet.
struct Process {
    quota: Arc<EvidenceQuota>,
    switch: Arc<FleetSwitch>,
    membership: Membership,
}

impl Process {
    fn join(server: &RedisServer, fleet: &str) -> Self {
        let (quota, switch) = (Arc::new(EvidenceQuota::new()), Arc::new(FleetSwitch::new(|_| {})));
        let store = RedisStore::from(server.client());
        let fleet = Fleet::new(fleet, store).quota(Arc::clone(&quota)).switch(Arc::clone(&switch));
        Self { quota, switch, membership: fleet.join().unwrap() }
    }
}

// Rule F40.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fleets_are_listed_with_their_processes_and_switches() {
    let server = RedisServer::start(&[]);
    assert_eq!(run(&server, &["list"]).out, "the store has no fleets\n");
    assert_eq!(run(&server, &["list", "--json"]).json(), serde_json::json!([]));

    let (first, _second) = (Process::join(&server, "orders"), Process::join(&server, "orders"));
    let other = Process::join(&server, "carts");
    until("both have joined", || first.membership.status().members == 2).await;
    until("it has joined", || other.membership.status().is_connected == Some(true)).await;
    let mut operator = server.client().get_connection().unwrap();
    // More keys than one answer of the store has, and some that look like those of a fleet.
    for number in 0..3_000 {
        let _: () = operator.set(format!("retry-fleet:other:{number}"), "").unwrap();
    }
    let _: () = operator.hset("retry-fleet:2:{orders}", "epoch", "of a later version").unwrap();
    let _: () = operator.set("retry-fleet:{later}:switch", "off bob: not yet").unwrap();
    let _: () = operator.set("retry-fleet:1:{text}", "not a hash").unwrap();

    let listed = run(&server, &["list"]);
    let lines: Vec<_> = listed.out.lines().collect();
    assert_eq!(lines[0], "fleet   protocol  processes  retries");
    assert_eq!(lines[1], "carts          1          1  on");
    assert_eq!(lines[2], "later          -          0  off without an end (bob: not yet)");
    assert_eq!(lines[3], "orders       1,2          2  on");
    assert!(
        lines[4].starts_with("text           1          ?  error: the key \"retry-fleet:1:{text}\""),
        "{}",
        lines[4]
    );
    assert_eq!(lines.len(), 5);
    let listed = run(&server, &["--json", "list"]).json();
    assert_eq!(listed[2]["fleet"], "orders");
    assert_eq!((&listed[2]["processes"], &listed[2]["versions"]), (&2.into(), &serde_json::json!([1, 2])));
}

// Rule F40.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_is_shown_with_what_its_processes_know_together() {
    let server = RedisServer::start(&[]);
    let (first, second) = (Process::join(&server, "orders"), Process::join(&server, "orders"));
    for process in [&first, &second] {
        process.quota.first_succeeded(0);
        assert!(process.quota.pay(14, Other, &TokioTimer).is_some());
    }
    let show = || run(&server, &["show", "orders", "--json"]);
    until("both have told what they paid", || {
        let shown = show();
        shown.code == 0 && shown.json()["quota"]["missing"].as_f64() > Some(1.5)
    })
    .await;
    let shown = show().json();
    assert_eq!((&shown["fleet"], &shown["processes"]), (&"orders".into(), &2.into()));
    assert_eq!((&shown["retries_enabled"], &shown["switched_off"]), (&true.into(), &Value::Null));
    assert_eq!(shown["limit"], Value::Null);
    // It fades, so that a slow machine shows less of it.
    assert!(shown["quota"]["capacity"].as_f64() > Some(0.0), "{shown}");

    let mut operator = server.client().get_connection().unwrap();
    let hash = "retry-fleet:1:{orders}";
    let epoch: String = operator.hget(hash, "epoch").unwrap();
    assert_eq!(shown["epoch"], epoch);
    let _: () = operator
        .hset_multiple(hash, &[("rate", "80.5"), ("estimate", "82"), ("waiting", "3"), ("timed_out", "1")])
        .unwrap();
    // After more refunds than retries, none is missing.
    let _: () = operator
        .hset_multiple("retry-fleet:1:{idle}", &[("epoch", "e"), ("missing", "-9"), ("capacity", "500")])
        .unwrap();
    assert!(run(&server, &["show", "idle"]).out.contains("\nquota      0.0 of 0.5 retries missing\n"));
    let text = run(&server, &["show", "orders"]).out;
    // The programs of tests are named by their files.
    assert!(
        text.contains("processes  2\nprogram    command-") && text.contains("\nretries    on\nquota      "),
        "{text}"
    );
    assert!(text.contains("; the last timeout was ") && text.contains(" d "), "{text}");
    assert!(text.contains("\nlimit      80.5 sends per second (estimate 82.0); "), "{text}");
    drop((first, second));
}

// Rule F48.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_in_one_fleet_are_shown_with_a_warning() {
    let server = RedisServer::start(&[]);
    let join = |program: &str| Fleet::new("orders", RedisStore::from(server.client())).program(program).join().unwrap();
    let (first, second) = (join("shop"), join("shop"));
    until("both have joined", || first.status().members == 2 && second.status().members == 2).await;
    let show = |words: &[&str]| run(&server, &[&["show", "orders"], words].concat());
    assert!(show(&[]).out.contains("\nprocesses  2\nprogram    shop\nretries "), "{}", show(&[]).out);
    let third = join("bills\n");
    until("both see the other", || first.other_program().is_some() && third.other_program().is_some()).await;
    assert_eq!(first.other_program().as_deref(), Some("bills\n"));
    let expected = "\nprograms   shop, bills\\n: warning: two programs use one fleet\n";
    assert!(show(&[]).out.contains(expected), "{}", show(&[]).out);
    assert_eq!(show(&["--json"]).json()["programs"], serde_json::json!(["shop", "bills\n"]));
    drop(second);
}

// Rules F7, F41.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_retries_of_a_fleet_are_turned_off_for_a_time_and_on() {
    let server = RedisServer::start(&[]);
    let (first, second) = (Process::join(&server, "orders"), Process::join(&server, "orders"));
    until("both have joined", || [&first, &second].iter().all(|one| one.membership.status().members == 2)).await;

    let off = run(&server, &["off", "orders", "--for", "10m", "--reason", "orders are down"]);
    assert_eq!((off.code, off.err.as_str()), (0, ""));
    assert!(off.out.starts_with("the retries of orders are off for "), "{off:?}");
    assert!(off.out.ends_with(" (ada: orders are down)\n"), "{off:?}");
    until("both are off", || !first.switch.is_on() && !second.switch.is_on()).await;
    let known = second.membership.switched_off().unwrap();
    assert_eq!(known.reason, "ada: orders are down");
    assert!((580..=600).contains(&known.off_for.as_secs()), "{known:?}");
    let shown = run(&server, &["show", "orders", "--json"]).json();
    assert_eq!(shown["retries_enabled"], false);
    assert_eq!(shown["switched_off"]["reason"], "ada: orders are down");
    let left = shown["switched_off"]["seconds_left"].as_f64().unwrap();
    assert!((570.0..=600.0).contains(&left), "{left}");
    // The command was no process of the fleet.
    assert_eq!(shown["processes"], 2);

    let on = run(&server, &["on", "orders"]);
    assert_eq!((on.code, on.out.as_str()), (0, "the retries of orders are on\n"));
    until("both are on", || first.switch.is_on() && second.switch.is_on()).await;

    // Without a further command, they are on again at the end of the time.
    assert_eq!(run(&server, &["off", "orders", "--for", "3s", "--by", "bob", "--reason", "a test"]).code, 0);
    until("both are off", || !first.switch.is_on() && !second.switch.is_on()).await;
    until("both are on", || first.switch.is_on() && second.switch.is_on()).await;
}

// Rule F41.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_of_the_command_survives_a_store_that_loses_its_keys() {
    let server = RedisServer::start(&[]);
    let process = Process::join(&server, "orders");
    until("it has joined", || process.membership.status().is_connected == Some(true)).await;
    assert_eq!(run(&server, &["off", "orders", "--for", "10m", "--reason", "a test"]).code, 0);
    until("it is off", || !process.switch.is_on()).await;
    let mut operator = server.client().get_connection().unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut operator).unwrap();
    until("the store knows it again", || run(&server, &["show", "orders"]).out.contains("(ada: a test)")).await;
    assert!(!process.switch.is_on());
}

// Rule F46.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_a_fleet_continues_from_a_given_estimate_or_is_measured_anew() {
    let server = RedisServer::start(&[]);
    let limit = Arc::new(PacedRetryStrategy::new());
    let fleet = Fleet::new("orders", RedisStore::from(server.client())).limit(Arc::clone(&limit));
    let membership = fleet.join().unwrap();
    let limit = || run(&server, &["show", "orders", "--json"]).json()["limit"].clone();
    until("it has a rate", || membership.status().rate.is_some()).await;

    let shown = run(&server, &["reset-limit", "orders", "--to", "12.5"]);
    assert!(shown.out.contains("\nlimit      12.5 sends per second (estimate 12.5); "), "{shown:?}");
    // Nobody waits, so the rate stays a little below the estimate.
    until("the process follows", || membership.status().rate.is_some_and(|rate| (11.0..=12.5).contains(&rate))).await;
    // The steps continue from it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(limit()["estimate"], 12.5);

    let shown = run(&server, &["reset-limit", "orders", "--json"]);
    assert_eq!(shown.json()["limit"], Value::Null, "{shown:?}");
    until("it is measured anew", || limit()["estimate"].as_f64().is_some_and(|estimate| estimate > 13.0)).await;

    assert_eq!(run(&server, &["reset-limit", "ordrs"]).code, 3);
    for rate in ["0", "-1", "nan", "inf", "fast", "1000000001"] {
        let ran = run(&server, &["reset-limit", "orders", "--to", rate]);
        assert_eq!((ran.code, ran.err.contains("sends per second")), (2, true), "{ran:?}");
    }
    drop(membership);
}

// Rule F46.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_without_a_limit_is_not_given_one() {
    let server = RedisServer::start(&[]);
    let _process = Process::join(&server, "orders");
    until("it has joined", || run(&server, &["show", "orders"]).code == 0).await;
    run(&server, &["off", "later", "--for", "10m", "--reason", "not yet", "--absent"]);
    let mut operator = server.client().get_connection().unwrap();
    let _: () = redis::cmd("DEL").arg("retry-fleet:1:{later}").query(&mut operator).unwrap();
    for fleet in ["orders", "later"] {
        for words in [&["reset-limit", fleet, "--to", "12.5"][..], &["reset-limit", fleet]] {
            let ran = run(&server, words);
            let expected = format!("error: the store knows no limit of the fleet {fleet}\n");
            assert_eq!((ran.code, ran.out.as_str(), ran.err), (3, "", expected));
        }
        assert_eq!(run(&server, &["show", fleet, "--json"]).json()["limit"], Value::Null);
    }
}

// Rule F41.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_fleet_is_an_error_unless_it_is_wanted() {
    let server = RedisServer::start(&[]);
    let _process = Process::join(&server, "orders");
    until("it has joined", || run(&server, &["show", "orders"]).code == 0).await;
    for words in [&["show", "ordrs"][..], &["on", "ordrs"], &["off", "ordrs", "--for", "1m", "--reason", "a test"]] {
        let ran = run(&server, words);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{ran:?}");
        assert_eq!(ran.err, "error: the store knows no fleet ordrs; its fleets are orders\n");
    }
    let off = run(&server, &["off", "later", "--for", "10m", "--reason", "not yet", "--absent"]);
    assert!(off.out.starts_with("the retries of later are off for "), "{off:?}");
    assert_eq!(run(&server, &["list", "--json"]).json()[0]["processes"], 0);
    // The first process begins with it.
    let process = Process::join(&server, "later");
    until("it is off", || !process.switch.is_on()).await;
}

#[test]
fn a_store_that_does_not_answer_and_wrong_arguments_have_different_exit_codes() {
    let mut server = RedisServer::start(&["--requirepass", "secret"]);
    let ran = run(&server, &["list"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: ") && ran.err.contains("NOAUTH"), "{ran:?}");
    let with_password = format!("redis://:secret@127.0.0.1:{}", server.port);
    assert_eq!(run_at(&with_password, &["list"]).code, 0);
    server.kill();
    let ran = run_at(&with_password, &["list"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("error: can't connect to the store at 127.0.0.1:"), "{ran:?}");
    assert!(!ran.err.contains("secret"), "{ran:?}");
    assert_eq!(run_at("http://127.0.0.1", &["list"]).code, 1);

    for words in
        [&[][..], &["repair"], &["off", "orders", "--for", "10", "--reason", "x"], &["off", "orders", "--for", "1m"]]
    {
        let ran = run(&server, words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    }
    let ran = run(&server, &["show", "a{b}"]);
    assert_eq!((ran.code, ran.err.contains("expected 1 to 128 bytes without braces")), (1, true), "{ran:?}");
}

// Rule F45.
#[test]
fn both_turns_of_the_switch_need_the_name_of_the_operator() {
    let server = RedisServer::start(&[]);
    let off = ["off", "orders", "--for", "10m", "--reason", "a test", "--absent"];
    for words in [&off[..], &["on", "orders"]] {
        let ran = run_without_user(&server, words);
        assert!(ran.code == 2 && ran.err.contains("--by <NAME>"), "{ran:?}");
        let ran = run_at(&url(&server), &[words, &["--by", ""]].concat());
        assert!(ran.code == 2 && ran.err.contains("'--by <NAME>'"), "{ran:?}");
    }
    assert_eq!(run_without_user(&server, &["list"]).out, "the store has no fleets\n");
    assert_eq!(run_without_user(&server, &[&off[..], &["--by", "ada"]].concat()).code, 0);
    assert_eq!(run_without_user(&server, &["on", "orders", "--by", "ada"]).code, 0);
}

// Rule F45.
#[test]
fn a_slow_store_is_switched_and_the_operator_sets_how_long_the_command_waits() {
    let server = RedisServer::start(&[]);
    let mut operator = server.client().get_connection().unwrap();
    let mut pause =
        |milliseconds: &str| redis::cmd("CLIENT").arg(&["PAUSE", milliseconds]).exec(&mut operator).unwrap();
    let off = ["off", "orders", "--for", "10m", "--reason", "a test", "--absent"];
    pause("3000");
    let ran = run(&server, &off);
    assert!(ran.code == 0 && ran.out.starts_with("the retries of orders are off for "), "{ran:?}");

    pause("3000");
    let ran = run(&server, &["--timeout", "100ms", "on", "orders"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.ends_with("; the command waited for 100ms: `--timeout` sets another time\n"), "{ran:?}");
    assert_eq!(run(&server, &["on", "orders", "--timeout", "1m"]).code, 0);

    for text in ["0s", "10", "11m", "1h", "fast"] {
        let ran = run(&server, &["list", "--timeout", text]);
        let expected =
            format!("invalid timeout {text:?}: expected a whole number and ms, s or m, as in 30s, up to 10m");
        assert!(ran.code == 2 && ran.err.contains(&expected), "{ran:?}");
    }
}

#[test]
fn the_help_names_each_verb_and_no_password() {
    let ran = run_at("redis://:secret@127.0.0.1", &["--help"]);
    assert_eq!(ran.code, 0);
    for word in ["list", "show", "off", "on", "--json", "--url", "RETRY_FLEET_URL", "--timeout", "Exit codes"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert!(!ran.out.contains("secret"));
}
