//! The table of settings: a row for each one.

use super::error::Problem;
use super::max_attempts::MaxAttempts;
use super::value::{Refill, Setting, Value};
use super::{QuotaKind, RetryConfig, RetryMode, RetryPreset};
use retry_core::backoff::Jitter;
use retry_core::strategy::{HintLimit, Refund};
use retry_limits::{Rejections, SendRate};
use std::time::Duration;

/// Generates the code of each setting from its row: the field, its type, the method that reads it back, and its keys. The
/// type says by [`Setting`] how a value is read and written.
macro_rules! settings {
    ($($(#[$doc:meta])+ $field:ident: $type:ty, $getter:ident -> $plain:ty, $($key:literal),+;)+) => {
        /// The settings that are set.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub(super) struct Settings {
            $(pub(super) $field: Option<$type>,)+
        }

        impl Settings {
            pub(super) const fn new() -> Self {
                Self { $($field: None,)+ }
            }

            /// Fills in the settings that are not set yet.
            pub(super) fn or(self, other: Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)+ }
            }
        }

        /// The keys, as paths.
        pub(super) const KEYS: &[Key] = &[$($(Key {
            path: $key,
            read: |settings, text| {
                settings.$field = Some(Setting::read(settings.$field, $key, text)?);
                Ok(())
            },
            write: |settings| settings.$field?.write($key),
        },)+)+];

        /// # Reading settings back
        ///
        /// These methods return `None` for a setting that is not set.
        impl RetryConfig {
            $(
                $(#[$doc])+
                pub fn $getter(&self) -> Option<$plain> {
                    self.set.$field.and_then(Setting::plain)
                }
            )+
        }
    };
}

// In each group, plain values come before groups, as TOML wants them.
settings! {
    /// Returns the preset.
    preset: RetryPreset, preset_setting -> RetryPreset, "preset";
    /// Returns the mode.
    mode: RetryMode, mode_setting -> RetryMode, "mode";
    /// Returns the maximum number of attempts.
    max_attempts: MaxAttempts, max_attempts_setting -> u32, "max_attempts";
    /// Returns the longest wait that the server can ask for. The inner `None` means no limit.
    max_retry_after: Option<Duration>, max_retry_after_setting -> Option<Duration>, "max_retry_after";
    /// Returns whether a wait that the server asks for replaces the backoff.
    hint_replaces_backoff: bool, hint_replaces_backoff_setting -> bool, "hint_replaces_backoff";
    /// Returns the limit to which a wait that the server asks for is cut.
    hint_limit: HintLimit, hint_limit_setting -> HintLimit, "hint_limit", "hint_limit.beyond_backoff";
    /// Returns the percentage of a wait that the server asks for, up to which a random part is added to it.
    hint_jitter_percent: u32, hint_jitter_percent_setting -> u32, "hint_jitter.percent";
    /// Returns the longest time that is added to a wait that the server asks for.
    hint_jitter_at_most: Duration, hint_jitter_at_most_setting -> Duration, "hint_jitter.at_most";
    /// Returns the base of the backoff.
    base: Duration, base_setting -> Duration, "backoff.base";
    /// Returns the cap of the backoff.
    cap: Duration, cap_setting -> Duration, "backoff.cap";
    /// Returns the base after throttling.
    throttling_base: Duration, throttling_base_setting -> Duration, "backoff.throttling_base";
    /// Returns the base after a conflict.
    conflict_base: Duration, conflict_base_setting -> Duration, "backoff.conflict_base";
    /// Returns the jitter.
    jitter: Jitter, jitter_setting -> Jitter, "backoff.jitter";
    /// Returns the kind of the quota.
    quota_kind: QuotaKind, quota_kind_setting -> QuotaKind, "quota.kind";
    /// Returns the capacity of the quota.
    quota_capacity: u32, quota_capacity_setting -> u32, "quota.capacity";
    /// Returns the amount and the period of the refill.
    quota_refill: Refill, quota_refill_setting -> (u32, Duration), "quota.refill.amount", "quota.refill.every";
    /// Returns the cost of a retry after throttling.
    throttling_cost: u32, throttling_cost_setting -> u32, "quota.costs.throttling";
    /// Returns the cost of a retry after a timeout.
    timeout_cost: u32, timeout_cost_setting -> u32, "quota.costs.timeout";
    /// Returns the cost of a retry after a conflict.
    conflict_cost: u32, conflict_cost_setting -> u32, "quota.costs.conflict";
    /// Returns the cost of a retry after any other failure.
    other_cost: u32, other_cost_setting -> u32, "quota.costs.other";
    /// Returns the amount that a success at the first attempt gives back to the quota.
    first_refund: u32, first_refund_setting -> u32, "quota.refunds.first_attempt";
    /// Returns the amount that a success after a retry gives back to the quota.
    retry_refund: Refund, retry_refund_setting -> Refund, "quota.refunds.after_retry";
    /// Returns whether the mode `paced` begins with a ramp.
    paced_ramp: bool, paced_ramp_setting -> bool, "paced.ramp";
    /// Returns the time after which an operation that is throttled gives up in the mode `paced`.
    paced_max_throttled_time: Duration, paced_max_throttled_time_setting -> Duration, "paced.max_throttled_time";
    /// Returns which failures are rejections in the mode `paced`.
    paced_rejections: Rejections, paced_rejections_setting -> Rejections, "paced.rejections";
    /// Returns the limit on sends per second in the mode `paced`.
    paced_max_rate: SendRate, paced_max_rate_setting -> f64, "paced.max_rate";
    /// Returns the burst of the limit in the mode `paced`.
    paced_burst: u32, paced_burst_setting -> u32, "paced.burst";
    /// Returns the rate at which the ramp begins in the mode `paced`, in sends per second.
    paced_initial_rate: SendRate, paced_initial_rate_setting -> f64, "paced.initial_rate";
}

/// The key of a setting, or of a part of it.
pub(super) struct Key {
    /// The path, with dots.
    pub(super) path: &'static str,
    /// Reads the value from a text.
    pub(super) read: fn(&mut Settings, &str) -> Result<(), Problem>,
    /// Returns the value as it is written, if it is set.
    pub(super) write: fn(&Settings) -> Option<Value>,
}

/// A problem of settings that do not fit together, and the key that it is about.
pub(super) struct Unfit {
    pub(super) key: &'static str,
    pub(super) problem: Problem,
}

impl Settings {
    /// Returns the values that are set, in the order of the table.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        KEYS.iter().filter_map(|key| Some((key.path, (key.write)(self)?)))
    }

    /// Checks that no setting is set in part, and that none contradicts another.
    pub(super) fn check(&self) -> Result<(), Unfit> {
        if let Some(key) = self.quota_refill.and_then(Refill::missing) {
            return Err(Unfit { key, problem: Problem::Missing(key) });
        }
        let kind = self.quota_kind.unwrap_or_default();
        self.values()
            .try_for_each(|(key, value)| kind.check(key, &value.into_text()).map_err(|problem| Unfit { key, problem }))
    }
}
