//! A feed that loses its connections and continues after the last event.
//!
//! A server sends the events of a feed, and closes, cuts or stalls each connection after a few of them. The client reads one stream:
//! each new connection asks for the events after the last one, as browsers do by `Last-Event-ID`. So no event is missing, and none
//! arrives twice. At the end, a shutdown ends the stream while it is connected.
//!
//! `cargo run --example reconnecting_stream`

use futures_util::stream::{self, Stream, TryStreamExt};
use retry_core::classify::io;
use retry_core::{PatientRetryStrategy, RetryInfo, Stop};
use retry_stream::reconnect_from;
use std::io::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The backoff is short, to keep the example fast.
static FEED: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_millis(100));

static SHUTDOWN: Stop = Stop::new();

#[derive(Debug, RetryInfo)]
#[retry(with = io::known)]
struct FeedError(Error);

impl From<Error> for FeedError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// Connects, and asks for the events after the last one. The stream ends when the server closes the connection.
async fn connect(
    server: SocketAddr,
    last: u64,
) -> Result<impl Stream<Item = Result<u64, FeedError>> + use<>, FeedError> {
    println!("connecting after event {last}");
    let mut connection = BufReader::new(TcpStream::connect(server).await?);
    connection.get_mut().write_all(format!("{last}\n").as_bytes()).await?;
    Ok(stream::try_unfold(connection, |mut connection| async {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        // A line without its end was cut, and the next connection gets the whole one.
        let event = line.strip_suffix('\n').and_then(|id| id.parse().ok());
        Ok(event.map(|event| (event, connection)))
    }))
}

const EVENTS: u64 = 12;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FeedError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let server = listener.local_addr()?;
    tokio::spawn(serve(listener));

    let mut events = reconnect_from(&FEED, 0, |last| connect(server, last))
        .position(|event| Some(*event))
        .connect_timeout(Duration::from_secs(5))
        .idle_timeout(Duration::from_millis(200))
        .stop(&SHUTDOWN)
        .name("feed")
        .stream();
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await? {
        println!("event {event}");
        seen.push(event);
        if event == EVENTS {
            // Elsewhere in a real program, such as in the handler of Ctrl-C.
            SHUTDOWN.stop();
        }
    }
    assert!(seen.iter().copied().eq(1..=EVENTS), "each event came once: {seen:?}");
    Ok(())
}

/// Sends the events after the one that the client names. Each connection ends in another way.
async fn serve(listener: TcpListener) -> Result<(), Error> {
    for number in 1.. {
        let (connection, _) = listener.accept().await?;
        let mut connection = BufReader::new(connection);
        let mut last = String::new();
        connection.read_line(&mut last).await?;
        let last: u64 = last.trim_end().parse().unwrap_or(0);
        for event in (last + 1..).take(3) {
            connection.get_mut().write_all(format!("{event}\n").as_bytes()).await?;
        }
        match number % 3 {
            // It closes the connection.
            0 => {}
            // It breaks in the middle of an event.
            1 => connection.get_mut().write_all(b"99").await?,
            // It stalls, until the client is gone.
            _ => drop(tokio::spawn(async move {
                sleep(Duration::from_mins(1)).await;
                drop(connection);
            })),
        }
    }
    Ok(())
}
