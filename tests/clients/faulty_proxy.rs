//! A proxy to a database that misbehaves in one way at each request.

use crate::Fault;
use crate::faulty::shake_hands;
use socket2::{Domain, SockRef, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How a [`FaultyProxy`] misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`text` says what each of them is")]
pub enum DatabaseFault {
    None,
    Refused,
    ClosedAtStart,
    ResetUnread,
    ResetRead,
    Closed,
    CutInAnswer,
    Stall,
    StallInAnswer,
    Garbage,
    TooShort,
    TooLong,
    ReusedClosedBefore,
    ReusedReset,
    ReusedClosed,
    /// One of TLS.
    Tls(Fault),
    /// The code of an answer in place of that of the server, which does not get the request.
    Answer(&'static str),
}

impl DatabaseFault {
    /// Returns what the proxy does, in words.
    pub fn text(self) -> String {
        let text = match self {
            Self::Tls(fault) => return fault.text(),
            Self::None => "none",
            Self::Refused => "connection refused",
            Self::ClosedAtStart => "closed while connecting",
            Self::ResetUnread => "reset before the request was read",
            Self::ResetRead => "reset after the request was carried out",
            Self::Closed => "closed after the request was carried out",
            Self::CutInAnswer => "closed in the answer",
            Self::Stall => "stall before the answer",
            Self::StallInAnswer => "stall in the answer",
            Self::Garbage => "bytes that are not the protocol",
            Self::TooShort => "a length below that of the answer",
            Self::TooLong => "a length above that of the answer, and the connection stays open",
            Self::ReusedClosedBefore => "reused connection: closed before the request was sent",
            Self::ReusedReset => "reused connection: reset before the request was read",
            Self::ReusedClosed => "reused connection: closed after the request was carried out",
            Self::Answer(code) => code,
        };
        text.to_owned()
    }

    /// Returns whether the connection stays open, so that a client may need a timeout to end a request.
    pub fn is_endless(self) -> bool {
        matches!(self, Self::Stall | Self::StallInAnswer | Self::TooShort | Self::TooLong)
    }

    /// Returns whether no connection comes about.
    pub fn is_while_connecting(self) -> bool {
        matches!(self, Self::Refused | Self::ClosedAtStart | Self::Tls(_))
    }

    /// Returns whether a connection serves its first request well.
    pub fn is_of_reused(self) -> bool {
        matches!(self, Self::ReusedClosedBefore | Self::ReusedReset | Self::ReusedClosed)
    }
}

/// What the answers to requests look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RESP 2, with answers that are bulk strings.
    Redis,
    /// The protocol of `PostgreSQL`.
    Postgres,
    /// The protocol of `MySQL`, with answers that are of one packet.
    MySql,
}

impl Protocol {
    /// Returns a text in the answer to a request with this text. Clients send other requests with it, such as one that drops a
    /// prepared statement, which have answers of their own.
    fn answer_to(self, request: &str) -> &'static str {
        match self {
            Self::Redis => "$",
            Self::Postgres if request == "COMMIT" => "COMMIT\0",
            Self::Postgres => "INSERT 0 1\0",
            // In each packet.
            Self::MySql => "\0",
        }
    }

    /// Returns the answer with another length of its content.
    fn with_length(self, answer: &[u8], is_longer: bool) -> Vec<u8> {
        let changed = |length: usize| if is_longer { length + 100 } else { length - 2 };
        match self {
            Self::Redis => {
                let text = std::str::from_utf8(answer).expect("a bulk string");
                let (length, rest) =
                    text.strip_prefix('$').and_then(|it| it.split_once("\r\n")).expect("a bulk string");
                format!("${}\r\n{rest}", changed(length.parse().expect("a length"))).into_bytes()
            }
            Self::MySql => {
                let mut answer = answer.to_vec();
                let changed = u8::try_from(changed(answer[0].into())).expect("a short packet");
                answer[0] = changed;
                answer
            }
            Self::Postgres => {
                let mut answer = answer.to_vec();
                let mut message = 0;
                loop {
                    let length: [u8; 4] = answer[message + 1..message + 5].try_into().expect("four bytes");
                    let length = usize::try_from(u32::from_be_bytes(length)).expect("64 bits");
                    if answer[message] == b'C' {
                        let changed = u32::try_from(changed(length)).expect("a short message");
                        answer[message + 1..message + 5].copy_from_slice(&changed.to_be_bytes());
                        return answer;
                    }
                    message += 1 + length;
                }
            }
        }
    }
}

/// A proxy to a port of this machine. It runs until its runtime ends.
#[derive(Debug)]
pub struct FaultyProxy {
    /// The port that clients connect to.
    pub port: u16,
    /// Refuses connections, and keeps its port from the servers of other tests.
    _bound: Option<Socket>,
}

struct Rule {
    server: u16,
    protocol: Protocol,
    fault: DatabaseFault,
    /// A request has this text.
    request: &'static str,
}

impl FaultyProxy {
    /// Starts a proxy that misbehaves at each request with this text, or with a fault of reused connections, at the second one of
    /// each connection.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    pub async fn start(server: u16, protocol: Protocol, fault: DatabaseFault, request: &'static str) -> Self {
        if fault == DatabaseFault::Refused {
            let bound = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            bound.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
            let port = bound.local_addr().unwrap().as_socket().unwrap().port();
            return Self { port, _bound: Some(bound) };
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let rule = Arc::new(Rule { server, protocol, fault, request });
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let rule = Arc::clone(&rule);
                // Clients break connections, so errors are expected.
                tokio::spawn(async move { rule.serve(client).await });
            }
        });
        Self { port, _bound: None }
    }
}

impl Rule {
    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        if self.fault == DatabaseFault::ClosedAtStart {
            if self.protocol == Protocol::MySql {
                // The server speaks first.
                return Ok(());
            }
            // What was not read would make the system send a reset.
            return client.read(&mut [0; 4096]).await.map(drop);
        }
        if let DatabaseFault::Tls(fault) = self.fault {
            return self.shake_hands(client, fault).await;
        }
        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server)).await?;
        let (mut from_client, mut from_server) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        let faulty = if matches!(self.fault, DatabaseFault::ReusedReset | DatabaseFault::ReusedClosed) { 2 } else { 1 };
        let (mut requests, mut is_faulty, mut is_mute) = (0, false, false);
        loop {
            tokio::select! {
                length = client.read(&mut from_client) => {
                    let bytes = &from_client[..length?];
                    if bytes.is_empty() {
                        return Ok(());
                    }
                    if has(bytes, self.request) {
                        requests += 1;
                        is_faulty = requests >= faulty && self.fault != DatabaseFault::None;
                    }
                    match self.fault {
                        DatabaseFault::ResetUnread | DatabaseFault::ReusedReset if is_faulty => return reset(&client),
                        DatabaseFault::Answer(answer) if is_faulty => {
                            is_faulty = false;
                            client.write_all(format!("-{answer} on purpose\r\n").as_bytes()).await?;
                        }
                        _ => server.write_all(bytes).await?,
                    }
                }
                length = server.read(&mut from_server) => {
                    let bytes = &from_server[..length?];
                    if bytes.is_empty() {
                        return Ok(());
                    }
                    if is_mute {
                        continue;
                    }
                    if !is_faulty || !has(bytes, self.protocol.answer_to(self.request)) {
                        client.write_all(bytes).await?;
                        continue;
                    }
                    client.write_all(&self.answer(bytes)).await?;
                    if !self.fault.is_endless() {
                        return if self.fault == DatabaseFault::ResetRead { reset(&client) } else { Ok(()) };
                    }
                    is_mute = true;
                }
            }
        }
    }

    /// Fails in the handshake of TLS, which a client of `PostgreSQL` asks for.
    async fn shake_hands(&self, mut client: TcpStream, fault: Fault) -> io::Result<()> {
        if self.protocol == Protocol::Postgres {
            client.read_exact(&mut [0; 8]).await?;
            if fault == Fault::TlsMissing {
                return client.write_all(b"N").await;
            }
            client.write_all(b"S").await?;
        }
        let client = client.into_std()?;
        client.set_nonblocking(false)?;
        tokio::task::spawn_blocking(move || shake_hands(client, fault)).await?
    }

    /// Returns what the client gets of the answer to a request.
    fn answer(&self, answer: &[u8]) -> Vec<u8> {
        match self.fault {
            DatabaseFault::CutInAnswer | DatabaseFault::StallInAnswer => answer[..answer.len() / 2].to_vec(),
            DatabaseFault::TooShort => self.protocol.with_length(answer, false),
            DatabaseFault::TooLong => self.protocol.with_length(answer, true),
            DatabaseFault::Garbage => b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            DatabaseFault::ReusedClosedBefore => answer.to_vec(),
            _ => Vec::new(),
        }
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Makes the connection end with a reset.
fn reset(connection: &TcpStream) -> io::Result<()> {
    SockRef::from(connection).set_linger(Some(Duration::ZERO))
}
