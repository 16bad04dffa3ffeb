//! Eight operating-system processes, and what can happen to them and to their store.

use crate::process::{Process, Record};
use crate::proxy::Proxy;
use crate::server::{PATIENCE, RedisServer};
use redis::{Commands, Connection, FromRedisValue};
use std::collections::HashMap;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROCESSES: usize = 8;
const HASH: &str = "retry-fleet:1:{orders}";
const MEMBERS: &str = "retry-fleet:1:{orders}:members";
/// Longer than a process waits before it continues alone.
const LONG: Duration = Duration::from_millis(4_500);
const SHORT: Duration = Duration::from_secs(1);

/// The processes of a fleet.
struct World {
    proxy: Proxy,
    files: TempDir,
    processes: Vec<Process>,
    started: u32,
}

impl World {
    /// Starts the processes, and waits until all of them share what they know.
    fn start(server: &RedisServer) -> Self {
        Self::start_with_clocks(server, &[Duration::ZERO; PROCESSES])
    }

    fn start_with_clocks(server: &RedisServer, ahead: &[Duration]) -> Self {
        let mut world = Self {
            proxy: Proxy::start(server.port),
            files: tempfile::tempdir().unwrap(),
            processes: Vec::new(),
            started: 0,
        };
        for ahead in ahead {
            world.start_process(*ahead);
        }
        world.wait_until_back(&mut connect(server));
        world
    }

    fn start_process(&mut self, clock_ahead: Duration) {
        self.started += 1;
        let record = self.files.path().join(self.started.to_string());
        self.processes.push(Process::start(&self.proxy.url(), record, clock_ahead));
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !is_so(self) {
            assert!(started.elapsed() < PATIENCE, "waited in vain: {what}; {:?}", self.records());
            sleep(Duration::from_millis(20));
        }
    }

    fn records(&self) -> Vec<Record> {
        self.processes.iter().map(Process::record).collect()
    }

    /// Lets time pass, in which the processes must not stand still.
    fn pass(&self, time: Duration) {
        let before = self.records();
        sleep(time);
        self.wait_until("all processes go on", |world| {
            world.records().iter().zip(&before).all(|(now, before)| now.ticks > before.ticks + 5)
        });
    }

    fn wait_until_alone(&self) {
        self.wait_until("all processes have noticed that the store is lost", |world| {
            world.records().iter().all(|record| record.connection == 2)
        });
    }

    /// Waits until the store has heard of all processes after this moment, and they of it. Then all that it knows about retries is
    /// the sum of their reports.
    fn wait_until_back(&self, server: &mut Connection) {
        self.wait_until_the_store_knows(server);
        assert_sums(server);
    }

    fn wait_until_the_store_knows(&self, server: &mut Connection) {
        let now: Option<u64> = server.hget(HASH, "now").unwrap_or_default();
        let clock: (u64, u64) = command(server, &["TIME"]);
        let since = now.unwrap_or(0).max(clock.0 * 1_000 + clock.1 / 1_000);
        let started = Instant::now();
        loop {
            let entries: Vec<(String, u64)> = server.zrange_withscores(MEMBERS, 0, -1).unwrap_or_default();
            let heard = entries.iter().filter(|(_, until)| *until >= since + 3_000);
            let is_connected = self.records().iter().all(|record| record.connection == 1);
            if heard.count() == self.processes.len() && is_connected {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "not all are back: {entries:?} {:?}", self.records());
            sleep(Duration::from_millis(50));
        }
    }

    /// Lets all processes leave, of which nothing stays.
    fn end(mut self, server: &mut Connection) {
        for process in &mut self.processes {
            process.running.end();
        }
        let left: [i64; 3] = server.hmget(HASH, &["members", "missing", "capacity"]).unwrap();
        assert_eq!(left, [0; 3]);
    }
}

/// Returns the numbers in the entries of the processes: what is missing, and the capacity.
fn reports(server: &mut Connection) -> Vec<[i64; 2]> {
    let state: HashMap<String, String> = server.hgetall(HASH).unwrap();
    let entries = state.iter().filter(|(name, _)| name.starts_with("m:"));
    let numbers = |text: &str| -> Vec<i64> { text.split(' ').map(|word| word.parse().unwrap()).collect() };
    entries.map(|(_, text)| <[i64; 2]>::try_from(&numbers(text)[4..6]).unwrap()).collect()
}

/// Asserts that the sums in the store are those of its entries, at one moment, and that the processes, whose attempts fail, have reported
/// something.
pub(crate) fn assert_sums(server: &mut Connection) {
    let started = Instant::now();
    loop {
        let sums =
            |server: &mut Connection| -> [i64; 3] { server.hmget(HASH, &["missing", "capacity", "now"]).unwrap() };
        let (before, told, after) = (sums(server), reports(server), sums(server));
        if before == after {
            let all = |index: usize| told.iter().map(|numbers| numbers[index]).sum::<i64>();
            assert_eq!([all(0), all(1)], [before[0], before[1]], "{told:?}");
            if told.iter().any(|numbers| numbers[1] > 0) {
                return;
            }
        }
        assert!(started.elapsed() < PATIENCE, "nothing is told, or the store changes all the time: {told:?}");
        sleep(Duration::from_millis(20));
    }
}

fn command<T: FromRedisValue>(server: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query(server).unwrap()
}

fn run(server: &mut Connection, words: &[&str]) {
    command::<redis::Value>(server, words);
}

fn connect(server: &RedisServer) -> Connection {
    server.client().get_connection().unwrap()
}

/// Lets the clock of the store jump by 40 s, after which a silent process is removed.
fn jump(direct: &mut Connection) {
    let now: u64 = direct.hget(HASH, "now").unwrap();
    let _: () = direct.hset(HASH, "now", now + 40_000).unwrap();
}

fn members(direct: &mut Connection) -> usize {
    direct.hget::<_, _, Option<usize>>(HASH, "members").unwrap_or_default().unwrap_or(0)
}

fn wait_for_members(direct: &mut Connection, expected: usize) {
    let started = Instant::now();
    while members(direct) != expected {
        assert!(started.elapsed() < PATIENCE, "{} members instead of {expected}", members(direct));
        sleep(Duration::from_millis(50));
    }
}

// Rules F2, F17.
#[test]
fn killed_processes_are_forgotten_and_others_take_their_places() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let mut world = World::start(&server);
    for _ in 0..3 {
        let mut process = world.processes.remove(0);
        process.running.kill();
        world.start_process(Duration::ZERO);
        world.pass(SHORT / 2);
    }
    world.wait_until_back(&mut direct);
    wait_for_members(&mut direct, PROCESSES);
    world.end(&mut direct);
    assert_eq!(members(&mut direct), 0);
}

// Rules F2, F17.
#[test]
fn stopped_processes_that_were_removed_join_again() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    for process in &world.processes[..3] {
        process.running.signal("STOP");
    }
    sleep(SHORT);
    jump(&mut direct);
    wait_for_members(&mut direct, PROCESSES - 3);
    for process in &world.processes[..3] {
        process.running.signal("CONT");
    }
    wait_for_members(&mut direct, PROCESSES);
    world.pass(SHORT);
    world.wait_until_back(&mut direct);
    world.end(&mut direct);
}

// Rule F3.
#[test]
fn a_store_that_restarts_empty_knows_all_again() {
    let mut server = RedisServer::start(&[]);
    let world = World::start(&server);
    for _ in 0..2 {
        server.restart(&[]);
        world.wait_until_back(&mut connect(&server));
        world.pass(SHORT);
    }
    world.end(&mut connect(&server));
}

// Rule F3.
#[test]
fn a_store_that_is_away_and_restarts_from_an_old_snapshot_knows_all_again() {
    let mut server = RedisServer::start(&[]);
    let world = World::start(&server);
    run(&mut connect(&server), &["SAVE"]);
    world.pass(SHORT);
    server.kill();
    world.wait_until_alone();
    world.pass(SHORT);
    server.restart(&[]);
    let mut direct = connect(&server);
    world.wait_until_back(&mut direct);
    world.pass(SHORT);
    world.end(&mut direct);
}

// Rule F3.
#[test]
fn a_stale_replica_that_is_promoted_knows_all_again() {
    let mut master = RedisServer::start(&[]);
    let link = Proxy::start(master.port);
    let replica = RedisServer::start(&["--replicaof", "127.0.0.1", &link.port.to_string()]);
    let mut direct = connect(&replica);
    let world = World::start(&master);
    world.wait_until("the replica has the state", |_| direct_has_state(&replica));
    // The replica receives nothing any more.
    link.silence(true);
    world.pass(SHORT);
    master.kill();
    world.proxy.lead_to(replica.port);
    // It is read-only for a while.
    world.pass(LONG);
    run(&mut direct, &["REPLICAOF", "NO", "ONE"]);
    world.wait_until_back(&mut direct);
    world.pass(SHORT);
    world.end(&mut direct);
}

fn direct_has_state(server: &RedisServer) -> bool {
    connect(server).exists(HASH).unwrap_or(false)
}

// Rules F3, F5.
#[test]
fn a_slow_silent_or_cut_store_is_used_again() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    world.proxy.delay(Duration::from_millis(100));
    world.pass(2 * SHORT);
    assert!(world.records().iter().all(|record| record.connection == 1), "a slow store is not lost");
    world.proxy.delay(Duration::ZERO);

    world.proxy.silence(true);
    world.wait_until_alone();
    world.pass(SHORT);
    world.proxy.go_on();
    world.wait_until_back(&mut direct);

    for _ in 0..5 {
        world.proxy.cut();
        world.pass(SHORT / 5);
    }
    world.wait_until_back(&mut direct);
    assert!(world.records().iter().all(|record| record.losses == 1), "each tells a loss once: {:?}", world.records());
    world.end(&mut direct);
}

/// The timers of a process use the clock of the operating system that only goes forward, and a process reports no time, so
/// its wall clock is never read. Here these clocks are minutes apart, in namespaces of Linux.
// Rule F2.
#[test]
fn clocks_that_are_minutes_apart_make_no_difference() {
    let may = std::process::Command::new("unshare").args(["--time", "--monotonic", "60", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("########## SKIPPED: this machine does not let the test give processes clocks of their own");
        return;
    }
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let ahead: Vec<_> = (0..8).map(|process| Duration::from_secs(process * 420)).collect();
    let world = World::start_with_clocks(&server, &ahead);
    world.pass(SHORT);
    // So is the clock of the store.
    jump(&mut direct);
    world.wait_until_back(&mut direct);
    world.pass(SHORT);
    world.end(&mut direct);
}

// Rules F3, F5.
#[test]
fn a_key_of_another_type_is_treated_as_a_lost_store() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    run(&mut direct, &["SET", HASH, "text"]);
    world.wait_until_alone();
    world.pass(SHORT);
    run(&mut direct, &["DEL", HASH]);
    world.wait_until_back(&mut direct);
    world.pass(SHORT);
    world.end(&mut direct);
}

// Rules F11, F28, F29.
#[test]
fn damaged_and_deleted_entries_are_soon_repaired() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    for step in 0..16 {
        let entries: Vec<String> = direct.hkeys(HASH).unwrap();
        let entries: Vec<_> = entries.iter().filter(|name| name.starts_with("m:")).collect();
        let entry = entries[step % entries.len()];
        if step % 2 == 0 {
            direct.hset::<_, _, _, ()>(HASH, entry, "garbage").unwrap();
        } else {
            direct.hdel::<_, _, ()>(HASH, entry).unwrap();
        }
        world.pass(SHORT / 5);
    }
    // More than a minute passes for the store.
    for _ in 0..2 {
        jump(&mut direct);
        world.wait_until_the_store_knows(&mut direct);
    }
    assert_sums(&mut direct);
    assert_eq!((reports(&mut direct).len(), members(&mut direct)), (PROCESSES, PROCESSES));
    world.end(&mut direct);
}

#[test]
fn scripts_that_are_flushed_make_no_difference() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    for _ in 0..20 {
        run(&mut direct, &["SCRIPT", "FLUSH"]);
        world.pass(SHORT / 10);
    }
    world.wait_until_back(&mut direct);
    assert!(world.records().iter().all(|record| record.losses == 0), "{:?}", world.records());
    world.end(&mut direct);
}

// Rules F3, F5.
#[test]
fn a_store_without_memory_evicts_all_of_the_state_or_refuses_calls() {
    let server = RedisServer::start(&[]);
    let mut direct = connect(&server);
    let world = World::start(&server);
    run(&mut direct, &["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
    run(&mut direct, &["CONFIG", "SET", "maxmemory", "1"]);
    world.wait_until("the state is evicted", |_| !direct_has_state(&server));
    world.pass(SHORT);
    run(&mut direct, &["CONFIG", "SET", "maxmemory", "0"]);
    world.wait_until_back(&mut direct);

    run(&mut direct, &["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    run(&mut direct, &["CONFIG", "SET", "maxmemory", "1"]);
    world.wait_until_alone();
    world.pass(SHORT);
    run(&mut direct, &["CONFIG", "SET", "maxmemory", "0"]);
    world.wait_until_back(&mut direct);
    world.end(&mut direct);
}
