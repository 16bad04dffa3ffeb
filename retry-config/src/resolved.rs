//! All settings of a strategy: those of a configuration, and the rest from the strategy that it is built on.

use super::max_attempts::MaxAttempts;
use super::parts::ConfigLimiter;
use super::value;
use super::{QuotaKind, RetryConfig, RetryMode, RetryPreset};
use retry_core::backoff::{BackoffStrategy, ExponentialBackoff};
use retry_core::policy::RetryErrorType;
use retry_core::quota::{ConfigSection, Refill, RetryQuota, TokenBucket};
use retry_core::strategy::{
    HintJitter, LimitedRetryStrategy, RetryCosts, StandardRetrySettings, StandardRetryStrategy,
};
use retry_limits::PacedSettings;

/// All settings of a strategy. A field is `None` if it belongs to a part that code chose and that has no such settings.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) mode: RetryMode,
    /// The mode of the limiter that code chose, if it did.
    pub(super) chosen_mode: Option<RetryMode>,
    pub(super) settings: StandardRetrySettings,
    pub(super) backoff: Option<ExponentialBackoff>,
    pub(super) bucket: Option<BucketSettings>,
    /// The kind of the quota, or `None` if code chose the quota.
    pub(super) kind: Option<QuotaKind>,
    /// Whether code chose a quota by evidence, as a patient strategy has it.
    pub(super) has_evidence: bool,
    /// Whether the strategy was built. Then the kind of its quota can't change.
    pub(super) is_running: bool,
    pub(super) pace: Option<PacedSettings>,
    /// The name of the section of the quota, and its values.
    pub(super) section: Option<&'static str>,
    pub(super) values: Vec<(&'static str, String)>,
}

/// The settings of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketSettings {
    pub(super) capacity: u32,
    pub(super) refill: Option<Refill>,
    /// Whether the strategy owns the bucket. If it does not, other strategies may use it, too.
    pub(super) is_own: bool,
}

impl BucketSettings {
    fn of(bucket: &TokenBucket, is_own: bool) -> Self {
        let (capacity, refill) = bucket.initial_settings();
        Self { capacity, refill, is_own }
    }

    /// Gives a quota these settings at the start: a full bucket if the quota owns it, and otherwise the bucket that is in use.
    fn start(self, quota: &mut impl RetryQuota) {
        if let Some(bucket) = quota.as_own_bucket() {
            let full = TokenBucket::new(self.capacity);
            *bucket = match self.refill {
                None => full,
                Some(refill) => full.refill(refill.amount(), refill.every()),
            };
        } else if let Some(bucket) = quota.as_bucket() {
            bucket.reconfigure(self.capacity, self.refill, None, true);
            bucket.note_change();
        }
    }
}

impl Resolved {
    /// Returns a strategy, and the settings that it was constructed with.
    pub(super) fn of<L, B, Q>(strategy: LimitedRetryStrategy<L, B, Q>) -> (LimitedRetryStrategy<L, B, Q>, Self)
    where
        L: ConfigLimiter,
        B: BackoffStrategy,
        Q: RetryQuota,
    {
        let (standard, limiter) = strategy.into_parts();
        let mut is_own = false;
        let standard = standard.map_quota(|mut quota| {
            is_own = quota.as_own_bucket().is_some();
            quota
        });
        let settings = Self::of_standard(&standard, is_own, limiter.chosen_mode(), limiter.pace());
        (LimitedRetryStrategy::with_limiter(standard, limiter), settings)
    }

    /// Returns the settings of a standard strategy, which may own its bucket, with the mode and the pace that code chose.
    pub(super) fn of_standard<B: BackoffStrategy, Q: RetryQuota>(
        standard: &StandardRetryStrategy<B, Q>,
        is_own: bool,
        chosen_mode: Option<RetryMode>,
        pace: Option<PacedSettings>,
    ) -> Self {
        Self {
            mode: chosen_mode.unwrap_or_default(),
            chosen_mode,
            settings: standard.settings(),
            backoff: standard.backoff_strategy().as_exponential().cloned(),
            bucket: standard.quota().as_bucket().map(|bucket| BucketSettings::of(bucket, is_own)),
            kind: is_own.then_some(QuotaKind::Bucket),
            has_evidence: standard.quota().mode().is_some(),
            is_running: false,
            pace,
            section: standard.quota().section().map(ConfigSection::name),
            values: Vec::new(),
        }
    }

    /// Records that the strategy was built with a quota of this kind.
    pub(super) fn run_with(&mut self, kind: Option<QuotaKind>) {
        self.is_running = true;
        self.kind = kind;
    }

    /// Returns these settings, overridden by those of the configuration.
    pub(super) fn configured_by(&self, config: &RetryConfig) -> Self {
        let preset = config.set.preset.map(RetryPreset::strategy);
        let settings = preset.as_ref().map_or(self.settings, StandardRetryStrategy::settings);
        let kind = self.kind.map(|kind| config.set.quota_kind.unwrap_or(kind));
        Self {
            mode: match (config.mode_setting(), self.chosen_mode) {
                (Some(RetryMode::Off), _) => RetryMode::Off,
                (_, Some(chosen)) => chosen,
                (mode, None) => mode.unwrap_or(self.mode),
            },
            chosen_mode: self.chosen_mode,
            settings: configured(settings, config),
            backoff: self.backoff.as_ref().map(|own| {
                let backoff = preset.as_ref().map_or(own, StandardRetryStrategy::backoff_strategy);
                // The seed is not a setting, so a preset does not replace it.
                configured_backoff(backoff.seeded_as(own), config)
            }),
            bucket: self.bucket.filter(|_| kind != Some(QuotaKind::Evidence)).map(|own| {
                // A preset does not change a bucket that other strategies may use, too.
                let preset = preset.as_ref().filter(|_| own.is_own).map(StandardRetryStrategy::quota);
                let BucketSettings { capacity, refill, is_own } =
                    preset.map_or(own, |bucket| BucketSettings::of(bucket, own.is_own));
                BucketSettings {
                    capacity: config.set.quota_capacity.unwrap_or(capacity),
                    refill: config.set.quota_refill.and_then(value::Refill::whole).or(refill),
                    is_own,
                }
            }),
            kind,
            has_evidence: self.has_evidence,
            is_running: self.is_running,
            pace: self.pace.map(|own| configured_pace(own, config)),
            section: self.section,
            values: config.sections.of(self.section),
        }
    }

    /// Gives a strategy these settings at the start. It has those of `base`, and it keeps its name and its switch.
    pub(super) fn start<Q: RetryQuota>(
        self,
        standard: StandardRetryStrategy<ExponentialBackoff, Q>,
        base: &Self,
    ) -> StandardRetryStrategy<ExponentialBackoff, Q> {
        let (name, is_enabled) = (standard.name_setting(), standard.is_enabled());
        let (_, backoff, mut quota) = standard.into_parts();
        self.start_quota(&mut quota, base);
        let is_enabled = is_enabled && self.mode != RetryMode::Off;
        let standard = StandardRetryStrategy::from_parts(self.settings, self.backoff.unwrap_or(backoff), quota);
        let standard = standard.enabled(is_enabled);
        if let Some(name) = name { standard.name(name) } else { standard }
    }

    /// Gives a quota these settings at the start. It has those of `base`.
    pub(super) fn start_quota(&self, quota: &mut impl RetryQuota, base: &Self) {
        if let Some(settings) = self.bucket.filter(|bucket| base.bucket != Some(*bucket)) {
            settings.start(quota);
        }
        if let Some(section) = quota.section().filter(|_| !self.values.is_empty()) {
            section.set(&self.values);
        }
    }

    /// Returns the settings of the mode `paced`.
    pub(super) fn pace(&self) -> PacedSettings {
        self.pace.unwrap_or_default()
    }
}

fn configured(mut settings: StandardRetrySettings, config: &RetryConfig) -> StandardRetrySettings {
    let set = &config.set;
    settings.max_attempts = set.max_attempts.map_or(settings.max_attempts, MaxAttempts::get);
    settings.max_retry_after = set.max_retry_after.unwrap_or(settings.max_retry_after);
    settings.hint_limit = set.hint_limit.unwrap_or(settings.hint_limit);
    settings.hint_replaces_backoff = set.hint_replaces_backoff.unwrap_or(settings.hint_replaces_backoff);
    settings.hint_jitter = HintJitter::new(
        set.hint_jitter_percent.unwrap_or(settings.hint_jitter.percent()),
        set.hint_jitter_at_most.unwrap_or(settings.hint_jitter.at_most()),
    );
    settings.first_refund = set.first_refund.unwrap_or(settings.first_refund);
    settings.retry_refund = set.retry_refund.unwrap_or(settings.retry_refund);
    let cost = |set: Option<u32>, of| set.unwrap_or(settings.costs.of(of));
    settings.costs = RetryCosts::new(cost(set.other_cost, RetryErrorType::Other))
        .throttling(cost(set.throttling_cost, RetryErrorType::Throttling))
        .timeout(cost(set.timeout_cost, RetryErrorType::Timeout))
        .conflict(cost(set.conflict_cost, RetryErrorType::Conflict));
    settings
}

fn configured_pace(mut pace: PacedSettings, config: &RetryConfig) -> PacedSettings {
    let set = &config.set;
    pace.has_ramp = set.paced_ramp.unwrap_or(pace.has_ramp);
    pace.max_throttled_time = set.paced_max_throttled_time.unwrap_or(pace.max_throttled_time);
    pace.rejections = set.paced_rejections.unwrap_or(pace.rejections);
    pace.max_rate = set.paced_max_rate.or(pace.max_rate);
    pace.burst = set.paced_burst.unwrap_or(pace.burst);
    pace.initial_rate = set.paced_initial_rate.or(pace.initial_rate);
    pace
}

fn configured_backoff(backoff: ExponentialBackoff, config: &RetryConfig) -> ExponentialBackoff {
    let set = &config.set;
    let (base, cap) = backoff.delays_setting();
    let mut backoff = backoff.delays(set.base.unwrap_or(base), set.cap.unwrap_or(cap));
    if let Some(base) = set.throttling_base {
        backoff = backoff.throttling_base(base);
    }
    if let Some(base) = set.conflict_base {
        backoff = backoff.conflict_base(base);
    }
    if let Some(jitter) = set.jitter {
        backoff = backoff.jitter(jitter);
    }
    backoff
}
