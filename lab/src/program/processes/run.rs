//! A real run: the server in this process, and its clients in others.

use super::client::{Client, Event};
use super::server::{Replica, listener};
use super::{Chosen, Setting};
use lab::scenario::faults::{Outcome, caller_seed};
use lab::scenario::outlast::Measured;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// The time in which the processes start.
const START: Duration = Duration::from_secs(1);

/// Runs all strategies at the same time, each with a server and with clients.
pub(super) async fn all(setting: &Setting, seed: u64) -> io::Result<Vec<Measured>> {
    let runs: Vec<_> = Chosen::ALL.map(|chosen| tokio::spawn(run(setting.clone(), chosen, seed))).into();
    let mut measured = Vec::new();
    for run in runs {
        measured.push(run.await??);
    }
    Ok(measured)
}

async fn run(setting: Setting, chosen: Chosen, seed: u64) -> io::Result<Measured> {
    let (begin, world) = (Instant::now() + START, &setting.world);
    let (mut servers, mut replicas) = (JoinSet::new(), Vec::new());
    for number in 0..world.replicas.max(1) {
        let listener = listener()?;
        replicas.push(listener.local_addr()?);
        servers.spawn(Replica::new(world, number, begin).serve(listener));
    }
    let client = Client {
        chosen,
        seed,
        begin: SystemTime::now() + START,
        rate: world.rate * world.load / f64::from(setting.processes),
        attempt_timeout: world.timeout_s.map_or(Duration::MAX, Duration::from_secs_f64),
        max_time: Duration::from_secs_f64(setting.live_s),
        replicas,
    };
    let outcome = Arc::default();
    let clients = (0..setting.processes).map(|number| {
        let client = Client { seed: caller_seed(seed, 0, number.into()), ..client.clone() };
        Process::start(&client, &outcome)
    });
    let clients = clients.collect::<io::Result<Vec<_>>>()?;
    let end = begin + Duration::from_secs(setting.length_s().into());
    if let Ok(Some(ended)) = timeout_at(end, servers.join_next()).await {
        ended??;
    }
    clients.into_iter().try_for_each(Process::stop)?;
    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Measured::of(world, &outcome, setting.length_s()))
}

/// A client process. It ends when this value is dropped, or when the program ends in whatever way, since its standard input is closed
/// then.
struct Process {
    child: Child,
    reader: Option<JoinHandle<io::Result<()>>>,
}

impl Process {
    /// Starts a client, whose events are added to an outcome.
    fn start(client: &Client, outcome: &Arc<Mutex<Outcome>>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("client").arg(serde_json::to_string(client)?);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdout, outcome) = (child.stdout.take(), Arc::clone(outcome));
        let reader = stdout.map(|stdout| thread::spawn(move || read(stdout, &outcome)));
        Ok(Self { child, reader })
    }

    /// Stops the process, and reads the rest of its events.
    fn stop(mut self) -> io::Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        if let Some(reader) = self.reader.take() {
            reader.join().map_err(|_| io::Error::other("a reader panicked"))??;
        }
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("a client process failed: {status}"))) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(stdout: ChildStdout, outcome: &Mutex<Outcome>) -> io::Result<()> {
    for line in BufReader::new(stdout).lines() {
        let event = serde_json::from_str(&line?)?;
        let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begin(now) => outcome.begin(now),
            Event::Attempt(now) => outcome.attempt(now),
            Event::Success(began, now) => outcome.succeed(began, now),
        }
    }
    Ok(())
}
