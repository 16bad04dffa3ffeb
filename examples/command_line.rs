//! A command-line tool that fetches a line from a server, and tells the person in front of it about each retry:
//! `command_line [ADDRESS]`. It blocks, and needs neither tokio nor a macro.
//!
//! The first Ctrl-C ends it, in a wait and in an attempt. The exit codes are 0, 1 for an error that another try won't change, 75
//! for one that it may (`EX_TEMPFAIL`), and 130 after Ctrl-C.
//!
//! Without an address, it starts its own server, which is not there yet when the first attempts are made.

use retry_core::{EventKind, PatientRetryStrategy, Report, RetryError, retry_blocking};
use std::error::Error;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A person waits, so the delays are short, and so is the wait for a server that is down.
static SERVER: PatientRetryStrategy = PatientRetryStrategy::new()
    .backoff(Duration::from_millis(300), Duration::from_secs(3))
    .max_wait_for_service(Duration::from_secs(5));

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // Another thread makes the call, so that this one can end the program in the middle of an attempt. In a tool that writes, let an
    // attempt end: set `.stop(&STOP)`, and call `STOP.stop()` at the first Ctrl-C.
    let (ended, end) = mpsc::channel();
    let interrupted = ended.clone();
    ctrlc::set_handler(move || _ = interrupted.send(None))?;
    let address = std::env::args().nth(1).map_or_else(late_server, Ok)?;
    println!("fetching from {address}");
    thread::spawn(move || ended.send(Some(fetch(&address))));
    let Some(report) = end.recv()? else { return Ok(ExitCode::from(130)) };
    Ok(match (report.outcome, report.reason) {
        (Ok(line), _) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        (Err(_), Some(RetryError::NotRetryable)) => ExitCode::FAILURE,
        (Err(_), _) => ExitCode::from(75),
    })
}

fn fetch(address: &str) -> Report<io::Result<String>> {
    retry_blocking(&SERVER, || attempt(address))
        .when(|error| matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::TimedOut))
        .on_retry(|error, event| match event.kind {
            EventKind::RetryScheduled { delay, .. } => eprintln!("retrying in {:.1} s: {error}", delay.as_secs_f64()),
            EventKind::WaitingForService { .. } => eprintln!("waiting for the server: {error}"),
            _ => eprintln!("error: {error}"),
        })
        .report()
}

/// Makes one attempt.
fn attempt(address: &str) -> io::Result<String> {
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
