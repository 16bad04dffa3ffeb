//! How processes end: by the signals of service managers, and without a word.

#[path = "../../examples/service.rs"]
mod service;

use crate::process::{Running, setting};
use crate::server::{PATIENCE, RedisServer};
use redis::Commands;
use std::path::Path;
use std::time::{Duration, Instant};

const MEMBERS: &str = "retry-fleet:1:{orders}:members";
/// The name of the process, as a test.
const NAME: &str = "end::the_example_in_a_process";

#[test]
#[ignore = "it is a process of the other tests, which start it"]
fn the_example_in_a_process() {
    assert_eq!(service::main(), std::process::ExitCode::SUCCESS);
    std::fs::write(setting("FLEET_ENDED"), "").unwrap();
}

/// Starts the example, and returns when it is a member of its fleet.
fn start(server: &RedisServer, ended: &Path) -> Running {
    let url = format!("redis://127.0.0.1:{}", server.port);
    let settings = [("RETRY_FLEET_URL", url.into()), ("FLEET_ENDED", ended.into())];
    let running = Running::start(NAME, settings, Duration::ZERO);
    wait_until("the process joins", || members(server) == 1);
    running
}

/// Returns the number of processes in the store. Nobody is there to remove one that has ended without leaving.
fn members(server: &RedisServer) -> u64 {
    server.client().get_connection().unwrap().zcard(MEMBERS).unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

// Rule F42.
#[test]
fn a_service_leaves_its_fleet_when_a_service_manager_ends_it() {
    let server = RedisServer::start(&[]);
    let files = tempfile::tempdir().unwrap();
    for name in ["TERM", "INT"] {
        let ended = files.path().join(name);
        let mut running = start(&server, &ended);
        // Some operations have ended, and some run.
        std::thread::sleep(Duration::from_millis(500));
        running.signal(name);
        wait_until("the process ends", || ended.exists());
        assert_eq!(members(&server), 0, "the process has left before it ended, after SIG{name}");
        running.end();
    }
}

// Rules F17, F42.
#[test]
fn a_killed_process_stays_in_the_store_until_another_one_calls() {
    let server = RedisServer::start(&[]);
    let files = tempfile::tempdir().unwrap();
    let ended = files.path().join("ended");
    let mut killed = start(&server, &ended);
    killed.kill();
    assert_eq!(members(&server), 1);
    // It never comes to its end, and the store removes it with the calls of the next process.
    let next = Running::start(
        NAME,
        [("RETRY_FLEET_URL", format!("redis://127.0.0.1:{}", server.port).into()), ("FLEET_ENDED", (&ended).into())],
        Duration::ZERO,
    );
    wait_until("the next process joins", || members(&server) == 2);
    wait_until("the killed process is removed", || members(&server) == 1);
    assert!(!ended.exists());
    drop(next);
}
