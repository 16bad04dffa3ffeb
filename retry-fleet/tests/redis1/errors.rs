//! What the errors of the store contain, and which secrets they do not.

use crate::connection::call;
use crate::fake::FakeServer;
use crate::server::{RedisServer, free_port};
use retry_fleet::StoreError;
use retry_fleet::redis1::RedisStore;
use std::error::Error;
use std::fmt::Write;

/// Returns the message of an error with those of its sources, and its debug text.
pub(crate) fn told(error: &StoreError) -> String {
    let mut told = format!("{error} {error:?}");
    let mut next = error.source();
    while let Some(error) = next {
        let _ = write!(told, " {error} {error:?}");
        next = error.source();
    }
    told
}

// Rule F13.
#[tokio::test]
async fn older_servers_report_a_key_of_another_type_too() {
    let text = "-ERR Error running script (call to f_0123): @user_script:28: WRONGTYPE Operation against a key holding the \
                wrong kind of value\r\n";
    let server = FakeServer::start(text).await;
    let mut store = RedisStore::open(&server.url()).unwrap();
    let error = call(&mut store).await.unwrap_err().to_string();
    assert!(error.contains("expected a hash"), "{error}");
}

#[test]
fn the_error_of_a_client_that_panics_differs_from_that_of_a_runtime_that_has_ended() {
    // The runtime can't open a socket.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut store = RedisStore::open("redis://127.0.0.1").unwrap();
    let error = runtime.block_on(call(&mut store)).unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:6379: the client panicked") && error.contains("`enable_all`"), "{error}");
    assert!(error.contains("crypto provider of rustls"), "{error}");
}

// Rule F13.
#[tokio::test]
async fn an_answer_of_another_form_is_an_error_that_names_the_key_and_the_field() {
    let good = [
        "fresh", "1", "-7", "100", "", "2", "1", "0", "1", "0", "", "", "0", "0", "0", "5", "0", "0", "0", "", "3",
        "9", "ada: why", "shop",
    ];
    let list = |fields: &[&str]| {
        fields.iter().fold("*24\r\n".to_owned(), |list, field| format!("{list}${}\r\n{field}\r\n", field.len()))
    };
    let server = FakeServer::start(list(&good)).await;
    call(&mut RedisStore::open(&server.url()).unwrap()).await.unwrap();

    let names = [
        "epoch",
        "members",
        "missing",
        "capacity",
        "timeout_age",
        "granted",
        "is_waiting",
        "least_wait",
        "version",
        "cut",
        "rate",
        "estimate",
        "satisfied",
        "waiting",
        "step",
        "now",
        "elapsed",
        "accepted",
        "rejected",
        "state",
        "turned",
        "off_for",
        "reason",
        "other_program",
    ];
    let names =
        names.into_iter().enumerate().filter(|(_, name)| !["epoch", "state", "reason", "other_program"].contains(name));
    let mut cases: Vec<(String, String)> = Vec::new();
    for (index, name) in names {
        let mut fields = good;
        fields[index] = "many";
        cases.push((list(&fields), format!("{name:?}")));
    }
    for (index, name) in [(1, "members"), (3, "capacity"), (4, "timeout_age"), (5, "granted"), (21, "off_for")] {
        let mut fields = good;
        fields[index] = "-1";
        cases.push((list(&fields), format!("{name:?}")));
    }
    let too_few = list(&good).replacen("*24", "*23", 1).replacen("$5\r\nfresh\r\n", "", 1);
    for answer in [too_few, "+OK\r\n".into(), ":7\r\n".into(), "$-1\r\n".into(), "*0\r\n".into()] {
        cases.push((answer, "a list of 24 fields".into()));
    }
    cases.push((list(&good).replacen("$5\r\nfresh\r\n", "*0\r\n", 1), "\"epoch\"".into()));
    for (answer, expected) in cases {
        let server = FakeServer::start(answer.clone()).await;
        let mut store = RedisStore::open(&server.url()).unwrap();
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains(r#""retry-fleet:1:{orders}""#) && error.contains(&expected), "{answer:?}: {error}");
    }
}

// Rule F13.
#[tokio::test]
async fn no_error_and_no_debug_output_contains_a_password() {
    const PASSWORD: &str = "pass-w0rd";
    let with_password = |port: u16| format!("redis://reader:{PASSWORD}@127.0.0.1:{port}/0");
    let by_hello = |port: u16| with_password(port) + "?protocol=resp3";
    let invalid = [
        format!("redis://reader:{PASSWORD}@127.0.0.1:port/"),
        format!("rediss://reader:{PASSWORD}@127.0.0.1:port/"),
        format!("http://reader:{PASSWORD}@127.0.0.1/"),
        format!("redis://reader:{PASSWORD}@127.0.0.1/{PASSWORD}"),
        format!("redis://reader:{PASSWORD}@127.0.0.1/?protocol={PASSWORD}"),
        PASSWORD.to_owned(),
    ];
    for url in invalid {
        let error = told(&RedisStore::open(&url).unwrap_err());
        assert!(error.contains("invalid URL of the store: ") && !error.contains(PASSWORD), "{error}");
        assert_eq!(error.contains("`tokio-rustls-comp`"), url.starts_with("rediss:"), "{error}");
    }
    // A server may repeat the words of a command that it refuses.
    let unknown = format!("-ERR unknown words: AUTH reader {PASSWORD}\r\n");
    let (real, fake) = (RedisServer::start(&["--requirepass", "another"]), FakeServer::start(unknown).await);
    let nobody = free_port();
    for (port, url, expected) in [
        (nobody, with_password(nobody), "refused"),
        (real.port, with_password(real.port), "authentication failed"),
        (real.port, by_hello(real.port), "WRONGPASS"),
        (fake.port, with_password(fake.port), "authentication failed"),
        (fake.port, by_hello(fake.port), "ERR (response error)"),
    ] {
        let mut store = RedisStore::open(&url).unwrap();
        let first = told(&call(&mut store).await.unwrap_err());
        assert!(first.contains(expected) && first.contains(&format!("127.0.0.1:{port}")), "{first}");
        let next = told(&call(&mut store).await.unwrap_err());
        for told in [first, next, format!("{store:?} {store:#?}")] {
            assert!(!told.contains(PASSWORD), "{told}");
        }
    }
}
