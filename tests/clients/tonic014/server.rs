//! A gRPC server that answers as its requests say, and connections that break.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_types::{ErrorDetails, StatusExt};

/// The answer that a request asks for. It travels in the only field of the request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    /// The code, of which 0 is success.
    pub(crate) code: i32,
    /// The delay in the details, in milliseconds.
    pub(crate) delay: Option<u64>,
    /// The values of `grpc-retry-pushback-ms`.
    pub(crate) pushback: &'a [&'a str],
    /// The number of calls that are answered in this way, before the others succeed.
    pub(crate) times: Option<u32>,
    /// Answers only after an hour.
    pub(crate) stall: bool,
}

impl Asked<'_> {
    pub(crate) fn into_request(self) -> HealthCheckRequest {
        HealthCheckRequest { service: self.into_text() }
    }

    fn into_text(self) -> String {
        let optional = |number: Option<String>| number.unwrap_or_default();
        let (delay, times) = (self.delay.map(|delay| delay.to_string()), self.times.map(|times| times.to_string()));
        let pushback = self.pushback.join("|");
        format!("{};{};{};{};{}", self.code, optional(delay), optional(times), u8::from(self.stall), pushback)
    }
}

#[derive(Debug, Default)]
struct Service {
    calls: AtomicU32,
}

#[tonic::async_trait]
impl Health for Service {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let earlier = self.calls.fetch_add(1, Ordering::Relaxed);
        let text = request.into_inner().service;
        let fields: Vec<&str> = text.splitn(5, ';').collect();
        let [code, delay, times, stall, pushback] = fields[..] else { panic!("{text}") };
        if stall == "1" {
            tokio::time::sleep(Duration::from_hours(1)).await;
        }
        let code = Code::from(code.parse::<i32>().unwrap());
        if code == Code::Ok || times.parse::<u32>().is_ok_and(|times| earlier >= times) {
            return Ok(Response::new(HealthCheckResponse { status: 1 }));
        }
        let mut metadata = MetadataMap::new();
        for value in pushback.split('|').filter(|value| !value.is_empty()) {
            let value = if value == "EMPTY" { "" } else { value };
            metadata.append("grpc-retry-pushback-ms", MetadataValue::try_from(value).unwrap());
        }
        let mut details = ErrorDetails::new();
        if let Ok(delay) = delay.parse() {
            details.set_retry_info(Some(Duration::from_millis(delay)));
        }
        Err(Status::with_error_details_and_metadata(code, "as asked", details, metadata))
    }

    type WatchStream = tonic::codegen::tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(tonic::codegen::tokio_stream::empty()))
    }
}

/// A running gRPC server, which is stopped when it is dropped.
#[derive(Debug)]
pub(crate) struct GrpcServer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl GrpcServer {
    pub(crate) async fn start() -> Self {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), None).await
    }

    pub(crate) async fn start_with_timeout(timeout: Duration) -> Self {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Some(timeout)).await
    }

    pub(crate) async fn start_at(address: SocketAddr, timeout: Option<Duration>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = Server::builder();
        if let Some(timeout) = timeout {
            server = server.timeout(timeout);
        }
        let server = server.add_service(HealthServer::new(Service::default()));
        let task = tokio::spawn(async move { server.serve_with_incoming(TcpIncoming::from(listener)).await.unwrap() });
        Self { address, task }
    }

    pub(crate) fn client(&self) -> HealthClient<Channel> {
        HealthClient::new(endpoint(self.address).connect_lazy())
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

/// Makes one call and returns what came of it.
pub(crate) async fn ask(client: &HealthClient<Channel>, asked: Asked<'_>) -> Result<(), Status> {
    client.clone().check(asked.into_request()).await.map(drop)
}

/// Makes one call that must fail, and returns its error.
pub(crate) async fn failure(endpoint: &Endpoint) -> Status {
    ask(&HealthClient::new(endpoint.connect_lazy()), Asked::default()).await.unwrap_err()
}

/// Starts a server that treats each connection as `react` says, and returns its address.
pub(crate) async fn raw_server<F>(react: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(react(stream));
        }
    });
    address
}

/// Closes the connection immediately.
pub(crate) async fn close_at_once(_: TcpStream) -> io::Result<()> {
    Ok(())
}

/// Reads the start of HTTP/2, and then closes the connection.
pub(crate) async fn close(mut stream: TcpStream) -> io::Result<()> {
    stream.read_exact(&mut [0; 24]).await.map(drop)
}

/// Reads the start of HTTP/2, and then resets the connection.
pub(crate) async fn reset(mut stream: TcpStream) -> io::Result<()> {
    stream.read_exact(&mut [0; 24]).await?;
    // What was not read makes the system send a reset.
    stream.readable().await
}

/// Answers as a server of HTTP/1.1 does.
pub(crate) async fn answer_in_http_1(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(drop)
}

/// Reads everything and answers nothing.
pub(crate) async fn stall(mut stream: TcpStream) -> io::Result<()> {
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(drop)
}

/// Answers each call with this head, these bytes and the end of the stream, as a proxy in front of a server does.
pub(crate) async fn answer_as_proxy(mut stream: TcpStream, head: Vec<u8>, body: Vec<u8>) -> io::Result<()> {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    // In SETTINGS, the flag is an acknowledgement.
    const END_STREAM: u8 = 1;
    const END_HEADERS: u8 = 4;

    stream.read_exact(&mut [0; 24]).await?;
    send(&mut stream, SETTINGS, 0, 0, &[]).await?;
    loop {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await?;
        let mut payload = vec![0; u32::from_be_bytes([0, frame[0], frame[1], frame[2]]) as usize];
        stream.read_exact(&mut payload).await?;
        let (kind, flags) = (frame[3], frame[4]);
        let id = u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]);
        if kind == SETTINGS && flags & END_STREAM == 0 {
            send(&mut stream, SETTINGS, END_STREAM, 0, &[]).await?;
        }
        if (kind == DATA || kind == HEADERS) && flags & END_STREAM != 0 {
            let end = if body.is_empty() { END_STREAM } else { 0 };
            send(&mut stream, HEADERS, END_HEADERS | end, id, &head).await?;
            if !body.is_empty() {
                send(&mut stream, DATA, END_STREAM, id, &body).await?;
            }
        }
    }
}

async fn send(stream: &mut TcpStream, kind: u8, flags: u8, id: u32, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    stream.write_all(&[&length[1..], &[kind, flags], &id.to_be_bytes(), payload].concat()).await
}
