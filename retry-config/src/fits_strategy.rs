//! Checks whether a strategy has the parts that the settings of a configuration belong to.

use super::error::{Chosen, Needed, Problem};
use super::prefix;
use super::resolved::Resolved;
use super::{ConfigError, ConfigSource, QuotaKind, RetryConfig, RetryMode};
use retry_core::InvalidSetting;

const OF_CODE: &str = "the limit was chosen in code";
const OF_PATIENT: &str = "a PatientRetryStrategy has no limit on sends";

impl RetryConfig {
    /// Checks that each setting belongs to a part of `base`.
    pub(super) fn check(&self, base: &Resolved) -> Result<(), ConfigError> {
        self.sections.check(base.section)?;
        for (key, value) in self.set.values() {
            let value = value.into_text();
            let Some(problem) = self.problem_of(key, &value, base) else { continue };
            let (source, section) = self.origins.of(key, &value);
            return Err(ConfigError::new(source.clone(), problem).in_section(section));
        }
        Ok(())
    }

    /// Returns why a setting can't apply to `base`, or `None` if it can.
    fn problem_of(&self, key: &'static str, value: &str, base: &Resolved) -> Option<Problem> {
        let chosen =
            |part, reason, expected| Problem::Chosen(Chosen { key, value: value.to_owned(), part, reason, expected });
        let kind = self.set.quota_kind.or(base.kind);
        match key.split_once('.') {
            None if key == "mode" => Some(match base.chosen_mode.filter(|mode| self.contradicts(*mode))? {
                RetryMode::Adaptive => chosen("limit", OF_CODE, Some("adaptive or off")),
                RetryMode::Paced => chosen("limit", OF_CODE, Some("paced or off")),
                RetryMode::Standard | RetryMode::Off => chosen("strategy", OF_PATIENT, Some("standard or off")),
            }),
            Some(("backoff", _)) if base.backoff.is_none() => {
                Some(chosen("backoff", "the backoff was chosen in code and has no such setting", None))
            }
            Some(("quota", "kind")) if base.kind.is_none() => {
                Some(chosen("quota", "only a TokenBucket that is not behind a pointer can be replaced", None))
            }
            Some(("quota", "kind")) if base.is_running && kind != base.kind => {
                let expected = "the kind that the strategy was built with, which can't change while it runs";
                Some(InvalidSetting::new(key, value, expected).into())
            }
            Some(("quota", _)) if base.has_evidence || (base.kind.is_some() && kind == Some(QuotaKind::Evidence)) => {
                QuotaKind::Evidence.check(key, value).err()
            }
            Some(("quota", "capacity" | "refill.amount" | "refill.every")) if base.bucket.is_none() => {
                Some(chosen("quota", "the quota of the strategy is not a TokenBucket", None))
            }
            Some(("paced", _)) if base.chosen_mode == Some(RetryMode::Standard) => {
                Some(chosen("strategy", OF_PATIENT, None))
            }
            Some(("paced", _)) if base.pace.is_none() => {
                Some(chosen("limit", "the limit was chosen in code and has no such setting", None))
            }
            Some(("paced", _)) if base.chosen_mode.or(self.mode_setting()).is_none() => {
                Some(self.no_effect(key, value, Needed::Mode))
            }
            Some(("paced", "max_rate")) if base.chosen_mode.is_none() => self.no_limit(key, value),
            Some(("paced", "burst")) if self.set.paced_burst > Some(1) && !self.has_max_rate(base) => {
                Some(self.no_effect(key, value, Needed::MaxRate))
            }
            _ => None,
        }
    }

    fn no_effect(&self, key: &'static str, value: &str, without: Needed) -> Problem {
        let variable = match self.origins.of(key, value).0 {
            ConfigSource::Variable(name) => name
                .strip_suffix(&*prefix::variable(key))
                .map(|prefix| format!("{prefix}{}", prefix::variable(without.key()))),
            _ => None,
        };
        Problem::NoEffect { key, value: value.to_owned(), without, variable }
    }

    /// Returns the problem of a known limit in a mode that sends without it. The mode `off` is a switch for incidents, so it is allowed. Other
    /// settings of the mode `paced` describe no limit, and wait for a change to that mode.
    fn no_limit(&self, key: &'static str, value: &str) -> Option<Problem> {
        let mode = self.mode_setting().filter(|mode| matches!(mode, RetryMode::Standard | RetryMode::Adaptive))?;
        let mode_from = self.source_of("mode")?.clone();
        Some(Problem::NoLimit { key, value: value.to_owned(), mode, mode_from })
    }

    fn has_max_rate(&self, base: &Resolved) -> bool {
        self.set.paced_max_rate.or(base.pace.and_then(|pace| pace.max_rate)).is_some()
    }

    /// Returns whether the mode contradicts the mode that code chose. A mode from AWS's environment and files never does,
    /// because code has priority.
    fn contradicts(&self, chosen: RetryMode) -> bool {
        let is_of_aws = match self.source_of("mode") {
            Some(ConfigSource::Variable(name)) => name == "AWS_RETRY_MODE",
            Some(ConfigSource::Profile { .. }) => true,
            _ => false,
        };
        !is_of_aws && self.mode_setting().is_some_and(|mode| mode != chosen && mode != RetryMode::Off)
    }
}
