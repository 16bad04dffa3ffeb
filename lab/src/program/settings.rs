//! `lab settings`: prints what settings mean, and runs scenarios with them.

use super::page::page;
use super::{Selection, run, text};
use clap::Args;
use lab::strategies::Policy;
use retry_core::RetryConfig;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Settings with the keys of a `RetryConfig`.
#[derive(Debug, Args)]
pub(super) struct Settings {
    /// A file with the settings, in JSON or TOML.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The section of the file with the settings, as in `clients.store`.
    #[arg(long, requires = "file")]
    section: Option<String>,
    /// A setting, as in `max_attempts=4` or `backoff.base=100ms`. It replaces that of the file.
    #[arg(long = "key", value_parser = setting, value_name = "KEY=VALUE")]
    keys: Vec<(String, Value)>,
    /// The longest time of an attempt, in seconds, for the longest time of an operation.
    #[arg(long, value_name = "SECONDS")]
    attempt_timeout: Option<f64>,
    /// Prints the meaning of the settings without running scenarios.
    #[arg(long)]
    no_run: bool,
    /// A file to write a page with pictures and tables to.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

fn setting(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    // A text needs no quotes, and a setting can be a text even if it is a number.
    Ok((key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

pub(super) fn settings(settings: &Settings) -> Result<ExitCode, Box<dyn Error>> {
    let values = settings.values()?;
    let config = RetryConfig::deserialize(&values)?;
    let timeout = settings.attempt_timeout.map(Duration::try_from_secs_f64).transpose()?;
    let mut reports = vec![lab::settings::report(values, &config, timeout)];
    text::print(&reports[0])?;
    if !settings.no_run {
        let mut plan = settings.selection.plan();
        plan.policies.push(Policy::configured("yours", config));
        reports.extend(run::run(&settings.selection, &plan)?);
    }
    if let Some(file) = &settings.html {
        fs::write(file, page(&reports)).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Settings {
    fn values(&self) -> Result<Value, Box<dyn Error>> {
        let mut values = match &self.file {
            None => Value::Object(Map::new()),
            Some(file) => self.read(file).map_err(|error| format!("{}: {error}", file.display()))?,
        };
        for (key, value) in &self.keys {
            set(&mut values, key, value)
                .ok_or_else(|| format!("--key {key}: a part of the key is not a group of keys"))?;
        }
        Ok(values)
    }

    fn read(&self, file: &Path) -> Result<Value, Box<dyn Error>> {
        let text = fs::read_to_string(file)?;
        let is_toml = file.extension().is_some_and(|extension| extension == "toml");
        let mut values: Value = if is_toml { toml::from_str(&text)? } else { serde_json::from_str(&text)? };
        for name in self.section.iter().flat_map(|section| section.split('.')) {
            values = values.get_mut(name).map(Value::take).ok_or_else(|| format!("there is no section {name}"))?;
        }
        Ok(values)
    }
}

/// Sets the value at a path of keys with dots between them, or returns `None` if there is another value in its place.
fn set(values: &mut Value, path: &str, value: &Value) -> Option<()> {
    let (group, rest) = match path.split_once('.') {
        Some((group, rest)) => (group, Some(rest)),
        None => (path, None),
    };
    let entry = values.as_object_mut()?.entry(group).or_insert_with(|| Value::Object(Map::new()));
    if let Some(rest) = rest {
        return set(entry, rest, value);
    }
    *entry = value.clone();
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{set, setting};
    use serde_json::json;

    #[test]
    fn a_key_can_be_in_a_group() {
        let mut values = json!({ "backoff": { "cap": "20s" } });
        for text in ["backoff.base=100ms", "max_attempts=4", "quota.refill.amount=10", "mode=\"off\""] {
            let (key, value) = setting(text).unwrap();
            set(&mut values, &key, &value).unwrap();
        }
        let expected = json!({
            "backoff": { "base": "100ms", "cap": "20s" },
            "max_attempts": 4,
            "mode": "off",
            "quota": { "refill": { "amount": 10 } },
        });
        assert_eq!(values, expected);
        assert_eq!(set(&mut values, "max_attempts.first", &json!(1)), None);
        assert!(setting("max_attempts").is_err());
    }
}
