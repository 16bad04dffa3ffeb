//! The steps of retry-fleet/WALKTHROUGH.md, with fewer processes and shorter times. What the page shows of the output is compared here.

#[path = "../../../retry-fleet/examples/service.rs"]
mod service;

use crate::run::{run, until, url};
use crate::server::{PATIENCE, RedisServer};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../retry-fleet/WALKTHROUGH.md");
const PROCESSES: usize = 3;
/// The name of the process, as a test.
const NAME: &str = "walkthrough::the_service_in_a_process";

#[test]
#[ignore = "it is a process of the other test, which starts it"]
fn the_service_in_a_process() {
    assert_eq!(service::main(), ExitCode::SUCCESS);
}

/// Returns a text that the page shows, too.
fn shown(text: &str) -> &str {
    assert!(PAGE.contains(text), "the page does not show {text:?}");
    text
}

/// A service, and the file with its output.
struct Service {
    process: Child,
    log: PathBuf,
}

impl Service {
    fn start(server: &RedisServer, log: PathBuf, settings: &[(&str, &str)]) -> Self {
        let output = File::options().create(true).append(true).open(&log).unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", NAME, "--nocapture"])
            .env("RETRY_FLEET_URL", url(server))
            .envs(settings.iter().copied())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn terminate(&mut self) -> ExitStatus {
        let status = Command::new("kill").args(["-s", "TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(status.success());
        self.ended()
    }

    fn ended(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the process does not end: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct World {
    server: RedisServer,
    files: TempDir,
    services: Vec<Service>,
}

impl World {
    fn start(&self, number: usize, settings: &[(&str, &str)]) -> Service {
        Service::start(&self.server, self.files.path().join(number.to_string()), settings)
    }

    fn show(&self) -> String {
        run(&self.server, &["show", "orders"]).out
    }

    async fn until_members(&self, count: usize) {
        let expected = format!("processes  {count}\n");
        until(&expected, || self.show().contains(&expected)).await;
    }

    /// Waits until each process has logged this text so often.
    async fn until_logged(&self, text: &str, times: usize) {
        until(text, || self.services.iter().all(|service| service.log().matches(text).count() >= times)).await;
    }
}

// Rules F3, F7, F34, F41, F42.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_is_rolled_out_loses_its_store_and_is_turned_off_and_on() {
    let (server, files) = (RedisServer::start(&[]), tempfile::tempdir().unwrap());
    let mut world = World { server, files, services: Vec::new() };
    world.services = (0..PROCESSES).map(|number| world.start(number, &[])).collect();
    world.until_members(PROCESSES).await;
    world.until_logged(shown("started, with at most 5 attempts for an operation\n"), 1).await;
    assert!(
        run(&world.server, &["list"]).out.starts_with(shown("fleet   protocol  processes  retries\norders         1 "))
    );

    // A rollout.
    let mut misspelled = world.start(PROCESSES, &[("ORDERS_MAX_ATEMPTS", "3")]);
    assert!(!misspelled.ended().success());
    assert!(misspelled.log().contains(shown(
        "error: environment variable ORDERS_MAX_ATEMPTS: unknown key ORDERS_MAX_ATEMPTS: did you mean ORDERS_MAX_ATTEMPTS?\n"
    )));
    for number in 0..PROCESSES {
        assert!(world.services[number].terminate().success(), "{}", world.services[number].log());
        world.until_members(PROCESSES - 1).await;
        assert!(world.services[number].log().contains(shown(" operations succeeded, 0 failed\n")));
        world.services[number] = world.start(number, &[("ORDERS_MAX_ATTEMPTS", "3")]);
        world.until_members(PROCESSES).await;
    }
    world.until_logged(shown("started, with at most 3 attempts for an operation\n"), 1).await;

    // A store that restarts without its data.
    let epoch = |shown: &str| shown.lines().nth(1).unwrap().to_owned();
    let before = epoch(&world.show());
    world.server.kill();
    let ran = run(&world.server, &["show", "orders"]);
    assert!(ran.code == 1 && ran.err.contains(shown("Connection refused")), "{ran:?}");
    world.until_logged(shown("the store of the fleet does not answer, so the process continues alone"), 1).await;
    world.server.restart(&[]);
    world.until_members(PROCESSES).await;
    world.until_logged(shown("the store of the fleet has lost its data"), 1).await;
    world.until_logged(shown("the store of the fleet answers again"), 1).await;
    assert_ne!(epoch(&world.show()), before, "it is another state");

    // Retries off for a time, and on by themselves.
    let off = |time: &str| run(&world.server, &["off", "orders", "--for", time, "--reason", "orders are down"]).out;
    assert!(off("4s").contains(shown("(ada: orders are down)\n")));
    world.until_logged(shown(r#"is_on=false reason="ada: orders are down""#), 1).await;
    world.until_logged(shown(r#"is_on=true reason="""#), 1).await;
    assert!(world.show().contains(shown("\nretries    on\n")));
    // On by the command.
    off("10m");
    world.until_logged(r#"is_on=false reason="ada: orders are down""#, 2).await;
    assert_eq!(run(&world.server, &["on", "orders"]).out, shown("the retries of orders are on\n"));
    world.until_logged(shown(r#"is_on=true reason="ada""#), 1).await;
    for service in &mut world.services {
        assert!(service.terminate().success());
    }
    assert!(run(&world.server, &["list"]).out.ends_with(shown("orders         1          0  on\n")));
}
