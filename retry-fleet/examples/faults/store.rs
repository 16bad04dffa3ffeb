//! The store: a redis-server on the loopback interface that keeps nothing on disk.

use redis::{Commands, Connection, RedisResult};
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The hash with the state of the fleet.
pub(crate) const HASH: &str = "retry-fleet:1:{faults}";
/// The time within which the server has to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server. It is killed when it is dropped.
pub(crate) struct StoreServer {
    port: u16,
    running: Option<Child>,
}

impl StoreServer {
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut server = Self { port, running: None };
        server.restart()?;
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts the server again at the same port, without its state.
    pub(crate) fn restart(&mut self) -> Result<(), Box<dyn Error>> {
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--port", &self.port.to_string()])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("redis-server can't be started: {error}"))?;
        self.running = Some(child);
        let started = Instant::now();
        while let Err(error) = self.connect() {
            if started.elapsed() > PATIENCE {
                return Err(error.into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.kill();
            let _ = running.wait();
        }
    }

    /// Sends a signal to the server, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) -> io::Result<()> {
        self.running.as_ref().map_or(Ok(()), |running| signal(running.id(), name))
    }

    pub(crate) fn connect(&self) -> RedisResult<Connection> {
        redis::Client::open(self.url())?.get_connection()
    }

    /// Sends a command.
    pub(crate) fn command(&self, words: &[&str]) -> RedisResult<()> {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        command.exec(&mut self.connect()?)
    }

    /// Replaces the numbers of all fields by one that fits nothing, and damages each second entry.
    pub(crate) fn damage(&self) -> RedisResult<()> {
        let mut connection = self.connect()?;
        let fields: Vec<String> = connection.hkeys(HASH)?;
        for (number, field) in fields.iter().enumerate() {
            match field.as_str() {
                "now" | "epoch" | "balance" => {}
                entry if entry.starts_with("m:") && number % 2 == 0 => {}
                entry if entry.starts_with("m:") => connection.hset(HASH, entry, "garbage")?,
                other => connection.hset(HASH, other, "4000000000000000")?,
            }
        }
        Ok(())
    }
}

impl Drop for StoreServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, name: &str) -> io::Result<()> {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("kill -s {name}: {status}"))) }
}
