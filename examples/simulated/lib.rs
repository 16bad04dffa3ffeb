//! The client of a bank, over any network. Its tests simulate one.

use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retryable};
use std::fmt::{self, Display, Formatter};
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// Connects to hosts.
pub trait Network {
    /// A connection.
    type Connection: AsyncRead + AsyncWrite + Unpin;

    /// Connects to the bank.
    ///
    /// # Errors
    ///
    /// Returns the errors of the network.
    fn connect(&self) -> impl Future<Output = io::Result<Self::Connection>>;
}

/// The network of this machine.
#[derive(Debug)]
pub struct Tcp(pub std::net::SocketAddr);

impl Network for Tcp {
    type Connection = tokio::net::TcpStream;

    async fn connect(&self) -> io::Result<Self::Connection> {
        tokio::net::TcpStream::connect(self.0).await
    }
}

/// Why a payment failed.
#[derive(Debug, RetryInfo)]
pub enum PayError {
    /// The bank could not be reached, or did not answer.
    #[retry(timeout)]
    NoAnswer(io::Error),
    /// An attempt took longer than its limit.
    #[retry(transparent)]
    TimedOut(TimedOut),
    /// The bank refused.
    #[retry(never)]
    Refused(String),
}

impl Display for PayError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer(error) => write!(f, "the bank did not answer: {error}"),
            Self::TimedOut(error) => error.fmt(f),
            Self::Refused(reason) => write!(f, "the bank refused: {reason}"),
        }
    }
}

impl std::error::Error for PayError {}

impl From<TimedOut> for PayError {
    fn from(error: TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

/// A payment waits for a bank that can't be reached, and is then made once.
static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(12);

/// Pays an amount once: the bank knows a payment by its number.
///
/// # Errors
///
/// Returns an error if the bank refuses, or if it did not answer any attempt.
#[retryable(strategy = BANK, idempotent, attempt_timeout = "1s")]
pub async fn pay(network: &impl Network, number: u64, amount: u32) -> Result<(), PayError> {
    request(network, &format!("{number} {amount}\n")).await
}

/// Pays an amount. The bank can't tell a repeated request from a second payment, so this is wrong: it lacks `idempotent = false`.
///
/// # Errors
///
/// As [`pay`].
#[retryable(strategy = BANK, idempotent, attempt_timeout = "1s")]
pub async fn pay_without_number(network: &impl Network, amount: u32) -> Result<(), PayError> {
    request(network, &format!("- {amount}\n")).await
}

async fn request(network: &impl Network, line: &str) -> Result<(), PayError> {
    let mut connection = BufReader::new(network.connect().await.map_err(PayError::NoAnswer)?);
    connection.write_all(line.as_bytes()).await.map_err(PayError::NoAnswer)?;
    let mut answer = String::new();
    if connection.read_line(&mut answer).await.map_err(PayError::NoAnswer)? == 0 {
        return Err(PayError::NoAnswer(io::ErrorKind::UnexpectedEof.into()));
    }
    if answer == "paid\n" { Ok(()) } else { Err(PayError::Refused(answer)) }
}
