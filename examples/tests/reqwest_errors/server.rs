//! A server that reacts to every request in the same way, and counts the requests.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The server's reaction to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// Answers with this status and an empty body.
    Answer(u16),
    /// Sends this and closes the connection.
    SendAndClose(&'static str),
    /// Sends this and resets the connection.
    SendAndReset(&'static str),
    /// Sends this and then waits for the client to hang up.
    SendAndStall(&'static str),
    /// Waits for the client to hang up.
    Stall,
}

/// A running server. It stops when this is dropped.
pub(crate) struct Server {
    /// The URL of the server.
    pub(crate) url: String,
    requests: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(reaction: Reaction) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let counter = Arc::clone(&counter);
                tokio::spawn(timeout(Duration::from_secs(60), react(connection, reaction, counter)));
            }
        });
        Self { url, requests, task }
    }

    /// Returns the number of requests received.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one request per connection.
async fn react(mut connection: TcpStream, reaction: Reaction, requests: Arc<AtomicUsize>) -> io::Result<()> {
    if !read_request(&mut connection).await? {
        return Ok(());
    }
    requests.fetch_add(1, Ordering::SeqCst);
    match reaction {
        Reaction::Answer(status) => {
            let answer = format!("HTTP/1.1 {status} Status\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            connection.write_all(answer.as_bytes()).await?;
        }
        Reaction::SendAndClose(answer) => connection.write_all(answer.as_bytes()).await?,
        Reaction::SendAndReset(answer) => {
            connection.write_all(answer.as_bytes()).await?;
            connection.set_zero_linger()?;
        }
        Reaction::SendAndStall(answer) => {
            connection.write_all(answer.as_bytes()).await?;
            connection.read_to_end(&mut Vec::new()).await?;
        }
        Reaction::Stall => _ = connection.read_to_end(&mut Vec::new()).await?,
    }
    Ok(())
}

/// Reads a request with the body `{}`. Returns false if the client closed the connection first. The whole request is
/// read because closing a connection with unread data resets it.
async fn read_request(connection: &mut TcpStream) -> io::Result<bool> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        if connection.read_buf(&mut request).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}
