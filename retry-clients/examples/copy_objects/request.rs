//! A request of the client.

use std::collections::BTreeMap;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

/// A request as the store sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without the bucket.
    pub(crate) key: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Returns the method and the query, or the key if there is no query, and whether it is a write on a condition.
    pub(crate) fn line(&self) -> String {
        let rest = if self.query.is_empty() { &self.key } else { &self.query };
        let condition = if self.is_conditional() { " on a condition" } else { "" };
        format!("{} {rest}{condition}", self.method)
    }

    /// Returns whether an object must be absent.
    pub(crate) fn is_create(&self) -> bool {
        self.headers.keys().any(|name| name.ends_with("if-none-match"))
    }

    fn is_conditional(&self) -> bool {
        self.headers.keys().any(|name| name.ends_with("if-match") || name.ends_with("if-none-match"))
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the key of the object that is to be copied, if one is.
    pub(crate) fn copied_key(&self) -> Option<&str> {
        Some(self.header("x-amz-copy-source")?.split_once('/')?.1)
    }

    /// Returns the value of a part of the query, which is empty if the part has none.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (key == name).then_some(value)
        })
    }
}

/// Reads a request, by its `content-length`. Returns `None` if the client closed the connection first.
pub(crate) async fn read(connection: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.trim_end().to_owned());
    }
    let mut first = head.first().map_or("", String::as_str).split(' ');
    let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let key = path.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key);
    let headers = head.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    let (method, key, query) = (method.to_owned(), key.to_owned(), query.to_owned());
    Ok(Some(Request { method, key, query, headers, body }))
}
