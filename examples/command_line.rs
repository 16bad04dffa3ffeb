//! A command-line tool that fetches a line from a server, and tells the person in front of it about each retry:
//! `command_line [ADDRESS]`. It blocks, and needs neither tokio nor a macro.
//!
//! Ctrl-C ends a wait immediately. The exit codes are 0, 1 for an error that another try won't change, 75 for one that it may
//! (`EX_TEMPFAIL`), and 130 after Ctrl-C.
//!
//! Without an address, it starts its own server, which is not there yet when the first attempts are made.

use retry_core::{RetryError, StandardRetryStrategy, Stop, retry_blocking};
use std::error::Error;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

/// A person waits, so the delays are short.
static SERVER: StandardRetryStrategy =
    StandardRetryStrategy::new().max_attempts(6).backoff(Duration::from_millis(300), Duration::from_secs(3));
static STOP: Stop = Stop::new();

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // In the middle of an attempt, Ctrl-C has to be pressed twice.
    ctrlc::set_handler(|| if STOP.is_stopped() { exit(130) } else { STOP.stop() })?;
    let address = std::env::args().nth(1).map_or_else(late_server, Ok)?;
    println!("fetching from {address}");
    let report = retry_blocking(&SERVER, || fetch(&address))
        .when(|error| matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::TimedOut))
        .on_retry(|error, event| match event.kind.delay() {
            Some(delay) => eprintln!("retrying in {:.1} s: {error}", delay.as_secs_f64()),
            None => eprintln!("error: {error}"),
        })
        .stop(&STOP)
        .report();
    Ok(match (report.outcome, report.reason) {
        (Ok(line), _) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        (Err(_), Some(RetryError::NotRetryable)) => ExitCode::FAILURE,
        (Err(_), Some(RetryError::Stopped)) => ExitCode::from(130),
        (Err(_), _) => ExitCode::from(75),
    })
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
fn late_server() -> io::Result<String> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    thread::spawn(move || -> io::Result<()> {
        thread::sleep(Duration::from_secs(1));
        let (mut stream, _) = TcpListener::bind(address)?.accept()?;
        writeln!(stream, "hello from the server")
    });
    Ok(address.to_string())
}
