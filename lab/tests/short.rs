//! The results of the short scenarios are the committed ones, so that no change of what calls experience goes unseen. After a wanted
//! change, `.ci/lab renew` writes them, and the difference says what the change does.

use lab::scenario::SCENARIOS;
use std::process::Command;

fn results_are_as_expected(scenario: &str) {
    let expected = concat!(env!("CARGO_MANIFEST_DIR"), "/results/short");
    let lab = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["check", "--short", scenario, "--expected", expected])
        .output()
        .unwrap();
    assert!(lab.status.success(), "{}", String::from_utf8_lossy(&lab.stderr));
}

macro_rules! scenarios {
    ($($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                results_are_as_expected(stringify!($name));
            }
        )+

        #[test]
        fn each_scenario_is_tested() {
            let names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

scenarios!(
    contention,
    restart,
    copy,
    outage,
    partial,
    many,
    changing,
    layers,
    faults,
    outlast,
    lengths,
    fleet,
    fleet_limit,
    fleet_outages,
    worlds,
    weights,
    tail,
    hedges,
    untold
);
