//! Numbers as text.

use std::fmt::Display;

/// Formats a number with commas between its thousands.
pub(crate) fn thousands(number: impl Display) -> String {
    let plain = number.to_string();
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Formats a share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    // Rounded, to hide the inexact last digits of binary fractions.
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// Formats a size.
pub(crate) fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{}", thousands(tenths / 10), tenths % 10)
}
