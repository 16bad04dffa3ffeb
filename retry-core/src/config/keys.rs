//! The keys of settings in files and variables, and their values as text.

use super::duration::{self, Written};
use super::error::Problem;
use super::{ConfigSource, RetryConfig, RetryMode, RetryPreset, Sourced, suggest};
use crate::backoff::Jitter;
use crate::strategy::{HintLimit, MaxAttempts, Refund};
use crate::support::InvalidSetting;
use std::time::Duration;

/// The keys, as paths. In each group, plain values come before groups, as TOML wants them.
pub(super) const KEYS: [&str; 24] = [
    "preset",
    "mode",
    "max_attempts",
    "max_retry_after",
    "hint_limit",
    "hint_limit.beyond_backoff",
    "hint_jitter.percent",
    "hint_jitter.at_most",
    "backoff.base",
    "backoff.cap",
    "backoff.throttling_base",
    "backoff.conflict_base",
    "backoff.jitter",
    "quota.capacity",
    "quota.refill.amount",
    "quota.refill.every",
    "quota.costs.throttling",
    "quota.costs.timeout",
    "quota.costs.conflict",
    "quota.costs.other",
    "quota.refunds.first_attempt",
    "quota.refunds.after_retry",
    "paced.ramp",
    "paced.max_throttled",
];

/// The groups of keys, as paths. `hint_limit` is a key, too.
pub(super) const GROUPS: [&str; 8] =
    ["hint_limit", "hint_jitter", "backoff", "quota", "quota.refill", "quota.costs", "quota.refunds", "paced"];

const NUMBER: &str = "a whole number from 0 to 4294967295";
const TIME: &str = "a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms";
const TIME_OR_UNLIMITED: &str = "unlimited, or a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms";
const PERIOD: &str = "a whole number above 0 and its unit, ns, us, ms, s, m or h, such as 1500ms";
const JITTER: &str = "full, equal, none or a factor from 0 to 1";
const HINT: &str = "unlimited, max_backoff or a group with the key beyond_backoff";

/// The value of a setting.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(u32),
    Factor(f64),
    Flag(bool),
}

impl Value {
    fn time(time: Duration) -> Self {
        Self::Text(Written(time).to_string())
    }

    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Factor(factor) => factor.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

/// Reads settings into a configuration.
#[derive(Debug, Default)]
pub(super) struct Reader {
    config: RetryConfig,
    read: Vec<&'static str>,
    sources: Vec<(&'static str, ConfigSource)>,
    refill_amount: Option<u32>,
    refill_every: Option<Duration>,
}

impl Reader {
    /// Reads the value of a key.
    pub(super) fn read(&mut self, key: &'static str, text: &str, source: &ConfigSource) -> Result<(), Problem> {
        // The two forms of a hint limit are one setting.
        let setting = if key.starts_with("hint_limit") { "hint_limit" } else { key };
        if self.read.contains(&setting) {
            return Err(Problem::Repeated(setting));
        }
        self.read.push(setting);
        self.sources.push((key, source.clone()));

        let invalid = |expected| Problem::from(InvalidSetting::new(key, text, expected));
        let number = || text.trim().parse::<u32>().map_err(|_| invalid(NUMBER));
        let time = || duration::parse(text).ok_or_else(|| invalid(TIME));
        let config = &mut self.config;
        let costs = &mut config.costs;
        match key {
            "preset" => {
                let preset = RetryPreset::named(text).ok_or_else(|| invalid("default, aws_2_0 or aws_2_1"))?;
                config.preset = Some(preset);
            }
            "mode" => {
                let value = RetryMode::named(text).ok_or_else(|| invalid(RetryMode::names()))?;
                config.mode = Some(Sourced { value, source: source.clone() });
            }
            "max_attempts" => {
                let value = text.parse::<MaxAttempts>()?;
                config.max_attempts = Some(Sourced { value, source: source.clone() });
            }
            "max_retry_after" if text == "unlimited" => config.max_retry_after = Some(None),
            "max_retry_after" => {
                let time = duration::parse(text).ok_or_else(|| invalid(TIME_OR_UNLIMITED))?;
                config.max_retry_after = Some(Some(time));
            }
            "hint_limit" => {
                config.hint_limit = Some(match text {
                    "unlimited" => HintLimit::Unlimited,
                    "max_backoff" => HintLimit::MaxBackoff,
                    _ => return Err(invalid(HINT)),
                });
            }
            "hint_limit.beyond_backoff" => config.hint_limit = Some(HintLimit::BeyondBackoff(time()?)),
            "hint_jitter.percent" => config.hint_jitter_percent = Some(number()?),
            "hint_jitter.at_most" => config.hint_jitter_at_most = Some(time()?),
            "backoff.base" => config.base = Some(time()?),
            "backoff.cap" => config.cap = Some(time()?),
            "backoff.throttling_base" => config.throttling_base = Some(time()?),
            "backoff.conflict_base" => config.conflict_base = Some(time()?),
            "backoff.jitter" => config.jitter = Some(jitter(text).ok_or_else(|| invalid(JITTER))?),
            "quota.capacity" => config.quota_capacity = Some(number()?),
            "quota.refill.amount" => self.refill_amount = Some(number()?),
            "quota.refill.every" => {
                let every = duration::parse(text).filter(|every| !every.is_zero());
                self.refill_every = Some(every.ok_or_else(|| invalid(PERIOD))?);
            }
            "quota.costs.throttling" => costs.throttling = Some(number()?),
            "quota.costs.timeout" => costs.timeout = Some(number()?),
            "quota.costs.conflict" => costs.conflict = Some(number()?),
            "quota.costs.other" => costs.other = Some(number()?),
            "quota.refunds.first_attempt" => config.first_refund = Some(number()?),
            "quota.refunds.after_retry" if text == "last_cost" => config.retry_refund = Some(Refund::LastCost),
            "quota.refunds.after_retry" => {
                let amount =
                    text.trim().parse().map_err(|_| invalid("last_cost or a whole number up to 4294967295"))?;
                config.retry_refund = Some(Refund::Amount(amount));
            }
            "paced.ramp" => config.ramp = Some(text.parse().map_err(|_| invalid("true or false"))?),
            "paced.max_throttled" => config.max_throttled = Some(number()?),
            _ => return Err(unknown("", key)),
        }
        Ok(())
    }

    /// Returns the configuration.
    pub(super) fn finish(mut self) -> Result<RetryConfig, Problem> {
        self.config.quota_refill = match (self.refill_amount, self.refill_every) {
            (Some(amount), Some(every)) => Some((amount, every)),
            (None, None) => None,
            (Some(_), None) => return Err(Problem::Missing("quota.refill.every")),
            (None, Some(_)) => return Err(Problem::Missing("quota.refill.amount")),
        };
        for (key, source) in self.sources {
            if let Some(value) = self.config.value(key) {
                self.config.origins.add(key, value.into_text(), source);
            }
        }
        Ok(self.config)
    }
}

fn jitter(text: &str) -> Option<Jitter> {
    Some(match text {
        "full" => Jitter::Full,
        "equal" => Jitter::Equal,
        "none" => Jitter::None,
        _ => Jitter::Fixed(text.parse().ok().filter(|factor| (0.0..=1.0).contains(factor))?),
    })
}

/// Returns the names of the keys and groups in a group, or at the top if the group is empty.
pub(super) fn names_in(group: &str) -> Vec<&'static str> {
    let mut names: Vec<_> = KEYS
        .iter()
        .filter_map(|key| if group.is_empty() { Some(*key) } else { key.strip_prefix(group)?.strip_prefix('.') })
        .map(|rest| rest.split('.').next().unwrap_or(rest))
        .collect();
    names.dedup();
    names
}

/// Returns the error of an unknown key of a group, with the key that may be meant.
pub(super) fn unknown(group: &str, name: &str) -> Problem {
    let (key, limit) = (join(group, name), suggest::limit(name));
    let in_group = suggest::most_similar(name, names_in(group), limit).map(|name| join(group, name));
    let elsewhere = || {
        let paths = || KEYS.into_iter().chain(GROUPS);
        let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
        let exact = paths().find(|path| last(path) == name);
        exact.or_else(|| suggest::most_similar(&key, paths(), limit)).map(str::to_owned)
    };
    let suggestion = in_group.or_else(elsewhere);
    Problem::Unknown { expected: names_in(group).join(", "), suggestion, key }
}

/// Returns the path of a key in a group.
pub(super) fn join(group: &str, name: &str) -> String {
    if group.is_empty() || name.is_empty() { format!("{group}{name}") } else { format!("{group}.{name}") }
}

impl RetryConfig {
    /// Returns the settings that are set, as pairs of a key and a value, both as they are written in a file.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_core::RetryConfig;
    ///
    /// let config = RetryConfig::new().backoff(Duration::from_millis(100), Duration::from_secs(20)).quota_capacity(50);
    /// let entries: Vec<_> = config.entries().map(|(key, value)| format!("{key} = {value}")).collect();
    /// assert_eq!(entries, ["backoff.base = 100ms", "backoff.cap = 20s", "quota.capacity = 50"]);
    /// ```
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.values().map(|(key, value)| (key, value.into_text()))
    }

    /// Returns the settings that are set, in the order of the keys.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        KEYS.into_iter().filter_map(|key| Some((key, self.value(key)?)))
    }

    fn value(&self, key: &str) -> Option<Value> {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        match key {
            "preset" => text(self.preset?.as_str()),
            "mode" => text(self.mode_setting()?.as_str()),
            "max_attempts" => self.max_attempts_setting().map(Value::Number),
            "max_retry_after" => {
                self.max_retry_after?.map_or_else(|| text("unlimited"), |time| Some(Value::time(time)))
            }
            "hint_limit" => match self.hint_limit? {
                HintLimit::Unlimited => text("unlimited"),
                HintLimit::MaxBackoff => text("max_backoff"),
                HintLimit::BeyondBackoff(_) => None,
            },
            "hint_limit.beyond_backoff" => match self.hint_limit? {
                HintLimit::BeyondBackoff(excess) => Some(Value::time(excess)),
                HintLimit::Unlimited | HintLimit::MaxBackoff => None,
            },
            "hint_jitter.percent" => self.hint_jitter_percent.map(Value::Number),
            "hint_jitter.at_most" => self.hint_jitter_at_most.map(Value::time),
            "backoff.base" => self.base.map(Value::time),
            "backoff.cap" => self.cap.map(Value::time),
            "backoff.throttling_base" => self.throttling_base.map(Value::time),
            "backoff.conflict_base" => self.conflict_base.map(Value::time),
            "backoff.jitter" => match self.jitter? {
                Jitter::Full => text("full"),
                Jitter::Equal => text("equal"),
                Jitter::None => text("none"),
                Jitter::Fixed(factor) => Some(Value::Factor(factor)),
            },
            "quota.capacity" => self.quota_capacity.map(Value::Number),
            "quota.refill.amount" => self.quota_refill.map(|(amount, _)| Value::Number(amount)),
            "quota.refill.every" => self.quota_refill.map(|(_, every)| Value::time(every)),
            "quota.costs.throttling" => self.costs.throttling.map(Value::Number),
            "quota.costs.timeout" => self.costs.timeout.map(Value::Number),
            "quota.costs.conflict" => self.costs.conflict.map(Value::Number),
            "quota.costs.other" => self.costs.other.map(Value::Number),
            "quota.refunds.first_attempt" => self.first_refund.map(Value::Number),
            "quota.refunds.after_retry" => match self.retry_refund? {
                Refund::Amount(amount) => Some(Value::Number(amount)),
                Refund::LastCost => text("last_cost"),
            },
            "paced.ramp" => self.ramp.map(Value::Flag),
            "paced.max_throttled" => self.max_throttled.map(Value::Number),
            _ => None,
        }
    }
}

/// The costs that are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Costs {
    pub(super) throttling: Option<u32>,
    pub(super) timeout: Option<u32>,
    pub(super) conflict: Option<u32>,
    pub(super) other: Option<u32>,
}

impl Costs {
    pub(super) const fn new() -> Self {
        Self { throttling: None, timeout: None, conflict: None, other: None }
    }
}
