//! The result codes of `SQLite`.

use crate::classify::verdict;
use retry_clients::codes::known_sqlite;
use retry_core::{ErrorFault, RetrySafety};

// Rule E33.
#[test]
fn a_database_that_is_locked_is_a_conflict_by_its_primary_and_extended_codes() {
    for code in ["5", "6", "261", "517", "773", "262", "518", "05"] {
        assert_eq!(known_sqlite(code), Some(verdict(RetrySafety::Yes, "conflict", ErrorFault::Other)), "{code}");
    }
    let others = ["", "0", "1", "8", "10", "19", "256", "1555", "2067", "+5", "-5", " 5", "5 ", "5.0", "SQLITE_BUSY"];
    for code in others.into_iter().chain(["99999999999999999999"]) {
        assert_eq!(known_sqlite(code), None, "{code}");
    }
}
