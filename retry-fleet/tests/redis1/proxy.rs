//! A TCP proxy that can be slow, silent, or cut.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The time after which a thread looks at what has changed.
const TICK: Duration = Duration::from_millis(5);

/// A proxy on the loopback interface, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: AtomicU16,
    /// Connections with a lower number are cut, or transport nothing any more.
    cut_below: AtomicU32,
    silent_below: AtomicU32,
    accepted: AtomicU32,
    /// The time by which each piece of data is late, in each direction, in milliseconds.
    delay: AtomicU64,
    is_over: AtomicBool,
}

impl Proxy {
    pub(crate) fn start(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared {
            target: target.into(),
            cut_below: 0.into(),
            silent_below: 0.into(),
            accepted: 0.into(),
            delay: 0.into(),
            is_over: false.into(),
        });
        let proxy = Self { port, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            while !shared.is_over.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((client, _)) => serve(&client, &shared),
                    Err(_) => thread::sleep(TICK),
                }
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the number of connections that were made.
    pub(crate) fn accepted(&self) -> u32 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// Leads new connections to this port.
    pub(crate) fn lead_to(&self, port: u16) {
        self.shared.target.store(port, Ordering::SeqCst);
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        self.shared.cut_below.store(u32::MAX, Ordering::SeqCst);
        thread::sleep(10 * TICK);
        self.shared.cut_below.store(self.accepted(), Ordering::SeqCst);
    }

    /// Lets the connections of this time, or all to come as well, transport nothing any more, without closing them.
    pub(crate) fn silence(&self, for_all: bool) {
        self.shared.silent_below.store(if for_all { u32::MAX } else { self.accepted() }, Ordering::SeqCst);
    }

    /// Resumes the connections that were silent.
    pub(crate) fn go_on(&self) {
        self.shared.silent_below.store(0, Ordering::SeqCst);
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.shared.delay.store(u64::try_from(delay.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
    }
}

fn serve(client: &TcpStream, shared: &Arc<Shared>) {
    let number = shared.accepted.fetch_add(1, Ordering::SeqCst);
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.target.load(Ordering::SeqCst))) else { return };
    for (from, to) in [(client, &server), (&server, client)] {
        let (from, to, shared) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(shared));
        thread::spawn(move || {
            transport(&from, &to, number, &shared);
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

fn transport(mut from: &TcpStream, mut to: &TcpStream, number: u32, shared: &Shared) {
    let is_over = || shared.is_over.load(Ordering::SeqCst) || number < shared.cut_below.load(Ordering::SeqCst);
    from.set_nonblocking(false).unwrap();
    from.set_read_timeout(Some(TICK)).unwrap();
    let mut data = [0; 4_096];
    while !is_over() {
        let length = match from.read(&mut data) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => return,
        };
        thread::sleep(Duration::from_millis(shared.delay.load(Ordering::SeqCst)));
        while number < shared.silent_below.load(Ordering::SeqCst) {
            if is_over() {
                return;
            }
            thread::sleep(TICK);
        }
        if to.write_all(&data[..length]).is_err() {
            return;
        }
    }
}
