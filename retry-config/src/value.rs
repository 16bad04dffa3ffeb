//! The values of settings, as they are written in files and variables.

use super::duration::{self, Written};
use super::error::Problem;
use super::max_attempts::MaxAttempts;
use super::{QuotaKind, RetryMode, RetryPreset};
use retry_core::InvalidSetting;
use retry_core::backoff::Jitter;
use retry_core::quota;
use retry_core::strategy::{HintLimit, Refund};
use retry_limits::{Rejections, SendRate};
use std::fmt;
use std::time::Duration;

const NUMBER: &str = "a whole number from 0 to 4294967295";
const TIME: &str = "a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms";
const TIME_OR_UNLIMITED: &str = "unlimited, or a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms";
const PERIOD: &str = "a whole number above 0 and its unit, ns, us, ms, s, m or h, such as 1500ms";
const JITTER: &str = "full, equal, none or a factor from 0 to 1";
const HINT: &str = "unlimited, max_backoff or a group with the key beyond_backoff";
const REJECTIONS: &str = "throttling, server_errors or timeouts";
const REFUND: &str = "last_cost or a whole number up to 4294967295";

/// A value as it is written.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(u32),
    Factor(f64),
    Flag(bool),
}

impl Value {
    fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns a value that retry-core has and this crate does not know, for a reader of a list of settings.
    fn unknown(value: impl fmt::Debug) -> Self {
        Self::Text(format!("{value:?}"))
    }

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

/// The type of a setting. It has one key or several, each of which sets it or a part of it.
pub(super) trait Setting: Copy {
    /// The type in the public interface.
    type Plain;

    /// Parses the text of a key.
    fn parse(key: &'static str, text: &str) -> Result<Self, InvalidSetting>;

    /// Returns the value of a key.
    fn write(self, key: &str) -> Option<Value>;

    /// Returns the value for the public interface.
    fn plain(self) -> Option<Self::Plain>;

    /// Reads the text of a key. `before` is the value of another key, or of an earlier occurrence of this one.
    fn read(before: Option<Self>, key: &'static str, text: &str) -> Result<Self, Problem> {
        match before {
            None => Ok(Self::parse(key, text)?),
            Some(_) => Err(Problem::Repeated(key)),
        }
    }
}

/// Implements the methods of a setting that has one key.
macro_rules! plain {
    ($($type:ty: |$key:ident, $text:ident| $parse:expr, |$value:ident| $write:expr;)+) => {$(
        impl Setting for $type {
            type Plain = Self;

            fn parse($key: &'static str, $text: &str) -> Result<Self, InvalidSetting> {
                $parse
            }

            fn write(self, _: &str) -> Option<Value> {
                let $value = self;
                Some($write)
            }

            fn plain(self) -> Option<Self> {
                Some(self)
            }
        }
    )+};
}

plain! {
    u32: |key, text| text.trim().parse().map_err(|_| InvalidSetting::new(key, text, NUMBER)),
        |number| Value::Number(number);
    bool: |key, text| text.parse().map_err(|_| InvalidSetting::new(key, text, "true or false")),
        |flag| Value::Flag(flag);
    Duration: |key, text| duration::parse(text).ok_or_else(|| InvalidSetting::new(key, text, TIME)),
        |time| Value::time(time);
    Option<Duration>: |key, text| match text {
        "unlimited" => Ok(None),
        _ => duration::parse(text).map(Some).ok_or_else(|| InvalidSetting::new(key, text, TIME_OR_UNLIMITED)),
    }, |time| time.map_or_else(|| Value::text("unlimited"), Value::time);
    RetryPreset: |key, text| Self::named(text).ok_or_else(|| InvalidSetting::new(key, text, "default, aws_2_0 or aws_2_1")),
        |preset| Value::text(preset.as_str());
    QuotaKind: |key, text| Self::named(text).ok_or_else(|| InvalidSetting::new(key, text, "bucket or evidence")),
        |kind| Value::text(kind.as_str());
    RetryMode: |key, text| Self::named(text).ok_or_else(|| InvalidSetting::new(key, text, Self::expected_for(text))),
        |mode| Value::text(mode.as_str());
    Rejections: |key, text| Rejections::named(text).ok_or_else(|| InvalidSetting::new(key, text, REJECTIONS)),
        |rejections| Value::text(rejections.as_str());
    Jitter: |key, text| match text {
        "full" => Ok(Self::Full),
        "equal" => Ok(Self::Equal),
        "none" => Ok(Self::None),
        _ => match text.parse() {
            Ok(factor) if (0.0..=1.0).contains(&factor) => Ok(Self::Fixed(factor)),
            _ => Err(InvalidSetting::new(key, text, JITTER)),
        },
    }, |jitter| match jitter {
        Self::Full => Value::text("full"),
        Self::Equal => Value::text("equal"),
        Self::None => Value::text("none"),
        Self::Fixed(factor) => Value::Factor(factor),
        other => Value::unknown(other),
    };
    Refund: |key, text| match text {
        "last_cost" => Ok(Self::LastCost),
        _ => text.trim().parse().map(Self::Amount).map_err(|_| InvalidSetting::new(key, text, REFUND)),
    }, |refund| match refund {
        Self::Amount(amount) => Value::Number(amount),
        Self::LastCost => Value::text("last_cost"),
        other => Value::unknown(other),
    };
}

impl Setting for SendRate {
    type Plain = f64;

    fn parse(key: &'static str, text: &str) -> Result<Self, InvalidSetting> {
        let rate = text.trim().parse().ok().and_then(Self::new);
        rate.ok_or_else(|| InvalidSetting::new(key, text, Self::EXPECTED))
    }

    fn write(self, _: &str) -> Option<Value> {
        Some(Value::Factor(self.get()))
    }

    fn plain(self) -> Option<f64> {
        Some(self.get())
    }
}

impl Setting for MaxAttempts {
    type Plain = u32;

    fn parse(_: &'static str, text: &str) -> Result<Self, InvalidSetting> {
        text.parse()
    }

    fn write(self, _: &str) -> Option<Value> {
        Some(Value::Number(self.get()))
    }

    fn plain(self) -> Option<u32> {
        Some(self.get())
    }
}

/// A limit is a word, or a group with the excess.
const EXCESS: &str = "hint_limit.beyond_backoff";

impl Setting for HintLimit {
    type Plain = Self;

    fn parse(key: &'static str, text: &str) -> Result<Self, InvalidSetting> {
        match text {
            _ if key == EXCESS => Duration::parse(key, text).map(Self::BeyondBackoff),
            "unlimited" => Ok(Self::Unlimited),
            "max_backoff" => Ok(Self::MaxBackoff),
            _ => Err(InvalidSetting::new(key, text, HINT)),
        }
    }

    fn write(self, key: &str) -> Option<Value> {
        match self {
            Self::BeyondBackoff(excess) if key == EXCESS => Some(Value::time(excess)),
            Self::Unlimited if key != EXCESS => Some(Value::text("unlimited")),
            Self::MaxBackoff if key != EXCESS => Some(Value::text("max_backoff")),
            _ => None,
        }
    }

    fn plain(self) -> Option<Self> {
        Some(self)
    }

    fn read(before: Option<Self>, key: &'static str, text: &str) -> Result<Self, Problem> {
        match before {
            None => Ok(Self::parse(key, text)?),
            // The two forms are one setting.
            Some(_) => Err(Problem::Repeated("hint_limit")),
        }
    }
}

/// A refill, of which only a part may have been read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refill {
    amount: Option<u32>,
    every: Option<Duration>,
}

const AMOUNT: &str = "quota.refill.amount";
const EVERY: &str = "quota.refill.every";

impl Refill {
    pub(super) const fn new(refill: quota::Refill) -> Self {
        Self { amount: Some(refill.amount()), every: Some(refill.every()) }
    }

    /// Returns the refill if both parts are there.
    pub(super) fn whole(self) -> Option<quota::Refill> {
        quota::Refill::try_new(self.amount?, self.every?).ok()
    }

    /// Returns the key of the part that is missing, if one is.
    pub(super) const fn missing(self) -> Option<&'static str> {
        match self {
            Self { amount: None, .. } => Some(AMOUNT),
            Self { every: None, .. } => Some(EVERY),
            Self { .. } => None,
        }
    }
}

impl Setting for Refill {
    type Plain = (u32, Duration);

    fn parse(key: &'static str, text: &str) -> Result<Self, InvalidSetting> {
        if key == AMOUNT {
            return Ok(Self { amount: Some(u32::parse(key, text)?), every: None });
        }
        let every = duration::parse(text).filter(|every| !every.is_zero());
        Ok(Self { amount: None, every: Some(every.ok_or_else(|| InvalidSetting::new(key, text, PERIOD))?) })
    }

    fn write(self, key: &str) -> Option<Value> {
        if key == AMOUNT { self.amount.map(Value::Number) } else { self.every.map(Value::time) }
    }

    fn plain(self) -> Option<(u32, Duration)> {
        self.amount.zip(self.every)
    }

    fn read(before: Option<Self>, key: &'static str, text: &str) -> Result<Self, Problem> {
        let read = Self::parse(key, text)?;
        let before = before.unwrap_or(Self { amount: None, every: None });
        if (before.amount.is_some() && read.amount.is_some()) || (before.every.is_some() && read.every.is_some()) {
            return Err(Problem::Repeated(key));
        }
        Ok(Self { amount: read.amount.or(before.amount), every: read.every.or(before.every) })
    }
}
