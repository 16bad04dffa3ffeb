//! The server: it works off its requests one after the other, and has a fault at times.

use lab::scenario::faults::Fault;
use lab::scenario::outlast::World;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// A replica of the server. A request is a byte, and so is its answer.
#[derive(Debug)]
pub(super) struct Replica {
    service: Duration,
    round_trip: Duration,
    /// What happens to it, and when: it is down, stalls or hangs.
    fault: Option<(Fault, Range<Instant>)>,
    /// When it has worked off its queue.
    free: Mutex<Instant>,
}

impl Replica {
    /// Creates a replica in a world that begins at this time.
    pub(super) fn new(world: &World, number: u32, begin: Instant) -> Self {
        let at = |seconds: f64| begin + Duration::from_secs_f64(f64::from(world.begins_s) + seconds);
        let spell = world.faults.iter().find(|spell| spell.replica.is_none_or(|replica| replica == number));
        Self {
            service: Duration::from_secs_f64(1.0 / world.rate),
            round_trip: Duration::from_secs_f64(world.round_trip_ms / 1e3),
            fault: spell.map(|spell| {
                let end = spell.to_s.unwrap_or_else(|| world.fault_s.into());
                (spell.fault, at(spell.from_s)..at(end))
            }),
            free: Mutex::new(begin),
        }
    }

    /// Answers requests until it is dropped.
    pub(super) async fn serve(self, mut listener: TcpListener) -> io::Result<Infallible> {
        let replica = Arc::new(self);
        if let Some((Fault::Down, times)) = &replica.fault {
            if let Ok(ended) = timeout_at(times.start, replica.accept(&listener)).await {
                return ended;
            }
            let address = listener.local_addr()?;
            drop(listener);
            // Until it listens, connections are refused, and no other program gets the port.
            let socket = bound(address)?;
            sleep_until(times.end).await;
            listener = socket.listen(BACKLOG)?;
        }
        replica.accept(&listener).await
    }

    async fn accept(self: &Arc<Self>, listener: &TcpListener) -> io::Result<Infallible> {
        let mut connections = JoinSet::new();
        loop {
            let (connection, _) = listener.accept().await?;
            while connections.try_join_next().is_some() {}
            connections.spawn(Arc::clone(self).answer(connection));
        }
    }

    async fn answer(self: Arc<Self>, mut connection: TcpStream) -> io::Result<()> {
        connection.read_u8().await?;
        let answers_at = self.enqueue(Instant::now());
        // The client closes the connection when it gives up. The work for it is done nevertheless.
        let given_up = connection.read_u8();
        let Some(at) = answers_at else { return given_up.await.map(drop) };
        match timeout_at(at + self.round_trip, given_up).await {
            Ok(_) => Ok(()),
            Err(_) => connection.write_u8(0).await,
        }
    }

    /// Adds a request to the queue, and returns when its work is done. `None` means never.
    fn enqueue(&self, now: Instant) -> Option<Instant> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = now.max(*free);
        match &self.fault {
            Some((Fault::Hang(_), times)) if times.contains(&now) => return None,
            Some((Fault::Stall, times)) if times.contains(&start) => start = times.end,
            _ => {}
        }
        *free = start + self.service;
        Some(*free)
    }
}

/// Returns a listener at a free local port.
pub(super) fn listener() -> io::Result<TcpListener> {
    bound((Ipv4Addr::LOCALHOST, 0).into())?.listen(BACKLOG)
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Connections of the time before may still be open.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
