//! A proxy that cuts connections at a given text of the client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Where a [`Proxy`] cuts a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The text does not reach the server.
    Text,
    /// The server gets the text, and its answer, which has this text, does not reach the client. Other statements can be answered
    /// before.
    Answer(&'static str),
}

/// A proxy to a port of this machine. It runs until the program ends.
#[derive(Debug)]
pub struct Proxy {
    /// The port that clients connect to.
    pub port: u16,
    texts: Arc<AtomicUsize>,
}

/// Says for the text with this number, from 0 on, whether the connection is cut.
type Cuts = dyn Fn(usize) -> Option<Cut> + Send + Sync;

#[derive(Clone)]
struct Rule {
    text: &'static str,
    cuts: Arc<Cuts>,
    texts: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts a proxy that cuts the connection at the first text of each `each` texts.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    pub fn start(server: u16, text: &'static str, cut: Cut, each: usize) -> Self {
        Self::start_with(server, text, move |number| (number % each == 0).then_some(cut))
    }

    /// Starts a proxy that cuts the connection as the closure says. It gets the number of each text, from 0 on.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    pub fn start_with(
        server: u16,
        text: &'static str,
        cuts: impl Fn(usize) -> Option<Cut> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let rule = Rule { text, cuts: Arc::new(cuts), texts: Arc::default() };
        let texts = Arc::clone(&rule.texts);
        thread::spawn(move || {
            for client in listener.incoming() {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap();
                connect(&rule, client.unwrap(), server);
            }
        });
        Self { port, texts }
    }

    /// Returns how often clients have sent the text.
    pub fn texts(&self) -> usize {
        self.texts.load(Ordering::SeqCst)
    }
}

fn connect(rule: &Rule, mut client: TcpStream, mut server: TcpStream) {
    let cut = Arc::new(Mutex::new(None));
    let (mut to_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (rule, cut_in_answers) = (rule.clone(), Arc::clone(&cut));
    thread::spawn(move || {
        while let Some(bytes) = read(&mut client) {
            if has(&bytes, rule.text) {
                let is_cut = (rule.cuts)(rule.texts.fetch_add(1, Ordering::SeqCst));
                *cut.lock().unwrap() = is_cut;
                if is_cut == Some(Cut::Text) {
                    break;
                }
            }
            if to_server.write_all(&bytes).is_err() {
                break;
            }
        }
        if !matches!(*cut.lock().unwrap(), Some(Cut::Answer(_))) {
            close(&client, &to_server);
        }
    });
    thread::spawn(move || {
        while let Some(bytes) = read(&mut server) {
            let is_answer = matches!(*cut_in_answers.lock().unwrap(), Some(Cut::Answer(answer)) if has(&bytes, answer));
            if is_answer || to_client.write_all(&bytes).is_err() {
                break;
            }
        }
        close(&server, &to_client);
    });
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

fn read(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 64 * 1024];
    let length = from.read(&mut bytes).ok().filter(|length| *length > 0)?;
    bytes.truncate(length);
    Some(bytes)
}

fn close(one: &TcpStream, other: &TcpStream) {
    for stream in [one, other] {
        // It can be closed already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}
