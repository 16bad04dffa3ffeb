//! How the errors of tonic 0.14 are classified. The servers are real: tonic's own, and sockets that break on purpose.

mod server;

use clients_tests::{
    BROKEN, FINAL, Fault, FaultyServer, FullBacklog, LIMIT, REFUSED, UNKNOWN, UNKNOWN_HOST, UNSENT, assert_of_client,
    assert_timed_out, refused_address,
};
use retry_clients::codes::{self, grpc};
use retry_clients::tonic014;
use retry_core::classify::{self, Classification};
use retry_core::{
    ChainPolicy, ErrorFault, RetryDirective, RetryError, RetryErrorType, RetryPolicy, RetrySafety, StandardRetryPolicy,
    StandardRetryStrategy, retry, retryable,
};
use server::{Asked, GrpcServer, ask, endpoint, failure, raw_server};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::health_client::HealthClient;

/// A timeout that strikes in the tests that wait for it.
const SOON: Duration = Duration::from_millis(200);

/// Checks that a status was made by the client, with this code and this verdict, and returns it.
fn assert_local(status: &Status, code: Code, expected: Classification) {
    assert_eq!((status.code(), tonic014::classify(status)), (code, expected), "{status:?}");
    assert_eq!(tonic014::otlp(status), expected.idempotent(true), "{status:?}");
    let in_chain = anyhow::Error::from(status.clone()).context("while searching");
    assert_eq!(classify::chain::first_known(&in_chain, tonic014::link), Some(expected), "{status:?}");
    let telemetry = StandardRetryPolicy::new().evaluate_error(&expected.idempotent(true));
    assert_eq!(tonic014::otlp_policy().evaluate_error(&in_chain), telemetry, "{status:?}");
}

// Rule H6.
#[tokio::test]
async fn each_code_that_a_server_sends_is_classified_by_the_table() {
    let server = GrpcServer::start().await;
    let client = server.client();
    for code in 1..=16 {
        for delay in [None, Some(0), Some(1_500)] {
            let asked = Asked { code, delay, ..Asked::default() };
            let status = ask(&client, asked).await.unwrap_err();
            let delay = delay.map(Duration::from_millis);
            assert_eq!(i32::from(status.code()), code);
            assert_eq!(tonic014::classify(&status), grpc(code, delay), "{status:?}");
            assert_eq!(tonic014::otlp(&status), codes::otlp(code, delay), "{status:?}");
            assert_eq!(tonic014::link(&status), Some(grpc(code, delay)));
        }
    }
    // Three rows, in words.
    let verdict = async |code, delay| {
        tonic014::classify(&ask(&client, Asked { code, delay, ..Asked::default() }).await.unwrap_err())
    };
    let second = Some(Duration::from_secs(1));
    let throttled = UNSENT.with_throttling().with_fault(ErrorFault::Client).with_retry_after(second);
    assert_eq!(verdict(14, None).await, BROKEN);
    assert_eq!(verdict(8, Some(1_000)).await, throttled);
    assert_eq!(verdict(8, None).await, FINAL.with_fault(ErrorFault::Client));
    assert!(ask(&client, Asked::default()).await.is_ok());
}

// Rule H6.
#[tokio::test]
async fn a_pushback_is_a_delay_or_forbids_a_retry() {
    let server = GrpcServer::start().await;
    let client = server.client();
    let judge = async |code, delay, pushback: &[&str]| {
        let status = ask(&client, Asked { code, delay, pushback, ..Asked::default() }).await.unwrap_err();
        (tonic014::classify(&status), tonic014::otlp(&status))
    };
    let millis = |millis| Some(Duration::from_millis(millis));
    for (delay, pushback, expected) in [(None, "250", 250), (Some(100), "250", 250), (Some(900), "250", 900)] {
        for code in [8, 14, 3] {
            let both = (grpc(code, millis(expected)), codes::otlp(code, millis(expected)));
            assert_eq!(judge(code, delay, &[pushback]).await, both, "{code} {delay:?} {pushback}");
        }
    }
    for pushback in [["-1"].as_slice(), &["soon"], &["+5"], &["1.5"], &["EMPTY"], &["250", "250"], &["99999999999"]] {
        for code in [8, 14, 1] {
            let never = |verdict: Classification| verdict.with_safety(RetrySafety::No);
            let both = (never(grpc(code, millis(700))), never(codes::otlp(code, millis(700))));
            assert_eq!(judge(code, Some(700), pushback).await, both, "{code} {pushback:?}");
        }
    }
}

// Rules H1, H6.
#[tokio::test]
async fn an_error_while_connecting_is_safe_to_retry() {
    let refused = failure(&endpoint(refused_address())).await;
    assert_local(&refused, Code::Unavailable, UNSENT);

    let unknown_host = failure(&Endpoint::from_shared(format!("http://{UNKNOWN_HOST}:80")).unwrap()).await;
    assert_local(&unknown_host, Code::Unavailable, UNSENT);

    let full = FullBacklog::start();
    let timed_out = failure(&endpoint(full.address()).connect_timeout(SOON)).await;
    assert_local(&timed_out, Code::Unavailable, UNSENT.with_timeout());
}

#[tokio::test]
async fn an_error_of_connect_is_judged_by_its_chain() {
    const POLICY: ChainPolicy<classify::chain::Concrete> = ChainPolicy::new().also(tonic014::link);

    let refused = endpoint(refused_address()).connect().await.unwrap_err();
    assert_eq!(classify::chain::first_known(&refused, tonic014::link), Some(UNSENT));
    assert_eq!(POLICY.evaluate(&Err::<(), _>(refused)), RetryDirective::retry(RetryErrorType::Other));

    let full = FullBacklog::start();
    let timed_out = endpoint(full.address()).connect_timeout(SOON).connect().await.unwrap_err();
    assert_eq!(classify::chain::first_known(&timed_out, tonic014::link), Some(UNSENT.with_timeout()));

    let by_anyhow = anyhow::Error::from(failure(&endpoint(refused_address())).await).context("while searching");
    let policy = ChainPolicy::new().also(tonic014::link);
    assert_eq!(policy.evaluate(&Err::<(), _>(by_anyhow)), RetryDirective::retry(RetryErrorType::Other));
}

// Rules H1, H6.
#[tokio::test]
async fn a_failure_of_tls_is_final() {
    let address = raw_server(server::answer_in_http_1).await;
    let secure = Endpoint::from_shared(format!("https://{address}")).unwrap();
    let status = failure(&secure.tls_config(ClientTlsConfig::new()).unwrap()).await;
    assert_local(&status, Code::Unavailable, FINAL);
}

// Rules H2, H6.
#[tokio::test]
async fn a_timeout_of_the_client_may_be_retried() {
    let stalled: SocketAddr = raw_server(server::stall).await;
    assert_local(&failure(&endpoint(stalled).timeout(SOON)).await, Code::Cancelled, UNKNOWN.with_timeout());

    // The server got the call, and works on it.
    let server = GrpcServer::start().await;
    let client = HealthClient::new(endpoint(server.address).timeout(SOON).connect_lazy());
    let status = ask(&client, Asked { stall: true, ..Asked::default() }).await.unwrap_err();
    assert_local(&status, Code::Cancelled, UNKNOWN.with_timeout());
}

// Rules H2, H6.
#[tokio::test]
async fn a_timeout_of_a_tonic_server_may_be_retried() {
    let server = GrpcServer::start_with_timeout(SOON).await;
    let status = ask(&server.client(), Asked { stall: true, ..Asked::default() }).await.unwrap_err();
    assert!(status.source().is_none(), "the server has answered");
    assert_local(&status, Code::Cancelled, UNKNOWN.with_timeout());
}

/// Both sides enforce the header that `Request::set_timeout` sends. The client loses the race if its thread is busy.
// Rules H2, H6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_of_a_request_that_the_server_enforces_first_may_be_retried() {
    let server = GrpcServer::start().await;
    let mut client = server.client();
    let mut request = Request::new(Asked { stall: true, ..Asked::default() }.into_request());
    request.set_timeout(SOON);
    let busy = async {
        tokio::time::sleep(SOON / 4).await;
        std::thread::sleep(2 * SOON);
    };
    let (answer, ()) = tokio::join!(client.check(request), busy);
    let status = answer.unwrap_err();
    assert!(status.source().is_none(), "the client was first: {status:?}");
    assert_local(&status, Code::Cancelled, UNKNOWN.with_timeout());
}

// Rule H6.
#[tokio::test]
async fn a_cancelled_call_with_another_text_is_not_retried() {
    let server = GrpcServer::start().await;
    let status = ask(&server.client(), Asked { code: 1, ..Asked::default() }).await.unwrap_err();
    assert_eq!((status.code(), tonic014::classify(&status)), (Code::Cancelled, FINAL), "{status:?}");
    // The text of another code says nothing.
    let aborted = Status::new(Code::Aborted, "Timeout expired");
    assert_eq!(tonic014::classify(&aborted), grpc(10, None));
}

// Rules H3, H6.
#[tokio::test]
async fn a_broken_connection_may_be_retried() {
    let closed = failure(&endpoint(raw_server(server::close).await)).await;
    let reset = failure(&endpoint(raw_server(server::reset).await)).await;
    let http_1 = failure(&endpoint(raw_server(server::answer_in_http_1).await)).await;
    let at_once = failure(&endpoint(raw_server(server::close_at_once).await)).await;
    for status in [closed, reset, http_1, at_once] {
        assert_local(&status, status.code(), BROKEN);
    }
}

// Rules H6, H22.
#[tokio::test]
async fn a_call_that_the_server_refused_is_safe_to_retry_unless_its_answer_has_begun() {
    for (fault, expected) in [(Fault::RefusedStream, REFUSED), (Fault::RefusedInBody, BROKEN)] {
        let server = FaultyServer::start(fault, true);
        let status = failure(&Endpoint::from_shared(server.url.clone()).unwrap()).await;
        assert_local(&status, status.code(), expected);
    }
}

// Rules H3, H6.
#[tokio::test]
async fn a_server_that_stops_during_a_call_may_have_acted() {
    // The runtime of this server ends with the thread, and with it each connection.
    let (sent, address_of_server) = std::sync::mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = GrpcServer::start().await;
            sent.send(server.address).unwrap();
            stopped.await.unwrap();
        });
    });
    let client = HealthClient::new(endpoint(address_of_server.recv().unwrap()).connect_lazy());
    assert!(ask(&client, Asked::default()).await.is_ok());
    let call = async { ask(&client, Asked { stall: true, ..Asked::default() }).await.unwrap_err() };
    let stopping = async {
        tokio::time::sleep(SOON).await;
        stop.send(()).unwrap();
    };
    let (status, ()) = tokio::join!(call, stopping);
    thread.join().unwrap();
    assert_local(&status, status.code(), BROKEN);
    // The next call connects again, and nothing listens there.
    let status = ask(&client, Asked::default()).await.unwrap_err();
    assert_local(&status, Code::Unavailable, UNSENT);
}

static SEARCH: StandardRetryStrategy = StandardRetryStrategy::new();

// A program as a user writes it: the policy is the only line about errors.
#[retryable(strategy = SEARCH, policy = tonic014::policy().idempotent(true))]
async fn check(client: &HealthClient<Channel>, asked: Asked<'_>) -> Result<(), Status> {
    ask(client, asked).await
}

#[tokio::test]
async fn a_call_is_retried_until_the_server_is_well_and_no_earlier_than_it_asks() {
    let server = GrpcServer::start().await;
    let client = server.client();
    let started = std::time::Instant::now();
    check(&client, Asked { code: 8, delay: Some(300), times: Some(2), ..Asked::default() }).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(600), "two delays of the server: {:?}", started.elapsed());

    let call = || ask(&client, Asked { code: 14, pushback: &["-1"], ..Asked::default() });
    let report = retry(&SEARCH, call).policy(tonic014::policy().idempotent(true)).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(client: &HealthClient<Channel>, asked: Asked<'_>) -> Result<(), tonic014::ClientError> {
        Ok(ask(client, asked).await?)
    }

    let server = GrpcServer::start().await;
    let client = server.client();
    let error = limited(&client, Asked { code: 14, ..Asked::default() }).await.unwrap_err();
    assert_of_client(error, BROKEN, tonic014::link);
    let error = limited(&client, Asked { stall: true, ..Asked::default() }).await.unwrap_err();
    assert_timed_out(error, tonic014::link);

    // OpenTelemetry retries CANCELLED.
    let outcome = limited(&client, Asked { code: 1, ..Asked::default() }).await;
    let fail = RetryDirective::fail(Some(RetryErrorType::Other));
    let retry = RetryDirective::retry(RetryErrorType::Other);
    assert_eq!(tonic014::policy().idempotent(false).evaluate(&outcome), fail);
    assert_eq!(tonic014::otlp_policy().idempotent(false).evaluate(&outcome), retry);
}
