//! A command-line tool that fetches a line from a server, and tells the person in front of it about each retry:
//! `command_line [ADDRESS]`. It blocks, and needs neither tokio nor a macro.
//!
//! Without an address, it starts its own server, which is not there yet when the first attempts are made.

use retry_core::{StandardRetryStrategy, retry_blocking};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// A person waits, so the delays are short and there are many attempts.
static SERVER: StandardRetryStrategy =
    StandardRetryStrategy::new().max_attempts(10).backoff(Duration::from_millis(300), Duration::from_secs(3));

fn main() -> ExitCode {
    let address = match std::env::args().nth(1) {
        Some(address) => address,
        None => match late_server() {
            Ok(address) => address.to_string(),
            Err(error) => return failed(&error),
        },
    };
    println!("fetching from {address}");
    let call = retry_blocking(&SERVER, || fetch(&address))
        .when(|error| matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::TimedOut))
        .on_retry(|error, event| {
            // The last failure has no delay. `failed` tells it.
            if let Some(delay) = event.kind.delay() {
                eprintln!("retrying in {:.1} s: {error}", delay.as_secs_f64());
            }
        });
    match call.run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &io::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

/// Makes one attempt.
fn fetch(address: &str) -> io::Result<String> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Starts a server that begins to listen after a second and stops after one answer. Until then its port refuses connections.
fn late_server() -> io::Result<SocketAddr> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    thread::spawn(move || -> io::Result<()> {
        thread::sleep(Duration::from_secs(1));
        let (mut stream, _) = TcpListener::bind(address)?.accept()?;
        writeln!(stream, "hello from the server")
    });
    Ok(address)
}
