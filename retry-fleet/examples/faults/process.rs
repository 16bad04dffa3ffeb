//! One process of the fleet: this program again.

use crate::service::ACCEPTED;
use retry_core::quota::NoQuota;
use retry_core::{ExponentialBackoff, RetryInfo, StandardRetryStrategy, retry};
use retry_fleet::Fleet;
use retry_fleet::redis1::RedisStore;
use retry_limits::PacedRetryStrategy;
use std::env;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const STORE: &str = "FAULTS_STORE";
const SERVICE: &str = "FAULTS_SERVICE";
/// The requests that a process has in flight or waiting. All of them together want more than the limit.
const TASKS: usize = 8;

/// No retry fails for want of a quota, and hardly one for want of attempts: the limit alone is looked at.
static REQUESTS: PacedRetryStrategy<ExponentialBackoff, NoQuota> =
    PacedRetryStrategy::over(StandardRetryStrategy::new().max_attempts(100).with_quota(NoQuota));

#[derive(Debug, RetryInfo)]
enum RequestError {
    #[retry(throttling)]
    Rejected,
    #[retry(timeout)]
    NoAnswer,
}

/// Starts a process.
pub(crate) fn start(store: &str, service: SocketAddr) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.env(STORE, store).env(SERVICE, service.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()
}

/// Returns whether this process is one of the fleet.
pub(crate) fn is_one() -> bool {
    env::var_os(STORE).is_some()
}

/// Sends requests until standard input ends.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::read_to_string(io::stdin());
        let _ = stop.send(());
    });
    let store = RedisStore::open(&env::var(STORE)?)?;
    let membership = Fleet::new("faults", store).limit(&REQUESTS).join()?;
    let service: SocketAddr = env::var(SERVICE)?.parse()?;
    for _ in 0..TASKS {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        socket.connect(service).await?;
        tokio::spawn(async move {
            loop {
                // What fails after all is one request less.
                let _ = retry(&REQUESTS, || request(&socket)).idempotent(true).run().await;
            }
        });
    }
    stopped.await?;
    membership.leave().await;
    Ok(())
}

async fn request(socket: &UdpSocket) -> Result<(), RequestError> {
    let mut answer = [0];
    let exchange = async {
        socket.send(b"request").await?;
        socket.recv(&mut answer).await
    };
    match timeout(Duration::from_secs(1), exchange).await {
        Ok(Ok(_)) if answer == [ACCEPTED] => Ok(()),
        Ok(Ok(_)) => Err(RequestError::Rejected),
        Ok(Err(_)) | Err(_) => Err(RequestError::NoAnswer),
    }
}
