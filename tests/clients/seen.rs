//! What the policy without any link sees of the errors of eight clients, and what it sees with the client's link. The
//! table in docs/choosing.md has the results.

use clients_tests::refused_address;
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use redis::AsyncConnectionConfig;
use retry_clients::{
    hyper_util01, redis1, reqwest_middleware05, reqwest013, sqlx09, tokio_postgres07, tonic014, ureq3,
};
use retry_core::classify::{Classification, chain};
use retry_core::{ErrorFault, RetrySafety};
use sqlx::postgres::PgPoolOptions;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

type AnyError = Box<dyn Error + Send + Sync>;
type Link = fn(&(dyn Error + 'static)) -> Option<Classification>;

/// A timeout that strikes in the tests that wait for it.
const SOON: Duration = Duration::from_millis(300);

/// The situations of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Situation {
    Refused,
    Closed,
    TimedOut,
}

const SITUATIONS: [Situation; 3] = [Situation::Refused, Situation::Closed, Situation::TimedOut];

/// Returns the address of a server for the situation.
async fn address(situation: Situation) -> SocketAddr {
    if situation == Situation::Refused {
        return refused_address();
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut stalled = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            // What the client sends first is read, so that the connection is closed and not reset.
            let _ = stream.read(&mut [0; 4096]).await;
            if situation == Situation::TimedOut {
                stalled.push(stream);
            }
        }
    });
    address
}

/// Makes one call that fails. Returns `None` if the client has no timeout for it.
async fn failure(client: &str, situation: Situation) -> Option<AnyError> {
    let address = address(situation).await;
    let url = format!("http://{address}/");
    let reqwest = || {
        // The first call installs it, and the others change nothing.
        _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder().timeout(SOON).retry(reqwest::retry::never()).no_proxy().build().unwrap()
    };
    let has_timeout = !["`hyper-util` 0.1", "`tokio-postgres` 0.7"].contains(&client);
    if situation == Situation::TimedOut && !has_timeout {
        return None;
    }
    Some(match client {
        "`hyper-util` 0.1" => {
            let client = Client::builder(TokioExecutor::new()).build::<_, Empty<&[u8]>>(HttpConnector::new());
            client.get(url.parse().unwrap()).await.unwrap_err().into()
        }
        "`redis` 1" => {
            let client = redis::Client::open(format!("redis://{address}/")).unwrap();
            let config = AsyncConnectionConfig::new().set_connection_timeout(Some(SOON));
            client.get_multiplexed_async_connection_with_config(&config).await.map(drop).unwrap_err().into()
        }
        "`reqwest` 0.13" => reqwest().get(url).send().await.unwrap_err().into(),
        "`reqwest-middleware` 0.5" => {
            let client = reqwest_middleware::ClientBuilder::new(reqwest()).build();
            client.get(url).send().await.unwrap_err().into()
        }
        "`sqlx` 0.9" => {
            let pool = PgPoolOptions::new().acquire_timeout(SOON);
            pool.connect(&format!("postgres://user@{address}/data")).await.unwrap_err().into()
        }
        "`tokio-postgres` 0.7" => {
            let config = format!("host={} port={} user=user", address.ip(), address.port());
            tokio_postgres::connect(&config, tokio_postgres::NoTls).await.map(drop).unwrap_err().into()
        }
        "`tonic` 0.14" => {
            let channel = Endpoint::from_shared(url).unwrap().timeout(SOON).connect_lazy();
            HealthClient::new(channel).check(HealthCheckRequest::default()).await.unwrap_err().into()
        }
        "`ureq` 3" => {
            let config = ureq::Agent::config_builder().timeout_global(Some(SOON)).proxy(None).build();
            let call = move || config.new_agent().get(&url).call().unwrap_err();
            tokio::task::spawn_blocking(call).await.unwrap().into()
        }
        _ => panic!("{client}"),
    })
}

/// Returns the cell of a classification.
fn cell(verdict: Option<Classification>) -> String {
    let Some(verdict) = verdict else { return "unknown".to_owned() };
    let safety = match verdict.is_retry_safe() {
        RetrySafety::Yes => "yes",
        RetrySafety::Maybe => "maybe",
        RetrySafety::No => "no",
    };
    let timeout = if verdict.is_timeout() { ", timeout" } else { "" };
    let fault = if verdict.fault() == ErrorFault::Server { ", server" } else { "" };
    format!("{safety}{timeout}{fault}")
}

#[tokio::test]
async fn the_documented_table_has_what_is_seen() {
    let clients: [(&str, Link); 8] = [
        ("`hyper-util` 0.1", hyper_util01::link),
        ("`redis` 1", redis1::link),
        ("`reqwest` 0.13", reqwest013::link),
        ("`reqwest-middleware` 0.5", reqwest_middleware05::link),
        ("`sqlx` 0.9", sqlx09::link),
        ("`tokio-postgres` 0.7", tokio_postgres07::link),
        ("`tonic` 0.14", tonic014::link),
        ("`ureq` 3", ureq3::link),
    ];
    let mut rows = Vec::new();
    for (client, link) in clients {
        let mut cells = Vec::new();
        for situation in SITUATIONS {
            cells.push(match failure(client, situation).await {
                None => "has none".to_owned(),
                Some(error) => {
                    let with_link = chain::first_known(&error, |it| link(it).or_else(|| chain::link(it)));
                    assert!(with_link.is_some(), "{client} {situation:?}: {error:?}");
                    format!("{} / {}", cell(chain::known(&error)), cell(with_link))
                }
            });
        }
        rows.push(format!("| {client} | {} |", cells.join(" | ")));
    }
    let page = include_str!("../../docs/choosing.md");
    let (_, table) = page.split_once("| client | connection refused |").unwrap();
    let documented: Vec<_> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(documented, rows, "\n{}\n", rows.join("\n"));
}
