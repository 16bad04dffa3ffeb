//! The result codes of `SQLite`.

use retry_core::RetrySafety;
use retry_core::classify::Classification;

/// Classifies a result code of `SQLite`, for an attempt that is a whole transaction. Returns `None` if the text is not a number, or
/// the code is not in the table.
///
/// The authority is [its list of result codes](https://www.sqlite.org/rescode.html). The lowest byte of an extended code is the
/// primary code:
///
/// | primary code | safe | class | fault | extended codes |
/// |---|---|---|---|---|
/// | 5 `SQLITE_BUSY` | yes | conflict | other | 261 recovery, 517 snapshot, 773 timeout |
/// | 6 `SQLITE_LOCKED` | yes | conflict | other | 262 shared cache, 518 virtual table |
/// | any other | no answer | | | |
///
/// The statement did nothing, but its transaction is still open. So each attempt begins the transaction, and rolls it back after an
/// error.
///
/// ```
/// use retry_clients::codes::known_sqlite;
///
/// assert!(known_sqlite("517").is_some_and(|verdict| verdict.is_conflict()));
/// assert_eq!(known_sqlite("19"), None);
/// ```
pub fn known_sqlite(code: &str) -> Option<Classification> {
    // `parse` accepts a plus sign.
    if !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let code: u32 = code.parse().ok()?;
    matches!(code & 0xff, 5 | 6).then_some(Classification::new(RetrySafety::Yes).with_conflict())
}
