//! Poolers in front of `PostgreSQL`, each of which belongs to one test.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest wait for a pooler. It only bounds a failing test.
const PATIENCE: Duration = Duration::from_secs(30);

/// A `PgBouncer`, which is stopped when it is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    /// The port that clients connect to.
    pub port: u16,
    files: TempDir,
    process: Child,
}

impl PgBouncer {
    /// Starts a pooler in front of the server at this port, with these settings.
    ///
    /// # Panics
    ///
    /// If it does not listen.
    pub fn start(server: u16, settings: &[(&str, &str)]) -> Self {
        let files = tempfile::tempdir().unwrap();
        // The pooler runs as another user if the tests run as root.
        fs::set_permissions(files.path(), Permissions::from_mode(0o755)).unwrap();
        // Another process can take the port in between; then the pooler ends, and the next port is tried.
        for _ in 0..5 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
            let mut text = format!(
                "[databases]\n* = host=127.0.0.1 port={server} user=tester\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = session\n\
                 ignore_startup_parameters = extra_float_digits,options,search_path\n"
            );
            for (name, value) in settings {
                writeln!(text, "{name} = {value}").unwrap();
            }
            fs::write(files.path().join("pgbouncer.ini"), text).unwrap();
            if let Some(process) = spawn(&files, port) {
                return Self { port, files, process };
            }
        }
        panic!("no pgbouncer listens: run these tests by .ci/servers")
    }

    /// Lets no new transaction begin, until the pooler is resumed.
    pub fn pause(&self) {
        self.signal("-USR1");
        // It handles signals between others of its events, and does not say when.
        thread::sleep(Duration::from_millis(500));
    }

    /// Lets transactions begin again.
    pub fn resume(&self) {
        self.signal("-USR2");
    }

    /// Stops the pooler immediately, and starts it again.
    ///
    /// # Panics
    ///
    /// If it does not listen again.
    pub fn restart(&mut self) {
        self.signal("-TERM");
        self.process.wait().unwrap();
        self.process = spawn(&self.files, self.port).expect("the port was free");
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap();
        assert!(status.success(), "{signal}");
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a process and waits until it listens. Returns `None` if it ends instead.
fn spawn(files: &TempDir, port: u16) -> Option<Child> {
    let program = std::env::var_os("RETRY_TEST_PGBOUNCER").unwrap_or_else(|| "pgbouncer".into());
    let mut process = Command::new(program)
        .arg("--quiet")
        .arg(files.path().join("pgbouncer.ini"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("pgbouncer can be started: run these tests by .ci/servers");
    let started = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(started.elapsed() < PATIENCE, "pgbouncer does not listen");
        if process.try_wait().unwrap().is_some() {
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
    Some(process)
}
