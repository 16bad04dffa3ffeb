//! Streams from a real server, which closes, stalls and refuses.

use crate::support::{millis, secs};
use futures_util::stream::{self, Stream, StreamExt};
use retry_core::classify::io;
use retry_core::{PatientRetryStrategy, RetryInfo, Stop};
use retry_stream::reconnect_from;
use std::io::{BufRead, BufReader, Error, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use tokio::time::timeout;

#[derive(Debug, RetryInfo)]
#[retry(with = io::known)]
struct Broken(Error);

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// Reads numbers after this one, each in a thread that blocks.
#[expect(clippy::unused_async, reason = "the stream awaits what opens a connection")]
async fn connect(
    address: SocketAddr,
    last: u32,
) -> Result<impl Stream<Item = Result<u32, Broken>> + Unpin + use<>, Broken> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    thread::spawn(move || {
        let read = || -> Result<(), Error> {
            let mut connection = std::net::TcpStream::connect(address)?;
            connection.set_read_timeout(Some(secs(10)))?;
            writeln!(connection, "{last}")?;
            for line in BufReader::new(connection).lines() {
                let _ = sender.send(Ok(line?.parse().unwrap()));
            }
            Ok(())
        };
        if let Err(error) = read() {
            let _ = sender.send(Err(Broken(error)));
        }
    });
    Ok(stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver))).boxed())
}

// Rules X1, X3, X4, X6.
#[tokio::test]
async fn each_item_of_a_real_server_comes_once() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let mut held = Vec::new();
        for number in 0..3 {
            let (mut connection, _) = listener.accept().unwrap();
            let mut last = String::new();
            BufReader::new(connection.try_clone().unwrap()).read_line(&mut last).unwrap();
            let last: u32 = last.trim_end().parse().unwrap();
            for item in last + 1..=last + 3 {
                writeln!(connection, "{item}").unwrap();
            }
            // The first one is closed, the second one stalls.
            if number > 0 {
                held.push(connection);
            }
        }
        // From here on, it refuses.
        drop(listener);
    });
    let strategy = PatientRetryStrategy::new().backoff(millis(5), millis(20));
    let stop = Arc::new(Stop::new());
    let mut items = reconnect_from(&strategy, 0, |last| connect(address, last))
        .position(|item| Some(*item))
        .idle_timeout(millis(300))
        .stop(Arc::clone(&stop))
        .stream();
    let read = async {
        let mut seen = Vec::new();
        while seen.len() < 9 {
            seen.push(items.next().await.unwrap().unwrap());
        }
        seen
    };
    assert_eq!(timeout(secs(30), read).await.unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    serving.join().unwrap();
    // Refused connections end nothing.
    assert!(timeout(millis(200), items.next()).await.is_err());
    stop.stop();
    assert!(timeout(secs(30), items.next()).await.unwrap().is_none());
}
