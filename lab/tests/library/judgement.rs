//! The judgement of results that are made up.

use lab::judgement::{Best, Case, DEFAULT, Reached, YOURS, best, cases, leave_out_failing, sentence};
use lab::report::{Plot, Report, Spread, Table};
use serde_json::json;

fn reached(failed: f64, cost: f64) -> Reached {
    Reached { failed: Some(failed), cost: Some(cost) }
}

#[test]
fn settings_that_fail_more_than_five_percent_are_never_the_best() {
    let (fast_but_failing, slow) = (reached(5.1, 1.0), reached(0.0, 100.0));
    assert_eq!(best(&fast_but_failing, &slow), Best::Default);
    assert_eq!(best(&slow, &fast_but_failing), Best::Yours);
    assert_eq!(best(&fast_but_failing, &reached(60.0, 100.0)), Best::Neither);
    assert_eq!(best(&reached(0.0, f64::INFINITY), &slow), Best::Default, "a server that stays down");
    assert_eq!(best(&reached(5.0, 1.0), &reached(4.5, 2.0)), Best::Yours, "five percent are allowed");
}

#[test]
fn fewer_failures_come_before_a_shorter_time() {
    assert_eq!(best(&reached(4.0, 1.0), &reached(2.0, 9.0)), Best::Default);
    assert_eq!(best(&reached(2.5, 1.0), &reached(2.0, 9.0)), Best::Yours, "about as many failures");
    assert_eq!(best(&reached(0.0, 10.0), &reached(0.0, 10.5)), Best::Same);
    let uncounted = |cost| Reached { failed: None, cost };
    assert_eq!(best(&uncounted(Some(1.0)), &uncounted(Some(2.0))), Best::Yours);
    assert_eq!(best(&uncounted(None), &uncounted(None)), Best::Same);
}

/// Returns a report of a bulk copy of 1,000 operations with these failed operations and times, by strategy and workers.
fn copy(rows: &[(&str, &str, f64, f64)]) -> Report {
    let mut table = Table::new("copy", &["strategy", "workers"], &["failed operations", "time, s"]);
    for (strategy, workers, failed, time) in rows {
        let values = [*failed, *time].map(Spread::exactly).into();
        table.add(vec![(*strategy).to_owned(), (*workers).to_owned()], values);
    }
    report("copy", table)
}

fn report(scenario: &str, table: Table) -> Report {
    let (scenario, options) = (scenario.to_owned(), json!({ "operations": 1_000 }));
    Report { scenario, title: String::new(), options, seeds: 1, tables: vec![table], plots: Vec::new() }
}

#[test]
fn the_sentence_compares_settings_with_the_default() {
    let rows = [
        ("no retries", "16", 900.0, 1.0),
        (YOURS, "16", 0.0, 10.0),
        (YOURS, "64", 434.0, 5.0),
        (YOURS, "256", 800.0, 5.0),
        (DEFAULT, "16", 0.0, 20.0),
        (DEFAULT, "64", 10.0, 20.0),
        (DEFAULT, "256", 700.0, 20.0),
    ];
    assert_eq!(
        sentence(&cases(&[copy(&rows)])).unwrap(),
        "With these settings, 2 of 3 cases fail, by more than 5 % of the operations or without recovery, and 1 with the default; \
         the default is better in 1 (most: 43.4 % fail instead of 1.0 % in copy, workers 64), worse in 1, and neither is better \
         in 1."
    );
    let text = sentence(&cases(&[copy(&rows[..2])])).unwrap();
    assert!(
        text.starts_with("With these settings, 0 of 1 case fail, ") && text.ends_with("; they are the default."),
        "{text}"
    );
    assert_eq!(sentence(&[]), None);
    assert_eq!(sentence(&cases(&[copy(&rows[4..])])), None);
}

#[test]
fn failures_are_read_from_each_kind_of_column() {
    let one = |scenario, name, keys: &[&str], measures: &[&str], row: &[&str], values: &[f64]| -> Case {
        let mut table = Table::new(name, keys, measures);
        let row = row.iter().map(|&key| key.to_owned()).collect();
        table.add(row, values.iter().map(|&value| Spread::exactly(value)).collect());
        let mut report = report(scenario, table);
        report.options = json!({ "worlds": [{ "name": "noise", "operations": 200 }] });
        cases(&[report]).remove(0)
    };
    let case = one(
        "contention",
        "contention",
        &["strategy", "clients"],
        &["time, s", "failed clients"],
        &[YOURS, "50"],
        &[2.0, 5.0],
    );
    assert_eq!((case.yours, case.name.as_str()), (reached(10.0, 2.0), "contention, clients 50"));
    let case = one("partial", "partial", &["strategy", "failures, %"], &["successes, %"], &[YOURS, "30"], &[97.0]);
    assert_eq!((case.yours.failed, case.name.as_str()), (Some(3.0), "partial, failures 30"));
    let case =
        one("changing", "limit", &["strategy", "from, s"], &["failed share of operations"], &[YOURS, "20"], &[0.25]);
    assert_eq!((case.yours.failed, case.name.as_str()), (Some(25.0), "changing limit, from 20"));
    let case = one("worlds", "worlds", &["world", "strategy"], &["failed operations"], &["noise", YOURS], &[100.0]);
    assert_eq!((case.yours.failed, case.name.as_str()), (Some(50.0), "worlds, noise"));
    let case = one("fleet", "recovery", &["fault", "quotas"], &["recovery, s"], &["stall", YOURS], &[30.0]);
    assert_eq!(case.yours, Reached { failed: None, cost: Some(30.0) });
}

#[test]
fn curves_leave_out_where_too_many_operations_fail() {
    let mut table = Table::new("contention", &["strategy", "clients"], &["time, s", "failed clients"]);
    let mut plot = Plot::new("time", "", "", "");
    for (clients, failed) in [("10", 0.0), ("50", 20.0)] {
        for strategy in ["no jitter", YOURS] {
            table.add(vec![strategy.to_owned(), clients.to_owned()], [1.0, failed].map(Spread::exactly).into());
            plot.add(strategy, clients.parse().unwrap(), Spread::exactly(1.0));
        }
    }
    let mut report = report("contention", table);
    report.plots.push(plot);
    assert!(leave_out_failing(&mut report));
    let points = |name| report.plots[0].lines.iter().find(|line| line.name == name).unwrap().points.len();
    assert_eq!((points("no jitter"), points(YOURS)), (2, 1));
    assert!(!leave_out_failing(&mut report), "nothing is left to leave out");
}
