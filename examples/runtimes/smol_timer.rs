//! Retries on smol: a request over a real connection, to a server that hangs up, stalls, and then answers.
//!
//! `cargo run -p runtimes --bin smol_timer`

#[cfg(not(target_arch = "wasm32"))]
mod program {
    use retry_core::classify::io;
    use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retryable};
    use runtimes::smol::SmolTimer;
    use smol::io::{AsyncReadExt, AsyncWriteExt};
    use smol::net::{TcpListener, TcpStream};
    use std::io::Error;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::time::Duration;

    #[derive(Debug, RetryInfo)]
    pub(crate) enum PingError {
        Io(#[retry(with = io::known)] Error),
        #[retry(transparent)]
        TimedOut(TimedOut),
    }

    impl From<Error> for PingError {
        fn from(error: Error) -> Self {
            Self::Io(error)
        }
    }

    impl From<TimedOut> for PingError {
        fn from(error: TimedOut) -> Self {
            Self::TimedOut(error)
        }
    }

    static SERVER: PatientRetryStrategy =
        PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

    #[retryable(strategy = SERVER, idempotent, timer = SmolTimer, attempt_timeout = "200ms", max_time = "10s")]
    async fn ping(server: SocketAddr) -> Result<String, PingError> {
        let mut connection = TcpStream::connect(server).await?;
        connection.write_all(b"ping").await?;
        let mut answer = [0; 4];
        connection.read_exact(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Hangs up on the first connection, stalls on the second, and answers the third. Returns how many there were.
    async fn serve(listener: TcpListener) -> Result<u32, Error> {
        drop(listener.accept().await?);
        let _stalled = listener.accept().await?;
        let (mut connection, _) = listener.accept().await?;
        connection.read_exact(&mut [0; 4]).await?;
        connection.write_all(b"pong").await?;
        Ok(3)
    }

    pub(crate) fn run() -> Result<(String, u32), PingError> {
        smol::block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let server = listener.local_addr()?;
            let connections = smol::spawn(serve(listener));
            let answer = ping(server).await?;
            Ok((answer, connections.await?))
        })
    }

    #[test]
    fn the_sleeps_of_smol_end_a_backoff_and_cut_an_attempt() {
        assert_eq!(run().unwrap(), ("pong".to_owned(), 3));
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), program::PingError> {
    let (answer, connections) = program::run()?;
    println!("{answer}, over connection {connections}");
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}
