//! Comparison with botocore: the shared config file is read in the same way, except for documented differences.

use retry_config::{ConfigError, RetryConfig, RetryMode};
use retry_core::InvalidSetting;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;

/// The data that `tests/vectors/aws_config.py` generates.
#[derive(Deserialize)]
struct Data {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    name: String,
    profile: String,
    text: String,
    botocore: Answer,
    /// The name of a documented difference.
    difference: Option<String>,
    /// The expected answer if it is not botocore's.
    wanted: Option<Answer>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Malformed { error: String, line: Option<u32> },
    Settings { retry_mode: Option<Value>, max_attempts: Option<Value> },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Nested {},
}

/// A setting in a form that can be compared: its value if it is valid, its text otherwise.
type Setting = Option<Result<String, String>>;

/// Placeholder for the text of a nested value, because botocore returns it parsed.
const NESTED: &str = "nested";

impl Answer {
    fn is(&self, outcome: &Result<[Setting; 2], String>) -> bool {
        match (self, outcome) {
            (Self::Malformed { error, line }, Err(message)) => {
                // botocore splits nested values itself. The resulting `ValueError` of Python has no line number.
                message.contains("nested") == (error == "ValueError")
                    && line.is_none_or(|line| message.contains(&format!("line {line} ")))
            }
            (Self::Settings { retry_mode, max_attempts }, Ok(settings)) => {
                let mode = |text: &str| text.parse().ok().map(|mode: RetryMode| mode.to_string());
                let attempts = |text: &str| text.trim().parse().ok().map(|number: NonZeroU32| number.to_string());
                *settings == [judged(retry_mode.as_ref(), mode), judged(max_attempts.as_ref(), attempts)]
            }
            _ => false,
        }
    }
}

fn judged(value: Option<&Value>, parse: impl Fn(&str) -> Option<String>) -> Setting {
    Some(match value? {
        Value::Text(text) => parse(text).ok_or_else(|| text.clone()),
        Value::Nested {} => Err(NESTED.to_owned()),
    })
}

/// Reads both settings separately, or returns the error of the file.
fn read(file: &File) -> Result<[Setting; 2], String> {
    let from = |config: RetryConfig| config.or_profile(&file.profile, Path::new("config"), &file.text);
    let mode = setting(from(RetryConfig::new().try_max_attempts(1).unwrap()), |config| {
        config.mode_setting().map(|mode| mode.to_string())
    })?;
    let attempts = setting(from(RetryConfig::new().mode(RetryMode::Standard)), |config| {
        config.max_attempts_setting().map(|number| number.to_string())
    })?;
    Ok([mode, attempts])
}

fn setting(
    outcome: Result<RetryConfig, ConfigError>,
    value: impl Fn(&RetryConfig) -> Option<String>,
) -> Result<Setting, String> {
    match outcome {
        Ok(config) => Ok(value(&config).map(Ok)),
        Err(error) => match error.setting().map(InvalidSetting::value) {
            Some(text) => Ok(Some(Err(if text.starts_with('\n') { NESTED } else { text }.to_owned()))),
            None => Err(error.to_string()),
        },
    }
}

/// Returns the names in the first column of the table of differences.
fn documented_differences() -> BTreeSet<&'static str> {
    let table = include_str!("../../../retry-config/src/environment.rs")
        .split_once("/// | in the file | botocore | here |\n    /// |---|---|---|\n")
        .map_or("", |(_, table)| table);
    let rows = table.lines().map_while(|line| line.trim_start().strip_prefix("/// |"));
    rows.filter_map(|row| row.split('|').next()).map(str::trim).collect()
}

// Rule C11.
#[test]
fn a_file_is_read_as_botocore_reads_it_but_for_the_documented_differences() {
    let data: Data = serde_json::from_str(include_str!("../../vectors/aws_config.json")).unwrap();
    let documented = documented_differences();
    let mut tested = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in &data.files {
        let outcome = read(file);
        let complaint = match (file.botocore.is(&outcome), &file.difference, &file.wanted) {
            (true, None, None) => continue,
            (false, Some(difference), Some(wanted)) if wanted.is(&outcome) => {
                tested.insert(difference.as_str());
                continue;
            }
            (true, Some(_), _) => "is read as botocore reads it",
            (false, None, None) => "is not read as botocore reads it",
            (false, Some(_), Some(_)) => "is read neither as botocore reads it nor as wanted",
            (_, None, Some(_)) | (_, Some(_), None) => "has a difference or a wanted answer, but not both",
        };
        wrong.push(format!("{}: {complaint}\n{:?}\n{:?}\n{outcome:?}\n", file.name, file.text, file.botocore));
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), data.files.len(), wrong.join("\n"));
    assert_eq!(tested, documented);
    assert!(data.files.len() >= 200);
}
