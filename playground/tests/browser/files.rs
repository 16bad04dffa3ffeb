//! A server for the files of the page.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

/// Serves the files of a directory until the process ends, and returns the address of the page.
pub(crate) fn serve(directory: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let directory = directory.clone();
            // A browser can close a connection at any time.
            thread::spawn(move || respond(stream, &directory));
        }
    });
    format!("http://{address}/")
}

fn respond(mut stream: TcpStream, directory: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The headers are read, so that closing the connection does not reset it.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let address = request.split(' ').nth(1).unwrap_or_default();
    // A result of the search has a query.
    let name = match address.split('?').next().unwrap_or_default().trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let (status, content) = match fs::read(directory.join(name)) {
        Ok(content) => ("200 OK", content),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let kind = match extension.unwrap_or_default() {
        "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    };
    let length = content.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )?;
    stream.write_all(&content)
}
