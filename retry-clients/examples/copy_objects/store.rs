//! An object store in memory that speaks as much of S3 as `object_store` needs. It can limit its rate, and fails as it is told.

use super::request::{self, Request};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A running store. It stops when this is dropped.
pub(crate) struct Store {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "most are for tests")]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It is not acted upon. The answer has this status, these headers, each followed by a line break, and this error code in
    /// XML, or this body in JSON.
    Refused(u16, &'static str, &'static str),
    /// The connection is closed before it is acted upon.
    Dropped,
    /// It is acted upon, and the connection is closed without an answer.
    Unanswered,
    /// It is acted upon, and the answer breaks off after this number of bytes of its body.
    CutShort(usize),
    /// It is not acted upon. The answer is a success with this body.
    Says(&'static str),
}

/// Chooses the fault of a request, from the request and the number of requests of its kind before it.
type Faults = dyn Fn(&Request, usize) -> Fault + Send + Sync;

struct State {
    faults: Box<Faults>,
    /// Requests per second, if they are limited.
    limit: Option<f64>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    objects: BTreeMap<String, Vec<u8>>,
    uploads: BTreeMap<String, BTreeMap<u32, Vec<u8>>>,
    created: usize,
    /// The requests that arrived, those that were acted upon, and those that were rejected because of the limit.
    arrived: Vec<String>,
    acted_upon: Vec<String>,
    counts: BTreeMap<String, usize>,
    rejected: usize,
    tokens: f64,
    filled: Option<Instant>,
}

impl Store {
    /// Starts a store whose requests have these faults, and which accepts this number of requests per second.
    pub(crate) async fn start(
        limit: Option<f64>,
        faults: impl Fn(&Request, usize) -> Fault + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State { faults: Box::new(faults), limit, content: Mutex::default() });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                // Clients break connections, so errors are expected.
                connections.spawn(async move { state.serve(connection).await });
            }
        });
        Ok(Self { address, state, task })
    }

    /// Returns the requests that were acted upon, in the form of [`Request::line`].
    #[allow(dead_code, reason = "for tests")]
    pub(crate) fn acted_upon(&self) -> Vec<String> {
        self.state.content().acted_upon.clone()
    }

    /// Returns the requests that arrived, in the same form.
    #[allow(dead_code, reason = "for tests")]
    pub(crate) fn arrived(&self) -> Vec<String> {
        self.state.content().arrived.clone()
    }

    /// Returns the number of requests that were rejected because of the limit.
    #[allow(dead_code, reason = "for the program")]
    pub(crate) fn rejected(&self) -> usize {
        self.state.content().rejected
    }

    /// Adds an object.
    #[allow(dead_code, reason = "for tests")]
    pub(crate) fn insert(&self, key: &str, object: impl Into<Vec<u8>>) {
        self.state.content().objects.insert(key.to_owned(), object.into());
    }

    /// Returns the content of an object.
    #[allow(dead_code, reason = "for tests and programs")]
    pub(crate) fn object(&self, key: &str) -> Option<Vec<u8>> {
        self.state.content().objects.get(key).cloned()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer: the status, the headers, each followed by a line break, and the body.
struct Answer(u16, String, Vec<u8>);

impl Answer {
    fn error(status: u16, headers: &str, code: &str) -> Self {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
        let body = match code {
            "" => Vec::new(),
            _ if code.starts_with('{') => code.into(),
            _ => body.into(),
        };
        Self(status, headers.to_owned(), body)
    }

    fn ok(headers: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self(200, headers.into(), body.into())
    }
}

impl State {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut connection = BufReader::new(connection);
        while let Some(request) = request::read(&mut connection).await? {
            let (fault, answer) = self.react(&request);
            let Some(Answer(status, headers, body)) = answer else { return Ok(()) };
            let mut text = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n", body.len());
            if let Fault::Unanswered = fault {
                return Ok(());
            }
            if status == 204 {
                text = format!("HTTP/1.1 204 No Content\r\n{headers}\r\n");
            }
            let mut answer = text.into_bytes();
            let is_head = request.method == "HEAD";
            answer.extend_from_slice(match fault {
                Fault::CutShort(length) => &body[..length.min(body.len())],
                _ if is_head => &[],
                _ => &body,
            });
            connection.write_all(&answer).await?;
            connection.flush().await?;
            if let Fault::CutShort(_) = fault {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Acts upon a request. Returns its fault and its answer, if there is one.
    fn react(&self, request: &Request) -> (Fault, Option<Answer>) {
        let mut content = self.content();
        let line = request.line();
        content.arrived.push(line.clone());
        let count = content.counts.entry(line.clone()).or_default();
        let fault = (self.faults)(request, *count);
        *count += 1;
        let answer = match fault {
            Fault::Dropped => None,
            Fault::Refused(status, headers, code) => Some(Answer::error(status, headers, code)),
            Fault::Says(body) => Some(Answer::ok("", body)),
            Fault::None | Fault::Unanswered | Fault::CutShort(_) => Some(match self.limit {
                Some(rate) if !content.admit(rate) => Answer::error(503, "", "SlowDown"),
                _ => {
                    content.acted_upon.push(line);
                    content.act(request)
                }
            }),
        };
        (fault, answer)
    }
}

impl Content {
    /// Takes a token of a bucket that holds those of a tenth of a second.
    fn admit(&mut self, rate: f64) -> bool {
        let now = Instant::now();
        let capacity = (rate / 10.0).max(1.0);
        let gained = self.filled.map_or(capacity, |filled| rate * (now - filled).as_secs_f64());
        (self.tokens, self.filled) = ((self.tokens + gained).min(capacity), Some(now));
        if self.tokens < 1.0 {
            self.rejected += 1;
            return false;
        }
        self.tokens -= 1.0;
        true
    }

    fn act(&mut self, request: &Request) -> Answer {
        let key = request.key.clone();
        let upload = request.query("uploadId").map(str::to_owned);
        match (request.method.as_str(), upload) {
            ("PUT", Some(upload)) => {
                let number = request.query("partNumber").and_then(|number| number.parse().ok()).unwrap_or(0);
                let source = request.copied_key().map(|key| self.objects.get(key).cloned().unwrap_or_default());
                let Some(parts) = self.uploads.get_mut(&upload) else { return Answer::error(404, "", "NoSuchUpload") };
                let result = "CopyPartResult";
                let answer = source.as_ref().map(|_| format!("<{result}><ETag>\"copy\"</ETag></{result}>"));
                parts.insert(number, source.unwrap_or_else(|| request.body.clone()));
                Answer::ok(format!("etag: \"{number}\"\r\n"), answer.unwrap_or_default())
            }
            ("POST", Some(upload)) => {
                let Some(parts) = self.uploads.remove(&upload) else { return Answer::error(404, "", "NoSuchUpload") };
                self.objects.insert(key, parts.into_values().flatten().collect());
                let result = "CompleteMultipartUploadResult";
                Answer::ok("", format!("<{result}><ETag>\"done\"</ETag></{result}>"))
            }
            ("DELETE", Some(upload)) => {
                self.uploads.remove(&upload);
                Answer(204, String::new(), Vec::new())
            }
            ("POST", None) if request.query("uploads").is_some() => {
                self.created += 1;
                let upload = format!("upload-{}", self.created);
                self.uploads.insert(upload.clone(), BTreeMap::new());
                let result = "InitiateMultipartUploadResult";
                Answer::ok("", format!("<{result}><UploadId>{upload}</UploadId></{result}>"))
            }
            ("POST", None) => {
                let list = String::from_utf8_lossy(&request.body).into_owned();
                let keys = list.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
                let mut text = "<DeleteResult>".to_owned();
                for (key, _) in keys {
                    self.objects.remove(key);
                    _ = write!(text, "<Deleted><Key>{key}</Key></Deleted>");
                }
                Answer::ok("", text + "</DeleteResult>")
            }
            ("PUT", None) => self.put(request, key),
            ("DELETE", None) => {
                self.objects.remove(&key);
                Answer(204, String::new(), Vec::new())
            }
            _ if request.query("list-type").is_some() => {
                let mut text = "<ListBucketResult>".to_owned();
                for (key, object) in &self.objects {
                    let size = object.len();
                    _ = write!(text, "<Contents><Key>{key}</Key><Size>{size}</Size>");
                    text += "<LastModified>2026-11-23T00:00:00Z</LastModified></Contents>";
                }
                Answer::ok("", text + "</ListBucketResult>")
            }
            _ => self.get(request, &key),
        }
    }

    fn put(&mut self, request: &Request, key: String) -> Answer {
        let tag = |object: &Vec<u8>| format!("\"{}\"", String::from_utf8_lossy(object));
        let present = self.objects.get(&key).map(tag);
        let is_refused = request.is_create() && present.is_some()
            || request.header("if-match").is_some_and(|expected| present.as_deref() != Some(expected));
        if is_refused {
            return Answer::error(412, "", "PreconditionFailed");
        }
        if let Some(source) = request.copied_key() {
            let Some(object) = self.objects.get(source).cloned() else { return Answer::error(404, "", "NoSuchKey") };
            self.objects.insert(key, object);
            return Answer::ok("", "<CopyObjectResult><ETag>\"copy\"</ETag></CopyObjectResult>");
        }
        // The tags of the tests' objects are their contents.
        let tag = if request.body.len() < 100 { tag(&request.body) } else { "\"long\"".to_owned() };
        self.objects.insert(key, request.body.clone());
        Answer::ok(format!("etag: {tag}\r\n"), "")
    }

    fn get(&self, request: &Request, key: &str) -> Answer {
        let Some(object) = self.objects.get(key) else { return Answer::error(404, "", "NoSuchKey") };
        let headers = "etag: \"tag\"\r\nlast-modified: Mon, 23 Nov 2026 00:00:00 GMT\r\n";
        let range = request.header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let range = range.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        let Some::<(usize, usize)>((first, last)) = range else { return Answer::ok(headers, object.clone()) };
        let (size, end) = (object.len(), (last + 1).min(object.len()));
        let headers = format!("{headers}content-range: bytes {first}-{}/{size}\r\n", end - 1);
        Answer(206, headers, object[first.min(end)..end].to_vec())
    }
}
