//! The store of the fleet: a server that is installed here and started for this run.

use retry_fleet::Store;
use retry_fleet::protocol::Call;
use retry_fleet::redis1::RedisStore;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The programs that can be the store.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
/// The time within which the server has to listen.
const PATIENCE: Duration = Duration::from_secs(5);
/// A shell that starts the server, tells its process id, and kills it when its own standard input ends. That happens even
/// if this program is killed. The signals of a terminal go to the shell, too, which must outlive the server.
const GUARD: &str = r#"
    trap "" HUP INT TERM
    "$@" </dev/null >/dev/null &
    echo $!
    exec >/dev/null 2>&1
    cat
    kill -9 $!
    wait
"#;

/// A server on the loopback interface that keeps nothing on disk. It ends when this value is dropped, or when the program
/// ends in whatever way.
#[derive(Debug)]
pub(crate) struct StoreServer {
    program: &'static str,
    port: u16,
    /// `None` while it is killed.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    guard: Child,
    /// Closing it ends the server.
    stdin: Option<ChildStdin>,
    /// The id of the server's process.
    process: u32,
}

impl StoreServer {
    /// Starts a server at a free port.
    pub(crate) fn start() -> Result<Self, StoreError> {
        let is_installed = |program: &&'static str| {
            let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            version.is_ok_and(|status| status.success())
        };
        let program = PROGRAMS.into_iter().find(is_installed).ok_or(StoreError::Missing)?;
        // Another process can take the port in between; then the server ends, and the next port is tried.
        let mut failure = None;
        for _ in 0..5 {
            let port = free_port().map_err(StoreError::Failed)?;
            match Running::start(program, port) {
                Ok(running) => return Ok(Self { program, port, running: Some(running) }),
                Err(error) => failure = Some(error),
            }
        }
        Err(StoreError::Failed(failure.unwrap_or_else(|| io::Error::other("no attempt"))))
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the name of the program.
    pub(crate) fn program(&self) -> &'static str {
        self.program
    }

    /// Kills the server, which forgets everything.
    pub(crate) fn kill(&mut self) {
        self.running = None;
    }

    /// Starts the server again, empty, at the same port.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        self.running = Some(Running::start(self.program, self.port)?);
        Ok(())
    }

    /// Stops the process, so that it is silent (`SIGSTOP`), or lets it continue (`SIGCONT`).
    pub(crate) fn signal(&self, signal: &str) -> io::Result<()> {
        let Some(running) = &self.running else { return Ok(()) };
        let status = Command::new("kill").args([signal, &running.process.to_string()]).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("kill {signal}: {status}"))) }
    }
}

impl Running {
    fn start(program: &str, port: u16) -> io::Result<Self> {
        let words = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()];
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "sh", program])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = guard.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let process = line.trim().parse().map_err(|_| io::Error::other("the shell told no process id"))?;
        let running = Self { stdin: guard.stdin.take(), guard, process };
        let started = Instant::now();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        while !answers(address) {
            if started.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("{program} does not listen at {address}")));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.guard.wait();
    }
}

/// Returns whether a store listens there.
fn answers(address: SocketAddr) -> bool {
    let ping = || -> io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer)?;
        Ok(&answer == b"+PONG\r\n")
    };
    ping().unwrap_or(false)
}

/// Makes a call to the store at this URL, as a process that leaves immediately.
pub(crate) async fn check(url: &str) -> Result<(), retry_fleet::StoreError> {
    let mut call = Call::new("check", "check");
    call.is_leaving = true;
    RedisStore::open(url)?.call("fleet-example-check", &call).await.map(|_| ())
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Why there is no store.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// None of the programs is installed.
    Missing,
    /// The server or its shell could not be started.
    Failed(io::Error),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(
                f,
                "there is no store: neither {} is installed; install one of them, for example by 'apt-get install \
                redis-server' or 'brew install redis', or name your store with '--store redis://HOST:PORT'",
                PROGRAMS.join(" nor ")
            ),
            Self::Failed(error) => {
                write!(f, "the store could not be started: {error}; name one of yours with '--store'")
            }
        }
    }
}
