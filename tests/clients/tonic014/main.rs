//! How the errors of tonic 0.14 are classified. The servers are real: tonic's own, and sockets that break on purpose.

mod server;

use clients_tests::{
    BROKEN, FINAL, Fault, FaultyServer, FullBacklog, LIMIT, REFUSED, UNKNOWN, UNKNOWN_HOST, UNSENT, assert_of_client,
    assert_timed_out, http2_head, refused_address,
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
use tonic::metadata::{BinaryMetadataValue, MetadataMap, MetadataValue};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_types::{ErrorDetails, StatusExt};

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

/// Returns the status of a call that a proxy answers.
async fn from_proxy(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Status {
    let (head, body) = (http2_head(status, headers), body.to_vec());
    failure(&endpoint(raw_server(move |stream| server::answer_as_proxy(stream, head.clone(), body.clone())).await))
        .await
}

// Rules H6, H23.
#[tokio::test]
async fn a_page_of_a_proxy_is_classified_by_its_http_status() {
    for (status, code) in [
        (429, 14),
        (502, 14),
        (503, 14),
        (504, 14),
        (400, 13),
        (401, 16),
        (403, 7),
        (404, 12),
        (200, 2),
        (301, 2),
        (302, 2),
        (408, 2),
        (418, 2),
        (499, 2),
        (500, 2),
        (501, 2),
        (505, 2),
        (520, 2),
        (599, 2),
    ] {
        for body in [b"".as_slice(), b"<html>502 Bad Gateway</html>", b"no healthy upstream", b"\x1f\x8b\x08\0\0\0\0\0"]
        {
            for headers in [[].as_slice(), &[("content-type", "text/html")], &[("content-type", "application/grpc")]] {
                let error = from_proxy(status, headers, body).await;
                let is_cut = status == 200 && body.is_empty() && headers.first().is_some_and(|it| it.1 != "text/html");
                let expected = if is_cut { BROKEN } else { grpc(code, None) };
                assert_eq!(tonic014::classify(&error), expected, "{status} {headers:?} {error:?}");
                let of_telemetry = if is_cut { BROKEN.idempotent(true) } else { codes::otlp(code, None) };
                assert_eq!(tonic014::otlp(&error), of_telemetry, "{status} {headers:?} {error:?}");
            }
        }
    }
}

// Rules H6, H23.
#[tokio::test]
async fn an_answer_that_ends_early_may_be_retried() {
    let grpc_type = [("content-type", "application/grpc")];
    let half = b"\0\0\0\0\x64half".as_slice();
    for (body, code) in [(half, Code::Internal), (b"\0\0\0", Code::Internal), (b"", Code::Unknown)] {
        assert_local(&from_proxy(200, &grpc_type, body).await, code, BROKEN);
    }
    // A page that is too short for tonic hides its status.
    assert_local(&from_proxy(503, &[("content-type", "text/plain")], b"busy").await, Code::Internal, BROKEN);
}

// Rules H6, H23.
#[tokio::test]
async fn a_proxy_s_wait_is_the_delay() {
    let page = b"<html></html>".as_slice();
    let wait = |seconds| Some(Duration::from_secs(seconds));
    for (headers, expected) in [
        ([("retry-after", "7")].as_slice(), wait(7)),
        (&[("retry-after", "6.5")], Some(Duration::from_millis(6500))),
        (&[("retry-after", "soon")], None),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "8")], wait(8)),
        (&[("ratelimit", "\"a\";r=0;t=58")], wait(58)),
    ] {
        for (status, body) in [(503, page), (503, b""), (429, page)] {
            let error = from_proxy(status, headers, body).await;
            assert_eq!(tonic014::classify(&error), BROKEN.with_retry_after(expected), "{headers:?} {error:?}");
        }
    }
    // A server of gRPC can send them, too.
    let limited = |headers: &[(&'static str, &'static str)]| {
        let mut metadata = MetadataMap::new();
        for (name, value) in headers {
            metadata.insert(*name, MetadataValue::from_static(value));
        }
        tonic014::classify(&Status::with_metadata(Code::ResourceExhausted, "slow down", metadata))
    };
    assert_eq!(limited(&[("retry-after", "7")]), grpc(8, wait(7)));
    assert_eq!(limited(&[("retry-after", "7"), ("grpc-retry-pushback-ms", "9000")]), grpc(8, wait(9)));
    assert_eq!(limited(&[("ratelimit", "\"a\";r=0;t=58")]), grpc(8, wait(58)));
    assert_eq!(limited(&[("ratelimit", "\"a\";r=1;t=58")]), grpc(8, None));
    assert_eq!(limited(&[("retry-after", "soon")]), grpc(8, None));
}

/// Writes a `google.rpc.RetryInfo`, whose only field is a `Duration` with two numbers.
fn retry_info(seconds: u64, nanos: u64) -> Vec<u8> {
    let mut delay = Vec::new();
    for (field, mut number) in [(0x08, seconds), (0x10, nanos)] {
        delay.push(field);
        while number >= 0x80 {
            delay.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        delay.push(number.to_le_bytes()[0]);
    }
    [&[0x0a, u8::try_from(delay.len()).unwrap()], delay.as_slice()].concat()
}

// Rule H6.
#[test]
fn a_delay_can_be_in_the_metadata_alone() {
    let judge = |code, bytes: &[u8], details: Option<Duration>| {
        let mut metadata = MetadataMap::new();
        metadata.insert_bin("google.rpc.retryinfo-bin", BinaryMetadataValue::from_bytes(bytes));
        let details = ErrorDetails::with_retry_info(details);
        tonic014::classify(&Status::with_error_details_and_metadata(code, "as asked", details, metadata))
    };
    // A `RetryInfo` with a `Duration` of 2 s and 500,000,000 ns.
    let info = retry_info(2, 500_000_000);
    assert_eq!(info, b"\x0a\x08\x08\x02\x10\x80\xca\xb5\xee\x01");
    let info = info.as_slice();
    let millis = |millis| Some(Duration::from_millis(millis));
    assert_eq!(judge(Code::Aborted, info, None), grpc(10, millis(2500)));
    assert_eq!(judge(Code::ResourceExhausted, info, None), grpc(8, millis(2500)));
    assert_eq!(judge(Code::Unavailable, info, millis(9000)), grpc(14, millis(9000)));
    assert_eq!(judge(Code::Unavailable, info, millis(1000)), grpc(14, millis(2500)));
    for (seconds, nanos) in [(0, 1), (1, 999_999_999), (58, 0), (86_400, 17), (3_000_000_000, 5)] {
        let delay = Duration::new(seconds, u32::try_from(nanos).unwrap());
        assert_eq!(judge(Code::ResourceExhausted, &retry_info(seconds, nanos), None), grpc(8, Some(delay)));
    }
    for garbage in [b"".as_slice(), b"\x0a", b"\x0a\x08\x08", b"garbage", b"\xff\xff\xff"] {
        assert_eq!(judge(Code::ResourceExhausted, garbage, None), grpc(8, None), "{garbage:?}");
    }
}

// Rule H23.
#[test]
fn a_text_that_is_almost_tonic_s_own_says_nothing() {
    let flag = "protocol error: received message with invalid compression flag: ";
    let status = "(valid flags are 0 and 1) while receiving response with status:";
    for (code, text) in [
        (Code::Internal, format!("{flag}60 {status} 502x Bad Gateway")),
        (Code::Internal, format!("{flag}60 {status} 5020 Bad Gateway")),
        (Code::Internal, format!("{flag}600 {status} 502 Bad Gateway")),
        (Code::Internal, format!("{flag}60 (valid flags are 0 and 1), while sending request")),
        (Code::Internal, format!("upstream: {flag}60 {status} 502 Bad Gateway")),
        (Code::Unknown, format!("{flag}60 {status} 502 Bad Gateway")),
        (Code::NotFound, "Unexpected EOF decoding stream.".to_owned()),
        (Code::Internal, "Unexpected EOF decoding stream".to_owned()),
        (Code::Unknown, "grpc-status header missing, mapped from HTTP status code ".to_owned()),
        (Code::Unknown, "grpc-status header missing, mapped from HTTP status code 50".to_owned()),
        (Code::Unknown, "grpc-status header missing, mapped from HTTP status code abc".to_owned()),
    ] {
        assert_eq!(tonic014::classify(&Status::new(code, &text)), grpc(code.into(), None), "{text}");
    }
    let page = format!("{flag}60 {status} 502 Bad Gateway");
    assert_eq!(tonic014::classify(&Status::new(Code::Internal, page)), BROKEN);
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
