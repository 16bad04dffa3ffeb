//! Results as one HTML page, which needs no other file.

use super::text::spread;
use lab::chart::{picture, schedule};
use lab::report::{Report, Table};
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:800px;margin:2em auto;padding:0 1em;\
background:#fff;color:#1f2328}table{border-collapse:collapse;font-size:13px;margin:1em 0}\
td,th{border:1px solid #818b98;padding:2px 8px;text-align:left}svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}";

/// Returns a page with the picture and the tables of each report. The first report is that of the settings.
pub(super) fn page(reports: &[Report]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Retry settings</title>\n\
         <style>{STYLE}</style>\n<h1>Retry settings</h1>\n"
    );
    for report in reports {
        let _ = writeln!(page, "<h2>{}</h2>", escaped(&report.title));
        // Options can leave out what the picture of a scenario shows. The tables are still there.
        let drawn = if report.scenario == "settings" { schedule(report) } else { picture(report) };
        page += &drawn.unwrap_or_else(|missing| format!("<p>No picture: {}.</p>\n", escaped(&missing.to_string())));
        let _ = writeln!(page, "<details><summary>Numbers and options</summary>");
        let _ = writeln!(page, "<p><code>{}</code></p>", escaped(&report.options.to_string()));
        report.tables.iter().for_each(|each| table(&mut page, each));
        page += "</details>\n";
    }
    page + "</html>\n"
}

fn table(page: &mut String, table: &Table) {
    let row = |page: &mut String, tag: &str, cells: &mut dyn Iterator<Item = String>| {
        *page += "<tr>";
        for cell in cells {
            let _ = write!(page, "<{tag}>{}</{tag}>", escaped(&cell));
        }
        *page += "</tr>\n";
    };
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
