//! The fields of the form: what is expected of them, and the configuration that they mean.

use retry_config::{RetryConfig, RetryMode, RetryPreset};
use retry_core::{ExponentialBackoff, PatientRetryStrategy, RetryErrorType, StandardRetryStrategy};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Valid fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The kind of strategy.
    pub strategy: Kind,
    /// The numbers that the others started from: for a patient strategy, the defaults.
    pub preset: RetryPreset,
    /// The maximum number of attempts.
    pub attempts: u32,
    /// The base of the backoff.
    pub base: Duration,
    /// The cap of the backoff.
    pub cap: Duration,
    /// The capacity of the quota; without meaning for a patient strategy.
    pub quota: u32,
    /// The operations that begin in the outage, in percent of what the server can serve.
    pub load: u32,
    /// The number of workers of the copy.
    pub workers: u32,
    /// The requests per second that the server of the copy admits, and that the server of the outage serves.
    pub limit: u32,
    /// The length of the outages, in seconds.
    pub outage: u32,
}

/// The kinds of strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A [`PatientRetryStrategy`].
    Patient,
    /// A strategy with settings from a file: standard, adaptive or paced.
    Configured(RetryMode),
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Patient,
        Self::Configured(RetryMode::Standard),
        Self::Configured(RetryMode::Adaptive),
        Self::Configured(RetryMode::Paced),
    ];

    /// Returns the name: `patient`, or that of the mode in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Patient => "patient",
            Self::Configured(mode) => mode.as_str(),
        }
    }
}

/// The presets of the form.
pub(crate) const PRESETS: [RetryPreset; 3] = [RetryPreset::Default, RetryPreset::Aws20, RetryPreset::Aws21];

/// The numbers of a preset, or of the patient strategy, that the form has fields for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbers {
    attempts: u32,
    base: Duration,
    cap: Duration,
    quota: u32,
}

impl Numbers {
    pub(crate) fn of(preset: RetryPreset) -> Self {
        let preset = RetryConfig::new().preset(preset);
        let strategy = preset.build_on(StandardRetryStrategy::new()).expect("it has all parts of a preset");
        Self::with(strategy.settings().max_attempts, &strategy.backoff_strategy(), strategy.quota().capacity())
    }

    /// Returns the numbers of the patient strategy, whose quota has none.
    pub(crate) fn of_patient() -> Self {
        let strategy = PatientRetryStrategy::new();
        let standard = strategy.standard();
        let Self { quota, .. } = Self::of(RetryPreset::Default);
        Self::with(standard.settings().max_attempts, standard.backoff_strategy(), quota)
    }

    fn with(attempts: u32, backoff: &ExponentialBackoff, quota: u32) -> Self {
        Self { attempts, base: backoff.base(RetryErrorType::Other), cap: backoff.cap(), quota }
    }

    /// Returns the numbers as fields of a form.
    pub(crate) fn fields(self) -> Value {
        let Self { attempts, base, cap, quota } = self;
        json!({
            "attempts": attempts.to_string(),
            "base": base.as_millis().to_string(),
            "cap": cap.as_secs().to_string(),
            "quota": quota.to_string(),
        })
    }
}

impl Form {
    /// Reads a JSON object of texts by the name of their field.
    ///
    /// # Errors
    ///
    /// Returns a message for each field with an invalid value, which says what is expected.
    pub fn parse(text: &str) -> Result<Self, Map<String, Value>> {
        let mut fields = Fields { values: serde_json::from_str(text).unwrap_or_default(), invalid: Map::new() };
        let millis = |number| Duration::from_millis(u64::from(number));
        let mut form = Self {
            strategy: fields.choice("strategy", &Kind::ALL.map(|kind| (kind.name(), kind))),
            preset: fields.choice("preset", &PRESETS.map(|preset| (preset.as_str(), preset))),
            attempts: fields.number("attempts", 1..=20),
            base: millis(fields.number("base", 1..=60_000)),
            cap: millis(1_000 * fields.number("cap", 1..=3_600)),
            quota: fields.number("quota", 0..=100_000),
            load: fields.number("load", 1..=95),
            workers: fields.number("workers", 1..=256),
            limit: fields.number("limit", 10..=300),
            outage: fields.number("outage", 1..=30),
        };
        if form.strategy == Kind::Patient {
            form.preset = RetryPreset::Default;
        }
        if fields.invalid.is_empty() && form.base > form.cap {
            fields.refuse("base", "expected at most the cap".to_owned());
        }
        if fields.invalid.is_empty() { Ok(form) } else { Err(fields.invalid) }
    }

    /// Returns the configuration: the preset, and the settings that differ from it, or from the patient strategy.
    pub fn config(&self) -> RetryConfig {
        let is_patient = self.strategy == Kind::Patient;
        let preset = if is_patient { Numbers::of_patient() } else { Numbers::of(self.preset) };
        let mut config = RetryConfig::new();
        if self.preset != RetryPreset::Default {
            config = config.preset(self.preset);
        }
        if let Kind::Configured(mode @ (RetryMode::Adaptive | RetryMode::Paced)) = self.strategy {
            config = config.mode(mode);
        }
        if self.attempts != preset.attempts {
            config = config.clone().try_max_attempts(self.attempts).unwrap_or(config);
        }
        if (self.base, self.cap) != (preset.base, preset.cap) {
            config = config.backoff(self.base, self.cap);
        }
        if self.quota != preset.quota && !is_patient {
            config = config.quota_capacity(self.quota);
        }
        config
    }

    /// Returns the patient strategy with these settings.
    pub const fn patient(&self) -> PatientRetryStrategy {
        PatientRetryStrategy::new().max_attempts(self.attempts).backoff(self.base, self.cap)
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
