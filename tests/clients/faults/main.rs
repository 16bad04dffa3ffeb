//! Each client against a server that misbehaves in each way. The tables in retry-clients/FAULTS.md have the results, and are renewed
//! with `UPDATE_EXPECT=1`.

mod clients;

use clients::{AnyError, HTTP1, Link, Tested, timeout};
use clients_tests::{Fault, FaultyServer, assert_table, classification};
use http::Method;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, StandardRetryStrategy, retry};
use std::sync::OnceLock;
use std::time::Duration;

/// What came of a retried request.
struct Seen {
    /// The error of the first attempt, unless it succeeded.
    first: Option<Classification>,
    attempts: u32,
    requests: usize,
    is_success: bool,
}

impl Seen {
    fn cell(&self) -> String {
        let end = if self.is_success { ", success" } else { "" };
        format!("{} / {}{end}", self.attempts, self.requests)
    }
}

/// Sends a retried request to a server with this fault. A GET is idempotent, and a POST is not.
async fn seen(client: &Tested, fault: Fault, method: Method) -> Seen {
    let server = FaultyServer::start(fault);
    let send = (client.connect)(&server.url, timeout(fault));
    // Making a client takes long, and all are made before a request is sent: otherwise it would be a part of others' timeouts.
    tokio::task::yield_now().await;
    if fault.is_of_reused() {
        send(Method::GET).await.unwrap();
        // The client notices that the connection was closed.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let earlier = server.requests();
    let strategy = StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));
    let (link, first) = (client.link, OnceLock::new());
    let attempt = async || send(method.clone()).await.inspect_err(|error| _ = first.get_or_init(|| known(error, link)));
    let policy = ChainPolicy::new().also(link).idempotent(method == Method::GET);
    let report = retry(&strategy, attempt).policy(policy).report().await;
    let requests = server.requests() - earlier;
    let is_success = report.outcome.is_ok();
    Seen { first: first.get().copied(), attempts: report.attempts, requests, is_success }
}

/// Returns the classification of an error, each of which must have one.
fn known(error: &AnyError, link: Link) -> Classification {
    let known = chain::first_known(error, |it| link(it).or_else(|| chain::link(it)));
    known.unwrap_or_else(|| panic!("nothing classifies {error:?}"))
}

/// Returns the rows of a table, in which clients with the same results share a row.
async fn rows(clients: &'static [Tested], faults: &[Fault]) -> Vec<String> {
    let cells = faults.iter().map(|fault| {
        let fault = *fault;
        let of_client = clients.iter().map(move |client| async move {
            let (read, write) = tokio::join!(seen(client, fault, Method::GET), seen(client, fault, Method::POST));
            assert!(write.requests <= 1, "{} sent a write {} times: {}", client.name, write.requests, fault.text());
            let same = |one, other| assert_eq!(one, other, "{}: {}", client.name, fault.text());
            same(read.first, write.first);
            let first = read.first.map_or("none".to_owned(), classification);
            (client.name, format!("{first} | {} | {}", read.cell(), write.cell()))
        });
        async move { (fault, futures_util::future::join_all(of_client).await) }
    });
    let mut rows = Vec::new();
    for (fault, cells) in futures_util::future::join_all(cells).await {
        let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
        for (client, cell) in cells {
            match groups.iter_mut().find(|group| group.1 == cell) {
                Some(group) => group.0.push(client),
                None => groups.push((vec![client], cell)),
            }
        }
        rows.extend(groups.iter().map(|(names, cell)| format!("| {} | {} | {cell} |", fault.text(), names.join(", "))));
    }
    rows
}

// Rules H1, H2, H3, P2.
#[tokio::test]
async fn a_write_is_carried_out_once_whatever_a_server_of_http_1_does() {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    assert_table("## HTTP/1.1", &rows(&HTTP1, &Fault::HTTP1).await);
}
