//! Each client against a server that misbehaves in each way. The tables in retry-clients/FAULTS.md have the results, and are renewed
//! with `UPDATE_EXPECT=1`.

mod clients;

use clients::{AnyError, GRPC, HTTP1, HTTP2, Link, Tested, timeout};
use clients_tests::{Fault, FaultyServer, assert_table, classification, grouped};
use futures_util::future::join_all;
use http::Method;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, StandardRetryStrategy, retry};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::Mutex;

/// What came of a retried request.
struct Seen {
    /// The error of the first attempt, unless it succeeded.
    first: Option<Classification>,
    attempts: u32,
    requests: usize,
    /// Those of the requests that the server can have carried out.
    carried_out: usize,
    is_success: bool,
}

impl Seen {
    fn cell(&self) -> String {
        let end = if self.is_success { ", success" } else { "" };
        format!("{} / {}{end}", self.attempts, self.requests)
    }
}

/// Sends a retried request to a server with this fault. A GET is idempotent, and a POST is not.
async fn seen(client: &Tested, fault: Fault, http2: bool, method: Method) -> Seen {
    let server = FaultyServer::start(fault, http2);
    let send = (client.connect)(&server.url, timeout(fault), http2);
    // Making a client takes long, and all are made before a request is sent: otherwise it would be a part of others' timeouts.
    tokio::task::yield_now().await;
    if fault.is_of_reused() {
        send(Method::GET).await.unwrap();
        // The client notices that the connection was closed.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let earlier = (server.requests(), server.carried_out());
    let strategy = StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));
    let (link, first) = (client.link, OnceLock::new());
    let attempt = async || send(method.clone()).await.inspect_err(|error| _ = first.get_or_init(|| known(error, link)));
    let policy = ChainPolicy::new().also(link).idempotent(method == Method::GET);
    let report = retry(&strategy, attempt).policy(policy).report().await;
    let (requests, carried_out) = (server.requests() - earlier.0, server.carried_out() - earlier.1);
    let is_success = report.outcome.is_ok();
    Seen { first: first.get().copied(), attempts: report.attempts, requests, carried_out, is_success }
}

/// Returns the classification of an error, each of which must have one.
fn known(error: &AnyError, link: Link) -> Classification {
    let known = chain::first_known(error, |it| link(it).or_else(|| chain::link(it)));
    known.unwrap_or_else(|| panic!("nothing classifies {error:?}"))
}

/// Returns the rows of a table, in which clients with the same results share a row.
async fn rows(clients: &'static [Tested], http2: bool, faults: &[Fault]) -> Vec<String> {
    let cells = |fault: Fault| {
        let of_client = clients.iter().map(move |client| async move {
            let seen = |method| seen(client, fault, http2, method);
            let (read, write) = tokio::join!(seen(Method::GET), seen(Method::POST));
            assert!(
                write.carried_out <= 1,
                "{}: a write was carried out {} times: {}",
                client.name,
                write.carried_out,
                fault.text()
            );
            let same = |one, other| assert_eq!(one, other, "{}: {}", client.name, fault.text());
            same(read.first, write.first);
            let first = read.first.map_or("none".to_owned(), classification);
            (client.name, format!("{first} | {} | {}", read.cell(), write.cell()))
        });
        async move { (fault, join_all(of_client).await) }
    };
    // The requests with short timeouts come last, when nothing else keeps the machine busy.
    let (endless, others): (Vec<_>, Vec<_>) = faults.iter().copied().partition(|fault| fault.is_endless());
    let mut seen = join_all(others.into_iter().map(cells)).await;
    seen.extend(join_all(endless.into_iter().map(cells)).await);
    seen.sort_by_key(|(fault, _)| faults.iter().position(|it| it == fault));
    seen.into_iter().flat_map(|(fault, cells)| grouped(&fault.text(), cells)).collect()
}

/// One table is made at a time, because requests with short timeouts need an idle machine.
static TURN: Mutex<()> = Mutex::const_new(());

fn install_tls() {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
}

// Rules H1, H2, H3, P2.
#[tokio::test]
async fn a_write_is_carried_out_once_whatever_a_server_of_http_1_does() {
    let _turn = TURN.lock().await;
    install_tls();
    assert_table("## HTTP/1.1", &rows(&HTTP1, false, &Fault::HTTP1).await);
}

// Rules H1, H2, H3, H6, P2.
#[tokio::test]
async fn a_write_is_carried_out_once_whatever_a_server_of_http_2_does() {
    let _turn = TURN.lock().await;
    install_tls();
    assert_table("## HTTP/2", &rows(&HTTP2, true, &Fault::HTTP2).await);
}

// Rules H6, H23, P2.
#[tokio::test]
async fn a_write_is_carried_out_once_whatever_a_proxy_answers_in_the_name_of_a_server_of_grpc() {
    let _turn = TURN.lock().await;
    install_tls();
    assert_table("## gRPC behind a proxy", &rows(&GRPC, true, &Fault::PROXY).await);
}
