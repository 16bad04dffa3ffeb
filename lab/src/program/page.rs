//! Results as one HTML page, which needs no other file.

use super::differences::{DIFFERENCES, cells};
use super::text::spread;
use lab::chart::{TABLES_ONLY, picture, schedule};
use lab::judgement::{Best, Case, DEFAULT, MOST_FAILED, YOURS, cases, leave_out_failing, sentence};
use lab::report::{Report, Table};
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:800px;margin:2em auto;padding:0 1em;\
background:#fff;color:#1f2328}table{border-collapse:collapse;font-size:13px;margin:1em 0}\
td,th{border:1px solid #818b98;padding:2px 8px;text-align:left}svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}";

/// The results of settings.
pub(super) struct Page {
    /// The settings, a line for each.
    pub(super) settings: Vec<String>,
    /// The report of the meaning of the settings, and those of the scenarios that have ended.
    pub(super) reports: Vec<Report>,
    /// The number of scenarios to run.
    pub(super) scenarios: usize,
}

impl Page {
    /// Returns a page with the settings, the judgement, and the picture and the tables of each report.
    pub(super) fn html(&self) -> String {
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Retry settings</title>\n\
             <style>{STYLE}</style>\n<h1>Retry settings</h1>\n<pre>{}</pre>\n",
            escaped(&self.settings.join("\n"))
        );
        let ended = self.reports.len() - 1;
        if ended < self.scenarios {
            let _ = writeln!(page, "<p>Scenarios that have ended: {ended} of {}.</p>", self.scenarios);
        }
        judgement(&mut page, &cases(&self.reports));
        self.reports.iter().for_each(|each| report(&mut page, each));
        page + "</html>\n"
    }
}

/// Writes the sentence of judgement and the cases that differ.
fn judgement(page: &mut String, cases: &[Case]) {
    let Some(sentence) = sentence(cases) else { return };
    let _ = writeln!(page, "<p><strong>{}</strong></p>", escaped(&sentence));
    let rows: Vec<(Best, Vec<String>)> = cases.iter().filter_map(cells).collect();
    if rows.is_empty() {
        return;
    }
    let (name, header) = DIFFERENCES;
    let _ = writeln!(page, "<details open><summary>{name}</summary>\n<table>");
    row(page, "th", &mut header.iter().map(|&cell| cell.to_owned()).chain(["better".to_owned()]));
    for (best, cells) in rows {
        let better = if best == Best::Yours { YOURS } else { DEFAULT };
        row(page, "td", &mut cells.into_iter().chain([better.to_owned()]));
    }
    *page += "</table>\n</details>\n";
}

fn report(page: &mut String, report: &Report) {
    let _ = writeln!(page, "<h2>{}</h2>", escaped(&report.title));
    let mut drawable = report.clone();
    let has_left_out = leave_out_failing(&mut drawable);
    // Options can leave out what the picture of a scenario shows. The tables are still there.
    let drawn = match report.scenario.as_str() {
        "settings" => schedule(report),
        scenario if TABLES_ONLY.contains(&scenario) => Ok(String::new()),
        _ => picture(&drawable),
    };
    *page += &drawn.unwrap_or_else(|missing| format!("<p>No picture: {}.</p>\n", escaped(&missing.to_string())));
    if has_left_out {
        let _ = writeln!(page, "<p>The times of your settings are left out where more than {MOST_FAILED} % fail.</p>");
    }
    let _ = writeln!(page, "<details><summary>Numbers and options</summary>");
    let _ = writeln!(page, "<p><code>{}</code></p>", escaped(&report.options.to_string()));
    report.tables.iter().for_each(|each| table(page, each));
    *page += "</details>\n";
}

fn row(page: &mut String, tag: &str, cells: &mut dyn Iterator<Item = String>) {
    *page += "<tr>";
    for cell in cells {
        let _ = write!(page, "<{tag}>{}</{tag}>", escaped(&cell));
    }
    *page += "</tr>\n";
}

fn table(page: &mut String, table: &Table) {
    *page += "<table>\n";
    row(page, "th", &mut table.keys.iter().chain(&table.measures).cloned());
    for each in &table.rows {
        row(page, "td", &mut each.keys.iter().cloned().chain(each.values.iter().map(spread)));
    }
    *page += "</table>\n";
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::report;
    use lab::report::Report;

    #[test]
    fn a_scenario_without_a_picture_is_its_tables() {
        let (scenario, title, options) = ("weights".to_owned(), "Weights".to_owned(), serde_json::Value::Null);
        let weights = Report { scenario, title, options, seeds: 1, tables: Vec::new(), plots: Vec::new() };
        let mut page = String::new();
        report(&mut page, &weights);
        assert!(page.contains("<h2>Weights</h2>") && !page.contains("No picture"), "{page}");
    }
}
