//! The settings as texts for a program: a file, and a static.

use crate::form::{Form, Kind};
use retry_config::{RetryMode, RetryPreset};
use std::fmt::Write as _;
use std::time::Duration;

/// The width of a line, and the longest chain of calls on one line, as rustfmt has them.
const WIDTH: usize = 100;
const SHORT: usize = 60;

/// Returns the configuration as a file in TOML, with the settings that differ from the defaults of the library.
pub fn toml(form: &Form) -> String {
    if form.strategy == Kind::Patient {
        return "# The settings of the patient strategy are in its static.\n".to_owned();
    }
    let text = toml::to_string(&form.config()).unwrap_or_default();
    if text.is_empty() { "# All settings have the defaults of the library.\n".to_owned() } else { text }
}

/// Returns the strategy as a static in Rust.
pub fn rust(form: &Form) -> String {
    let constructor = match (form.strategy, form.preset) {
        (Kind::Patient, _) => "PatientRetryStrategy::new()",
        (_, RetryPreset::Aws20) => "StandardRetryStrategy::aws_2_0()",
        (_, RetryPreset::Aws21) => "StandardRetryStrategy::aws_2_1()",
        _ => "StandardRetryStrategy::new()",
    };
    let inner = constructor.split(':').next().unwrap_or_default();
    let limited = match form.strategy {
        Kind::Configured(RetryMode::Adaptive) => Some("AdaptiveRetryStrategy"),
        Kind::Configured(RetryMode::Paced) => Some("PacedRetryStrategy"),
        _ => None,
    };
    let calls = calls(form);
    let mut text = match limited {
        None => format!("use retry_core::{inner};\n"),
        Some(limited @ "PacedRetryStrategy") => format!("use retry_core::{inner};\nuse retry_limits::{limited};\n"),
        Some(limited) => format!("use retry_core::{{{limited}, {inner}}};\n"),
    };
    if calls.iter().any(|call| call.contains("Duration")) {
        text += "use std::time::Duration;\n";
    }
    let name = format!("static STORE: {} =", limited.unwrap_or(inner));
    let chain = format!("{constructor}{}", calls.concat());
    let is_short = chain.len() <= SHORT;
    let value = |indent: &str| {
        if is_short {
            return chain.clone();
        }
        calls.iter().fold(constructor.to_owned(), |text, call| format!("{text}\n{indent}{call}"))
    };
    let value = match limited {
        None => value("    "),
        Some(limited) if is_short => format!("{limited}::over({})", value("")),
        Some(limited) => format!("{limited}::over(\n    {},\n)", value("        ")),
    };
    let first = value.lines().next().unwrap_or_default().len();
    let _ = if name.len() + first + 2 <= WIDTH {
        writeln!(text, "\n{name} {value};")
    } else {
        writeln!(text, "\n{name}\n    {};", value.replace('\n', "\n    "))
    };
    text
}

/// Returns the calls that set what differs from the preset.
fn calls(form: &Form) -> Vec<String> {
    let config = form.config();
    let mut calls = Vec::new();
    if let Some(attempts) = config.max_attempts_setting() {
        calls.push(format!(".max_attempts({attempts})"));
    }
    if let (Some(base), Some(cap)) = (config.base_setting(), config.cap_setting()) {
        calls.push(format!(".backoff({}, {})", duration(base), duration(cap)));
    }
    if let Some(capacity) = config.quota_capacity_setting() {
        calls.push(format!(".quota_capacity({capacity})"));
    }
    calls
}

fn duration(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("Duration::from_secs({})", duration.as_secs())
    } else {
        format!("Duration::from_millis({})", duration.as_millis())
    }
}
