//! The error codes of Redis and Valkey.

use crate::classify::verdict;
use retry_clients::codes::known_redis;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetryInfo, RetrySafety};

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

// Rule E16.
#[test]
fn every_code_of_redis_is_classified_as_in_its_row() {
    let rows: [(&[&str], Classification); 4] = [
        (
            &["LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "READONLY", "BUSY", "NOREPLICAS", "OOM"],
            verdict(Yes, "", Server),
        ),
        (&["MOVED", "ASK", "REDIRECT"], verdict(Yes, "", Other)),
        (&["UNBLOCKED"], verdict(Maybe, "", Server)),
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
    assert_eq!(seen, 19);
}

// Rule E16.
#[test]
fn an_error_that_a_script_of_old_servers_reports_is_the_one_of_its_command() {
    let script = "ERR Error running script (call to f_6b1bf486c81ceb7edf3c093f4c48582e38c0e791): @user_script:1: @user_script: 1:";
    let rows = [
        ("-READONLY You can't write against a read only replica.", verdict(Yes, "", Server)),
        ("-OOM command not allowed when used memory > 'maxmemory'.", verdict(Yes, "", Server)),
        ("-MOVED 3999 127.0.0.1:6381", verdict(Yes, "", Other)),
        ("-UNBLOCKED client unblocked via CLIENT UNBLOCK", verdict(Maybe, "", Server)),
        ("-WRONGTYPE Operation against a key holding the wrong kind of value", verdict(No, "", Client)),
        ("-ERR Error - -READONLY of another", verdict(Yes, "", Server)),
        ("-MYWORD of the script", verdict(No, "", Client)),
        ("Unknown Redis command called from script", verdict(No, "", Client)),
        ("a-READONLY or - READONLY", verdict(No, "", Client)),
    ];
    for (text, expected) in rows {
        assert_eq!(known_redis(&format!("{script} {text}")), Some(expected), "{text}");
    }
    let echo = "ERR unknown command 'FOO', with args beginning with: ' -READONLY'";
    assert_eq!(known_redis(echo), Some(verdict(No, "", Client)));
    let nested = "ERR ".to_owned() + &"-ERR ".repeat(100_000);
    assert_eq!(known_redis(&nested), Some(verdict(No, "", Client)));
    assert_eq!(known_redis("WRONGTYPE -READONLY"), Some(verdict(No, "", Client)));
    assert_eq!(known_redis("ERR max number of clients reached"), Some(verdict(Yes, "", Server)));
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
