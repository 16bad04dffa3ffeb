//! JSON with a line for each row of a table and each line of a plot, so that differences are readable.

use lab::report::Report;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::error::Error;
use std::io::{self, Write};

/// Returns the report as JSON.
pub(super) fn to_string(report: &Report) -> Result<String, Box<dyn Error>> {
    let mut json = Vec::new();
    report.serialize(&mut Serializer::with_formatter(&mut json, Lines::default()))?;
    json.push(b'\n');
    Ok(String::from_utf8(json)?)
}

/// How deep lines are broken: a row is an item of a list in a field of a table in a list in a field of the report.
const DEPTH: usize = 4;

/// A formatter that breaks lines down to a depth.
#[derive(Default)]
struct Lines {
    depth: usize,
}

impl Lines {
    fn begin<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn end<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < DEPTH {
            self.break_line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn item<W: Write + ?Sized>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        if self.depth <= DEPTH { self.break_line(writer) } else { Ok(()) }
    }

    fn break_line<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b" "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.item(writer, is_first)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.item(writer, is_first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::to_string;
    use lab::report::{Plot, Report, Spread, Table};
    use serde_json::json;

    #[test]
    fn each_row_of_a_table_and_each_line_of_a_plot_has_a_line() {
        let mut table = Table::new("table", &["strategy"], &["time"]);
        table.add(vec!["none".to_owned()], vec![Spread::exactly(1.5)]);
        let mut plot = Plot::new("plot", "A plot", "x", "y");
        plot.add("none", 1.0, Spread::of_optional([None]));
        let report = Report {
            scenario: "test".to_owned(),
            title: "A test".to_owned(),
            options: json!({ "seeds": 1 }),
            seeds: 1,
            tables: vec![table],
            plots: vec![plot],
        };
        let text = to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines.contains(&r#"{"keys": ["none"],"values": [[1.5,1.5,1.5]]}"#), "{text}");
        assert!(lines.contains(&r#"{"name": "none","points": [[1.0,[null,null,null]]]}"#), "{text}");
    }
}
