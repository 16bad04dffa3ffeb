//! Each kind of error of the crate redis has a classification and a reason for it.

use crate::server::RedisServer;
use crate::{NOT_EXECUTED, WRONG};
use clients_tests::{BROKEN, FINAL, UNKNOWN, UNSENT};
use redis::sentinel::{SentinelClient, SentinelServerType};
use redis::{ErrorKind, RedisError, ServerErrorKind};
use retry_clients::redis1;
use retry_core::classify::Classification;
use std::path::PathBuf;
use std::process::Command;

/// An error of a kind that has nothing but the kind.
const KINDS: [(&str, ErrorKind, Classification); 12] = [
    ("AuthenticationFailed", ErrorKind::AuthenticationFailed, FINAL),
    ("Client", ErrorKind::Client, FINAL),
    ("ClusterConnectionNotFound", ErrorKind::ClusterConnectionNotFound, BROKEN),
    ("EmptySentinelList", ErrorKind::EmptySentinelList, FINAL),
    ("Extension", ErrorKind::Extension, FINAL),
    ("InvalidClientConfig", ErrorKind::InvalidClientConfig, FINAL),
    ("Io", ErrorKind::Io, UNKNOWN),
    ("MasterNameNotFoundBySentinel", ErrorKind::MasterNameNotFoundBySentinel, NOT_EXECUTED),
    ("NoValidReplicasFoundBySentinel", ErrorKind::NoValidReplicasFoundBySentinel, NOT_EXECUTED),
    ("Parse", ErrorKind::Parse, FINAL),
    ("RESP3NotSupported", ErrorKind::RESP3NotSupported, FINAL),
    ("UnexpectedReturnType", ErrorKind::UnexpectedReturnType, FINAL),
];

const SERVER_KINDS: [(&str, ServerErrorKind, Classification); 14] = [
    ("Ask", ServerErrorKind::Ask, UNSENT),
    ("BusyLoading", ServerErrorKind::BusyLoading, NOT_EXECUTED),
    ("ClusterDown", ServerErrorKind::ClusterDown, NOT_EXECUTED),
    ("CrossSlot", ServerErrorKind::CrossSlot, FINAL),
    ("ExecAbort", ServerErrorKind::ExecAbort, WRONG),
    ("MasterDown", ServerErrorKind::MasterDown, NOT_EXECUTED),
    ("Moved", ServerErrorKind::Moved, UNSENT),
    ("NoPerm", ServerErrorKind::NoPerm, WRONG),
    ("NoScript", ServerErrorKind::NoScript, WRONG),
    ("NoSub", ServerErrorKind::NoSub, FINAL),
    ("NotBusy", ServerErrorKind::NotBusy, FINAL),
    ("ReadOnly", ServerErrorKind::ReadOnly, NOT_EXECUTED),
    ("ResponseError", ServerErrorKind::ResponseError, WRONG),
    ("TryAgain", ServerErrorKind::TryAgain, NOT_EXECUTED),
];

/// Returns the folder of the sources of the crate that the tests are built with.
fn sources() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        // Not offline: cargo may have to fetch a crate that only another platform needs.
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let mut found = packages.iter().filter(|package| package["name"] == "redis");
    let manifest = PathBuf::from(found.next().expect("redis")["manifest_path"].as_str().unwrap());
    assert!(found.next().is_none(), "two versions of redis");
    manifest.with_file_name("src")
}

/// Returns the variants of an enum in a file, in order of the alphabet.
fn variants(file: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sources().join(file)).unwrap();
    let (_, body) = text.split_once(&format!("pub enum {name} {{\n")).expect(name);
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().map(str::trim).filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    let mut names: Vec<_> =
        lines.map(|line| line.chars().take_while(char::is_ascii_alphanumeric).collect::<String>()).collect();
    names.sort();
    names
}

// Rule H8.
#[test]
fn each_kind_of_the_crate_has_a_classification_and_a_row() {
    let kinds = KINDS.map(|kind| kind.0).into_iter().chain(["Serialize", "Server"]);
    let mut kinds: Vec<_> = kinds.map(String::from).collect();
    kinds.sort();
    assert_eq!(kinds, variants("errors/redis_error.rs", "ErrorKind"));
    assert_eq!(
        SERVER_KINDS.map(|kind| kind.0.to_owned()).to_vec(),
        variants("errors/server_error.rs", "ServerErrorKind")
    );

    for (name, kind, expected) in KINDS {
        assert_eq!(redis1::classify(&RedisError::from((kind, "an error"))), expected, "{name}");
    }
    for (name, kind, expected) in SERVER_KINDS {
        let error = RedisError::from((ErrorKind::Server(kind), "an error"));
        assert_eq!(redis1::classify(&error), expected, "{name}");
    }

    let page = include_str!("../../../retry-clients/src/redis1.rs");
    let (_, rows) = page.split_once("//! | `ErrorKind` | classification |").unwrap();
    let (rows, _) = rows.split_once("//! redis has a classification").unwrap();
    for name in kinds.iter().map(String::as_str).chain(SERVER_KINDS.map(|kind| kind.0)) {
        assert!(rows.contains(&format!("`{name}`")), "{name} has no row");
    }
}

// Rule H8.
#[tokio::test]
async fn a_sentinel_that_knows_no_master_or_replica_has_sent_nothing() {
    let master = RedisServer::start(&[]);
    let sentinel = RedisServer::start_sentinel(master.port);
    let address = format!("redis://127.0.0.1:{}/", sentinel.port);
    for (name, kind, expected) in [
        ("unknown", SentinelServerType::Master, ErrorKind::MasterNameNotFoundBySentinel),
        ("known", SentinelServerType::Replica, ErrorKind::NoValidReplicasFoundBySentinel),
    ] {
        let mut client = SentinelClient::build(vec![address.clone()], name, None, kind).unwrap();
        let error = client.get_async_connection().await.map(drop).unwrap_err();
        assert_eq!((error.kind(), redis1::classify(&error)), (expected, NOT_EXECUTED), "{error:?}");
    }
}
