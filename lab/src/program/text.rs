//! Tables as text, in Markdown.

use lab::report::{Report, Spread, Table};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Prints the title and the tables of a report.
pub(super) fn print(report: &Report) -> io::Result<()> {
    io::stdout().write_all(text(report).as_bytes())
}

fn text(report: &Report) -> String {
    let mut text = format!("\n## {}: {} ({})\n", report.scenario, report.title, counted(report.seeds, "seed"));
    for each in &report.tables {
        text += "\n";
        text += &table(each);
    }
    text
}

fn table(table: &Table) -> String {
    let header: Vec<String> = table.keys.iter().chain(&table.measures).cloned().collect();
    let rows = table.rows.iter().map(|row| row.keys.iter().cloned().chain(row.values.iter().map(spread)).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    let width = |column: usize| {
        rows.iter().chain([&header]).filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..header.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        for (cell, &width) in cells.iter().zip(&widths) {
            let _ = write!(text, "| {cell:width$} ");
        }
        text += "|\n";
    };
    line(&header);
    line(&widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
    text
}

/// Returns the median, and the spread if it is visible.
pub(super) fn spread(spread: &Spread) -> String {
    let [low, mid, high] = [spread.low, spread.mid, spread.high].map(number);
    if low == high { mid } else { format!("{mid} ({low} to {high})") }
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "never".to_owned(),
        Some(value) if value.fract() == 0.0 || value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// Returns a number with its noun, whose plural ends in `s`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{counted, text};
    use lab::report::Report;
    use serde_json::json;

    #[test]
    fn only_one_thing_has_the_singular() {
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(21, "run"), "21 runs");
    }

    #[test]
    fn the_title_of_one_seed_has_the_singular() {
        let (scenario, heading) = ("copy".to_owned(), "A copy".to_owned());
        let report = Report { scenario, title: heading, options: json!({}), seeds: 1, tables: vec![], plots: vec![] };
        let title = |seeds| text(&Report { seeds, ..report.clone() });
        assert_eq!(title(1), "\n## copy: A copy (1 seed)\n");
        assert_eq!(title(20), "\n## copy: A copy (20 seeds)\n");
    }
}
