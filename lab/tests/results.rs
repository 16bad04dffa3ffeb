//! The committed results beside other crates.

use lab::report::Report;
use lab::scenario::UNTUNED;
use std::fs;
use std::path::Path;

const RENEW: &str = "renew lab/results/peers with the commands in lab/results/README.md, under \"Other crates\"";

fn report(directory: &str, scenario: &str) -> Report {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(directory).join(format!("{scenario}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn results_beside_other_crates_are_from_the_same_code_as_those_without() {
    // The other scenarios have other options beside other crates.
    let (full, beside) = (report("full", "outage"), report("peers", "outage"));
    let (full, beside) = (full.table("outage").unwrap(), beside.table("outage").unwrap());
    let mut compared = 0;
    for row in &full.rows {
        let Some(other) = beside.rows.iter().find(|other| other.keys == row.keys) else { continue };
        assert_eq!(row, other, "outage: {RENEW}");
        compared += 1;
    }
    assert!(compared > 2);
}

#[test]
fn results_on_limiters_have_seeds_that_nothing_was_tuned_on() {
    let full = ["copy", "changing", "many", "fleet_limit", "fleet_outages", "worlds", "weights", "untold"]
        .map(|scenario| ("full", scenario));
    for (directory, scenario) in full.into_iter().chain([("peers", "copy")]) {
        let first = report(directory, scenario).options["first_seed"].as_u64();
        assert_eq!(first, Some(UNTUNED), "{directory}/{scenario}");
    }
}

#[cfg(feature = "peers")]
#[test]
fn results_beside_other_crates_are_from_the_current_code() {
    use lab::scenario::{Plan, copy, layers, restart};
    use lab::study::OneByOne;

    // Of the services in a row, those of this library only, because it takes longer.
    for (scenario, workers, strategies) in [
        (copy::SCENARIO, Some(64), lab::peers::strategies()),
        (restart::SCENARIO, None, lab::peers::strategies()),
        (layers::SCENARIO, None, Vec::new()),
    ] {
        let (name, committed) = (scenario.name, report("peers", scenario.name));
        let mut options = vec![("max_attempts".to_owned(), committed.options["max_attempts"].clone())];
        options.extend(workers.map(|workers| ("workers".to_owned(), vec![workers].into())));
        let now = (scenario.study)(&Plan { options, strategies, ..Plan::default() }, &OneByOne).unwrap();
        let (now, committed) = (now.table(name).unwrap(), committed.table(name).unwrap());
        assert!(now.rows.len() > 2, "{name}");
        for row in &now.rows {
            let before = committed.rows.iter().find(|before| before.keys == row.keys);
            assert_eq!(before, Some(row), "{name}: {RENEW}");
        }
    }
}
