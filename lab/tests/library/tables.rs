use lab::report::{Report, Spread};
use lab::tables::{Results, filled};
use std::fs;
use std::path::Path;

/// Returns the committed results.
fn results() -> Results {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let read = |directory: &str| -> Vec<Report> {
        let directory = results.join(directory);
        let files = fs::read_dir(directory).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        files.map(|text| serde_json::from_str(&text).unwrap()).collect()
    };
    let processes = fs::read_to_string(results.join("processes.json")).unwrap();
    Results { full: read("full"), peers: read("peers"), processes: serde_json::from_str(&processes).unwrap() }
}

fn table(name: &str, results: &Results) -> String {
    filled(&format!("before\n\n<!-- lab: {name} -->\nold\n<!-- lab end -->\n\nafter\n"), results).unwrap()
}

/// Sets a measure of a row.
fn set(reports: &mut [Report], scenario: &str, keys: &[&str], column: usize, value: f64) {
    let report = reports.iter_mut().find(|report| report.scenario == scenario).unwrap();
    let mut rows = report.tables.iter_mut().flat_map(|table| &mut table.rows);
    rows.find(|row| row.keys == keys).unwrap().values[column] = Spread::exactly(value);
}

#[test]
fn a_table_is_written_between_its_markers_only() {
    let page = table("copy", &results());
    assert!(
        page.starts_with("before\n\n<!-- lab: copy -->\n\n| strategy |")
            && page.ends_with("|\n\n<!-- lab end -->\n\nafter\n")
    );
    assert!(!page.contains("old"));
    assert_eq!(filled(&page, &results()).unwrap(), page, "written again, it is the same");
    assert_eq!(filled("no marker", &results()).unwrap(), "no marker");
}

#[test]
fn a_number_is_written_within_its_sentence() {
    let mut results = results();
    let page = "in <!--lab:bridged-by-a-fleet-->7 to 8<!--end--> % of the calls";
    let written = |shown: &str| format!("in <!--lab:bridged-by-a-fleet-->{shown}<!--end--> % of the calls");
    assert_eq!(filled(page, &results).unwrap(), written("65 to 82"));
    set(&mut results.full, "fleet", &["down for 1 s", "evidence, shared", "100"], 0, 82.2);
    assert_eq!(filled(page, &results).unwrap(), written("82"));
    let number = |name: &str| filled(&format!("<!--lab:{name}--><!--end-->"), &results).unwrap();
    assert_eq!(number("ideal-of-the-copy"), "<!--lab:ideal-of-the-copy-->39<!--end-->");
    assert_eq!(number("most-calls-of-the-store"), "<!--lab:most-calls-of-the-store-->1,845<!--end-->");
}

#[test]
fn a_marker_without_an_end_or_of_an_unknown_table_is_an_error() {
    let error = |page: &str| filled(page, &results()).unwrap_err().to_string();
    assert_eq!(error("<!-- lab: copy -->\n| a |"), "the results have no end of the table \"copy\"");
    assert_eq!(error("<!-- lab: no such -->\n<!-- lab end -->"), "the results have no table \"no such\"");
}

#[test]
fn a_table_has_the_numbers_of_the_results() {
    let mut results = results();
    for (name, scenario, keys) in [
        ("copy", "copy", ["paced", "64"]),
        ("partial outage", "partial", ["new()", "0"]),
        ("many", "many", ["paced", "500"]),
        ("worlds", "worlds", ["closed for 10 s", "paced"]),
        ("contention", "contention", ["full jitter", "100"]),
        ("restart", "restart", ["equal jitter", "1.4"]),
    ] {
        let column = usize::from(scenario == "partial");
        set(&mut results.full, scenario, &keys, column, 777.0);
        assert!(table(name, &results).contains("777"), "{name}");
    }
    for (name, scenario, keys) in [
        ("outage", "outage", ["0.93", "new()", "100"]),
        ("faults", "faults", ["stall", "evidence", "10"]),
        ("fleets", "fleet", ["stall", "evidence, shared", "1000"]),
    ] {
        set(&mut results.full, scenario, &keys, 0, 777.0);
        assert!(table(name, &results).contains("777"), "{name}");
    }
    set(&mut results.full, "tail", &["slow requests", "4", "2", "0.3", "50 ms"], 1, 777.0);
    assert!(table("hedges", &results).contains("| 50 ms | 777 | 78 | 2.2 |"));
    set(&mut results.full, "outlast", &["down 10 s, load 0.3", "evidence", "30", "100"], 0, 77.0);
    assert!(table("outlast", &results).contains("| 0/0/77/10 |"));
    set(&mut results.full, "outlast", &["batch, down 10 s", "evidence", "30"], 1, 777.0);
    assert!(table("jobs that outlast", &results).contains("| batch, down 10 s | lost | 1,208 | 8 | 8 | 777 |"));
    set(&mut results.full, "layers", &["no quota"], 3, 777.0);
    assert!(table("layers", &results).contains("| 777 |"));
    let keys = ["down 10 s, load 0.5", "patient", "real"];
    set(std::slice::from_mut(&mut results.processes), "processes", &keys, 2, 777.0);
    assert!(table("processes", &results).contains("| 777 |\n"));
    let name = "failing servers beside other crates";
    set(&mut results.peers, "layers", &["quota"], 3, 777.0);
    set(&mut results.peers, "outage", &["0.8", "new()", "1"], 0, 88.0);
    let table = table(name, &results);
    assert!(table.contains("\n| `new()` | 88 | 99.9 | 0 | 81.4 | 1.16 | 777 |\n"), "{table}");
    assert!(table.contains("\n| `new()`, no quota | never | 71.8 | 98.4 |  |  | 6,914 |\n"), "{table}");
}

#[test]
fn outages_by_their_length_are_in_tables_and_sentences() {
    let mut results = results();
    set(&mut results.full, "lengths", &["patient", "10"], 0, 77.7);
    assert!(table("lengths", &results).contains("| 77.7 |"));
    let phrase = |name: &str| filled(&format!("<!--lab:{name}--><!--end-->"), &results).unwrap();
    assert_eq!(phrase("lost-of-an-outage"), "<!--lab:lost-of-an-outage-->22.3<!--end-->");
    set(&mut results.full, "layers", &["patient"], 3, 777.0);
    let phrase = |name: &str| filled(&format!("<!--lab:{name}--><!--end-->"), &results).unwrap();
    assert_eq!(phrase("load-of-waiting-layers"), "<!--lab:load-of-waiting-layers-->7.8<!--end-->");
    set(&mut results.peers, "lengths", &["tower", "10"], 0, 22.2);
    let table = table("lost calls beside other crates", &results);
    assert!(table.contains("\n| tower | 96.2 | 77.8 | 0 |\n"), "{table}");
}

#[test]
fn a_case_is_worse_only_while_something_else_is_better() {
    let mut results = results();
    let case = "| a bulk copy by 256 workers: failed operations | adaptive: ";
    assert!(table("worse", &results).contains(case));
    for other in ["aws-smithy-runtime, adaptive", "paced"] {
        set(&mut results.peers, "copy", &[other, "256"], 0, 4_000.0);
    }
    assert!(!table("worse", &results).contains(case), "nothing is better");
}

#[test]
fn each_world_in_which_something_else_is_better_is_in_the_table() {
    let mut results = results();
    let row = "copy, 64 workers: ";
    assert!(!table("worse", &results).contains(row));
    set(&mut results.full, "worlds", &["copy, 64 workers", "paced"], 1, 9.0);
    assert!(table("worse", &results).contains(&format!("{row}9.00x")));
    set(&mut results.full, "worlds", &["copy, 64 workers", "paced"], 1, 1.0);
    set(&mut results.full, "worlds", &["copy, 64 workers", "paced"], 0, 3.0);
    assert!(table("worse", &results).contains(&format!("{row}3 lost")));
}

#[test]
fn a_world_that_nobody_had_told_is_in_the_table_with_its_rejections_while_something_else_is_better() {
    let mut results = results();
    let row = "others take 90 % every other 3 s: time / ideal, or lost operations, rejected |";
    set(&mut results.full, "untold", &["others take 90 % every other 3 s", "paced"], 1, 77.7);
    set(&mut results.full, "untold", &["others take 90 % every other 3 s", "paced"], 3, 0.333);
    assert!(table("worse", &results).contains(&format!("{row} paced: 78x, 33.3 % |")));
    assert!(table("untold", &results).contains("78x, 33.3 %"));
    set(&mut results.full, "untold", &["others take 90 % every other 3 s", "paced"], 1, 1.0);
    assert!(!table("worse", &results).contains(row));
}
