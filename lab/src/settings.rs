//! What settings mean, by arithmetic: the schedule of the retries, the longest time, and the draining of the quota.

use crate::report::{Plot, Report, Spread, Table, quantile_of};
use retry_config::{ConfigError, RetryConfig, RetryMode};
use retry_core::RetryErrorType::{self, Conflict, ServerSide, Throttling, Timeout};
use retry_core::strategy::{HintLimit, Refund, StandardRetrySettings};
use retry_core::{BackoffStrategy, ExponentialBackoff, Jitter, StandardRetryStrategy, TokenBucket};
use serde_json::Value;
use std::time::Duration;

/// The classes of failures that settings tell apart, with the names that the report gives them.
const CLASSES: [(RetryErrorType, &str); 4] =
    [(Throttling, "throttling"), (Timeout, "timeout"), (Conflict, "conflict"), (ServerSide, "other")];

/// The number of delays that are drawn for their percentiles.
const DRAWS: u32 = 20_001;

/// The number of retries whose delays are listed.
const LISTED: u32 = 10;

/// Returns the meaning of settings as a report with the tables `schedule` and `bounds`.
///
/// `settings` are shown as the report's options. `attempt_timeout` is the longest time of an attempt, if there is a limit.
///
/// # Errors
///
/// Settings that have no effect together are an error.
pub fn report(settings: Value, config: &RetryConfig, attempt_timeout: Option<Duration>) -> Result<Report, ConfigError> {
    let configured = config.build_on(StandardRetryStrategy::new().seed(0))?;
    let backoff = configured.backoff_strategy();
    let throttled = (configured.mode() == RetryMode::Paced).then(|| configured.paced_max_throttled_time());
    let parts = Parts { settings: configured.settings(), throttled, backoff: &backoff, quota: configured.quota() };
    let (schedule, plot) = parts.schedule();
    Ok(Report {
        scenario: "settings".to_owned(),
        title: "The meaning of the settings".to_owned(),
        options: settings,
        seeds: 1,
        tables: vec![schedule, parts.bounds(attempt_timeout)],
        plots: vec![plot],
    })
}

/// The parts of a strategy.
struct Parts<'a> {
    settings: StandardRetrySettings,
    /// The longest time of throttled attempts in the mode `paced`, which repeats them without backoff and cost.
    throttled: Option<Duration>,
    backoff: &'a ExponentialBackoff,
    quota: &'a TokenBucket,
}

impl Parts<'_> {
    /// Returns the longest time of throttled attempts, if they are repeated without backoff and cost.
    fn unpaid(&self, class: RetryErrorType) -> Option<Duration> {
        self.throttled.filter(|_| class == Throttling)
    }

    fn retries(&self) -> u32 {
        self.settings.max_attempts - 1
    }

    /// Returns the longest backoff before a retry, counted from 0.
    fn longest(&self, retry: u32, class: RetryErrorType) -> Duration {
        if self.unpaid(class).is_some() {
            return Duration::ZERO;
        }
        let factor = 1_u32.checked_shl(retry).unwrap_or(u32::MAX);
        self.backoff.base(class).saturating_mul(factor).min(self.backoff.cap())
    }

    /// Returns the longest delay before a retry, counted from 0, if the server asks for the longest waits that are
    /// accepted. `None` means no limit.
    fn longest_asked(&self, retry: u32, class: RetryErrorType) -> Option<Duration> {
        let (longest, accepted) = (self.longest(retry, class), self.settings.max_retry_after);
        let limit = match self.settings.hint_limit {
            HintLimit::MaxBackoff => Some(self.backoff.cap()),
            HintLimit::BeyondBackoff(excess) => Some(longest.saturating_add(excess)),
            _ => None,
        };
        let asked = match (limit, accepted) {
            (Some(limit), Some(accepted)) => limit.min(accepted),
            (limit, accepted) => limit.or(accepted)?,
        };
        let is_random = matches!(self.backoff.jitter_setting(), Jitter::Full | Jitter::Equal);
        let jitter = if is_random { self.settings.hint_jitter.most(asked) } else { Duration::ZERO };
        let decides = asked > longest || self.settings.hint_replaces_backoff;
        Some(if decides { asked.saturating_add(jitter) } else { longest })
    }

    fn schedule(&self) -> (Table, Plot) {
        let measures = ["p10, s", "p50, s", "p90, s", "p99, s", "at most, s"];
        let mut table = Table::new("schedule", &["failure", "retry"], &measures);
        let mut plot = Plot::new("schedule", "Delay before each retry", "retry", "seconds");
        for (class, name) in CLASSES.into_iter().filter(|(class, _)| self.unpaid(*class).is_none()) {
            for retry in 0..self.retries().min(LISTED) {
                let draw = |_| self.backoff.compute_next_backoff_delay(retry, class).as_secs_f64();
                let mut delays: Vec<f64> = (0..DRAWS).map(draw).collect();
                delays.sort_by(f64::total_cmp);
                let at = |quantile| Spread::of(quantile_of(&delays, quantile));
                let longest = Spread::exactly(self.longest(retry, class).as_secs_f64());
                let values = vec![at(0.1), at(0.5), at(0.9), at(0.99), longest];
                table.add(vec![name.to_owned(), (retry + 1).to_string()], values);
                plot.add(name, f64::from(retry + 1), Spread::of(delays));
            }
        }
        (table, plot)
    }

    fn bounds(&self, attempt_timeout: Option<Duration>) -> Table {
        let measures = [
            "attempts, at most",
            "waits end after, s",
            "waits that the server asks for end after, s",
            "operation ends after, s",
            "full quota is empty after retries",
            "quota drains above failures of, %",
        ];
        let mut table = Table::new("bounds", &["failure"], &measures);
        for (class, name) in CLASSES {
            let attempts = self.settings.max_attempts;
            let waits = self.sum(|retry| Some(self.longest(retry, class)));
            let asked = self.sum(|retry| self.longest_asked(retry, class));
            let whole = attempt_timeout.and_then(|timeout| asked?.checked_add(timeout.checked_mul(attempts)?));
            let unpaid = self.unpaid(class);
            let is_paid = unpaid.is_none();
            // The longest wait is added to the time, and another one can follow.
            let unpaid_asked = |time: Duration| time.checked_add(self.longest_asked(0, class)?.checked_mul(2)?);
            let (waits, asked, whole) =
                unpaid.map_or((waits, asked, whole), |time| (Some(time), unpaid_asked(time), None));
            let cost = if is_paid { self.settings.costs.of(class) } else { 0 };
            let paid = self.quota.capacity().checked_div(cost).map(f64::from);
            let drains = drain_rate(&self.settings, class).filter(|_| is_paid).map(|rate| rate * 100.0);
            let values = [
                is_paid.then(|| f64::from(attempts)),
                waits.map(|time| time.as_secs_f64()),
                asked.map(|time| time.as_secs_f64()),
                whole.map(|time| time.as_secs_f64()),
                paid,
                drains,
            ];
            table.add(vec![name.to_owned()], values.map(|value| Spread::of_optional([value])).into());
        }
        table
    }

    /// Adds up the delays of all retries. `None` means no limit.
    fn sum(&self, delay: impl Fn(u32) -> Option<Duration>) -> Option<Duration> {
        // A delay that has doubled 64 times is at the cap.
        let doubling = self.retries().min(64);
        let sum = (0..doubling).try_fold(Duration::ZERO, |sum, retry| sum.checked_add(delay(retry)?))?;
        let rest = self.retries() - doubling;
        if rest == 0 { Some(sum) } else { sum.checked_add(delay(doubling)?.checked_mul(rest)?) }
    }
}

/// Returns the change of the quota per operation if each attempt fails with this probability, independently of all
/// others.
///
/// For three attempts and a refund of the last cost, this is `(1 - p) - cost * p^2 * (1 + p)`.
pub fn drift(settings: &StandardRetrySettings, class: RetryErrorType, probability: f64) -> f64 {
    let (cost, retries) = (f64::from(settings.costs.of(class)), f64::from(settings.max_attempts - 1));
    // The mean number of retries: the sum of p^k for k from 1 to the number of retries.
    let succeeds = 1.0 - probability;
    let mean = if succeeds > 0.0 { probability * (1.0 - probability.powf(retries)) / succeeds } else { retries };
    let refund = match settings.retry_refund {
        Refund::Amount(amount) => f64::from(amount),
        _ => cost,
    };
    succeeds * f64::from(settings.first_refund) + mean * succeeds * refund - cost * mean
}

/// Returns the probability of a failure above which the quota drains, or `None` if it never drains. A refill over time is
/// not considered.
pub fn drain_rate(settings: &StandardRetrySettings, class: RetryErrorType) -> Option<f64> {
    if drift(settings, class, 1.0) >= 0.0 {
        return None;
    }
    let (mut fills, mut drains) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(fills, drains);
        if drift(settings, class, middle) < 0.0 {
            drains = middle;
        } else {
            fills = middle;
        }
    }
    Some(drains)
}
