//! Tables as text, in Markdown, and in at most 100 columns.

use super::look;
use anstyle::Style;
use lab::judgement::YOURS;
use lab::report::{Report, Row, Spread, Table};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// The longest line of a table.
const COLUMNS: usize = 100;

/// Prints the title and the tables of a report, in short or in full.
pub(super) fn print(report: &Report, is_brief: bool) -> io::Result<()> {
    write(&text(report, if is_brief { brief } else { table }))
}

/// Prints a text with styles.
pub(super) fn write(text: &str) -> io::Result<()> {
    anstream::stdout().write_all(text.as_bytes())
}

fn text(report: &Report, table: fn(&Table) -> String) -> String {
    let title = look::TITLE;
    let seeds = counted(report.seeds, "seed");
    let mut text = format!("\n{title}## {}: {} ({seeds}){title:#}\n", report.scenario, report.title);
    for each in &report.tables {
        text += &table(each);
    }
    text
}

/// Returns a number with its noun, whose plural ends in `s`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn table(table: &Table) -> String {
    let header: Vec<String> = table.keys.iter().chain(&table.measures).cloned().collect();
    let rows = table
        .rows
        .iter()
        .map(|row| (style(row), row.keys.iter().cloned().chain(row.values.iter().map(spread)).collect()));
    grid(table.keys.len(), &header, &rows.collect::<Vec<_>>())
}

fn style(row: &Row) -> Style {
    if row.keys.iter().any(|key| key == YOURS) { look::YOURS } else { Style::new() }
}

/// Writes the medians of a table. Rows that follow each other and differ in their last key only are one row, with values in their order.
fn brief(table: &Table) -> String {
    let keys = table.keys.len().saturating_sub(1);
    let header: Vec<String> = table.keys.iter().take(keys).chain(&table.measures).cloned().collect();
    let merged = table.rows.chunk_by(|one, other| one.keys[..keys] == other.keys[..keys]).map(|rows| {
        let of = |measure: usize| rows.iter().map(|row| rounded(row.values[measure].mid)).collect::<Vec<_>>().join("/");
        let values = (0..table.measures.len()).map(of);
        (style(&rows[0]), rows[0].keys[..keys].iter().cloned().chain(values).collect())
    });
    grid(keys, &header, &merged.collect::<Vec<_>>())
}

/// Returns a number with three digits at most, unless it is large.
fn rounded(value: Option<f64>) -> String {
    match value {
        None => "never".to_owned(),
        Some(value) if value.fract() == 0.0 || value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// Writes rows below a header. The first columns, `keys` of them, are repeated in each part of a table that is too wide.
pub(super) fn grid(keys: usize, header: &[String], rows: &[(Style, Vec<String>)]) -> String {
    let cells = |column: usize| rows.iter().map(|(_, row)| row).filter_map(move |row| row.get(column));
    let width = |column| cells(column).chain(header.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for columns in parts(keys, &widths) {
        text += "\n";
        let mut line = |style: Style, cells: &[String]| {
            let _ = write!(text, "{style}");
            for &column in &columns {
                let (cell, width) = (cells.get(column).map_or("", String::as_str), widths[column]);
                let _ = write!(text, "| {cell:width$} ");
            }
            let _ = writeln!(text, "|{style:#}");
        };
        line(look::TITLE, header);
        line(Style::new(), &widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>());
        for (style, row) in rows {
            line(*style, row);
        }
    }
    text
}

/// Returns the columns of each part of a table: the keys, and as many others as there is space for, at least one.
fn parts(keys: usize, widths: &[usize]) -> Vec<Vec<usize>> {
    let length = |columns: &[usize]| columns.iter().map(|&column| widths[column] + 3).sum::<usize>() + 1;
    let mut parts: Vec<Vec<usize>> = vec![(0..keys).collect()];
    for (column, width) in widths.iter().enumerate().skip(keys) {
        let last = parts.last_mut().filter(|part| part.len() == keys || length(part) + width + 3 <= COLUMNS);
        match last {
            Some(part) => part.push(column),
            None => parts.push((0..keys).chain([column]).collect()),
        }
    }
    parts
}

/// Returns the median, and the spread if it is visible.
pub(super) fn spread(spread: &Spread) -> String {
    let [low, mid, high] = [spread.low, spread.mid, spread.high].map(number);
    if low == high { mid } else { format!("{mid} ({low} to {high})") }
}

pub(super) fn number(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        None => "never".to_owned(),
        Some(value) if value.fract() == 0.0 || value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// Breaks a text between words into lines of at most [`COLUMNS`].
pub(super) fn wrapped(text: &str) -> String {
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        let is_full = column > 0 && column + 1 + length > COLUMNS;
        if column > 0 {
            lines.push(if is_full { '\n' } else { ' ' });
        }
        lines.push_str(word);
        column = if is_full || column == 0 { length } else { column + 1 + length };
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, brief, counted, parts, table, text, wrapped};
    use lab::report::{Report, Spread, Table};

    #[test]
    fn a_wide_table_has_parts_that_repeat_the_keys() {
        // Two keys of 10 take 27 columns with the last bar, which leaves 73: 30 + 3 and 37 + 3.
        assert_eq!(parts(2, &[10, 10, 30, 37]), [vec![0, 1, 2, 3]]);
        assert_eq!(parts(2, &[10, 10, 30, 38]), [vec![0, 1, 2], vec![0, 1, 3]]);
        assert_eq!(parts(1, &[50, 200, 3]), [vec![0, 1], vec![0, 2]], "a column that never fits is alone");
        assert_eq!(parts(1, &[5]), [vec![0]]);
    }

    #[test]
    fn the_row_of_the_user_has_a_colour_and_no_line_is_too_long() {
        let measures = ["a measure of some size, s"; 5];
        let mut copies = Table::new("copy", &["strategy"], &measures);
        for strategy in ["new()", "yours"] {
            copies.add(vec![strategy.to_owned()], vec![Spread::of([1.0, 2.0]); 5]);
        }
        let (tables, options) = (vec![copies], serde_json::Value::Null);
        let report = Report { scenario: "copy".into(), title: "T".into(), options, seeds: 1, tables, plots: vec![] };
        let styled = text(&report, table);
        assert!(styled.contains("\u{1b}[36m| yours"), "{styled}");
        let plain = anstream::adapter::strip_str(&styled).to_string();
        assert!(plain.starts_with("\n## copy: T (1 seed)\n"), "{plain}");
        assert!(plain.lines().all(|line| line.len() <= COLUMNS), "{plain}");
        assert_eq!(plain.matches("| yours ").count(), 2, "a part for each half of the columns");
    }

    #[test]
    fn a_table_in_short_has_a_row_for_those_that_differ_in_their_last_key() {
        let mut table = Table::new("outages", &["strategy", "processes"], &["recovery, s"]);
        for (strategy, processes, recovery) in [
            ("new()", "1", Some(8.0)),
            ("new()", "10", Some(11.25)),
            ("new()", "100", None),
            ("none", "1", Some(0.125)),
        ] {
            table.add(vec![strategy.to_owned(), processes.to_owned()], vec![Spread::of_optional([recovery])]);
        }
        let plain = anstream::adapter::strip_str(&brief(&table)).to_string();
        let rows: Vec<&str> = plain.lines().skip(3).collect();
        assert_eq!(rows, ["| new()    | 8/11.2/never |", "| none     | 0.12         |"]);
    }

    #[test]
    fn only_one_thing_has_the_singular() {
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(21, "run"), "21 runs");
    }

    #[test]
    fn the_title_of_one_seed_has_the_singular() {
        let (scenario, heading) = ("copy".to_owned(), "A copy".to_owned());
        let report = Report {
            scenario,
            title: heading,
            options: serde_json::json!({}),
            seeds: 1,
            tables: vec![],
            plots: vec![],
        };
        let title = |seeds| {
            let styled = text(&Report { seeds, ..report.clone() }, table);
            anstream::adapter::strip_str(&styled).to_string()
        };
        assert_eq!(title(1), "\n## copy: A copy (1 seed)\n");
        assert_eq!(title(20), "\n## copy: A copy (20 seeds)\n");
    }

    #[test]
    fn sentences_are_wrapped() {
        let lines = wrapped(&"word ".repeat(41));
        assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [99, 99, 4]);
    }
}
