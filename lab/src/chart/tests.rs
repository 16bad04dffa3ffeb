mod worlds;

use super::{Missing, inlined, picture, recovery, retry_loop, schedule, timeline};
use crate::call::CallError;
use crate::report::{Report, Row, Spread};
use crate::timeline::{Planned, record};
use retry_core::{Jitter, RetryConfig, RetryError, StandardRetryStrategy};
use serde_json::Value;
use std::time::Duration;

const NAMES: [&str; 11] = [
    "changing",
    "contention",
    "copy",
    "layers",
    "outage",
    "partial",
    "fleet_limit",
    "restart",
    "faults",
    "worlds",
    "tail",
];

/// Returns the committed results, in the order of [`NAMES`].
fn reports() -> Vec<Report> {
    let files: [&str; NAMES.len()] = [
        include_str!("../../results/full/changing.json"),
        include_str!("../../results/full/contention.json"),
        include_str!("../../results/full/copy.json"),
        include_str!("../../results/full/layers.json"),
        include_str!("../../results/full/outage.json"),
        include_str!("../../results/full/partial.json"),
        include_str!("../../results/full/fleet_limit.json"),
        include_str!("../../results/full/restart.json"),
        include_str!("../../results/full/faults.json"),
        include_str!("../../results/full/worlds.json"),
        include_str!("../../results/full/tail.json"),
    ];
    files.map(|file| serde_json::from_str(file).unwrap()).into()
}

fn settings() -> Report {
    crate::settings::report(Value::Null, &RetryConfig::new(), None)
}

/// A text of a picture with the rectangle that it covers at most: left, top, right, bottom.
struct Text<'a>(&'a str, [f64; 4]);

impl Text<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.1, other.1);
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }
}

fn texts(svg: &str) -> Vec<Text<'_>> {
    let attribute = |line: &'_ str, name: &str| -> Option<String> {
        Some(line.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0.to_owned())
    };
    let lines = svg.lines().filter(|line| line.starts_with("<text ") && line.contains(" x="));
    lines
        .map(|line| {
            let text = line.split_once('>').unwrap().1.trim_end_matches("</text>");
            let class = attribute(line, "class").unwrap();
            let [x, y]: [f64; 2] = ["x", "y"].map(|name| attribute(line, name).unwrap().parse().unwrap());
            let size = if class.contains("title") {
                // Bold letters are wider.
                17.0
            } else if class.contains("small") {
                12.0
            } else {
                13.0
            };
            #[expect(clippy::cast_precision_loss, reason = "texts are short")]
            let width = text.chars().count() as f64 * size * 0.56;
            let before = if class.contains("middle") {
                0.5
            } else if class.contains("end") {
                1.0
            } else {
                0.0
            };
            let left = x - width * before;
            Text(text, [left, y - size * 0.75, left + width, y + size * 0.2])
        })
        .collect()
}

#[test]
fn no_text_lies_on_another_one_or_outside_of_its_picture() {
    let pictures = reports()
        .iter()
        .map(picture)
        .chain([schedule(&settings()), recovery(&reports()[8])])
        .collect::<Result<Vec<_>, Missing>>();
    let drawn = [retry_loop(), timeline(&crate::timeline::example(), crate::timeline::EXAMPLE)];
    for picture in pictures.unwrap().iter().chain(&drawn) {
        assert_texts_apart(picture);
    }
}

#[test]
fn the_loop_shows_each_reason_to_stop() {
    let drawn = retry_loop();
    for reason in [
        RetryError::NotRetryable,
        RetryError::Disabled,
        RetryError::MaxAttempts,
        RetryError::RetryAfterTooLong,
        RetryError::MaxTime,
        RetryError::Stopped,
        RetryError::QuotaExhausted,
    ] {
        assert!(drawn.contains(&format!(">{}<", reason.as_str())), "{reason:?}");
    }
}

#[test]
fn the_title_of_an_operation_says_how_it_ended() {
    let planned = |outcome| vec![Planned { takes: Duration::from_millis(10), outcome }];
    let strategy = StandardRetryStrategy::new;
    let failed = Err(CallError::Failed);
    for (timeline, title) in [
        (record(strategy(), planned(Ok(())), None), "An operation succeeds after 1 attempt"),
        (record(strategy(), planned(failed), None), "An operation ends after 5 attempts: all attempts were made"),
        (
            record(strategy(), planned(failed), Some(Duration::from_millis(5))),
            "max_time ends an operation in its attempt 1",
        ),
        (
            record(strategy().jitter(Jitter::None), planned(failed), Some(Duration::from_secs(2))),
            "An operation ends after 2 attempts, because its next wait would end after max_time",
        ),
    ] {
        assert!(super::timeline(&timeline, "").contains(&format!("<title>{title}</title>")), "{title}");
    }
}

fn assert_texts_apart(picture: &str) {
    let texts = texts(picture);
    assert!(texts.len() > 10);
    for (index, text) in texts.iter().enumerate() {
        assert!(text.1[0] >= 0.0 && text.1[2] <= 800.0, "{}", text.0);
        for other in &texts[index + 1..] {
            assert!(!text.overlaps(other), "{} and {} in {}", text.0, other.0, texts[0].0);
        }
    }
}

#[test]
fn a_picture_shows_the_numbers_of_its_report() {
    let mut copy = reports().remove(2);
    let before = picture(&copy).unwrap();
    let row = copy.tables[0].rows.iter_mut().find(|row| row.keys == ["new()", "64"]).unwrap();
    row.values[0] = Spread::exactly(1234.0);
    let after = picture(&copy).unwrap();
    assert!(!before.contains(">30.9 %<") && after.contains(">30.9 %<"), "1,234 of 4,000 operations");
}

#[test]
fn a_value_that_is_never_reached_is_said_in_words() {
    let outage = reports().remove(4);
    let shown = |row: &&Row| ["no retries", "new()", "new(), no quota"].contains(&row.keys[1].as_str());
    let never = outage.tables[0].rows.iter().filter(shown).filter(|row| row.values[0].mid.is_none()).count();
    let picture = picture(&outage).unwrap();
    assert!(never > 0);
    assert_eq!(picture.matches(">stays down<").count(), never);
    assert!(picture.contains("not within 520 s"), "600 s without 60 s before, 10 s of stall, and 10 s of successes");
}

#[test]
fn a_time_is_left_out_where_more_than_a_few_operations_fail() {
    let mut copy = reports().remove(2);
    let times = |copy: &Report| picture(copy).unwrap().matches(" %, ").count();
    let before = times(&copy);
    assert!(before > 0);
    let row = copy.tables[0].rows.iter_mut().find(|row| row.keys == ["paced", "64"]).unwrap();
    row.values[0] = Spread::exactly(201.0);
    assert_eq!(times(&copy), before - 1, "5.025 % of 4,000 operations");
}

/// Sets all points of a line.
fn set_line(report: &mut Report, line: &str, value: f64) {
    let lines = report.plots.iter_mut().flat_map(|plot| &mut plot.lines).filter(|each| each.name == line);
    lines.flat_map(|line| &mut line.points).for_each(|point| point.y = Spread::exactly(value));
}

/// Sets all measures of a strategy.
fn set_rows(report: &mut Report, strategy: &str, value: f64) {
    let rows = report.tables.iter_mut().flat_map(|table| &mut table.rows);
    let rows = rows.filter(|row| row.keys.iter().any(|key| key == strategy));
    rows.flat_map(|row| &mut row.values).for_each(|spread| *spread = Spread::exactly(value));
}

#[test]
fn a_title_states_a_finding_only_if_the_results_have_it() {
    type Change = fn(&mut Report);
    let cases: [(&str, Change, &str); NAMES.len()] = [
        (
            "A changing limit: retries without a quota lose up to ",
            |report| set_rows(report, "paced", 0.1),
            "A limit that changes: what is used of it, and what fails",
        ),
        (
            "Many clients write one row: jitter saves ",
            |report| set_line(report, "no jitter", 1.0),
            "Many clients write one row: writes and time with and without jitter",
        ),
        (
            "A bulk copy against a limit: retries lose up to ",
            |report| set_rows(report, "paced", 2000.0),
            "A bulk copy against a rate limit: lost operations",
        ),
        (
            "Retries of 3 services in a row multiply: ",
            |report| set_rows(report, "quota", 100.0),
            "3 services in a row that all retry: the load on the last one",
        ),
        (
            "After a 10 s stall, retries keep a server down unless all share one quota",
            |report| set_rows(report, "new(), no quota", 20.0),
            "A server stalls for 10 s: the time until it works again",
        ),
        (
            "Retries load a failing server up to ",
            |report| set_line(report, "aws_2_0()", 3.5),
            "A server fails part of the attempts: the load, and what succeeds",
        ),
        (
            "Many processes: up to ",
            |report| set_rows(report, "shared", 80.0),
            "Many processes on one limit: a limiter each, or a shared one",
        ),
        (
            "A server is away for 0.7 s: full jitter loses ",
            |report| set_line(report, "equal jitter", 50.0),
            "A server is away for a short time: lost operations with each jitter",
        ),
        (
            "Below 80 % of the ideal: new() in ",
            |report| set_rows(report, "evidence", 0.0),
            "Quotas and faults: a fixed quota, and one that learns",
        ),
        (
            "60 worlds: paced takes up to 1.5 times the ideal in ",
            |report| set_rows(report, "paced", 9.0),
            "A bulk copy in 60 worlds: the time, and the lost operations",
        ),
        (
            "A few slow answers: hedges cut p99 from ",
            |report| set_rows(report, "p95", 500.0),
            "A few slow answers: the slowest calls with hedges and without",
        ),
    ];
    for (mut report, (finding, change, neutral)) in reports().into_iter().zip(cases) {
        let title = |report: &Report| {
            let picture = picture(report).unwrap();
            picture.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_owned()
        };
        assert!(title(&report).starts_with(finding), "{}", title(&report));
        change(&mut report);
        assert_eq!(title(&report), neutral);
    }
}

#[test]
fn a_strategy_that_the_results_lack_is_an_error() {
    let mut layers = reports().remove(3);
    layers.plots[0].lines.retain(|line| line.name != "quota");
    let error = picture(&layers).unwrap_err().to_string();
    assert_eq!(error, "the results have no line \"quota\" in the plot \"load\"");
    assert!(picture(&settings()).is_err());
}

#[test]
fn settings_of_ones_own_are_a_line_of_their_own() {
    for (mut report, name) in reports().into_iter().zip(NAMES) {
        assert_eq!(report.scenario, name);
        assert!(!picture(&report).unwrap().contains("yours"));
        let (old, new) = ("adaptive, no quota", "yours");
        let (old, is_renamed) = match name {
            "contention" => ("new(), as shipped", true),
            "restart" => ("new(), as shipped", false),
            "layers" | "partial" => ("no retries", false),
            "outage" => ("aws_2_1()", true),
            "fleet_limit" => ("adaptive", false),
            "faults" | "worlds" => ("new()", false),
            "tail" => ("p95", false),
            _ => (old, true),
        };
        for plot in &mut report.plots {
            let mut lines: Vec<_> = plot.lines.iter().filter(|line| line.name == old).cloned().collect();
            for line in &mut lines {
                line.name = new.to_owned();
            }
            plot.lines.retain(|line| !is_renamed || line.name != old);
            plot.lines.extend(lines);
        }
        for table in &mut report.tables {
            let is_old = |row: &Row| row.keys.iter().any(|key| key == old);
            let mut rows: Vec<_> = table.rows.iter().filter(|row| is_old(row)).cloned().collect();
            for key in rows.iter_mut().flat_map(|row| &mut row.keys).filter(|key| *key == old) {
                new.clone_into(key);
            }
            table.rows.retain(|row| !is_renamed || !is_old(row));
            table.rows.extend(rows);
        }
        let picture = picture(&report).unwrap();
        assert!(picture.contains("yours"), "{name}");
        assert_texts_apart(&picture);
    }
}

#[test]
fn an_outage_can_have_other_numbers_of_quotas() {
    let mut outage = reports().remove(4);
    let rows = |outage: &Report| picture(outage).unwrap().matches(" quotas<").count();
    assert_eq!(rows(&outage), 2);
    outage.options["quotas"] = serde_json::json!([1, 100]);
    outage.tables[0].rows.retain(|row| row.keys[2] != "1000");
    assert_eq!(rows(&outage), 1);
    outage.options["quotas"] = serde_json::json!([1]);
    outage.tables[0].rows.retain(|row| row.keys[2] == "1");
    assert_eq!(rows(&outage), 0);
    assert!(picture(&outage).unwrap().contains(">one quota for all operations<"));
}

#[test]
fn the_first_picture_has_three_bars_and_claims_only_what_they_show() {
    let mut faults = reports().remove(8);
    let set = |report: &mut Report, table: usize, keys: [&str; 3], value: f64| {
        let row = report.tables[table].rows.iter_mut().find(|row| row.keys == keys).unwrap();
        row.values[0] = Spread::exactly(value);
    };
    let success = faults.tables.iter().position(|table| table.name == "success").unwrap();
    set(&mut faults, 0, ["stall", "no retries", "1"], 41.0);
    set(&mut faults, 0, ["stall", "evidence", "100"], 43.5);
    set(&mut faults, success, ["30 % fail", "evidence", "100"], 97.77);
    let shown = recovery(&faults).unwrap();
    assert_eq!(shown.matches("<rect class=\"").count(), 4, "the background and three bars");
    assert!(shown.contains(">41 s<") && shown.contains(">43.5 s<") && shown.contains(">still down after 400 s<"));
    assert!(
        shown.contains("only retries without a quota keep the server down")
            && shown.contains("97.8 % of the operations")
    );
    set(&mut faults, 0, ["stall", "evidence", "100"], 90.0);
    let shown = recovery(&faults).unwrap();
    assert!(shown.contains(">90 s<") && shown.contains(": the time until a server works again"));
    faults.tables[0].rows.retain(|row| row.keys != ["stall", "evidence", "100"]);
    assert!(recovery(&faults).is_err());
}

#[test]
fn the_style_of_an_inlined_picture_holds_only_within_it_and_follows_the_theme_of_the_page() {
    let picture = inlined(&recovery(&reports()[8]).unwrap());
    assert!(picture.starts_with("<svg ") && picture.contains(" class=\"retry-picture\" ") && !picture.contains("\n\n"));
    let style = picture.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let selectors =
        style.split('}').filter_map(|rule| rule.split_once('{')).flat_map(|(selectors, _)| selectors.split(','));
    let selectors: Vec<_> = selectors.collect();
    assert!(selectors.iter().all(|selector| selector.contains(".retry-picture ")), "{selectors:?}");
    assert!(selectors.contains(&"[data-theme=dark] .retry-picture .back"));
    assert!(!style.contains("@media"));
}
