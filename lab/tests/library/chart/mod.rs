mod scale;

use lab::call::CallError;
use lab::chart::lines::length;
use lab::chart::style::{CLASS, COLOURS, style};
use lab::chart::{inlined, picture, recovery, retry_loop, schedule, timeline};
use lab::report::{Line, Report, Row, Spread};
use lab::timeline::{EXAMPLE, Outage, Planned, example, record, record_in_outage};
use retry_config::RetryConfig;
use retry_core::{Jitter, PatientRetryStrategy, RetryError, StandardRetryStrategy};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Each scenario with a picture: how its title begins with the committed results, a strategy, a value of it that refutes the title,
/// and a strategy whose line can stand for the user's own one.
const CLAIMS: [(&str, &str, &str, f64, &str); 12] = [
    ("changing", "A changing limit: retries without a quota lose up to ", "paced", 0.1, "adaptive, no quota"),
    ("contention", "Many clients write one row: jitter saves ", "no jitter", 1.0, "new(), as shipped"),
    ("copy", "A bulk copy against a limit: retries lose up to ", "paced", 2000.0, "adaptive, no quota"),
    ("faults", "Below 80 % of the ideal: new() in ", "evidence", 50.0, "new()"),
    ("hedges", "Hedges cut p99 from ", "p95", 1000.0, "p95"),
    ("layers", "Retries of 3 services in a row multiply: ", "quota", 100.0, "no retries"),
    ("lengths", "A 10 s outage: ", "patient", 50.0, "new()"),
    ("outage", "After a 10 s stall, retries delay the recovery ", "new(), no quota", 20.0, "aws_2_1()"),
    ("partial", "Retries without a quota load a failing server up to ", "new()", 3.5, "no retries"),
    ("restart", "A server is away for 0.7 s: full jitter loses ", "equal jitter", 50.0, "new(), as shipped"),
    ("tail", "A few slow answers: hedges cut p99 from ", "p95", 500.0, "p95"),
    ("worlds", "60 worlds: paced takes up to 1.5 times the ideal in ", "paced", 9.0, "new()"),
];

/// Returns the committed results of a scenario.
fn report(scenario: &str) -> Report {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("results/full/{scenario}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Returns results with the user's own settings, which are those of a strategy.
fn with_yours(scenario: &str, strategy: &str) -> Report {
    let mut report = report(scenario);
    for plot in &mut report.plots {
        let named = |line: &Line| Line { name: line.name.replacen(strategy, "yours", 1), ..line.clone() };
        let lines: Vec<_> = plot.lines.iter().filter(|line| line.name.starts_with(strategy)).map(named).collect();
        plot.lines.extend(lines);
    }
    for table in &mut report.tables {
        let is_of = |row: &&Row| row.keys.iter().any(|key| key == strategy);
        let mut rows: Vec<_> = table.rows.iter().filter(is_of).cloned().collect();
        let keys = rows.iter_mut().flat_map(|row| &mut row.keys).filter(|key| *key == strategy);
        keys.for_each(|key| "yours".clone_into(key));
        table.rows.extend(rows);
    }
    report
}

fn pictures() -> Vec<String> {
    let scenarios = CLAIMS.iter().flat_map(|claim| [report(claim.0), with_yours(claim.0, claim.4)]);
    let mut pictures: Vec<String> = scenarios.map(|report| picture(&report).unwrap()).collect();
    pictures.extend([recovery(&report("faults")).unwrap(), retry_loop(), timeline(&example(), EXAMPLE)]);
    let outage = Outage { length: Duration::from_secs(10), calls_per_second: 80.0, max_time: Duration::from_secs(30) };
    let strategy = StandardRetryStrategy::new();
    let outlasted = record_in_outage(PatientRetryStrategy::new().seed(1), strategy.backoff_strategy(), outage);
    pictures.push(timeline(&outlasted, ""));
    pictures.push(schedule(&lab::settings::report(Value::Null, &RetryConfig::new(), None).unwrap()).unwrap());
    pictures
}

fn title(picture: &str) -> &str {
    picture.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0
}

fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0
}

fn number(line: &str, name: &str) -> f64 {
    attribute(line, name).parse().unwrap()
}

/// Returns a text of a picture with the rectangle that it covers at most: left, top, right, bottom.
fn text(line: &str) -> (&str, [f64; 4]) {
    let text = line.split_once('>').unwrap().1.trim_end_matches("</text>");
    let (class, x, y) = (attribute(line, "class"), number(line, "x"), number(line, "y"));
    let of = |values: [(&str, f64); 2], or| values.iter().find(|each| class.contains(each.0)).map_or(or, |each| each.1);
    // Bold letters are wider.
    let size = of([("title", 17.0), ("small", 12.0)], 13.0);
    let width = length(text.chars().count()) * size * 0.56;
    let left = x - width * of([("middle", 0.5), ("end", 1.0)], 0.0);
    (text, [left, y - size * 0.75, left + width, y + size * 0.2])
}

#[test]
fn no_text_lies_on_another_one_or_outside_of_its_picture_or_is_fine_print() {
    for picture in pictures() {
        let height = number(&picture, "height");
        let texts: Vec<_> = picture.lines().filter(|line| line.starts_with("<text ")).map(text).collect();
        assert!(texts.len() > 10);
        for (index, (text, a)) in texts.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= 800.0 && a[3] <= height, "{text} in {}", title(&picture));
            for (other, b) in &texts[index + 1..] {
                let is_apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
                assert!(is_apart, "{text} and {other} in {}", title(&picture));
            }
        }
        let long = texts.iter().filter(|(text, _)| text.chars().count() > 60).count();
        assert!(long <= 3, "more than a title, a subtitle and a note in {}", title(&picture));
    }
}

/// Returns the relative luminance of a colour, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
}

#[test]
fn everything_has_a_style_and_text_is_readable_on_light_and_on_dark() {
    let colours = |selector: &str| COLOURS.iter().find(|each| each.0 == selector).map(|each| [each.2, each.3]);
    let back = colours(".back").unwrap().map(luminance);
    for picture in pictures() {
        let elements = picture.lines().filter(|line| line.contains(" class=\"") && !line.starts_with("<svg "));
        for line in elements {
            for class in attribute(line, "class").split_whitespace() {
                assert!(style().contains(&format!(".{class}{{")) || style().contains(&format!(".{class},")), "{class}");
                let own = colours(&format!("text.{class}")).or_else(|| colours(&format!(".{class}")));
                let text = own.filter(|_| class != "label").or_else(|| colours("text")).unwrap().map(luminance);
                for (text, back) in text.into_iter().zip(back).filter(|_| line.starts_with("<text ")) {
                    let contrast = (text.max(back) + 0.05) / (text.min(back) + 0.05);
                    assert!(contrast >= 4.5, "{class} has a contrast of {contrast}");
                }
            }
        }
    }
}

#[test]
fn the_style_of_a_picture_holds_only_within_it_and_an_inlined_one_follows_the_theme_of_the_page() {
    let picture = inlined(&recovery(&report("faults")).unwrap());
    assert!(picture.starts_with("<svg ") && attribute(&picture, "class") == CLASS && !picture.contains("\n\n"));
    assert!(!picture.contains("@media") && !picture.contains(" id=\""));
    let style = picture.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let rules: Vec<_> = style.split('}').filter_map(|rule| rule.split_once('{')).collect();
    assert!(rules.iter().all(|(selectors, _)| selectors.contains(&format!(".{CLASS} "))), "{rules:?}");
    let dark = |theme| rules.iter().filter(|(selectors, _)| selectors.contains(theme)).count();
    assert_eq!(["[data-theme=dark]", "html.navy"].map(dark), [COLOURS.len(); 2]);
}

#[test]
fn a_title_states_a_finding_only_if_the_results_have_it() {
    for (scenario, finding, strategy, value, _) in CLAIMS {
        let mut report = report(scenario);
        assert!(title(&picture(&report).unwrap()).starts_with(finding), "{}", title(&picture(&report).unwrap()));
        let lines = report.plots.iter_mut().flat_map(|plot| &mut plot.lines).filter(|line| line.name == strategy);
        lines.flat_map(|line| &mut line.points).for_each(|point| point.y = Spread::exactly(value));
        let rows = report.tables.iter_mut().flat_map(|table| &mut table.rows);
        let rows = rows.filter(|row| row.keys.iter().any(|key| key == strategy));
        rows.flat_map(|row| &mut row.values).for_each(|spread| *spread = Spread::exactly(value));
        assert_eq!(title(&picture(&report).unwrap()), report.title);
    }
}

#[test]
fn settings_of_ones_own_are_in_each_picture() {
    for (scenario, _, _, _, strategy) in CLAIMS {
        assert!(!picture(&report(scenario)).unwrap().contains("yours"), "{scenario}");
        assert!(picture(&with_yours(scenario, strategy)).unwrap().contains(">yours"), "{scenario}");
    }
}

/// Sets a value of a row.
fn set(report: &mut Report, table: &str, keys: &[&str], column: usize, value: f64) {
    let table = report.tables.iter_mut().find(|each| each.name == table).unwrap();
    table.rows.iter_mut().find(|row| row.keys == keys).unwrap().values[column] = Spread::exactly(value);
}

#[test]
fn a_picture_shows_the_numbers_of_its_report() {
    let mut copy = report("copy");
    set(&mut copy, "copy", &["new()", "64"], 0, 1234.0);
    set(&mut copy, "copy", &["paced", "64"], 0, 201.0);
    set(&mut copy, "copy", &["adaptive", "64"], 1, 77.7);
    let drawn = picture(&copy).unwrap();
    assert!(drawn.contains(">30.9 %<"), "1,234 of 4,000 operations");
    assert!(drawn.contains(">0 %, 77.7 s<") && drawn.contains(">5.0 %<"), "a time only where few operations fail");
    let mut hedges = report("hedges");
    for (strategy, median) in [("no hedge", 20.0), ("p95", 80.0)] {
        set(&mut hedges, "hedges", &["load 0.8", strategy], 0, median);
    }
    let drawn = picture(&hedges).unwrap();
    assert!(drawn.contains(">20.0 → 80.0 ms<") && drawn.contains("L594.0 "), "four times is the end of the axis");
}

#[test]
fn a_value_that_is_never_reached_is_said_in_words_and_lies_beyond_the_axis() {
    let picture = picture(&report("outage")).unwrap();
    let never = ">still down after 520 s<";
    assert_eq!(picture.matches(never).count(), 2, "600 s without 60 s before, 10 s of stall, and 10 s of successes");
    assert!(picture.contains(">1,000 quotas<"));
}

#[test]
fn worlds_in_which_operations_are_lost_have_hollow_markers() {
    let mut worlds = report("worlds");
    let hollow = |worlds: &Report| picture(worlds).unwrap().matches(" hollow\"").count();
    let before = hollow(&worlds);
    set(&mut worlds, "worlds", &["copy, 64 workers", "adaptive"], 0, 3.0);
    assert_eq!(hollow(&worlds), before + 1);
}

#[test]
fn the_first_picture_claims_only_what_its_three_bars_show() {
    let mut faults = report("faults");
    set(&mut faults, "recovery", &["stall", "no retries", "1"], 0, 41.0);
    set(&mut faults, "recovery", &["stall", "evidence", "100"], 0, 43.5);
    set(&mut faults, "success", &["30 % fail", "evidence", "100"], 0, 97.77);
    let shown = recovery(&faults).unwrap();
    assert_eq!(shown.matches("<rect class=\"").count(), 4, "the background and three bars");
    assert!(shown.contains(">41 s<") && shown.contains(">43.5 s<") && shown.contains(">still down after 400 s<"));
    assert!(title(&shown).ends_with("only retries without a quota keep the server down"));
    assert!(shown.contains(" 97.8 % of operations"));
    set(&mut faults, "recovery", &["stall", "evidence", "100"], 0, 90.0);
    assert_eq!(title(&recovery(&faults).unwrap()), faults.title);
}

#[test]
fn a_strategy_that_the_results_lack_is_an_error() {
    let mut layers = report("layers");
    layers.plots[0].lines.retain(|line| line.name != "quota");
    assert_eq!(picture(&layers).unwrap_err().to_string(), "the results have no line \"quota\" in the plot \"load\"");
    assert!(picture(&report("weights")).is_err() && recovery(&layers).is_err());
}

#[test]
fn the_loop_shows_each_reason_to_stop() {
    use RetryError::{Disabled, MaxAttempts, MaxTime, NotRetryable, QuotaExhausted, RetryAfterTooLong, Stopped};
    for reason in [NotRetryable, Disabled, MaxAttempts, RetryAfterTooLong, MaxTime, Stopped, QuotaExhausted] {
        assert!(retry_loop().contains(&format!(">{}<", reason.as_str())), "{reason:?}");
    }
}

#[test]
fn the_title_of_an_operation_says_how_it_ended() {
    let (failed, strategy) = (Err(CallError::Failed), StandardRetryStrategy::new);
    for (strategy, outcome, max_time_ms, expected) in [
        (strategy(), Ok(()), None, "An operation succeeds after 1 attempt"),
        (strategy(), failed, None, "An operation ends after 5 attempts: all attempts were made"),
        (strategy(), failed, Some(5), "max_time ends an operation in its attempt 1"),
        (
            strategy().jitter(Jitter::None),
            failed,
            Some(2000),
            "An operation ends after 2 attempts, because its next wait would end after max_time",
        ),
    ] {
        let planned = vec![Planned { takes: Duration::from_millis(10), outcome }];
        let drawn = timeline(&record(strategy, planned, max_time_ms.map(Duration::from_millis)), "");
        assert_eq!(title(&drawn), expected);
    }
}
