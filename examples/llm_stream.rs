//! Streams of server-sent events that continue after a break: each attempt is lent the last id and the text so far.
//!
//! A server streams the tokens of 100 texts, and closes the connection of two of them halfway. An operation that only opens a
//! stream would be over by then, so here the operation reads the stream to its end. After a break, the next attempt asks for
//! the events after the last one that was complete, by `Last-Event-ID`. So no token is missing, and none arrives twice.
//!
//! If a server can't continue a stream, clear the text at the start of each attempt.
//!
//! `cargo run --example llm_stream`

use retry_clients::llm;
use retry_core::classify::{Classification, http, io};
use retry_core::{PatientRetryStrategy, RetryInfo, RetrySafety, retryable};
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The backoff is short, to keep the example fast.
static MODEL: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_millis(100));

#[derive(Debug, RetryInfo)]
enum StreamError {
    #[retry(with = io::known)]
    Io(Error),
    /// An error status, or an error event in the stream.
    #[retry(transparent)]
    Answer(Classification),
}

impl From<Error> for StreamError {
    fn from(error: Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a text to its end. What an attempt has read stays in the two places when it fails, because they belong to the caller.
#[retryable(strategy = MODEL, idempotent)]
async fn read(server: SocketAddr, path: &str, last_id: &mut usize, text: &mut Vec<String>) -> Result<(), StreamError> {
    let mut connection = BufReader::new(TcpStream::connect(server).await?);
    let resume = if *last_id > 0 { format!("Last-Event-ID: {last_id}\r\n") } else { String::new() };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nAccept: text/event-stream\r\n{resume}\r\n");
    connection.get_mut().write_all(request.as_bytes()).await?;

    // The head of the response. `HTTP/1.1 200 OK` has the status in its second word.
    let status = line(&mut connection).await?;
    let status: u16 = status.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    if status != 200 {
        return Err(StreamError::Answer(http::status(status)));
    }
    while !line(&mut connection).await?.is_empty() {}

    loop {
        let event = event(&mut connection).await?;
        match (event.kind.as_str(), event.id) {
            ("done", _) => return Ok(()),
            // A real service has the code in a JSON document.
            ("error", _) => {
                let known = llm::known_openai(&event.data);
                return Err(StreamError::Answer(known.unwrap_or(Classification::new(RetrySafety::No))));
            }
            // The token and its id are stored together, without a point in between where the attempt can be dropped.
            (_, Some(id)) => {
                text.push(event.data);
                *last_id = id;
            }
            (_, None) => text.push(event.data),
        }
    }
}

#[derive(Default)]
struct Event {
    kind: String,
    id: Option<usize>,
    data: String,
}

/// Reads an event up to the empty line at its end. An event that is cut short is an error.
async fn event(connection: &mut BufReader<TcpStream>) -> Result<Event, Error> {
    let mut event = Event::default();
    loop {
        let line = line(connection).await?;
        match line.split_once(": ") {
            Some(("event", kind)) => kind.clone_into(&mut event.kind),
            Some(("id", id)) => event.id = id.parse().ok(),
            Some(("data", data)) => data.clone_into(&mut event.data),
            _ if line.is_empty() => return Ok(event),
            _ => {}
        }
    }
}

/// Reads a line without its end.
async fn line(connection: &mut BufReader<TcpStream>) -> Result<String, Error> {
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.strip_suffix('\r').unwrap_or(line).to_owned()),
        // The stream ends before its last event, or in the middle of a line.
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

const STREAMS: usize = 100;
const TOKENS: usize = 20;
/// The streams that break, and after how many tokens.
const BREAKS: [(usize, usize); 2] = [(17, 1), (63, 12)];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let server = Arc::new(Server::default());
    let serving = Arc::clone(&server);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let server = Arc::clone(&serving);
            tokio::spawn(async move { server.answer(connection).await });
        }
    });

    let mut streams = JoinSet::new();
    for stream in 0..STREAMS {
        streams.spawn(async move {
            let (mut last_id, mut text) = (0, Vec::new());
            let result = read(address, &format!("/{stream}"), &mut last_id, &mut text).await;
            (stream, result, text)
        });
    }
    while let Some(joined) = streams.join_next().await {
        let (stream, result, text) = joined?;
        result.unwrap_or_else(|error| panic!("stream {stream} failed: {error:?}"));
        let expected: Vec<_> = (1..=TOKENS).map(|id| token(stream, id)).collect();
        assert_eq!(text, expected, "each token of stream {stream} arrives exactly once");
    }

    let [requests, resumed, sent] =
        [&server.requests, &server.resumed, &server.sent].map(|n| n.load(Ordering::Relaxed));
    println!("{STREAMS} streams, {requests} requests, {resumed} of them with Last-Event-ID, {sent} tokens sent");
    assert_eq!((requests, resumed), (STREAMS + BREAKS.len(), BREAKS.len()));
    assert_eq!(sent, STREAMS * TOKENS, "no token was sent twice");
    Ok(())
}

fn token(stream: usize, id: usize) -> String {
    format!("token {id} of {stream}")
}

#[derive(Default)]
struct Server {
    requests: AtomicUsize,
    resumed: AtomicUsize,
    sent: AtomicUsize,
}

impl Server {
    /// Streams the tokens after the id that the client has seen, or a part of them.
    async fn answer(&self, connection: TcpStream) -> Result<(), Error> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut connection = BufReader::new(connection);
        let head = line(&mut connection).await?;
        let stream: usize = head.split([' ', '/']).find_map(|word| word.parse().ok()).unwrap_or_default();
        let mut last_id = None;
        loop {
            let header = line(&mut connection).await?;
            match header.split_once(": ") {
                Some((name, id)) if name.eq_ignore_ascii_case("last-event-id") => last_id = id.parse().ok(),
                _ if header.is_empty() => break,
                _ => {}
            }
        }

        let mut breaks_after = BREAKS.iter().find(|(breaks, _)| *breaks == stream).map(|(_, tokens)| *tokens);
        if let Some(id) = last_id {
            println!("stream {stream} continues after token {id}");
            assert_eq!(Some(id), breaks_after);
            self.resumed.fetch_add(1, Ordering::Relaxed);
            breaks_after = None;
        }
        let mut writer = BufWriter::new(connection.into_inner());
        writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n").await?;
        for id in last_id.unwrap_or(0) + 1..=TOKENS {
            writer.write_all(format!("id: {id}\ndata: {}\n\n", token(stream, id)).as_bytes()).await?;
            writer.flush().await?;
            self.sent.fetch_add(1, Ordering::Relaxed);
            if breaks_after == Some(id) {
                println!("stream {stream} breaks after token {id}");
                return Ok(());
            }
        }
        writer.write_all(b"event: done\ndata: [DONE]\n\n").await?;
        writer.flush().await
    }
}
