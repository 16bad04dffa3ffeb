//! A proxy that cuts connections at a given text of the client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

#[derive(Clone)]
struct Rule {
    text: &'static str,
    cut: Cut,
    each: usize,
    texts: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts a proxy that cuts the connection at the first text of each `each` texts.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    pub fn start(server: u16, text: &'static str, cut: Cut, each: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let rule = Rule { text, cut, each, texts: Arc::default() };
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
    let is_cut = Arc::new(AtomicBool::new(false));
    let (mut to_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (cut, rule, is_cut_in_answers) = (rule.cut, rule.clone(), Arc::clone(&is_cut));
    thread::spawn(move || {
        while let Some(bytes) = read(&mut client) {
            if has(&bytes, rule.text) && rule.texts.fetch_add(1, Ordering::SeqCst) % rule.each == 0 {
                is_cut.store(true, Ordering::SeqCst);
                if rule.cut == Cut::Text {
                    break;
                }
            }
            if to_server.write_all(&bytes).is_err() {
                break;
            }
        }
        if rule.cut == Cut::Text || !is_cut.load(Ordering::SeqCst) {
            close(&client, &to_server);
        }
    });
    thread::spawn(move || {
        while let Some(bytes) = read(&mut server) {
            let is_answer = matches!(cut, Cut::Answer(answer) if has(&bytes, answer));
            if is_answer && is_cut_in_answers.load(Ordering::SeqCst) || to_client.write_all(&bytes).is_err() {
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
