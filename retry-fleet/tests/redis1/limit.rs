//! Operating-system processes that share the limit of a server.

use crate::process::{Running, setting, stopped};
use crate::server::{PATIENCE, RedisServer};
use redis::Commands;
use retry_core::{RetryInfo, retryable};
use retry_fleet::Fleet;
use retry_fleet::redis1::RedisStore;
use retry_limits::PacedRetryStrategy;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PROCESSES: usize = 4;
/// The operations of a process at a time. One sends while the other one waits for its turn.
const TASKS: usize = 2;
/// The requests that the service accepts in a second. It saves up as many, too.
const RATE: f64 = 100.0;
/// The time over which answers are counted.
const WINDOW: Duration = Duration::from_secs(2);
/// The name of the test that is a process of the other one.
const NAME: &str = "limit::a_process_of_the_other_test";

/// What the service answers to a request: 1 or 0.
const ACCEPTED: u8 = 1;

#[derive(Debug, RetryInfo)]
#[retry(throttling)]
struct SlowDown;

static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();

#[retryable(strategy = TABLE)]
async fn request(service: &mut tokio::net::TcpStream, process: u8) -> Result<(), SlowDown> {
    service.write_u8(process).await.unwrap();
    if service.read_u8().await.unwrap() == ACCEPTED { Ok(()) } else { Err(SlowDown) }
}

#[test]
#[ignore = "it is a process of the other test, which starts it"]
fn a_process_of_the_other_test() {
    let process: u8 = setting("FLEET_PROCESS").parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stopped = stopped();
        let store = RedisStore::open(&setting("FLEET_STORE")).unwrap();
        let membership = Fleet::new("orders", store).limit(&TABLE).join().unwrap();
        for _ in 0..TASKS {
            let mut service = tokio::net::TcpStream::connect(setting("FLEET_SERVICE")).await.unwrap();
            tokio::spawn(async move {
                loop {
                    // An operation that was throttled too often is lost, and the next one begins.
                    let _ = request(&mut service, process).await;
                }
            });
        }
        let _ = stopped.await;
        membership.leave().await;
    });
}

/// An answer of the service.
#[derive(Clone, Copy)]
struct Answer {
    at: Instant,
    process: usize,
    is_accepted: bool,
}

/// A service with a token bucket, which counts its answers.
struct Service {
    address: String,
    answers: Arc<Mutex<Vec<Answer>>>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answers: Arc<Mutex<Vec<Answer>>> = Arc::default();
        let bucket = Arc::new(Mutex::new((RATE, Instant::now())));
        let service = Self { address, answers: Arc::clone(&answers) };
        spawn(move || {
            for connection in listener.incoming().take(PROCESSES * TASKS) {
                let (bucket, answers) = (Arc::clone(&bucket), Arc::clone(&answers));
                spawn(move || serve(connection.unwrap(), &bucket, &answers));
            }
        });
        service
    }

    /// Returns how many requests of each process were accepted and rejected since then.
    fn counts(&self, since: Instant) -> [(u32, u32); PROCESSES] {
        let mut counts = [(0, 0); PROCESSES];
        for answer in self.answers.lock().unwrap().iter().rev().take_while(|answer| answer.at >= since) {
            let (accepted, rejected) = &mut counts[answer.process];
            *(if answer.is_accepted { accepted } else { rejected }) += 1;
        }
        counts
    }
}

/// Answers the requests of one connection. A request is the number of its process.
fn serve(mut connection: TcpStream, bucket: &Mutex<(f64, Instant)>, answers: &Mutex<Vec<Answer>>) {
    let mut request = [0];
    while connection.read_exact(&mut request).is_ok() {
        let mut answers = answers.lock().unwrap();
        let (at, mut bucket) = (Instant::now(), bucket.lock().unwrap());
        let tokens = (bucket.0 + at.duration_since(bucket.1).as_secs_f64() * RATE).min(RATE);
        let is_accepted = tokens >= 1.0;
        *bucket = (if is_accepted { tokens - 1.0 } else { tokens }, at);
        answers.push(Answer { at, process: request[0].into(), is_accepted });
        drop((answers, bucket));
        if connection.write_all(&[u8::from(is_accepted)]).is_err() {
            return;
        }
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        // That is less than the 30 s after which the store forgets a process.
        assert!(started.elapsed() < PATIENCE / 2, "waited in vain: {what}");
        sleep(Duration::from_millis(50));
    }
}

fn rejected_share(counts: &[(u32, u32)]) -> f64 {
    let (accepted, rejected) = counts.iter().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
    f64::from(rejected) / f64::from(accepted + rejected)
}

/// Waits until these processes, and no others, have used nearly all of the limit for a while, each at least half of its fair
/// share, and hardly anything was rejected. A machine with other work can delay that.
fn wait_until_shared(service: &Service, processes: &[usize], what: &str) {
    let limit = RATE * WINDOW.as_secs_f64();
    let fair = limit / f64::from(u32::try_from(processes.len()).unwrap());
    sleep(WINDOW);
    wait_until(what, || {
        let counts = service.counts(Instant::now().checked_sub(WINDOW).unwrap());
        let accepted: u32 = counts.iter().map(|(accepted, _)| accepted).sum();
        let is_fair = counts.iter().enumerate().all(|(process, (accepted, _))| {
            if processes.contains(&process) { f64::from(*accepted) > fair / 2.0 } else { *accepted == 0 }
        });
        is_fair && f64::from(accepted) > 0.8 * limit && rejected_share(&counts) < 0.1
    });
}

// Rules F8, F9, F10.
#[test]
fn processes_share_a_limit_while_they_are_killed_and_stopped_and_the_store_restarts_empty() {
    let (service, mut store) = (Service::start(), RedisServer::start(&[]));
    let state = |store: &RedisServer, field: &str| -> Option<usize> {
        store.client().get_connection().unwrap().hget("retry-fleet:1:{orders}", field).unwrap()
    };
    let began = Instant::now();
    let mut processes: Vec<_> = (0..PROCESSES)
        .map(|process| {
            let settings = [
                ("FLEET_STORE", format!("redis://127.0.0.1:{}", store.port).into()),
                ("FLEET_SERVICE", service.address.clone().into()),
                ("FLEET_PROCESS", process.to_string().into()),
            ];
            Running::start(NAME, settings, Duration::ZERO)
        })
        .collect();
    wait_until_shared(&service, &[0, 1, 2, 3], "all processes share the limit");

    processes[0].kill();
    processes[1].signal("STOP");
    wait_until("the store counts two processes as sending", || state(&store, "waiting").unwrap_or(0) <= 2);
    // If each had kept its share, these would use half of the limit.
    wait_until_shared(&service, &[2, 3], "two processes use the shares of the two others");
    processes[1].signal("CONT");
    wait_until_shared(&service, &[1, 2, 3], "the process that was stopped has a share again");

    let restarted = Instant::now();
    store.restart(&[]);
    wait_until_shared(&service, &[1, 2, 3], "three processes share the limit, with the memory of the store empty");
    assert_eq!(state(&store, "members"), Some(3));
    assert!(state(&store, "version") > Some(0), "the limit is estimated again");
    // They went on from their estimate.
    assert!(rejected_share(&service.counts(restarted)) < 0.1);
    assert!(rejected_share(&service.counts(began)) < 0.2);
    for process in &mut processes[1..] {
        process.end();
    }
}
