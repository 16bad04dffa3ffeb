//! Explorations: a server that closes a connection before it carries out a request, or before it answers.

use super::errors::builder;
use crate::client::{Body, Method, Request};
use crate::module;
use retry_core::StandardRetryStrategy;
use retry_core::test::{FindingKind, Findings, explore, may_fail};
use retry_tower::RetryLayer;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::{Layer, ServiceExt};

/// What the server has carried out.
#[derive(Debug, Default, PartialEq)]
struct Shop {
    /// The bodies of PUT.
    carts: BTreeMap<String, String>,
    /// The bodies of POST.
    orders: Vec<String>,
}

/// Serves one request. Returns `None` if the connection is to be closed without an answer.
async fn serve(connection: &mut TcpStream, shop: &Mutex<Shop>) -> Option<()> {
    let mut received = String::new();
    let (head, body) = loop {
        let mut bytes = [0; 1024];
        let length = connection.read(&mut bytes).await.ok().filter(|length| *length > 0)?;
        received.push_str(std::str::from_utf8(&bytes[..length]).ok()?);
        match received.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("GET") || body.ends_with('.') => break (head, body.to_owned()),
            _ => {}
        }
    };
    let (method, path) = head.split_once(' ')?;
    may_fail(|| ()).ok()?;
    {
        let mut shop = shop.lock().unwrap();
        match method {
            "PUT" => _ = shop.carts.insert(path.split(' ').next()?.to_owned(), body),
            "POST" => shop.orders.push(body),
            _ => {}
        }
    }
    may_fail(|| ()).ok()?;
    connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await.ok()
}

/// Sends one request through a layer, whose policy knows its method or takes each request for idempotent. Returns the
/// status, and what the server carried out.
fn send(method: &Method, knows_methods: bool) -> (Option<u16>, Shop) {
    static API: StandardRetryStrategy = StandardRetryStrategy::new();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let shop = Arc::new(Mutex::new(Shop::default()));
    let status = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/cart", listener.local_addr().unwrap());
        let served = Arc::clone(&shop);
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                serve(&mut connection, &served).await;
            }
        });
        let retries = RetryLayer::new(&API).clone_with(Request::try_clone).policy_with(move |request: &Request| {
            let policy = module::response_policy();
            if knows_methods { policy.for_method(request.method()) } else { policy.idempotent(true) }
        });
        let mut request = Request::new(method.clone(), url.parse().unwrap());
        if *method != Method::GET {
            *request.body_mut() = Some(Body::from("a book."));
        }
        let response = retries.layer(builder().build().unwrap()).oneshot(request).await;
        response.ok().map(|response| response.status().as_u16())
    });
    drop(runtime);
    (status, Arc::into_inner(shop).unwrap().into_inner().unwrap())
}

/// The layer's policy evaluates outcomes, so the exploration can't make one in an attempt's place. The two points in the
/// server do, before and after its effect.
fn explored(method: &'static Method, knows_methods: bool) -> Findings {
    explore().accept_unchecked().run(move || send(method, knows_methods))
}

// Rules H13, G8.
#[test]
fn wherever_a_connection_is_closed_no_request_that_must_not_be_repeated_is_carried_out_twice() {
    for method in [&Method::GET, &Method::PUT, &Method::POST] {
        let found = explored(method, true);
        // Two points, each of which fails in three ways.
        assert_eq!(found.cases, 6, "{found}");
        let is_given_up = found.notes.concat().contains("not retried by `tower`");
        assert_eq!(is_given_up, *method == Method::POST, "{found}");
        found.assert_none();
    }
}

// Rules H13, G8.
#[test]
fn a_post_that_is_taken_for_idempotent_is_found() {
    let found = explored(&Method::POST, false);
    let [finding] = &found.findings[..] else { panic!("{found}") };
    assert_eq!(finding.kind, FindingKind::Differs);
    assert!(
        finding.details.starts_with(r#"(Some(200), Shop { carts: {}, orders: ["a book.", "a book."] })"#),
        "{found}"
    );
}
