//! Serialization and deserialization of a [`RetryConfig`].

use super::{RetryConfig, RetryMode, Sourced};
use crate::support::InvalidSetting;
use humantime::{format_duration, parse_duration};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

impl Serialize for RetryMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RetryMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer)?.0.parse().map_err(de::Error::custom)
    }
}

impl Serialize for RetryConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |time: Duration| format_duration(time).to_string();
        let config = Fields {
            retry_mode: self.retry_mode_setting(),
            max_attempts: self.max_attempts_setting(),
            backoff: self.backoff.map(|(base, cap)| Backoff { base: text(base), cap: text(cap) }),
            throttling_base: self.throttling_base.map(text),
            max_retry_after: self.max_retry_after.map(text),
            quota_capacity: self.quota_capacity,
        };
        config.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RetryConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields: Fields<Text, Text, Text> = Fields::deserialize(deserializer)?;
        fields.checked().map_err(de::Error::custom)
    }
}

/// The serialized form. Each field is deserialized as text first, and then parsed as the other sources of that setting
/// are, so that an error names the setting.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "RetryConfig", deny_unknown_fields)]
struct Fields<Mode, Number, Time> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backoff: Option<Backoff<Time>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    throttling_base: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retry_after: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_capacity: Option<Number>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Backoff<Time> {
    base: Time,
    cap: Time,
}

impl Fields<Text, Text, Text> {
    fn checked(self) -> Result<RetryConfig, InvalidSetting> {
        let capacity = |Text(text): Text| {
            let expected = "a whole number from 0 to 4294967295";
            text.trim().parse().map_err(|_| InvalidSetting::new("quota_capacity", text, expected))
        };
        let time = |name, Text(text): Text| {
            let expected = "a time with its unit, such as 100ms or 20s";
            parse_duration(text.trim()).map_err(|_| InvalidSetting::new(name, text, expected))
        };
        let backoff = |Backoff { base, cap }| Ok((time("backoff.base", base)?, time("backoff.cap", cap)?));
        Ok(RetryConfig {
            retry_mode: self.retry_mode.map(|text| text.0.parse().map(Sourced::from_code)).transpose()?,
            max_attempts: self.max_attempts.map(|text| text.0.parse().map(Sourced::from_code)).transpose()?,
            backoff: self.backoff.map(backoff).transpose()?,
            throttling_base: self.throttling_base.map(|text| time("throttling_base", text)).transpose()?,
            max_retry_after: self.max_retry_after.map(|text| time("max_retry_after", text)).transpose()?,
            quota_capacity: self.quota_capacity.map(capacity).transpose()?,
        })
    }
}

/// A string or a number, as text.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AsText)
    }
}

struct AsText;

impl Visitor<'_> for AsText {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }

    /// Keeps the decimal point, so that `4.0` is not a whole number.
    fn visit_f64<E>(self, number: f64) -> Result<Text, E> {
        Ok(Text(format!("{number:?}")))
    }
}
