//! The settings as texts for a program: a file, and a static.

use crate::form::{Form, Preset};
use retry_core::config::{RetryMode, RetryPreset};
use std::fmt::Write as _;
use std::time::Duration;

/// The width of a line, and the longest chain of calls on one line, as rustfmt has them.
const WIDTH: usize = 100;
const SHORT: usize = 60;

/// Returns the configuration as a file in TOML, with the settings that differ from the defaults of the library.
pub fn toml(form: &Form) -> String {
    let text = toml::to_string(&form.config()).unwrap_or_default();
    if text.is_empty() { "# All settings have the defaults of the library.\n".to_owned() } else { text }
}

/// Returns the strategy as a static in Rust.
pub fn rust(form: &Form) -> String {
    let is_evidence = form.preset == Preset::Evidence;
    let constructor = match form.preset {
        Preset::Numbers(RetryPreset::Aws20) => "StandardRetryStrategy::aws_2_0()",
        Preset::Numbers(RetryPreset::Aws21) => "StandardRetryStrategy::aws_2_1()",
        _ => "StandardRetryStrategy::new()",
    };
    let limited = match form.strategy {
        RetryMode::Adaptive => Some("AdaptiveRetryStrategy"),
        RetryMode::Paced => Some("PacedRetryStrategy"),
        _ => None,
    };
    let calls = calls(form);
    let mut imports = vec!["StandardRetryStrategy"];
    imports.extend(limited);
    let mut text = String::new();
    if is_evidence {
        text += "use retry_core::quota::EvidenceQuota;\n";
        imports.push("ExponentialBackoff");
    }
    imports.sort_unstable();
    let imports = if imports.len() == 1 { imports[0].to_owned() } else { format!("{{{}}}", imports.join(", ")) };
    let _ = writeln!(text, "use retry_core::{imports};");
    if calls.iter().any(|call| call.contains("Duration")) {
        text += "use std::time::Duration;\n";
    }
    let parts = if is_evidence { "<ExponentialBackoff, EvidenceQuota>" } else { "" };
    let name = format!("static STORE: {}{parts} =", limited.unwrap_or("StandardRetryStrategy"));
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
    if form.preset == Preset::Evidence {
        calls.push(".with_quota(EvidenceQuota::new())".to_owned());
    }
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
