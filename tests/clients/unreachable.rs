//! Addresses that can't be connected to.

use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Returns an address that nothing listens on while this process lives.
///
/// # Panics
///
/// If no port can be bound.
pub fn refused_address() -> SocketAddr {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    // It does not listen, and keeps the port, which another test would otherwise get.
    std::mem::forget(socket);
    address
}

/// A server that accepts no connection and whose backlog is full: connecting to it takes forever.
#[derive(Debug)]
pub struct FullBacklog {
    address: SocketAddr,
    _listener: TcpListener,
    _queued: Vec<TcpStream>,
}

impl FullBacklog {
    /// Starts the server and fills its backlog.
    ///
    /// # Panics
    ///
    /// If the backlog is not bounded.
    pub fn start() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        socket.listen(1).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        while let Ok(connection) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            queued.push(connection);
            assert!(queued.len() < 64, "the backlog is not bounded");
        }
        Self { address, _listener: listener, _queued: queued }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
