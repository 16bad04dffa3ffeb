//! The fields of the form: what is expected of them, and the configuration that they mean.

use retry_core::config::{QuotaKind, RetryMode, RetryPreset};
use retry_core::{RetryConfig, RetryErrorType};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Valid fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The kind of strategy: standard, adaptive or paced.
    pub strategy: RetryMode,
    /// The numbers that the others started from.
    pub preset: Preset,
    /// The maximum number of attempts.
    pub attempts: u32,
    /// The base of the backoff.
    pub base: Duration,
    /// The cap of the backoff.
    pub cap: Duration,
    /// The capacity of the quota; without meaning for a quota by evidence.
    pub quota: u32,
    /// The operations that begin in the outage, in percent of what the server can serve.
    pub load: u32,
    /// The number of workers of the copy.
    pub workers: u32,
    /// The requests per second that the server of the copy admits, and that the server of the outage serves.
    pub limit: u32,
}

/// The numbers to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The defaults, with a quota by evidence.
    Evidence,
    /// A preset of a configuration.
    Numbers(RetryPreset),
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 4] = [
        Self::Evidence,
        Self::Numbers(RetryPreset::Default),
        Self::Numbers(RetryPreset::Aws20),
        Self::Numbers(RetryPreset::Aws21),
    ];

    /// Returns the name: `evidence`, or that in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Numbers(preset) => preset.as_str(),
        }
    }

    /// Returns the configuration of the preset, with as few keys as possible.
    pub const fn config(self) -> RetryConfig {
        match self {
            Self::Evidence => RetryConfig::new().quota_kind(QuotaKind::Evidence),
            Self::Numbers(RetryPreset::Default) => RetryConfig::new(),
            Self::Numbers(preset) => RetryConfig::new().preset(preset),
        }
    }

    /// Returns the numbers as fields of a form.
    pub(crate) fn fields(self) -> Value {
        let Numbers { attempts, base, cap, quota } = self.numbers();
        json!({
            "attempts": attempts.to_string(),
            "base": base.as_millis().to_string(),
            "cap": cap.as_secs().to_string(),
            "quota": quota.to_string(),
        })
    }

    pub(crate) fn numbers(self) -> Numbers {
        let strategy = self.config().build();
        let backoff = strategy.backoff_strategy();
        Numbers {
            attempts: strategy.settings().max_attempts,
            base: backoff.base(RetryErrorType::Other),
            cap: backoff.cap(),
            quota: strategy.quota().capacity(),
        }
    }
}

/// The numbers of a preset that the form has fields for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) attempts: u32,
    pub(crate) base: Duration,
    pub(crate) cap: Duration,
    pub(crate) quota: u32,
}

impl Form {
    /// Reads a JSON object of texts by the name of their field.
    ///
    /// # Errors
    ///
    /// Returns a message for each field with an invalid value, which says what is expected.
    pub fn parse(text: &str) -> Result<Self, Map<String, Value>> {
        let mut fields = Fields { values: serde_json::from_str(text).unwrap_or_default(), invalid: Map::new() };
        let modes = [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced].map(|mode| (mode.as_str(), mode));
        let millis = |number| Duration::from_millis(u64::from(number));
        let form = Self {
            strategy: fields.choice("strategy", &modes),
            preset: fields.choice("preset", &Preset::ALL.map(|preset| (preset.name(), preset))),
            attempts: fields.number("attempts", 1..=20),
            base: millis(fields.number("base", 1..=60_000)),
            cap: millis(1_000 * fields.number("cap", 1..=3_600)),
            quota: fields.number("quota", 0..=100_000),
            load: fields.number("load", 1..=95),
            workers: fields.number("workers", 1..=256),
            limit: fields.number("limit", 10..=300),
        };
        if fields.invalid.is_empty() && form.base > form.cap {
            fields.refuse("base", "expected at most the cap".to_owned());
        }
        if fields.invalid.is_empty() { Ok(form) } else { Err(fields.invalid) }
    }

    /// Returns the configuration: the preset, and the settings that differ from it.
    pub fn config(&self) -> RetryConfig {
        let preset = self.preset.numbers();
        let mut config = self.preset.config();
        if self.strategy != RetryMode::Standard {
            config = config.mode(self.strategy);
        }
        if self.attempts != preset.attempts {
            config = config.clone().try_max_attempts(self.attempts).unwrap_or(config);
        }
        if (self.base, self.cap) != (preset.base, preset.cap) {
            config = config.backoff(self.base, self.cap);
        }
        if self.quota != preset.quota && self.preset != Preset::Evidence {
            config = config.quota_capacity(self.quota);
        }
        config
    }
}

/// Fields as they are read.
struct Fields {
    values: Map<String, Value>,
    invalid: Map<String, Value>,
}

impl Fields {
    fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or_default().trim()
    }

    fn refuse(&mut self, name: &str, expected: String) {
        self.invalid.insert(name.to_owned(), expected.into());
    }

    /// Returns the value of a name, or the first one if the name is invalid.
    fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> T {
        let text = self.text(name);
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == text) {
            return *value;
        }
        let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        self.refuse(name, format!("expected one of: {}", names.join(", ")));
        choices[0].1
    }

    /// Returns a number, or the least one if it is invalid.
    fn number(&mut self, name: &str, range: RangeInclusive<u32>) -> u32 {
        let (least, most) = (*range.start(), *range.end());
        let number = self.text(name).parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            self.refuse(name, format!("expected a whole number from {least} to {most}"));
        }
        number.unwrap_or(least)
    }
}
