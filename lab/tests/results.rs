//! The committed results beside other crates.

use lab::report::Report;
use std::fs;
use std::path::Path;

const RENEW: &str = "renew lab/results/peers with the commands in docs/performance.md, under \"Other crates\"";

fn report(directory: &str, scenario: &str) -> Report {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(directory).join(format!("{scenario}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn results_beside_other_crates_are_from_the_same_code_as_those_without() {
    // The partial outage has another option beside other crates.
    for scenario in ["copy", "layers", "outage"] {
        let (full, beside) = (report("full", scenario), report("peers", scenario));
        let (full, beside) = (full.table(scenario).unwrap(), beside.table(scenario).unwrap());
        let mut compared = 0;
        for row in &full.rows {
            let Some(other) = beside.rows.iter().find(|other| other.keys == row.keys) else { continue };
            assert_eq!(row, other, "{scenario}: {RENEW}");
            compared += 1;
        }
        assert!(compared > 2, "{scenario}");
    }
}

#[cfg(feature = "peers")]
#[test]
fn results_of_other_crates_are_from_the_current_code() {
    use lab::scenario::{Plan, copy};
    use lab::study::OneByOne;

    let plan = Plan {
        options: vec![("workers".to_owned(), vec![64].into())],
        policies: lab::peers::policies(),
        ..Plan::default()
    };
    let (now, committed) = ((copy::SCENARIO.study)(&plan, &OneByOne).unwrap(), report("peers", "copy"));
    let (now, committed) = (now.table("copy").unwrap(), committed.table("copy").unwrap());
    assert!(now.rows.len() > 12, "those of this library and of other crates");
    for row in &now.rows {
        let before = committed.rows.iter().find(|before| before.keys == row.keys);
        assert_eq!(before, Some(row), "copy: {RENEW}");
    }
}
