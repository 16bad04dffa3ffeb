//! The frames of HTTP/2 that a server needs to misbehave (RFC 9113). Requests are read to their end, and not decoded.

use super::{Fault, State, reset};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

/// The flag of the last frame of a stream.
const END_STREAM: u8 = 1;
/// The same flag, in SETTINGS and PING.
const ACK: u8 = 1;
/// The flag of a whole head.
const END_HEADERS: u8 = 4;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;

/// The head `:status: 200` and `content-type: application/grpc`, compressed by RFC 7541: two indexes, and a text with its length.
const HEAD: &[u8] = b"\x88\x0f\x10\x10application/grpc";

/// The page of a proxy.
const PAGE: &[u8] = b"<html><head><title>Bad Gateway</title></head></html>";

/// Returns a compressed head with this status and these headers, whose texts have less than 127 bytes.
///
/// # Panics
///
/// If a text is longer.
pub fn http2_head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let literal = |head: &mut Vec<u8>, text: &str| {
        head.push(u8::try_from(text.len()).expect("a short text"));
        head.extend(text.bytes());
    };
    // The name `:status` is in the static table.
    let mut head = vec![8];
    literal(&mut head, &status.to_string());
    for (name, value) in headers {
        head.push(0);
        literal(&mut head, name);
        literal(&mut head, value);
    }
    head
}

/// The beginning of a gRPC message of 100 bytes.
const HALF: &[u8] = b"\0\0\0\0\x64half";

/// Serves a connection until the fault ends it or the client hangs up.
pub(super) fn serve(mut connection: TcpStream, state: &State) -> io::Result<()> {
    connection.read_exact(&mut [0; 24])?;
    send(&mut connection, SETTINGS, 0, 0, &[])?;
    loop {
        let mut head = [0; 9];
        connection.read_exact(&mut head)?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        connection.read_exact(&mut payload)?;
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match kind {
            SETTINGS | PING if flags & ACK == 0 => {
                let answer: &[u8] = if kind == PING { &payload } else { &[] };
                send(&mut connection, kind, ACK, 0, answer)?;
            }
            DATA | HEADERS if flags & END_STREAM != 0 => {
                state.requests.fetch_add(1, Ordering::SeqCst);
                if state.fault.is_unprocessed() {
                    state.refused.fetch_add(1, Ordering::SeqCst);
                }
                if react(&mut connection, state.fault, stream)? {
                    return Ok(());
                }
            }
            _ => {}
        }
    }
}

/// Answers a request. Returns whether the connection must be closed.
fn react(connection: &mut TcpStream, fault: Fault, stream: u32) -> io::Result<bool> {
    let half = |connection: &mut TcpStream| {
        send(connection, HEADERS, END_HEADERS, stream, HEAD)?;
        send(connection, DATA, 0, stream, HALF)
    };
    let reset_stream = |connection: &mut TcpStream, code: u32| {
        send(connection, RST_STREAM, 0, stream, &code.to_be_bytes())?;
        Ok(false)
    };
    let go_away = |connection: &mut TcpStream, last: u32| {
        send(connection, GOAWAY, 0, 0, &[last.to_be_bytes(), NO_ERROR.to_be_bytes()].concat())?;
        Ok(true)
    };
    match fault {
        Fault::ResetRead => reset(connection).map(|()| true),
        Fault::CutInBody => half(connection).map(|()| true),
        Fault::StallInBody => half(connection).map(|()| false),
        Fault::Garbage => connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").map(|()| true),
        Fault::RefusedStream => reset_stream(connection, REFUSED_STREAM),
        Fault::Cancel => reset_stream(connection, CANCEL),
        Fault::InternalError => reset_stream(connection, INTERNAL_ERROR),
        Fault::CancelInBody => half(connection).and_then(|()| reset_stream(connection, CANCEL)),
        Fault::RefusedInBody => half(connection).and_then(|()| reset_stream(connection, REFUSED_STREAM)),
        // Clients begin with stream 1, so none is before this one.
        Fault::GoAwayBelow => go_away(connection, stream - 1),
        Fault::GoAwayAbove => go_away(connection, stream),
        Fault::Stall => Ok(false),
        Fault::Page(status) => {
            let headers: &[_] = match status {
                302 => &[("content-type", "text/html"), ("location", "/login")],
                _ => &[("content-type", "text/html")],
            };
            send(connection, HEADERS, END_HEADERS, stream, &http2_head(status, headers))?;
            send(connection, DATA, END_STREAM, stream, PAGE).map(|()| false)
        }
        Fault::Empty(status) => {
            send(connection, HEADERS, END_HEADERS | END_STREAM, stream, &http2_head(status, &[])).map(|()| false)
        }
        Fault::CutBeforeTrailers => send(connection, HEADERS, END_HEADERS | END_STREAM, stream, HEAD).map(|()| false),
        Fault::CutInMessage => {
            half(connection)?;
            send(connection, DATA, END_STREAM, stream, &[]).map(|()| false)
        }
        _ => Ok(true),
    }
}

fn send(connection: &mut TcpStream, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    connection.write_all(&[&head, payload].concat())
}
