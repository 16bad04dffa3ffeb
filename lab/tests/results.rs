//! The committed results.

use lab::report::Report;
use std::fs;
use std::path::Path;

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
        assert!(beside.rows.iter().any(|row| row.keys.iter().any(|key| key == "backon")), "{scenario}");
        let mut compared = 0;
        for row in &full.rows {
            let Some(other) = beside.rows.iter().find(|other| other.keys == row.keys) else { continue };
            assert_eq!(
                row, other,
                "{scenario}: renew lab/results/peers with the commands in docs/performance.md, under \"Other crates\""
            );
            compared += 1;
        }
        assert!(compared > 2, "{scenario}");
    }
}
