//! One run: a server, its clients, and a stall.

use crate::options::{CallOptions, Options, words_of_process};
use crate::progress::Progress;
use crate::seconds::{Counts, Seconds};
use crate::server::Server;
use crate::strategies::Chosen;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// What a run showed.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) seconds: Seconds,
    /// The seconds after the stall until the server was back. `None` if it was not.
    pub(crate) recovered: Option<usize>,
}

/// A client process. It is killed when this value is dropped, or when the program ends in whatever way.
#[derive(Debug)]
struct Client {
    process: Child,
    #[expect(dead_code, reason = "the process ends when this is closed")]
    stdin: ChildStdin,
    counts: Arc<Mutex<Counts>>,
}

impl Client {
    fn start(call: CallOptions) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words_of_process(call)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("a process without pipes"));
        };
        let counts = Arc::new(Mutex::new(Counts::default()));
        let shared = Arc::clone(&counts);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
                if let (Some(begun), Some(succeeded)) = (numbers.next(), numbers.next()) {
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = Counts { begun, succeeded, requests: 0 };
                }
            }
        });
        Ok(Self { process, stdin, counts })
    }

    fn counts(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lets the clients call the server until it is back after its stall, or the longest time is over.
pub(crate) async fn run(options: &Options, chosen: Chosen) -> io::Result<Outcome> {
    let server = Server::start(options.service_time()).await?;
    let rate = options.calls() / f64::from(options.processes);
    let call = CallOptions { server: server.address, chosen, rate };
    let clients = (0..options.processes).map(|_| Client::start(call)).collect::<io::Result<Vec<_>>>()?;
    let (stalls, ends) = (usize::from(options.before), usize::from(options.before + options.stall));
    let most = ends + usize::from(options.most);
    let progress = Progress::new(chosen, most);
    let mut seconds = Seconds::default();
    let begin = Instant::now();
    for second in 1..=most {
        sleep_until(begin + Duration::from_secs(second as u64)).await;
        let mut total = Counts { requests: server.received(), ..Counts::default() };
        for client in &clients {
            let counts = client.counts();
            total.begun += counts.begun;
            total.succeeded += counts.succeeded;
        }
        seconds.push(total);
        progress.show(second, seconds.between(second - 1, second));
        if second == stalls {
            server.stall(Duration::from_secs(u64::from(options.stall)));
        }
        if seconds.back_from(ends).is_some() {
            break;
        }
    }
    progress.finish();
    let recovered = seconds.back_from(ends).map(|second| second - ends);
    Ok(Outcome { seconds, recovered })
}
