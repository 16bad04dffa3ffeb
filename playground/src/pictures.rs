//! The pictures: scenarios of the lab with the settings of the form, in sizes that a page can wait for.

use crate::form::Form;
use lab::chart;
use lab::report::{Report, Spread};
use lab::scenario::{Plan, Scenario, copy, outage};
use lab::strategies::Strategy;
use lab::study::OneByOne;
use lab::timeline::{EXAMPLE_MAX_TIME, EXAMPLE_SEED, example_attempts, record_configured};
use retry_core::StandardRetryStrategy;
use retry_core::config::RetryMode;
use serde_json::{Value, json};

/// The name of the user's own strategy, which the pictures of the lab know.
const YOURS: &str = "yours";
/// The length of the stall in the outage, in seconds.
const STALL_S: u32 = 10;
/// The time after the stall in which the server can recover, in seconds.
const AFTER_S: u32 = 90;

/// Draws the operation of the published picture with the settings of the form.
pub(crate) fn timeline(form: &Form) -> String {
    let seeded = StandardRetryStrategy::new().seed(EXAMPLE_SEED);
    let Ok(strategy) = form.config().build_on(seeded) else { return String::new() };
    let timeline = record_configured(strategy, example_attempts(), Some(EXAMPLE_MAX_TIME));
    let subtitle = format!(
        "Your settings with a max_time of {} s and an attempt_timeout of 1 s; one run (simulation)",
        EXAMPLE_MAX_TIME.as_secs()
    );
    chart::inlined(&chart::timeline(&timeline, &subtitle))
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
        let (other, name) = if yours == 0.0 || form.strategy == RetryMode::Paced {
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
    let load = f64::from(form.load) / 100.0;
    let options = json!({
        "rate": form.limit,
        "loads": [load],
        "quotas": [1],
        "stall_after_s": 10,
        "stall_s": STALL_S,
        "duration_s": 10 + STALL_S + AFTER_S,
        "seeds": 2,
    });
    drawn(outage::SCENARIO, &options, form, |report| {
        let load = load.to_string();
        let recovery: Spread = report.table("outage")?.value(&[&load, YOURS, "1"], "recovery, s")?;
        Some(match recovery.mid {
            Some(seconds) => format!("After a stall of {STALL_S} s, the server works again {seconds:.0} s later."),
            // The last seconds only show that the ones before were steady.
            None => {
                format!("After a stall of {STALL_S} s, the server still does not work again {} s later.", AFTER_S - 10)
            }
        })
    })
}

/// Runs a scenario with a strategy of the form's settings beside the scenario's own.
fn drawn(scenario: Scenario, options: &Value, form: &Form, sentence: impl Fn(&Report) -> Option<String>) -> Value {
    let options = options.as_object().into_iter().flatten();
    let plan = Plan {
        short: true,
        options: options.map(|(name, value)| (name.clone(), value.clone())).collect(),
        strategies: vec![Strategy::configured(YOURS, form.config())],
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
