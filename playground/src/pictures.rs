//! The pictures: scenarios of the lab with the settings of the form, in sizes that a page can wait for.

use crate::form::{Form, Kind};
use lab::chart;
use lab::report::{Report, Spread};
use lab::scenario::{Plan, Scenario, copy, outage};
use lab::strategies::Strategy;
use lab::study::OneByOne;
use lab::timeline::{Outage, record_in_outage};
use retry_config::RetryMode;
use retry_core::StandardRetryStrategy;
use serde_json::{Value, json};
use std::time::Duration;

/// The name of the user's own strategy, which the pictures of the lab know.
const YOURS: &str = "yours";
/// The limit on the time of the one operation, in seconds.
const MAX_TIME_S: u32 = 30;
/// The seed of the one operation.
const SEED: u64 = 1;

/// Draws an operation that begins with an outage.
pub(crate) fn timeline(form: &Form) -> String {
    let outage = Outage {
        length: seconds(form.outage),
        calls_per_second: f64::from(form.limit * form.load) / 100.0,
        max_time: seconds(MAX_TIME_S),
    };
    let standard = StandardRetryStrategy::new().seed(SEED);
    let timeline = match form.strategy {
        Kind::Patient => {
            let strategy = form.patient().seed(SEED);
            let backoff = standard.backoff(form.base, form.cap);
            record_in_outage(strategy, backoff.backoff_strategy(), outage)
        }
        Kind::Configured(_) => {
            let Ok(strategy) = form.config().build_on(standard) else { return String::new() };
            let backoff = strategy.backoff_strategy();
            record_in_outage(strategy, &backoff, outage)
        }
    };
    let subtitle = format!(
        "Your settings with a max_time of {MAX_TIME_S} s, {} calls per second and an outage of {} s; one run (simulation)",
        outage.calls_per_second, form.outage
    );
    chart::inlined(&chart::timeline(&timeline, &subtitle))
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

/// Runs the copy, which takes 9 s at the limit.
pub(crate) fn copy(form: &Form) -> Value {
    let operations = 10 * form.limit;
    let options = json!({
        "operations": operations,
        "workers": [form.workers],
        "max_attempts": form.attempts,
        "rate": form.limit,
        "burst": form.limit,
        "seeds": 3,
    });
    drawn(copy::SCENARIO, &options, form, |report| {
        let workers = form.workers.to_string();
        let failed = |strategy: &str| {
            let failed = report.table("copy")?.value(&[strategy, &workers], "failed operations")?.mid?;
            Some(failed / f64::from(operations))
        };
        let (yours, without, paced) = (failed(YOURS)?, failed("no retries")?, failed("paced, as shipped")?);
        let (other, name) = if yours == 0.0 || form.strategy == Kind::Configured(RetryMode::Paced) {
            (without, "without retries")
        } else {
            (paced, "with the paced strategy")
        };
        let yours = if yours == 0.0 {
            "no operation fails".to_owned()
        } else {
            format!("{} of the operations fail", share(yours))
        };
        let plural = if form.workers == 1 { "" } else { "s" };
        Some(format!("With {workers} worker{plural}, {yours}; {name} {}.", share(other)))
    })
}

/// Runs the outage.
pub(crate) fn outage(form: &Form) -> Value {
    let (load, stall_s) = (f64::from(form.load) / 100.0, form.outage);
    // At a load of 80 %, the queue of a stall takes four times its length.
    let after_s = 60 + 3 * stall_s;

    let options = json!({
        "rate": form.limit,
        "loads": [load],
        "quotas": [1],
        "stall_after_s": 10,
        "stall_s": stall_s,
        "duration_s": 10 + stall_s + after_s,
        "seeds": 2,
    });
    drawn(outage::SCENARIO, &options, form, |report| {
        let load = load.to_string();
        let recovery: Spread = report.table("outage")?.value(&[&load, YOURS, "1"], "recovery, s")?;
        Some(match recovery.mid {
            Some(seconds) => format!("After a stall of {stall_s} s, the server works again {seconds:.0} s later."),
            // The last seconds only show that the ones before were steady.
            None => {
                format!("After a stall of {stall_s} s, the server still does not work again {} s later.", after_s - 10)
            }
        })
    })
}

/// Runs a scenario with a strategy of the form's settings beside the scenario's own.
fn drawn(scenario: Scenario, options: &Value, form: &Form, sentence: impl Fn(&Report) -> Option<String>) -> Value {
    let options = options.as_object().into_iter().flatten();
    let strategy = match form.strategy {
        Kind::Patient => {
            let form = form.clone();
            Strategy::of(YOURS, move |seed| form.patient().seed(seed))
        }
        Kind::Configured(_) => Strategy::configured(YOURS, form.config()),
    };
    let plan = Plan {
        short: true,
        options: options.map(|(name, value)| (name.clone(), value.clone())).collect(),
        strategies: vec![strategy],
    };
    let report = match (scenario.study)(&plan, &OneByOne) {
        Ok(report) => report,
        Err(error) => return json!({ "svg": "", "sentence": error.to_string() }),
    };
    match chart::picture(&report) {
        Ok(svg) => json!({ "svg": chart::inlined(&svg), "sentence": sentence(&report).unwrap_or_default() }),
        Err(missing) => json!({ "svg": "", "sentence": missing.to_string() }),
    }
}

/// Writes a share. A reader compares whole percents.
fn share(part: f64) -> String {
    let percent = 100.0 * part;
    match percent {
        0.0 => "none".to_owned(),
        ..1.0 => "less than 1 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}
