//! One request with each client, to a server that misbehaves.

use bytes::Bytes;
use clients_tests::Fault;
use futures_util::future::BoxFuture;
use http::Method;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use retry_clients::{hyper_util01, reqwest012, reqwest013, tonic014, ureq3};
use retry_core::classify::Classification;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tonic::transport::{ClientTlsConfig, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use ureq::tls::{RootCerts, TlsConfig};

pub(crate) type AnyError = Box<dyn Error + Send + Sync>;
pub(crate) type Link = fn(&(dyn Error + 'static)) -> Option<Classification>;

/// Sends one request, reads the whole answer, and keeps the connection if it can.
pub(crate) type Sender = Box<dyn Fn(Method) -> BoxFuture<'static, Result<(), AnyError>> + Send + Sync>;

/// A client, and how requests are sent with a new one.
pub(crate) struct Tested {
    pub(crate) name: &'static str,
    pub(crate) link: Link,
    /// Makes a client for this URL, whose requests have this timeout, and for HTTP/2 if this is true.
    pub(crate) connect: fn(&str, Duration, bool) -> Sender,
}

/// The clients for HTTP/1.1.
pub(crate) const HTTP1: [Tested; 4] = [
    Tested { name: "hyper-util 0.1", link: hyper_util01::link, connect: hyper_util },
    Tested { name: "reqwest 0.12", link: reqwest012::link, connect: reqwest_012 },
    Tested { name: "reqwest 0.13", link: reqwest013::link, connect: reqwest_013 },
    Tested { name: "ureq 3", link: ureq3::link, connect: ureq },
];

/// The clients for HTTP/2.
pub(crate) const HTTP2: [Tested; 4] = [
    Tested { name: "hyper-util 0.1", link: hyper_util01::link, connect: hyper_util },
    Tested { name: "reqwest 0.12", link: reqwest012::link, connect: reqwest_012 },
    Tested { name: "reqwest 0.13", link: reqwest013::link, connect: reqwest_013 },
    Tested { name: "tonic 0.14", link: tonic014::link, connect: tonic },
];

/// The client of gRPC.
pub(crate) const GRPC: [Tested; 1] = [Tested { name: "tonic 0.14", link: tonic014::link, connect: tonic }];

/// Returns the body of a request.
fn body(method: &Method) -> &'static str {
    if method == Method::GET { "" } else { "{}" }
}

macro_rules! reqwest {
    ($function:ident, $($reqwest:tt)+) => {
        fn $function(url: &str, timeout: Duration, http2: bool) -> Sender {
            let builder = $($reqwest)+::Client::builder().timeout(timeout).retry($($reqwest)+::retry::never());
            let builder = if http2 { builder.http2_prior_knowledge() } else { builder };
            let (client, url) = (builder.no_proxy().build().unwrap(), url.to_owned());
            Box::new(move |method| {
                let request = client.request(method.clone(), &url).body(body(&method));
                Box::pin(async move {
                    request.send().await?.bytes().await?;
                    Ok(())
                })
            })
        }
    };
}

reqwest!(reqwest_012, ::reqwest012);
reqwest!(reqwest_013, ::reqwest);

/// The client has no timeout, so tokio's ends a request.
fn hyper_util(url: &str, timeout: Duration, http2: bool) -> Sender {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let connector = if http2 { connector.enable_http2().build() } else { connector.enable_http1().build() };
    let (client, url) = (Client::builder(TokioExecutor::new()).http2_only(http2).build(connector), url.to_owned());
    Box::new(move |method| {
        let body = Full::<Bytes>::from(body(&method));
        let response = client.request(Request::builder().method(method).uri(&url).body(body).unwrap());
        Box::pin(async move {
            let read = async { Ok::<_, AnyError>(response.await?.into_body().collect().await?) };
            tokio::time::timeout(timeout, read).await??;
            Ok(())
        })
    })
}

/// The timeout of the client ends before the message, so tokio's ends a call whose message stalls.
fn tonic(url: &str, timeout: Duration, _: bool) -> Sender {
    let endpoint = Endpoint::from_shared(url.to_owned()).unwrap().timeout(timeout);
    let tls = ClientTlsConfig::new();
    let endpoint = if url.starts_with("https") { endpoint.tls_config(tls).unwrap() } else { endpoint };
    let client = HealthClient::new(endpoint.connect_lazy());
    Box::new(move |_| {
        let mut client = client.clone();
        Box::pin(async move {
            tokio::time::timeout(timeout * 2, client.check(HealthCheckRequest::default())).await??;
            Ok(())
        })
    })
}

fn ureq(url: &str, timeout: Duration, _: bool) -> Sender {
    let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[])).build();
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).proxy(None).tls_config(tls).build();
    let (agent, url) = (config.new_agent(), url.to_owned());
    Box::new(move |method| {
        let (agent, url) = (agent.clone(), url.clone());
        let call = move || {
            let mut response =
                if method == Method::GET { agent.get(&url).call()? } else { agent.post(&url).send(body(&method))? };
            response.body_mut().read_to_vec().map(drop)
        };
        Box::pin(async move { Ok(tokio::task::spawn_blocking(call).await??) })
    })
}

/// Returns the timeout of requests to a server with this fault.
pub(crate) fn timeout(fault: Fault) -> Duration {
    if fault.is_endless() { Duration::from_millis(500) } else { clients_tests::PATIENCE }
}
