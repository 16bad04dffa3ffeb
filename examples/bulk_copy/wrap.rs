//! Lines that are not too long.

use std::fmt::Write;

/// The number of columns that no line exceeds.
const COLUMNS: usize = 100;

/// Breaks a text between words, so that no line exceeds [`COLUMNS`]. The first line begins at column `indent`, and the others are
/// indented as much. A word that is too long has a line for itself.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut column) = (String::new(), indent);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > COLUMNS {
            let _ = write!(lines, "\n{:indent$}", "");
            column = indent;
        }
        if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}
