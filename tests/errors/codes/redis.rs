//! The error codes of Redis and Valkey.

use crate::classify::verdict;
use retry_clients::codes::known_redis;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetryInfo, RetrySafety};

use ErrorFault::{Client, Other, Server};
use RetrySafety::{No, Yes};

// Rule E16.
#[test]
fn every_code_of_redis_is_classified_as_in_its_row() {
    let rows: [(&[&str], Classification); 3] = [
        (
            &["LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "READONLY", "BUSY", "NOREPLICAS", "OOM"],
            verdict(Yes, "", Server),
        ),
        (&["MOVED", "ASK"], verdict(Yes, "", Other)),
        (&["EXECABORT", "NOSCRIPT", "WRONGTYPE", "NOAUTH", "WRONGPASS", "NOPERM", "ERR"], verdict(No, "", Client)),
    ];
    let mut seen = 0;
    for (codes, expected) in rows {
        for code in codes {
            assert_eq!(known_redis(code), Some(expected), "{code}");
            assert_eq!(known_redis(&format!("{code} 3999 127.0.0.1:6381")), Some(expected), "{code} with a message");
            seen += 1;
        }
    }
    assert_eq!(seen, 17);
}

// Rule E16.
#[test]
fn any_other_first_word_has_no_answer() {
    let unknown =
        ["", " ", "OK", "loading", "BUSYGROUP name exists", "BUSYKEY", "LOADING: x", "MISCONF", "-BUSY", "a READONLY"];
    for text in unknown {
        assert_eq!(known_redis(text), None, "{text:?}");
    }
}

// Rule E16.
#[test]
fn a_field_can_hold_an_error_of_redis() {
    #[derive(RetryInfo)]
    struct CacheError(#[retry(with = known_redis)] String);

    let read_only = CacheError("READONLY You can't write against a read only replica.".to_owned());
    assert_eq!(Classification::of(&read_only), verdict(Yes, "", Server));
    assert_eq!(CacheError("MYMODULE failed".to_owned()).is_retry_safe(), No);
}
