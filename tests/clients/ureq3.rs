//! How the errors of ureq 3 are classified.

use clients_tests::{
    BROKEN, CUT_SHORT, ERROR_STATUSES, FINAL, FullBacklog, LIMIT, NOT_JSON, PATIENCE, Reaction, Server, UNKNOWN,
    UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out, refused_address,
};
use retry_clients::ureq3;
use retry_core::classify::{Classification, chain, http, io};
use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryStrategy, TimedOut, retry, retryable};
use std::time::Duration;
use ureq::config::ConfigBuilder;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;
use ureq::{Agent, Error};

fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder().timeout_global(Some(PATIENCE)).proxy(None)
}

/// Sends one request and parses the answer as JSON.
fn post(config: ConfigBuilder<AgentScope>, url: &str) -> Result<String, Error> {
    config.build().new_agent().post(url).send("{}")?.body_mut().read_json()
}

fn verdict(config: ConfigBuilder<AgentScope>, url: &str) -> Classification {
    ureq3::classify(&post(config, url).unwrap_err())
}

fn reaction(reaction: Reaction) -> Classification {
    let server = Server::start(reaction);
    let verdict = verdict(config(), &server.url);
    assert_eq!(server.requests(), 1, "the request was not sent exactly once");
    verdict
}

// Rule H1.
#[test]
fn a_failed_name_resolution_is_safe_to_retry() {
    let url = format!("http://{UNKNOWN_HOST}/");
    // Without any timeout, ureq resolves names on the same thread.
    for config in [config(), config().timeout_global(None)] {
        let error = post(config, &url).unwrap_err();
        let Error::Io(resolution) = &error else { panic!("{error:?}") };
        assert_eq!(io::known_kind(resolution.kind()), None, "an error of the resolver has no kind: {resolution:?}");
        assert_eq!(chain::known(resolution), None);
        assert_eq!(ureq3::classify(&error), UNSENT, "{error:?}");
        let payment = ureq3::policy().idempotent(false).evaluate(&Err::<(), _>(error));
        assert_eq!(payment, RetryDirective::retry(RetryErrorType::Other));
    }
}

// Rule H1.
#[test]
fn a_refused_connection_is_safe_to_retry() {
    assert_eq!(verdict(config(), &format!("http://{}/", refused_address())), UNSENT);
}

// Rule H1.
#[test]
fn a_timeout_while_connecting_is_safe_to_retry() {
    let server = FullBacklog::start();
    let config = config().timeout_connect(Some(Duration::from_millis(200)));
    assert_eq!(verdict(config, &format!("http://{}/", server.address())), UNSENT.with_timeout());
}

// Rule H1.
#[test]
fn a_refused_certificate_is_not_retried() {
    _ = rustls::crypto::ring::default_provider().install_default();
    let server = Server::start_untrusted(Reaction::Answer(200, "", "\"\""));
    let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[]));
    assert_eq!(verdict(config().tls_config(tls.build()), &server.url), FINAL);
    assert_eq!(server.requests(), 0);

    // The certificate was the reason.
    let trusting = TlsConfig::builder().disable_verification(true);
    post(config().tls_config(trusting.build()), &server.url).unwrap();
}

// Rule H2.
#[test]
fn a_stalled_answer_is_a_timeout_that_may_have_been_acted_upon() {
    let limit = Some(Duration::from_millis(500));
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        let server = Server::start(Reaction::SendAndStall(sent));
        for config in [
            config().timeout_recv_response(limit).timeout_recv_body(limit),
            config().timeout_per_call(limit),
            config().timeout_global(limit),
        ] {
            assert_eq!(verdict(config, &server.url), UNKNOWN.with_timeout(), "{sent:?}");
        }
        assert_eq!(server.requests(), 3);
    }
}

/// The error is one of JSON, which doesn't say what happened. The module's docs say so.
#[test]
fn a_stalled_chunk_of_json_may_have_been_acted_upon() {
    let sent = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\"half\r\n";
    let server = Server::start(Reaction::SendAndStall(sent));
    assert_eq!(verdict(config().timeout_global(Some(Duration::from_millis(500))), &server.url), UNKNOWN);
}

// Rule H3.
#[test]
fn an_answer_that_is_cut_short_is_the_servers_fault() {
    for sent in CUT_SHORT {
        assert_eq!(reaction(Reaction::Send(sent)), BROKEN, "{sent:?}");
    }
}

#[test]
fn a_reset_connection_is_the_servers_fault() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        assert_eq!(reaction(Reaction::SendAndReset(sent)), BROKEN, "{sent:?}");
    }
}

// Rule H3.
#[test]
fn an_answer_that_is_not_http_is_the_servers_fault() {
    assert_eq!(reaction(Reaction::Send("SSH-2.0-OpenSSH_9.2\r\n")), BROKEN);
}

/// A request can have the same error. The module's docs say so.
#[test]
fn two_lengths_may_be_the_fault_of_the_request() {
    let sent = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 6\r\n\r\n\"half\"";
    assert_eq!(reaction(Reaction::Send(sent)), UNKNOWN);
}

// Rule H3.
#[test]
fn a_complete_answer_that_cannot_be_parsed_is_not_retried() {
    for sent in NOT_JSON {
        assert_eq!(reaction(Reaction::Send(sent)), FINAL, "{sent:?}");
    }
}

#[test]
fn a_status_is_classified_as_by_the_library() {
    for status in ERROR_STATUSES {
        // The error has no headers.
        assert_eq!(reaction(Reaction::Answer(status, "retry-after: 7\r\n", "")), http::status(status), "{status}");
    }
}

#[test]
fn an_invalid_url_is_final() {
    for url in ["no url", "ftp://localhost/"] {
        assert_eq!(verdict(config(), url), FINAL, "{url}");
    }
}

#[test]
fn endless_redirects_are_final() {
    for status in [303, 307] {
        let server = Server::start(Reaction::Answer(status, "location: /\r\n", ""));
        assert_eq!(verdict(config(), &server.url), FINAL, "{status}");
    }
}

/// The module's docs warn of this.
#[test]
fn a_refused_connection_after_a_redirect_looks_unsent_although_the_first_server_has_answered() {
    let location = format!("location: http://{}/\r\n", refused_address());
    let server = Server::start(Reaction::Answer(303, location.leak(), ""));
    assert_eq!(verdict(config(), &server.url), UNSENT);
    assert_eq!(server.requests(), 1);
}

#[test]
fn an_error_is_found_in_a_chain_and_judged_by_the_policy() {
    static API: StandardRetryStrategy =
        StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

    #[retryable(strategy = API, policy = ureq3::policy().idempotent(true), blocking)]
    fn get(url: &str) -> Result<String, Error> {
        post(config(), url)
    }

    let server = Server::start_script([Reaction::Send(""), Reaction::Answer(200, "", "\"done\"")]);
    assert_eq!(get(&server.url).unwrap(), "done");
    assert_eq!(server.requests(), 2);

    let server = Server::start(Reaction::Send(""));
    let outcome = post(config(), &server.url);
    let payment = ureq3::policy().idempotent(false).evaluate(&outcome);
    assert_eq!(payment, RetryDirective::fail(Some(RetryErrorType::ServerSide)));
    assert_eq!(chain::first_known(&std::io::Error::other(outcome.unwrap_err()), ureq3::link), Some(BROKEN));
    assert_eq!(chain::first_known(&std::io::Error::other("another error"), ureq3::link), None);
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT, blocking)]
    fn limited(url: &str) -> Result<String, ureq3::ClientError> {
        Ok(post(config(), url)?)
    }

    static STALLED: StandardRetryStrategy = StandardRetryStrategy::new();
    let error = limited(&format!("http://{}/", refused_address())).unwrap_err();
    assert_of_client(error, UNSENT, ureq3::link);

    // An attempt that blocks can't be cut, so another call makes the error of a limit.
    let stalled = retry(&STALLED, std::future::pending::<Result<(), TimedOut>>).max_time(LIMIT).run().await;
    assert_timed_out(ureq3::ClientError::from(stalled.unwrap_err()), ureq3::link);
}
