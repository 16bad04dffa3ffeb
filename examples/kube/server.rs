//! A server of the API of Kubernetes that has one object, fails by a script, and counts the requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The server's answer to a request. After it, the connection is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// The object.
    Found,
    /// 429, with a `Retry-After` of one second.
    Throttled,
    /// 503.
    Unavailable,
    /// The connection breaks after the request was received, so that the client can't know what became of it.
    Lost,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server on a free port of the loopback interface that gives one answer after the other, and then repeats the
    /// last one.
    pub(crate) async fn start(answers: &'static [Answer]) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let server = Self { address: listener.local_addr()?, requests: Arc::default() };
        let requests = Arc::clone(&server.requests);
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                if read_request(&mut connection).await.is_ok() {
                    let number = requests.fetch_add(1, Ordering::Relaxed);
                    let answer = answers.get(number).or(answers.last()).copied();
                    // A client that hung up does not matter.
                    _ = connection.write_all(response(answer.unwrap_or(Answer::Lost)).as_bytes()).await;
                }
            }
        });
        Ok(server)
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of requests received.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Reads a request, its body included.
async fn read_request(connection: &mut TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            None if line.trim().is_empty() => break,
            _ => {}
        }
    }
    reader.read_exact(&mut vec![0; length]).await.map(drop)
}

fn response(answer: Answer) -> String {
    let (head, body) = match answer {
        Answer::Found => ("200 OK", r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}"#),
        Answer::Throttled => ("429 Too Many Requests\r\nretry-after: 1", ""),
        Answer::Unavailable => ("503 Service Unavailable", ""),
        Answer::Lost => return String::new(),
    };
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
