//! The error codes of SQL databases.

use crate::classify::verdict;
use retry_clients::codes::known_sqlstate;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetryInfo, RetrySafety};
use std::sync::Arc;

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

// Rule E15.
#[test]
fn every_sqlstate_is_classified_as_in_its_row() {
    let rows: [(&[&str], Classification); 7] = [
        (&["40001", "40P01", "55P03"], verdict(Yes, "conflict", Other)),
        (&["40003", "08007"], verdict(Maybe, "", Other)),
        (&["08001", "08004", "57P03", "53300", "57P05", "25P03", "25P04", "25006"], verdict(Yes, "", Server)),
        (
            &[
                "08000", "08003", "08006", "08P01", "57P01", "57P02", "53000", "53100", "53200", "53400", "53ZZZ",
                "58000", "58030",
            ],
            verdict(Maybe, "", Server),
        ),
        (&["57014"], verdict(No, "", Other)),
        (&["XX000", "XX001", "XX002", "XXZ99"], verdict(No, "", Server)),
        (
            &[
                "23505", "23P01", "23503", "40000", "40002", "42601", "42P01", "28P01", "25P02", "22012", "57000",
                "57P04", "55006", "58P01", "0A000", "00000", "ZZZZZ", "99999", "P0001",
            ],
            verdict(No, "", Client),
        ),
    ];
    for (codes, expected) in rows {
        for code in codes {
            assert_eq!(known_sqlstate(code), Some(expected), "{code}");
        }
    }
}

// Rule E15.
#[test]
fn a_text_that_is_no_sqlstate_has_no_answer() {
    for text in ["", "5", "1205", "400010", " 40001", "40001 ", "40p01", "xx000", "4000\u{661}", "\u{e9}001", "40-01"] {
        assert_eq!(known_sqlstate(text), None, "{text:?}");
    }
}

// Rule E15.
#[test]
fn a_field_of_any_text_can_hold_an_sqlstate() {
    #[derive(RetryInfo)]
    enum DatabaseError {
        Owned(#[retry(with = known_sqlstate)] String),
        Constant(#[retry(with = known_sqlstate)] &'static str),
        Shared(#[retry(with = known_sqlstate)] Arc<str>),
        #[retry(with = judge)]
        Known(Option<String>),
    }
    #[allow(clippy::ref_option, reason = "the derive hands over references")]
    fn judge(code: &Option<String>) -> Option<Classification> {
        known_sqlstate(code.as_deref()?)
    }

    let errors = |code: &'static str| {
        [
            DatabaseError::Owned(code.to_owned()),
            DatabaseError::Constant(code),
            DatabaseError::Shared(code.into()),
            DatabaseError::Known(Some(code.to_owned())),
        ]
    };
    for error in errors("40001") {
        assert_eq!(Classification::of(&error), verdict(Yes, "conflict", Other));
    }
    for error in errors("5") {
        assert_eq!(error.is_retry_safe(), No, "without an answer, nothing is retried");
    }
    assert_eq!(DatabaseError::Known(None).is_retry_safe(), No);
}
