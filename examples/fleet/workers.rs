//! The processes, as seen by the program that starts them.

use crate::options::words_of_process;
use crate::process::STORE;
use crate::report::Report;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A process of the fleet. It is killed when this value is dropped, or when the program ends in whatever way.
#[derive(Debug)]
pub(crate) struct Worker {
    process: Child,
    /// The process ends when this is closed, which happens even if this program is killed.
    stdin: ChildStdin,
    /// The keys of its objects.
    pub(crate) keys: Vec<String>,
    state: Arc<Mutex<State>>,
    /// Whether it was killed as a fault.
    pub(crate) was_killed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    report: Report,
    has_ended: bool,
}

/// The store and the name of a fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetName<'a> {
    pub(crate) name: &'a str,
    pub(crate) store: &'a str,
}

impl Worker {
    /// Starts a process that copies the objects of these keys once it is told to.
    pub(crate) fn start(service: SocketAddr, fleet: Option<FleetName<'_>>, keys: Vec<String>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words_of_process(service, fleet.map(|fleet| fleet.name)));
        if let Some(fleet) = fleet {
            command.env(STORE, fleet.store);
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("a process without pipes"));
        };
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                match line.parse() {
                    Ok(report) => lock(&shared).report = report,
                    Err(error) => eprintln!("{error}"),
                }
            }
            lock(&shared).has_ended = true;
        });
        Ok(Self { process, stdin, keys, state, was_killed: false })
    }

    /// Tells the process its keys, and so to begin.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        let mut text = self.keys.join("\n");
        text.push_str("\n\n");
        self.stdin.write_all(text.as_bytes())
    }

    /// Returns the last report.
    pub(crate) fn report(&self) -> Report {
        lock(&self.state).report
    }

    /// Returns whether the process has ended.
    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.state).has_ended
    }

    /// Kills the process immediately (SIGKILL).
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.was_killed = true;
        self.process.kill()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
