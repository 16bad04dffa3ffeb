//! A server that misbehaves in one way at each request, and counts the requests.

mod http2;

pub use http2::http2_head;

use crate::server::{read_request, untrusted};
use rustls::{ServerConnection, StreamOwned};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The time between two bytes of a head that never ends.
const SLOW: Duration = Duration::from_millis(20);

/// An answer that leaves the connection open.
const WELL: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell";

/// How a [`FaultyServer`] misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`text` says what each of them is")]
pub enum Fault {
    Refused,
    ResetUnread,
    ResetRead,
    Closed,
    CutInHead,
    CutInBody,
    CutInChunk,
    Stall,
    StallInBody,
    SlowHead,
    TooShort,
    TooLong,
    TwoLengths,
    Garbage,
    TlsUntrusted,
    TlsMissing,
    TlsCut,
    ReusedClosedBefore,
    ReusedReset,
    ReusedClosed,
    GoAwayBelow,
    GoAwayAbove,
    RefusedStream,
    Cancel,
    CancelInBody,
    RefusedInBody,
    InternalError,
    Page(u16),
    Empty(u16),
    CutBeforeTrailers,
    CutInMessage,
}

impl Fault {
    /// Those of HTTP/1.1, in the order of the table.
    pub const HTTP1: [Self; 20] = [
        Self::Refused,
        Self::ResetUnread,
        Self::ResetRead,
        Self::Closed,
        Self::CutInHead,
        Self::CutInBody,
        Self::CutInChunk,
        Self::Stall,
        Self::StallInBody,
        Self::SlowHead,
        Self::TooShort,
        Self::TooLong,
        Self::TwoLengths,
        Self::Garbage,
        Self::TlsUntrusted,
        Self::TlsMissing,
        Self::TlsCut,
        Self::ReusedClosedBefore,
        Self::ReusedReset,
        Self::ReusedClosed,
    ];

    /// Those of HTTP/2, in the order of the table.
    pub const HTTP2: [Self; 18] = [
        Self::Refused,
        Self::ResetUnread,
        Self::ResetRead,
        Self::Closed,
        Self::CutInBody,
        Self::Stall,
        Self::StallInBody,
        Self::Garbage,
        Self::TlsUntrusted,
        Self::TlsMissing,
        Self::TlsCut,
        Self::GoAwayBelow,
        Self::GoAwayAbove,
        Self::RefusedStream,
        Self::Cancel,
        Self::CancelInBody,
        Self::RefusedInBody,
        Self::InternalError,
    ];

    /// What a proxy in front of a server of gRPC answers in its name, in the order of the table.
    pub const PROXY: [Self; 11] = [
        Self::Page(502),
        Self::Page(503),
        Self::Page(504),
        Self::Page(429),
        Self::Page(404),
        Self::Page(302),
        Self::Page(200),
        Self::Empty(503),
        Self::Empty(200),
        Self::CutBeforeTrailers,
        Self::CutInMessage,
    ];

    /// Returns what the server does, in words.
    pub fn text(self) -> String {
        let text = match self {
            Self::Page(status) => return format!("{status} with a page of HTML"),
            Self::Empty(status) => return format!("{status} without a body"),
            Self::CutBeforeTrailers => "an answer of gRPC that ends before its trailers",
            Self::CutInMessage => "an answer of gRPC that ends within a message",
            Self::Refused => "connection refused",
            Self::ResetUnread => "reset before the request was read",
            Self::ResetRead => "reset after the request was read",
            Self::Closed => "closed after the request was read",
            Self::CutInHead => "closed in the head",
            Self::CutInBody => "closed in the body",
            Self::CutInChunk => "closed in a chunk of the body",
            Self::Stall => "stall before the head",
            Self::StallInBody => "stall in the body",
            Self::SlowHead => "a head that arrives byte by byte and never ends",
            Self::TooShort => "`content-length` below the length of the body",
            Self::TooLong => "`content-length` above the length of the body, and the connection stays open",
            Self::TwoLengths => "two different `content-length`",
            Self::Garbage => "bytes that are not HTTP",
            Self::TlsUntrusted => "TLS: a certificate that no client trusts",
            Self::TlsMissing => "TLS: a server without TLS",
            Self::TlsCut => "TLS: closed in the handshake",
            Self::ReusedClosedBefore => "reused connection: closed before the request was sent",
            Self::ReusedReset => "reused connection: reset before the request was read",
            Self::ReusedClosed => "reused connection: closed after the request was read",
            Self::GoAwayBelow => "GOAWAY with a last stream below that of the request",
            Self::GoAwayAbove => "GOAWAY with the stream of the request, then closed",
            Self::RefusedStream => "RST_STREAM with REFUSED_STREAM",
            Self::Cancel => "RST_STREAM with CANCEL",
            Self::CancelInBody => "RST_STREAM with CANCEL in the body",
            Self::RefusedInBody => "RST_STREAM with REFUSED_STREAM in the body",
            Self::InternalError => "RST_STREAM with INTERNAL_ERROR",
        };
        text.to_owned()
    }

    /// Returns whether only a timeout of the client ends a request.
    pub fn is_endless(self) -> bool {
        matches!(self, Self::Stall | Self::StallInBody | Self::SlowHead | Self::TooLong)
    }

    /// Returns whether a connection serves its first request well.
    pub fn is_of_reused(self) -> bool {
        matches!(self, Self::ReusedClosedBefore | Self::ReusedReset | Self::ReusedClosed)
    }

    /// Returns whether the protocol says that the request was not processed.
    fn is_unprocessed(self) -> bool {
        matches!(self, Self::GoAwayBelow | Self::RefusedStream)
    }

    fn is_of_tls(self) -> bool {
        matches!(self, Self::TlsUntrusted | Self::TlsMissing | Self::TlsCut)
    }
}

/// A running server on the loopback interface. It stops when this is dropped.
#[derive(Debug)]
pub struct FaultyServer {
    /// The URL of the server.
    pub url: String,
    address: SocketAddr,
    state: Arc<State>,
    /// Refuses connections, and keeps its port from the servers of other tests.
    _bound: Option<Socket>,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    http2: bool,
    requests: AtomicUsize,
    /// Those of the requests that the server refused and did not process.
    refused: AtomicUsize,
    stopped: AtomicBool,
}

impl FaultyServer {
    /// Starts a server of HTTP/1.1, or of HTTP/2.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    pub fn start(fault: Fault, http2: bool) -> Self {
        let (requests, refused, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let state = Arc::new(State { fault, http2, requests, refused, stopped });
        let bound = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        bound.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        let address = bound.local_addr().unwrap().as_socket().unwrap();
        let bound = if fault == Fault::Refused {
            Some(bound)
        } else {
            bound.listen(128).unwrap();
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&bound.into(), &state));
            None
        };
        let scheme = if fault.is_of_tls() { "https" } else { "http" };
        let url = format!("{scheme}://localhost:{}/", address.port());
        Self { url, address, state, _bound: bound }
    }

    /// Returns the number of requests that the server has read.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Returns the number of those requests that the server can have carried out.
    pub fn carried_out(&self) -> usize {
        self.requests() - self.state.refused.load(Ordering::SeqCst)
    }
}

impl Drop for FaultyServer {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        // Wakes the server, which waits for a connection.
        _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming() {
        if state.stopped.load(Ordering::SeqCst) {
            return;
        }
        let state = Arc::clone(state);
        // Clients break connections, so errors are expected.
        thread::spawn(move || connection.and_then(|connection| serve(connection, &state)));
    }
}

fn reset(connection: &TcpStream) -> io::Result<()> {
    SockRef::from(connection).set_linger(Some(Duration::ZERO))
}

fn serve(mut connection: TcpStream, state: &State) -> io::Result<()> {
    // Only bounds a failing test.
    connection.set_read_timeout(Some(Duration::from_mins(1)))?;
    let fault = state.fault;
    if fault.is_of_tls() {
        return shake_hands(connection, fault);
    }
    if fault == Fault::ResetUnread {
        return reset_unread(&connection);
    }
    if state.http2 {
        return http2::serve(connection, state);
    }
    if fault.is_of_reused() {
        if !read_request(&mut connection)? {
            return Ok(());
        }
        state.requests.fetch_add(1, Ordering::SeqCst);
        connection.write_all(WELL.as_bytes())?;
        match fault {
            Fault::ReusedClosedBefore => return Ok(()),
            Fault::ReusedReset => return reset_unread(&connection),
            _ => {}
        }
    }
    if !read_request(&mut connection)? {
        return Ok(());
    }
    state.requests.fetch_add(1, Ordering::SeqCst);
    connection.write_all(answer(fault).as_bytes())?;
    match fault {
        Fault::ResetRead => reset(&connection)?,
        Fault::SlowHead => loop {
            connection.write_all(b"x")?;
            thread::sleep(SLOW);
        },
        _ if fault.is_endless() => _ = connection.read_to_end(&mut Vec::new())?,
        _ => {}
    }
    Ok(())
}

/// Resets a connection when a request has arrived, without reading it.
fn reset_unread(connection: &TcpStream) -> io::Result<()> {
    if connection.peek(&mut [0])? > 0 { reset(connection) } else { Ok(()) }
}

/// Fails in the handshake of TLS.
pub(crate) fn shake_hands(mut connection: TcpStream, fault: Fault) -> io::Result<()> {
    if fault == Fault::TlsUntrusted {
        let session = ServerConnection::new(untrusted()).map_err(io::Error::other)?;
        return StreamOwned::new(session, connection).read_to_end(&mut Vec::new()).map(drop);
    }
    // What was not read makes the system send a reset.
    let _ = connection.read(&mut [0; 16 * 1024])?;
    if fault == Fault::TlsMissing {
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")?;
    }
    Ok(())
}

/// Returns what the server answers before the fault.
fn answer(fault: Fault) -> &'static str {
    match fault {
        Fault::CutInHead => "HTTP/1.1 200 OK\r\ncontent-len",
        Fault::CutInBody | Fault::TooLong => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        Fault::CutInChunk | Fault::StallInBody => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf",
        Fault::SlowHead => "HTTP/1.1 200 OK\r\nx: ",
        Fault::TooShort => "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nwhole",
        Fault::TwoLengths => "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nwhole",
        Fault::Garbage => "SSH-2.0-OpenSSH_9.2\r\n",
        _ => "",
    }
}
