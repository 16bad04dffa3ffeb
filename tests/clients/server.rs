//! A server that reacts to each request as a test says, and counts the requests.
//!
//! It runs on threads of its own, so that blocking clients can be tested with it, too.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The server's reaction to a request. After it, the connection is closed.
#[derive(Clone, Copy, Debug)]
pub enum Reaction {
    /// Answers with this status, these headers, each followed by a line break, and this body.
    Answer(u16, &'static str, &'static str),
    /// Sends this.
    Send(&'static str),
    /// Sends this and resets the connection.
    SendAndReset(&'static str),
    /// Sends this and then waits for the client to hang up.
    SendAndStall(&'static str),
}

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    /// The URL of the server.
    pub url: String,
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    reactions: Vec<Reaction>,
    tls: Option<Arc<ServerConfig>>,
    requests: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// Starts a server that reacts to all requests in the same way.
    pub fn start(reaction: Reaction) -> Self {
        Self::start_script([reaction])
    }

    /// Starts a server that reacts to each request in turn. The last reaction is repeated.
    pub fn start_script(reactions: impl Into<Vec<Reaction>>) -> Self {
        Self::run("http", reactions.into(), None)
    }

    /// Starts a server whose TLS certificate no client trusts, because the server signed it itself.
    ///
    /// # Panics
    ///
    /// If no certificate can be made.
    pub fn start_untrusted(reaction: Reaction) -> Self {
        Self::run("https", vec![reaction], Some(untrusted()))
    }

    fn run(scheme: &str, reactions: Vec<Reaction>, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("{scheme}://localhost:{}/", address.port());
        let state = State { reactions, tls, requests: AtomicUsize::new(0), stopped: AtomicBool::new(false) };
        let server = Self { url, address, state: Arc::new(state) };
        let state = Arc::clone(&server.state);
        thread::spawn(move || {
            for connection in listener.incoming() {
                if state.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&state);
                // Clients break connections, so errors are expected.
                thread::spawn(move || connection.and_then(|connection| serve(connection, &state)));
            }
        });
        server
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of requests received.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        // Wakes the server, which waits for a connection.
        _ = TcpStream::connect(self.address);
    }
}

/// Returns the settings of TLS with a certificate that no client trusts, because the server signed it itself.
pub(crate) fn untrusted() -> Arc<ServerConfig> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.into()], key.into())
        .unwrap();
    Arc::new(tls)
}

fn serve(mut connection: TcpStream, state: &State) -> io::Result<()> {
    // Only bounds a failing test.
    connection.set_read_timeout(Some(Duration::from_mins(1)))?;
    if let Some(config) = &state.tls {
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        return react(&mut StreamOwned::new(session, connection), state).map(drop);
    }
    if react(&mut connection, state)? {
        SockRef::from(&connection).set_linger(Some(Duration::ZERO))?;
    }
    Ok(())
}

/// Serves one request. Returns whether the connection must be reset.
fn react(connection: &mut (impl Read + Write), state: &State) -> io::Result<bool> {
    if !read_request(connection)? {
        return Ok(false);
    }
    let request = state.requests.fetch_add(1, Ordering::SeqCst);
    let reaction = state.reactions[request.min(state.reactions.len() - 1)];
    match reaction {
        Reaction::Answer(status, headers, body) => {
            let length = body.len();
            write!(connection, "HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\nconnection: close\r\n")?;
            write!(connection, "{headers}\r\n{body}")?;
        }
        Reaction::Send(answer) | Reaction::SendAndReset(answer) => connection.write_all(answer.as_bytes())?,
        Reaction::SendAndStall(answer) => {
            connection.write_all(answer.as_bytes())?;
            connection.flush()?;
            connection.read_to_end(&mut Vec::new())?;
        }
    }
    connection.flush()?;
    Ok(matches!(reaction, Reaction::SendAndReset(_)))
}

/// Reads a request. Returns false if the client closed the connection first. The whole request is read, because closing
/// a connection with unread data resets it.
pub(crate) fn read_request(connection: &mut impl Read) -> io::Result<bool> {
    let mut request = Vec::new();
    while !is_complete(&request) {
        let mut piece = [0; 4096];
        let length = connection.read(&mut piece)?;
        if length == 0 {
            return Ok(false);
        }
        request.extend_from_slice(&piece[..length]);
    }
    Ok(true)
}

/// Returns whether a request is complete, by its `content-length`.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("\r\n").find_map(|line| line.strip_prefix("content-length:"));
    length.is_none_or(|length| length.trim().parse().is_ok_and(|length: usize| body.len() >= length))
}
