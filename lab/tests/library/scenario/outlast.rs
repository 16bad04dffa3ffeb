use lab::report::Report;
use lab::scenario::Plan;
use lab::scenario::outlast::{Jobs, Options, SCENARIO, Tally, World, run, run_jobs, worlds};
use lab::strategies::Strategy;
use lab::study::OneByOne;
use retry_core::StandardRetryStrategy;
use retry_core::quota::NoQuota;
use serde_json::{Value, json};
use std::collections::HashSet;

fn plain() -> Strategy {
    Strategy::of("no quota", |seed| StandardRetryStrategy::new().seed(seed).with_quota(NoQuota))
}

fn named(name: &str) -> World {
    worlds().into_iter().find(|world| world.name == name).expect(name)
}

fn study(options: &Value) -> Result<Report, serde_json::Error> {
    let Value::Object(options) = options else { panic!("expected an object, found {options}") };
    let options = options.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    (SCENARIO.study)(&Plan { short: true, options, strategies: Vec::new() }, &OneByOne)
}

fn jobs(world: &World, strategy: &Strategy) -> Tally {
    run_jobs(world, world.jobs.expect("jobs"), strategy, world.live_s[0], 1)
}

#[test]
fn names_of_worlds_are_unique_and_the_short_ones_exist() {
    let worlds = worlds();
    let names: HashSet<&str> = worlds.iter().map(|world| world.name.as_str()).collect();
    assert_eq!(names.len(), worlds.len());
    assert!(Options::short().only.iter().all(|name| names.contains(name.as_str())));
}

#[test]
fn without_retries_nothing_of_an_outage_is_saved_and_all_of_the_rest_is() {
    let run = run(&named("down 10 s, load 0.5"), &Strategy::no_retries(), None, 1, 1);
    assert!(run.bridged < 1e-9 && run.bystanders_lost < 1e-9, "{run:?}");
    assert!((run.load - 1.0).abs() < 1e-9 && run.recovery_s == Some(0.0), "{run:?}");
}

#[test]
fn a_plain_backoff_saves_a_part_of_an_outage_and_keeps_the_server_down() {
    let world = World { after_s: 100, ..named("down 10 s, load 0.5") };
    let run = run(&world, &plain(), Some(30.0), 1, 1);
    assert!((20.0..40.0).contains(&run.bridged) && run.recovery_s.is_none(), "{run:?}");
}

#[test]
fn an_operation_ends_with_its_time() {
    let world = named("down 3 s, load 0.5");
    let of = |live_s| run(&world, &plain(), live_s, 1, 1).bridged;
    assert!(of(Some(1.0)) < 0.5 * of(Some(15.0)), "{} and {}", of(Some(1.0)), of(Some(15.0)));
    assert!((of(Some(1_000.0)) - of(None)).abs() < 1e-9);
}

#[test]
fn a_server_without_a_timeout_is_waited_for() {
    let world = named("stall 10 s, load 0.5, no timeout");
    assert!((run(&world, &Strategy::no_retries(), None, 1, 1).bridged - 100.0).abs() < 1e-9);
    let with = named("stall 10 s, load 0.5");
    assert!(run(&with, &Strategy::no_retries(), None, 1, 1).bridged < 1e-9);
}

#[test]
fn a_replica_that_hangs_gets_its_part_of_the_attempts() {
    let run = run(&named("one of three replicas hangs"), &Strategy::no_retries(), None, 10, 1);
    assert!((run.bridged - 200.0 / 3.0).abs() < 1.5, "{run:?}");
}

#[test]
fn runs_of_a_seed_differ() {
    let world = World { runs: 1, ..named("restart 3 s, 10/s") };
    let of = |runs| run(&World { runs, ..world.clone() }, &plain(), None, 1, 1).load;
    assert!((of(1) - of(2)).abs() > 1e-9);
}

#[test]
fn lone_processes_know_nothing_of_each_other() {
    // A bucket pays for one retry of each process.
    let strategy = Strategy::of("one retry", |seed| StandardRetryStrategy::new().seed(seed).quota_capacity(5));
    let world = World { is_lone: true, ..named("down 3 s, load 0.5") };
    let lone = run(&world, &strategy, None, 1, 1).load;
    let together = run(&World { is_lone: false, ..world }, &strategy, None, 1, 1).load;
    assert!(lone > 1.7 && together < 1.1, "{lone} and {together}");
}

#[test]
fn the_first_attempts_of_a_call_fail_as_a_job_says() {
    let warm = named("warm and idle: three failures");
    let Tally { calls, lost, attempts, processes, whole, .. } = jobs(&warm, &plain());
    assert_eq!((calls, lost, attempts, processes, whole), (200, 0, 800, 200, 200), "calls before are not measured");
    let none = jobs(&warm, &Strategy::no_retries());
    assert_eq!((none.lost, none.attempts, none.whole), (200, 200, 0));
    let timeouts = jobs(&named("warm and idle: two timeouts"), &plain());
    assert!(timeouts.lost == 0 && timeouts.mean_s() > 2.0, "{timeouts:?}");
}

#[test]
fn workers_share_the_calls_of_a_process() {
    let of = |workers| {
        let jobs = Jobs { workers, calls: 100, ..Jobs::default() };
        run_jobs(&World { rate: 1e6, ..World::default() }, jobs, &Strategy::no_retries(), None, 1)
    };
    assert_eq!((of(1).calls, of(10).attempts), (100, 100));
    assert!((of(1).mean_s() - 2.0).abs() < 0.01 && (of(10).mean_s() - 0.2).abs() < 0.01);
}

#[test]
fn options_select_worlds_and_strategies_and_replace_fields() {
    let options = json!({
        "only": ["down 3 s, load 0.5", "few"], "strategies": ["no retries"],
        "with": { "load": 0.01, "fault_s": 5, "begins_s": 5, "after_s": 100 }
    });
    let report = study(&options).unwrap();
    let worlds: Vec<_> = report.tables[0].rows.iter().map(|row| row.keys[0].as_str()).collect();
    assert_eq!(worlds, ["down 3 s, load 0.5", "1 call per minute, 20 % hang", "1 call per minute, 50 % refused"]);
    let error = study(&json!({ "with": { "loud": 0.1 } })).unwrap_err();
    assert!(error.to_string().contains("unknown field `loud`"), "{error}");
    let error = study(&json!({ "worlds": [{ "faults": [{ "fault": "dwn" }] }] })).unwrap_err();
    assert!(error.to_string().contains("unknown variant `dwn`"), "{error}");
}

#[test]
fn worlds_of_ones_own_are_run_in_place_of_the_others() {
    let own =
        json!([{ "name": "own", "load": 0.1, "fault_s": 2, "faults": [{ "fault": { "slow": 2 } }], "after_s": 92 }]);
    let report = study(&json!({ "worlds": own, "only": [], "strategies": ["evidence"], "with": { "processes": [2] } }));
    let report = report.unwrap();
    let keys: Vec<_> = report.tables.iter().flat_map(|table| &table.rows).map(|row| row.keys.join(", ")).collect();
    assert_eq!(keys, ["own, evidence, 15, 2"]);
}
