mod faults;
mod lengths;
mod outlast;
mod tail;
mod untold;
mod worlds;

use lab::report::{Report, Spread};
use lab::scenario::partial::{drain_rate, drift};
use lab::scenario::{
    Plan, SCENARIOS, Scenario, changing, contention, copy, fleet, fleet_limit, fleet_outages, layers, many, outage,
    partial, restart, share,
};
use lab::settings as arithmetic;
use lab::strategies::Strategy;
use lab::study::{OneByOne, Workers};
use retry_core::RetryErrorType::ServerSide;
use retry_core::StandardRetryStrategy;
use serde_json::{Value, json};
use std::time::Duration;

/// Runs jobs in the opposite order.
struct LastFirst;

impl Workers for LastFirst {
    fn run(&self, _name: &str, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(job);
    }
}

/// Returns a plan over short options with these changes.
fn plan(options: &Value) -> Plan {
    let Value::Object(options) = options else { panic!("expected an object, found {options}") };
    let options = options.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Plan { short: true, options, strategies: Vec::new() }
}

fn study(scenario: Scenario, options: &Value) -> Report {
    (scenario.study)(&plan(options), &OneByOne).unwrap()
}

/// Returns the median of a measure; "never" is infinite.
fn median(report: &Report, table: &str, keys: &[&str], measure: &str) -> f64 {
    let spread: Option<Spread> = report.table(table).and_then(|table| table.value(keys, measure));
    spread.unwrap_or_else(|| panic!("there is no {measure} of {keys:?} in {table}")).mid.unwrap_or(f64::INFINITY)
}

fn a_job_of_weights() -> Value {
    json!({
        "name": "short", "operations": 100, "workers": 8, "weights": [1.0, 100.0], "is_log": true, "off_by": 1.5,
        "rate": 500.0, "burst": 500.0
    })
}

#[test]
fn a_result_depends_neither_on_the_order_of_the_runs_nor_on_earlier_ones() {
    let small = [
        ("contention", json!({ "clients": [10], "seeds": 2 })),
        ("restart", json!({ "away_s": [0.7], "seeds": 3 })),
        ("copy", json!({ "operations": 300, "workers": [16], "seeds": 2 })),
        ("outage", json!({ "quotas": [1], "stall_after_s": 5, "stall_s": 3, "duration_s": 30 })),
        ("partial", json!({ "operations": 200, "drain_operations": 200, "drain_steps": 3, "seeds": 2 })),
        ("many", json!({ "clients": 4, "arrive_s": 2, "duration_s": 8, "measured_from_s": 4 })),
        ("changing", json!({ "phase_s": 4, "workers": 8, "copies": [] })),
        (
            "outlast",
            json!({
                "with": { "processes": [3], "begins_s": 2, "after_s": 30 },
                "worlds": [{ "name": "down", "fault_s": 3, "faults": [{ "fault": "down" }] }, { "name": "jobs", "jobs": { "calls": 3 } }]
            }),
        ),
        ("lengths", json!({ "rate": 30.0, "lengths_s": [3], "after_s": 92, "processes": 2, "seeds": 2 })),
        (
            "fleet",
            json!({ "processes": [5], "fault_after_s": 5, "longest_recovery_s": 30, "faults": ["stall", "down for 1 s"] }),
        ),
        (
            "fleet_limit",
            json!({ "processes": [4], "arrive_s": 2, "measured_from_s": 4, "measured_s": 4, "store_away_s": 4 }),
        ),
        ("fleet_outages", json!({ "worlds": ["stall 10 s, server of 5/s"], "after_s": 30 })),
        ("worlds", json!({ "only": "no burst" })),
        ("untold", json!({ "only": "no burst" })),
        (
            "tail",
            json!({ "loads": [0.3], "fixed_ms": [20.0], "warm_up_calls": 500, "calls": 1000, "stall_s": 1, "seeds": 2 }),
        ),
        ("hedges", json!({ "only": "pauses", "warm_up_calls": 500, "part": 0.05, "seeds": 2 })),
        ("weights", json!({ "jobs": [a_job_of_weights()], "seeds": 2 })),
        ("layers", json!({ "rate": 20.0, "fails_after_s": 3, "fails_s": 5, "duration_s": 10 })),
        ("faults", json!({ "quotas": [3], "fault_after_s": 2, "columns": ["stall, lives of 2 s", "down for 1 s"] })),
    ];
    for scenario in SCENARIOS {
        let (_, options) = small.iter().find(|(name, _)| *name == scenario.name).expect(scenario.name);
        let plan = plan(options);
        let report = (scenario.study)(&plan, &OneByOne).unwrap();
        assert_eq!(report, (scenario.study)(&plan, &LastFirst).unwrap());
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(report, serde_json::from_str(&text).unwrap(), "the report survives JSON");
    }
}

#[test]
fn equal_jitter_rides_out_half_of_the_longest_delays_and_full_jitter_nothing_for_sure() {
    let report = study(restart::SCENARIO, &json!({ "away_s": [0.2, 0.7, 0.75, 1.4, 1.6] }));
    let lost = |strategy, away| median(&report, "restart", &[strategy, away], "lost operations, %");
    // The longest delays are 0.1, 0.2, 0.4 and 0.8 s.
    for away in ["0.2", "0.7", "0.75"] {
        assert!(lost("equal jitter", away) < 1e-9 && lost("no jitter", away) < 1e-9);
    }
    assert!(lost("full jitter", "0.7") > 10.0, "{}", lost("full jitter", "0.7"));
    assert!(lost("no jitter", "1.4") < 1e-9 && lost("no jitter", "1.6") > 0.0);
    assert!(lost("equal jitter", "1.4") > 0.0 && lost("equal jitter", "1.4") < lost("full jitter", "1.4"));
    assert!(lost("new(), as shipped", "0.7") < lost("full jitter", "0.7") / 10.0, "its base is 1 s");
}

#[test]
fn an_option_that_a_scenario_does_not_have_is_an_error() {
    for scenario in SCENARIOS {
        let error = (scenario.study)(&plan(&json!({ "speed": 1 })), &OneByOne).unwrap_err();
        assert!(error.to_string().contains("unknown field `speed`"), "{}: {error}", scenario.name);
    }
}

#[test]
fn jitter_saves_most_of_the_calls_under_contention() {
    let report = study(contention::SCENARIO, &json!({ "clients": [100], "seeds": 5 }));
    let attempts = |strategy| median(&report, "contention", &[strategy, "100"], "attempts");
    let time = |strategy| median(&report, "contention", &[strategy, "100"], "time, s");
    let order = ["full jitter", "equal jitter", "no jitter", "no backoff"].map(attempts);
    assert!(order.is_sorted(), "{order:?}");
    assert!(attempts("full jitter") < 0.5 * attempts("no jitter"));
    assert!(time("full jitter") < time("equal jitter") && time("equal jitter") < time("no jitter"));
    assert!(median(&report, "contention", &["full jitter", "100"], "failed clients").abs() < f64::EPSILON);
}

#[test]
fn a_single_client_writes_once() {
    let options = contention::Options::default();
    let case = contention::Case { strategy: contention::strategies(&options).remove(0), clients: 1 };
    let outcome = contention::run(&options, &case, 1);
    assert_eq!((outcome.attempts, outcome.failed), (1, 0));
    // Four messages of about 10 ms each.
    assert!((0.03..0.05).contains(&outcome.time.as_secs_f64()), "{outcome:?}");
}

#[test]
fn the_limiter_completes_a_bulk_copy_that_plain_retries_do_not() {
    let report = study(copy::SCENARIO, &json!({ "operations": 4000, "workers": [64], "seeds": 3 }));
    let measure = |strategy, measure| median(&report, "copy", &[strategy, "64"], measure);
    assert!(measure("adaptive, no quota", "failed operations").abs() < f64::EPSILON);
    let ideal = measure("adaptive, no quota", "time / ideal");
    assert!((1.05..1.3).contains(&ideal), "{ideal}");
    for strategy in ["no retries", "new()", "new(), no quota", "aws_2_1()"] {
        let failed = measure(strategy, "failed operations");
        assert!(failed > 100.0, "{strategy}: {failed}");
    }
}

#[test]
fn an_ideal_copy_takes_the_time_that_its_tokens_need() {
    assert!((copy::Options::default().ideal() - 39.0).abs() < f64::EPSILON);
    // One worker that gets one response after the other never meets the limit.
    let options = copy::Options { operations: 10, deviation: 0.0, ..copy::Options::default() };
    let outcome = copy::run(&options, &copy::Case { strategy: Strategy::no_retries(), workers: 1 }, 0);
    assert_eq!((outcome.failed, outcome.requests, outcome.rejected), (0, 10, 0));
    assert_eq!(outcome.time.as_millis(), 200);
}

#[test]
fn one_shared_quota_recovers_as_fast_as_no_retries_and_a_thousand_quotas_never() {
    let options = json!({ "loads": [0.47, 0.8, 0.93], "duration_s": 200, "quotas": [1], "seeds": 2 });
    let report = study(outage::SCENARIO, &options);
    let recovery =
        |report: &Report, load, strategy, quotas| median(report, "outage", &[load, strategy, quotas], "recovery, s");
    for load in ["0.47", "0.8", "0.93"] {
        let bound = recovery(&report, load, "no retries", "1");
        for strategy in ["new()", "aws_2_1()"] {
            let shared = recovery(&report, load, strategy, "1");
            assert!(shared <= (bound * 1.05).max(bound + 1.0), "{load}: {strategy} {shared}, no retries {bound}");
        }
    }
    let options = json!({ "loads": [0.8], "duration_s": 300, "quotas": [100, 1000], "seeds": 2 });
    let apart = study(outage::SCENARIO, &options);
    let hundred = recovery(&apart, "0.8", "new()", "100");
    assert!(hundred > 2.0 * recovery(&report, "0.8", "new()", "1") && hundred.is_finite(), "{hundred}");
    assert!(recovery(&apart, "0.8", "new()", "1000").is_infinite());
    assert!(recovery(&apart, "0.8", "new(), no quota", "1").is_infinite());
}

#[test]
fn without_retries_the_outage_lasts_as_long_as_the_queue_is_longer_than_the_timeout() {
    let options = outage::Options { duration_s: 250, ..outage::Options::default() };
    let case = outage::Case { strategy: Strategy::no_retries(), quotas: 1, load: 0.8 };
    let recovery = outage::run(&options, &case, 3).recovery(&options).unwrap();
    // 10 s of 240 arrivals wait. 60 more than arrive are served in each second, until 300 wait.
    assert!((recovery - 35.0).abs() < 6.0, "{recovery}");
}

#[test]
fn the_quota_begins_to_drain_at_the_rate_that_arithmetic_gives() {
    type Make = fn(u32) -> StandardRetryStrategy;
    let presets: [(f64, Make); 3] = [
        (0.167, |capacity| StandardRetryStrategy::new().quota_capacity(capacity)),
        (0.321, |capacity| StandardRetryStrategy::aws_2_0().quota_capacity(capacity)),
        (0.215, |capacity| StandardRetryStrategy::aws_2_1().quota_capacity(capacity)),
    ];
    let options = partial::Options { drain_operations: 50_000, drain_steps: 10, ..partial::Options::default() };
    for (rate, make) in presets {
        let settings = make(500).settings();
        for p in [0.1, 0.3, 0.5] {
            let (measured, expected) = (drift(make, p, 100_000, 1), arithmetic::drift(&settings, ServerSide, p));
            assert!((measured - expected).abs() < 0.05 * (1.0 + expected.abs()), "{p}: {measured}, not {expected}");
        }
        let measured = Spread::of((0..7).map(|seed| drain_rate(&options, make, seed))).mid.unwrap();
        assert!((measured - rate).abs() < 0.004, "{measured}, not {rate}");
    }
}

#[test]
fn three_retries_succeed_and_load_the_server_as_probability_says() {
    let options = json!({ "probabilities": [0.5, 1.0], "operations": 20_000, "drain_operations": 1, "seeds": 1 });
    let report = study(partial::SCENARIO, &options);
    let measure = |strategy, failures, measure| median(&report, "partial", &[strategy, failures], measure);
    let (successes, attempts) = ("successes, %", "attempts per operation");
    assert!((measure("three retries", "50", successes) - 93.75).abs() < 0.6);
    assert!((measure("three retries", "50", attempts) - 1.875).abs() < 0.03);
    assert!((measure("three retries", "100", attempts) - 4.0).abs() < f64::EPSILON);
    for strategy in ["10 % of successes", "new()", "aws_2_0()", "aws_2_1()"] {
        let load = measure(strategy, "100", attempts);
        assert!((1.0..1.02).contains(&load), "{strategy}: an empty quota pays for no retry, {load}");
    }
    assert!(measure("10 % of successes", "50", attempts) < 1.1);
}

#[test]
fn a_quota_that_fills_with_time_pays_for_more_retries_of_rarer_operations() {
    let load = |rate: f64| {
        let strategy = Strategy::of("refilled", |seed| {
            StandardRetryStrategy::new().seed(seed).quota_refill(100, Duration::from_secs(1))
        });
        let options = partial::Options { operations: 2_000, rate: Some(rate), ..partial::Options::default() };
        let outcome = partial::run(&options, &partial::Case { strategy, probability: 1.0 }, 1);
        assert_eq!((outcome.operations, outcome.succeeded), (2_000, 0));
        share(outcome.attempts, outcome.operations)
    };
    // 20 retries in a second, so 2 and 0.2 for each operation.
    assert!((load(10.0) - 3.0).abs() < 0.1, "{}", load(10.0));
    assert!((load(100.0) - 1.2).abs() < 0.1, "{}", load(100.0));
}

#[test]
fn adaptive_clients_share_a_limit_with_few_rejections() {
    let report = study(many::SCENARIO, &json!({}));
    let fairness = |strategy| median(&report, "many", &[strategy, "100"], "fairness");
    assert!(fairness("adaptive") > 0.8, "{}", fairness("adaptive"));
    assert!(median(&report, "many", &["adaptive", "100"], "rejected share") < 0.2);
    assert!(median(&report, "many", &["no retries", "100"], "rejected share") > 0.9);
}

#[test]
fn the_limiter_follows_a_limit_that_falls() {
    let report = study(changing::SCENARIO, &json!({ "copies": [] }));
    let measure = |measure| median(&report, "limit", &["adaptive", "20", "40"], measure);
    assert!(measure("limit used, %") > 80.0, "{}", measure("limit used, %"));
    assert!(measure("rejected share") < 0.1);
    assert!(median(&report, "limit", &["new()", "20", "40"], "rejected share") > 0.5);
}

#[test]
fn retries_of_layers_multiply_unless_there_is_a_quota() {
    let report = study(layers::SCENARIO, &json!({}));
    let measure = |strategy, measure| median(&report, "layers", &[strategy], measure);
    assert!(measure("no quota", "during") > 25.0, "{}", measure("no quota", "during"));
    assert!(measure("no quota", "during") <= 125.0);
    assert!(measure("quota", "during") < 2.0, "{}", measure("quota", "during"));
    assert!(measure("no quota", "after") > 1.5);
    assert!(measure("quota", "after") < 1.1);
    for strategy in ["no retries", "no quota", "quota"] {
        assert!((measure(strategy, "load per request, before") - 1.0).abs() < 0.05, "{strategy}");
    }
}

#[test]
fn retries_of_levels_multiply_unless_one_level_retries_or_all_name_one_strategy() {
    let report = study(layers::SCENARIO, &json!({ "rate": 1.0, "seeds": 1 }));
    let measure = |choice, measure| median(&report, "levels", &[choice], measure);
    let requests = |choice| measure(choice, "requests of a call");
    let in_a_row = |choice| measure(choice, "requests per call in a row");
    let survives = |choice| measure(choice, "calls that survive, %");
    let [none, each, one, time, outermost] = [
        "no retries",
        "a strategy at each level",
        "one for all levels",
        "one for all, max_time",
        "the outermost level only",
    ];
    let is = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
    assert!(is(requests(none), 1.0) && is(requests(each), 125.0) && is(requests(outermost), 5.0));
    // The quota of 500 pays for 100 retries, at a cost of 5.
    assert!(is(requests(one), 101.0) && is(in_a_row(one), 6.0) && is(in_a_row(each), 15.0));
    assert!(requests(time) < 20.0 && is(measure(time, "seconds of a call"), 20.0), "{}", requests(time));
    assert!(is(survives(none), 0.0) && is(survives(each), 100.0) && is(survives(time), 100.0));
    assert!((40.0..100.0).contains(&survives(outermost)), "{}", survives(outermost));
}

/// The goals for processes that share what their quotas know, on seeds that they were not tuned on. `RETRY_TEST_PROCESSES` is the number of
/// processes.
#[test]
fn many_processes_that_share_what_their_quotas_know_are_nearly_as_one() {
    let processes: u32 = std::env::var("RETRY_TEST_PROCESSES")
        .map_or(100, |processes| processes.parse().expect("RETRY_TEST_PROCESSES is a number"));
    let report = study(
        fleet::SCENARIO,
        &json!({ "processes": [processes], "seeds": 1, "first_seed": 9_000, "fault_after_s": 30,
        "longest_recovery_s": 250, "faults": ["stall", "stall at 93 %", "stall, lives of 2 s", "down", "the last of three is down",
        "down for 1 s", "sheds half", "30 % fail", "50 % fail, spare 100 %"] }),
    );
    let processes = processes.to_string();
    let recovery = |fault, quotas: &str| median(&report, "recovery", &[fault, quotas, &processes], "recovery, s");
    for (fault, factor) in [("stall", 1.1), ("stall at 93 %", 1.1), ("stall, lives of 2 s", 1.5)] {
        let ideal = median(&report, "recovery", &[fault, "no retries", "1"], "recovery, s");
        // The first windows of ten seconds differ at random, by about two seconds.
        let shared = recovery(fault, "evidence, shared");
        assert!(shared <= factor * ideal + 2.0, "{fault}, {processes}: {shared} s, without retries {ideal} s");
    }
    for fault in ["stall", "stall at 93 %"] {
        let alone = recovery(fault, "evidence, alone");
        for store in ["messages lost", "store away", "store emptied"] {
            let shared = recovery(fault, &format!("evidence, shared, {store}"));
            assert!(shared <= alone + 1.0, "{fault}, {processes}, {store}: {shared} s, alone {alone} s");
        }
    }
    for fault in ["down", "the last of three is down"] {
        let load = median(&report, "load", &[fault, "evidence, shared", &processes], "attempts per operation");
        assert!(load <= 1.1, "{fault}, {processes}: {load} attempts");
    }
    for (table, fault, least) in [
        ("success", "sheds half", 56.0),
        ("success", "30 % fail", 99.0),
        ("success", "50 % fail, spare 100 %", 90.0),
        // What was reached: processes alone have 100 %.
        ("bridged", "down for 1 s", 40.0),
    ] {
        let measure = if table == "success" { "successes, %" } else { "successes of the operations in the fault, %" };
        let succeeded = median(&report, table, &[fault, "evidence, shared", &processes], measure);
        assert!(succeeded >= least, "{fault}, {processes}: {succeeded} %");
    }
}

#[test]
fn a_fleet_shares_a_limit_fairly_with_few_rejections_also_without_its_store() {
    let report = study(fleet_limit::SCENARIO, &json!({}));
    let measure = |table, strategy, measure| median(&report, table, &[strategy, "500", "100"], measure);
    let shared = |name| measure("limit", "shared", name);
    assert!(shared("rejected, %") <= 2.0, "{} % are rejected", shared("rejected, %"));
    assert!(shared("fairness") >= 0.98, "{}", shared("fairness"));
    assert!(shared("limit used, %") >= 99.0, "{} % are used", shared("limit used, %"));
    assert!(measure("limit", "paced", "rejected, %") > 2.0 * shared("rejected, %"));
    for strategy in ["shared", "shared, store back"] {
        let (used, rejected) =
            (measure("store away", strategy, "limit used, %"), measure("store away", strategy, "rejected, %"));
        assert!(used >= 95.0 && rejected <= 5.0, "{strategy}: {used} % are used, {rejected} % are rejected");
    }
}

#[test]
fn operations_of_a_fleet_wait_together_and_alone_without_its_store() {
    let report = study(fleet_outages::SCENARIO, &json!({}));
    let of = |strategy, measure| median(&report, "outages", &["down 10 s, load 0.5", "1000", strategy], measure);
    let bridged = |strategy| of(strategy, "bridged, %");
    assert!(bridged("fleet") >= 97.0 && bridged("alone") < 95.0, "{} %, {} %", bridged("fleet"), bridged("alone"));
    let (away, alone) = (bridged("fleet, store away"), bridged("alone"));
    assert!((away - alone).abs() < 3.0, "{away} % without a store, {alone} % alone");
    let sent = |strategy| of(strategy, "attempts per operation");
    assert!(sent("fleet") <= sent("alone") && of("fleet", "bystanders lost, %") < 0.5, "{} attempts", sent("fleet"));
}
