//! The tables of retry-clients/FAULTS.md.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../retry-clients/FAULTS.md");

/// Checks that the table of the chapter with this heading has these rows. With `UPDATE_EXPECT=1`, writes them there.
///
/// # Panics
///
/// If the table has other rows, or there is no such chapter with a table.
pub fn assert_table(heading: &str, rows: &[String]) {
    let page = fs::read_to_string(PAGE).unwrap();
    let lines: Vec<_> = page.lines().collect();
    let chapter = lines.iter().position(|line| *line == heading).expect(heading);
    let table = chapter + lines[chapter..].iter().position(|line| line.starts_with('|')).expect(heading);
    // Below the header and its line.
    let length = lines[table + 2..].iter().take_while(|line| line.starts_with('|')).count();
    let (before, rest) = lines.split_at(table + 2);
    let (old, after) = rest.split_at(length);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new: Vec<_> =
            before.iter().copied().chain(rows.iter().map(String::as_str)).chain(after.iter().copied()).collect();
        fs::write(PAGE, new.join("\n") + "\n").unwrap();
    } else {
        assert_eq!(old.join("\n"), rows.join("\n"), "{heading} in retry-clients/FAULTS.md: UPDATE_EXPECT=1 renews it");
    }
}

/// Returns the rows of a fault, in which clients with the same results share a row. The results are of a client each.
pub fn grouped(fault: &str, results: Vec<(&str, String)>) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (client, cells) in results {
        match groups.iter_mut().find(|group| group.1 == cells) {
            Some(group) => group.0.push(client),
            None => groups.push((vec![client], cells)),
        }
    }
    groups.iter().map(|(clients, cells)| format!("| {fault} | {} | {cells} |", clients.join(", "))).collect()
}

/// Returns a classification in the words of the tables.
pub fn classification(verdict: Classification) -> String {
    let safety = match verdict.is_retry_safe() {
        RetrySafety::Yes => "yes",
        RetrySafety::Maybe => "maybe",
        RetrySafety::No => "no",
    };
    let classes = [
        (verdict.is_throttle(), "throttling"),
        (verdict.is_timeout(), "timeout"),
        (verdict.is_conflict(), "conflict"),
        (verdict.fault() == ErrorFault::Server, "server"),
        (verdict.fault() == ErrorFault::Client, "client"),
    ];
    let classes = classes.iter().filter(|class| class.0).map(|class| class.1);
    std::iter::once(safety).chain(classes).collect::<Vec<_>>().join(", ")
}
