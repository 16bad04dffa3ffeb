//! Redis servers, each of which belongs to one test.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest wait for a server. It only bounds a failing test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server on the loopback interface, which is stopped when it is dropped.
#[derive(Debug)]
pub(crate) struct RedisServer {
    pub(crate) port: u16,
    files: TempDir,
    process: Child,
}

impl RedisServer {
    /// Starts a server with an empty data set, and with these words on its command line.
    pub(crate) fn start(options: &[&str]) -> Self {
        let files = tempfile::tempdir().unwrap();
        // Another process can take the port in between; then the server ends, and the next port is tried.
        for _ in 0..5 {
            let port = free_port();
            if let Some(process) = spawn(port, files.path(), options) {
                return Self { port, files, process };
            }
        }
        panic!("no redis-server listens: run these tests by .ci/servers")
    }

    /// Starts a sentinel that watches the master `known` at this port.
    #[allow(dead_code, reason = "not each program has sentinels")]
    pub(crate) fn start_sentinel(master: u16) -> Self {
        let files = tempfile::tempdir().unwrap();
        let port = free_port();
        let config = files.path().join("sentinel.conf");
        std::fs::write(&config, format!("sentinel monitor known 127.0.0.1 {master} 1\n")).unwrap();
        let config = config.to_str().unwrap();
        let process = spawn_with(port, files.path(), &[config, "--sentinel"], &[]).expect("the port was free");
        Self { port, files, process }
    }

    /// Stops the server immediately, and starts it again with the data set that it saved last.
    pub(crate) fn restart(&mut self, options: &[&str]) {
        self.kill();
        self.process = spawn(self.port, self.files.path(), options).expect("the port was free");
    }

    /// Stops the server immediately.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn client(&self) -> Client {
        Client::open(format!("redis://127.0.0.1:{}/", self.port)).unwrap()
    }

    pub(crate) async fn connect(&self) -> MultiplexedConnection {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        self.client().get_multiplexed_async_connection_with_config(&config).await.unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a port at which nothing listens. The kernel does not choose it for others, who ask for any free port, so it
/// stays free while a server starts. The port of a cluster's bus, which is higher by 10,000, is below theirs and above these.
pub(crate) fn free_port() -> u16 {
    const FIRST: u16 = 10_000;
    const COUNT: u32 = 10_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    /// Test programs that run at the same time would take a port between the look at it and the start of a server, or while a
    /// server is restarted. So each holds the UDP ports of the same numbers, which nobody else needs.
    static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    loop {
        // They begin at different ports.
        let number = std::process::id().wrapping_mul(101).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + u16::try_from(number % COUNT).unwrap();
        if let Ok(held) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))
            && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).push(held);
            return port;
        }
    }
}

/// Starts a process and waits until it listens. Returns `None` if it ends instead.
fn spawn(port: u16, files: &Path, options: &[&str]) -> Option<Child> {
    spawn_with(port, files, &["--save", "", "--enable-debug-command", "yes"], options)
}

/// Starts a process with these first words, and waits until it listens. Returns `None` if it ends instead.
fn spawn_with(port: u16, files: &Path, first: &[&str], options: &[&str]) -> Option<Child> {
    let program = std::env::var_os("RETRY_TEST_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    // A server with a certificate listens with TLS only.
    let listen: &[&str] =
        if options.contains(&"--tls-cert-file") { &["--port", "0", "--tls-port"] } else { &["--port"] };
    let mut process = Command::new(program)
        .args(first)
        .args(["--bind", "127.0.0.1"])
        .args(listen)
        .arg(port.to_string())
        .arg("--dir")
        .arg(files)
        .args(options)
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server can be started: run these tests by .ci/servers");
    let started = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(started.elapsed() < PATIENCE, "redis-server does not listen");
        if process.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // What listens may be another process, because of which this one ends.
    process.try_wait().unwrap().is_none().then_some(process)
}
