//! The middleware beside that of reqwest-retry, on 28 faults. docs/comparison.md has the table.

use super::{MANY, builder};
use clients_tests::{CUT_SHORT, ERROR_STATUSES, FullBacklog, Reaction, Server, refused_address};
use reqwest::Method;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use retry_clients::reqwest_middleware05::RetryMiddleware;
use retry_core::RetrySafety;
use retry_core::classify::http;
use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A timeout that strikes in the rows that wait for it.
const SOON: Duration = Duration::from_millis(500);

/// What goes wrong with the first attempt. The second one succeeds.
#[derive(Clone, Copy)]
enum Fault {
    UnknownHost,
    Refused,
    Certificate,
    ConnectTimeout,
    React(Reaction),
}

/// The right reaction to a fault, for GET and for POST.
#[derive(Clone, Copy, PartialEq)]
enum Right {
    /// Nothing was sent, or nothing was acted upon: both are sent again.
    Both,
    /// The request may have been acted upon: only GET is sent again.
    Get,
    /// The same request fails again: neither is sent again.
    Neither,
}

impl Right {
    fn of(safety: RetrySafety) -> Self {
        match safety {
            RetrySafety::Yes => Self::Both,
            RetrySafety::Maybe => Self::Get,
            RetrySafety::No => Self::Neither,
        }
    }

    fn is_again(self, method: &Method) -> bool {
        self == Self::Both || self == Self::Get && *method == Method::GET
    }
}

const HALF: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";

fn faults() -> Vec<(String, Fault, Right)> {
    let statuses = ERROR_STATUSES.map(|status| {
        let fault = Fault::React(Reaction::Answer(status, "", "busy"));
        (format!("status {status}"), fault, Right::of(http::status(status).is_retry_safe()))
    });
    let transport = [
        ("the host is unknown", Fault::UnknownHost, Right::Both),
        ("the connection is refused", Fault::Refused, Right::Both),
        ("connecting times out", Fault::ConnectTimeout, Right::Both),
        ("the certificate is refused", Fault::Certificate, Right::Neither),
        ("the answer stalls before its head", Fault::React(Reaction::SendAndStall("")), Right::Get),
        ("the answer stalls in its body", Fault::React(Reaction::SendAndStall(HALF)), Right::Get),
        ("the connection is closed without an answer", Fault::React(Reaction::Send("")), Right::Get),
        ("the connection is closed in the head", Fault::React(Reaction::Send(CUT_SHORT[2])), Right::Get),
        ("the connection is closed in the body", Fault::React(Reaction::Send(HALF)), Right::Get),
        ("the connection is reset without an answer", Fault::React(Reaction::SendAndReset("")), Right::Get),
        ("the connection is reset in the body", Fault::React(Reaction::SendAndReset(HALF)), Right::Get),
        ("the answer is not HTTP", Fault::React(Reaction::Send("SSH-2.0-OpenSSH_9.2\r\n")), Right::Get),
    ];
    statuses.into_iter().chain(transport.map(|(name, fault, right)| (name.to_owned(), fault, right))).collect()
}

/// A resolver that returns a first address once, and then another one. It counts the attempts, because each of them
/// connects.
struct Lookups {
    first: Option<SocketAddr>,
    then: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Resolve for Lookups {
    fn resolve(&self, _: Name) -> Resolving {
        let address = if self.count.fetch_add(1, Ordering::SeqCst) == 0 { self.first } else { Some(self.then) };
        let found = address.map(|address| -> Addrs { Box::new([address].into_iter()) });
        Box::pin(ready(found.ok_or_else(|| io::Error::other("no such host").into())))
    }
}

/// Adds a middleware to a client.
type With = fn(ClientBuilder) -> ClientBuilder;

fn ours(builder: ClientBuilder) -> ClientBuilder {
    builder.with(RetryMiddleware::new(&MANY))
}

fn theirs(builder: ClientBuilder) -> ClientBuilder {
    let millis = Duration::from_millis(1);
    let backoff = ExponentialBackoff::builder().retry_bounds(millis, millis).build_with_max_retries(4);
    builder.with(RetryTransientMiddleware::new_with_policy(backoff))
}

/// Sends a request that meets a fault. Returns whether it was sent again, and then succeeded with its whole body.
async fn is_again(with: With, fault: Fault, method: &Method) -> bool {
    let well = Reaction::Answer(200, "", "whole");
    let server = match fault {
        Fault::React(reaction) => Server::start_script([reaction, well]),
        Fault::Certificate => Server::start_untrusted(well),
        Fault::UnknownHost | Fault::Refused | Fault::ConnectTimeout => Server::start(well),
    };
    let backlog = matches!(fault, Fault::ConnectTimeout).then(FullBacklog::start);
    let server_address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.address().port()));
    let first = match fault {
        Fault::UnknownHost => None,
        Fault::Refused => Some(refused_address()),
        Fault::ConnectTimeout => backlog.as_ref().map(FullBacklog::address),
        Fault::Certificate | Fault::React(_) => Some(server_address),
    };
    let count = Arc::new(AtomicUsize::new(0));
    let lookups = Lookups { first, then: server_address, count: Arc::clone(&count) };
    let builder = builder().dns_resolver(Arc::new(lookups)).connect_timeout(SOON);
    let builder = match fault {
        Fault::React(Reaction::SendAndStall(_)) => builder.timeout(SOON),
        _ => builder,
    };
    let client: ClientWithMiddleware = with(ClientBuilder::new(builder.build().unwrap())).build();
    let scheme = if matches!(fault, Fault::Certificate) { "https" } else { "http" };
    let outcome = client.request(method.clone(), format!("{scheme}://server.test/")).body("{}").send().await;
    let attempts = count.load(Ordering::SeqCst);
    if attempts == 1 {
        return false;
    }
    if fault_is_fixed(fault) {
        assert_eq!(attempts, 2);
        let response = outcome.unwrap();
        assert_eq!(response.url().as_str(), "http://server.test/");
        assert_eq!(response.text().await.unwrap(), "whole");
    }
    true
}

/// Returns whether the second attempt succeeds.
fn fault_is_fixed(fault: Fault) -> bool {
    !matches!(fault, Fault::Certificate)
}

/// The numbers of faults to which the reaction is right: for both methods, and for GET.
#[derive(Default)]
struct Score(usize, usize);

/// Returns the cell of a middleware, and counts its reactions that are right.
async fn cell(with: With, fault: Fault, right: Right, score: &mut Score) -> String {
    let mut again = Vec::new();
    for method in [Method::GET, Method::POST] {
        again.push((is_again(with, fault, &method).await, right.is_again(&method)));
    }
    let is_right = again.iter().all(|(seen, right)| seen == right);
    score.0 += usize::from(is_right);
    score.1 += usize::from(again[0].0 == again[0].1);
    let name = |again: bool| if again { "again" } else { "once" };
    let wrong = if is_right { "" } else { " (wrong)" };
    format!("{} / {}{wrong}", name(again[0].0), name(again[1].0))
}

/// Returns a row for all faults with the same cells, in the order of the first one.
fn rows_of(cells: &[(String, String)]) -> Vec<String> {
    let mut rows: Vec<(String, &String)> = Vec::new();
    for (name, cells) in cells {
        match rows
            .iter_mut()
            .find(|(names, row)| *row == cells && names.starts_with("status") == name.starts_with("status"))
        {
            Some((names, _)) => *names = format!("{names}, {}", name.trim_start_matches("status ")),
            None => rows.push((name.clone(), cells)),
        }
    }
    rows.into_iter().map(|(names, cells)| format!("| {names} | {cells} |")).collect()
}

// Rules H13, H14.
#[tokio::test]
async fn each_of_28_faults_is_met_as_documented() {
    let (mut cells, mut ours_right, mut theirs_right) = (Vec::new(), Score::default(), Score::default());
    for (name, fault, right) in faults() {
        let ours = cell(ours, fault, right, &mut ours_right);
        let theirs = cell(theirs, fault, right, &mut theirs_right);
        let (ours, theirs) = tokio::join!(ours, theirs);
        cells.push((name, format!("{ours} | {theirs}")));
    }
    assert_eq!((cells.len(), ours_right.0), (28, 28), "{cells:?}");
    let mut rows = rows_of(&cells);
    rows.push(format!("| right | {} of 28 | {} of 28 |", ours_right.0, theirs_right.0));
    rows.push(format!("| right for GET | {} of 28 | {} of 28 |", ours_right.1, theirs_right.1));
    let page = include_str!("../../../docs/comparison.md");
    let (_, table) = page.split_once("| fault of the first attempt |").expect("a table in docs/comparison.md");
    let documented: Vec<_> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(documented, rows, "\n{}\n", rows.join("\n"));
}
