//! `lab settings`: prints what settings mean, and runs scenarios with them.

use super::differences::{DIFFERENCES, cells};
use super::page::Page;
use super::{Selection, look, run, text};
use anstyle::Style;
use clap::Args;
use lab::judgement::{Best, Case, DEFAULT, MOST_FAILED, YOURS, cases, sentence};
use lab::strategies::Strategy;
use retry_config::RetryConfig;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::error::Error;
use std::fmt::Write as _;
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
    /// A file to write a page with pictures and tables to, again after each scenario.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Runs the scenarios in full, which takes minutes instead of seconds.
    #[arg(long, conflicts_with = "short")]
    full: bool,
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
    let meaning = lab::settings::report(values, &config, timeout)?;
    let lines = lines(&meaning.options);
    text::write(&format!("{bold}## Settings{bold:#}\n\n{}\n", lines.join("\n"), bold = look::TITLE))?;
    text::print(&meaning, false)?;
    let mut page = Page { settings: lines, reports: vec![meaning], scenarios: 0 };
    let write = |page: &Page| match &settings.html {
        Some(file) => fs::write(file, page.html()).map_err(|error| format!("{}: {error}", file.display())),
        None => Ok(()),
    };
    if !settings.no_run {
        let mut plan = settings.selection.plan();
        plan.short = !settings.full;
        plan.strategies.push(Strategy::configured(YOURS, config.clone()));
        if config != RetryConfig::new() {
            plan.strategies.push(Strategy::configured(DEFAULT, RetryConfig::new()));
        }
        page.scenarios = settings.selection.scenarios().len();
        write(&page)?;
        run::run(&settings.selection, &plan, |report| {
            page.reports.push(report);
            Ok(write(&page)?)
        })?;
        judge(&cases(&page.reports))?;
    }
    write(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a line for each setting, or one line that says that there are none.
fn lines(settings: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    flatten("", settings, &mut lines);
    if lines.is_empty() {
        lines.push("All settings are the defaults.".to_owned());
    }
    lines
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(values) => {
            for (key, value) in values {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, lines);
            }
        }
        value => lines.push(format!("{path} = {value}")),
    }
}

/// Prints the cases that differ and the judgement.
fn judge(cases: &[Case]) -> Result<(), Box<dyn Error>> {
    let Some(sentence) = sentence(cases) else { return Ok(()) };
    let (title, mut text) = (look::TITLE, String::new());
    let coloured = |(best, cells)| (if best == Best::Yours { look::GOOD } else { look::BAD }, cells);
    let rows: Vec<(Style, Vec<String>)> = cases.iter().filter_map(cells).map(coloured).collect();
    if !rows.is_empty() {
        let (name, header) = DIFFERENCES;
        let _ = writeln!(text, "\n{title}## {name}{title:#}");
        text += &text::grid(1, &header.map(str::to_owned), &rows);
        let _ = writeln!(
            text,
            "\nSettings that fail more than {MOST_FAILED} % of the operations are never the better ones."
        );
    }
    text::write(&format!("{text}\n{title}{}{title:#}\n", text::wrapped(&sentence)))?;
    Ok(())
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
    use super::{lines, set, setting};
    use serde_json::{Value, json};

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
        let expected = ["backoff.base = \"100ms\"", "backoff.cap = \"20s\"", "max_attempts = 4", "mode = \"off\""];
        assert_eq!(lines(&values)[..4], expected);
        assert_eq!(lines(&Value::Object(serde_json::Map::new())), ["All settings are the defaults."]);
        assert_eq!(set(&mut values, "max_attempts.first", &json!(1)), None);
        assert!(setting("max_attempts").is_err());
    }
}
