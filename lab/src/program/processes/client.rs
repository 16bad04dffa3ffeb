//! A client process: operations at random times, whether or not those before have ended.

use super::Chosen;
use lab::call::CallError;
use lab::scenario::outage::index_of;
use lab::world::Random;
use retry_core::{ErasedStrategy, retry};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

/// What a client process does, for its command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::program) struct Client {
    pub(super) chosen: Chosen,
    pub(super) seed: u64,
    /// When it begins: the beginning of the times of its events.
    pub(super) begin: SystemTime,
    /// The operations that begin in a second.
    pub(super) rate: f64,
    pub(super) attempt_timeout: Duration,
    pub(super) max_time: Duration,
    /// The replicas. Each attempt goes to one of them at random.
    pub(super) replicas: Vec<SocketAddr>,
}

/// What happens in a client process, and when, since it began. It prints each event as a line of JSON.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Event {
    /// An operation begins.
    Begin(Duration),
    /// An attempt is sent.
    Attempt(Duration),
    /// An operation that began at the first time succeeds at the second one.
    Success(Duration, Duration),
}

impl Event {
    fn print(self) {
        // An error means that the process which reads has ended, and then this one ends, too.
        let _ = serde_json::to_string(&self).map(|line| writeln!(io::stdout(), "{line}"));
    }
}

/// Reads the command line of a client process.
pub(in crate::program) fn client(text: &str) -> Result<Client, serde_json::Error> {
    serde_json::from_str(text)
}

impl Client {
    /// Calls until standard input is closed, which ends the process.
    pub(in crate::program) fn run(self) -> io::Result<()> {
        std::thread::spawn(|| {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            std::process::exit(0);
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.arrive());
        Ok(())
    }

    /// Lets operations arrive as a Poisson process.
    async fn arrive(self) {
        let (now, begin) = (Instant::now(), self.begin.duration_since(SystemTime::now()));
        let begin = begin.map_or_else(|late| now - late.duration(), |early| now + early);
        let (mut arrivals, mut next) = (Random::new(self.seed, "arrivals"), begin);
        let process = Arc::new(Process {
            strategy: self.chosen.strategy(self.seed),
            choices: Mutex::new(Random::new(self.seed, "replicas")),
            begin,
            client: self,
        });
        loop {
            next += arrivals.interval(process.client.rate);
            sleep_until(next).await;
            let process = Arc::clone(&process);
            tokio::spawn(async move { process.call().await });
        }
    }
}

/// A client process that runs.
struct Process {
    client: Client,
    strategy: ErasedStrategy,
    choices: Mutex<Random>,
    begin: Instant,
}

impl Process {
    async fn call(&self) {
        let began = self.begin.elapsed();
        Event::Begin(began).print();
        let call = retry(&self.strategy, || self.attempt()).idempotent(true);
        let call = call.attempt_timeout(self.client.attempt_timeout).max_time(self.client.max_time);
        if call.run().await.is_ok() {
            Event::Success(began, self.begin.elapsed()).print();
        }
    }

    async fn attempt(&self) -> Result<(), CallError> {
        Event::Attempt(self.begin.elapsed()).print();
        request(self.replica()).await.map_err(|_| CallError::Failed)
    }

    /// Returns the replica of an attempt.
    fn replica(&self) -> SocketAddr {
        let part = self.choices.lock().unwrap_or_else(PoisonError::into_inner).uniform();
        let replicas = &self.client.replicas;
        replicas[index_of(part, replicas.len())]
    }
}

async fn request(replica: SocketAddr) -> io::Result<()> {
    let mut connection = TcpStream::connect(replica).await?;
    connection.write_u8(0).await?;
    connection.read_u8().await.map(drop)
}
