//! The level of the retry quota, while it changes.

use crate::look;
use crate::strategy::Strategy;
use anstyle::Style;
use retry_core::{ErasedStrategy, RetryStrategy};

/// The quotas of a client.
#[derive(Debug)]
pub(crate) struct Quotas {
    /// The strategies that have them, each with its level at the beginning, when it is full.
    strategies: Vec<(ErasedStrategy, u32)>,
}

impl Quotas {
    /// Returns the quotas of unused strategies for reads and for writes.
    pub(crate) fn new(strategy: Strategy, strategies: &[ErasedStrategy; 2]) -> Self {
        let count = match strategy {
            // Without retries, the quota pays for nothing. A quota by evidence has no level that is full.
            Strategy::None | Strategy::Patient => 0,
            // Both share it.
            Strategy::Standard => 1,
            Strategy::Adaptive | Strategy::Paced => 2,
        };
        let full = |strategy: &ErasedStrategy| Some((strategy.clone(), strategy.quota_level()?));
        Self { strategies: strategies.iter().take(count).filter_map(full).collect() }
    }

    /// Returns the levels as text, in the colour of the lowest one. Empty without a quota.
    pub(crate) fn text(&self) -> String {
        let levels: Vec<(u32, u32)> =
            self.strategies.iter().filter_map(|(strategy, full)| Some((strategy.quota_level()?, *full))).collect();
        let texts: Vec<String> = levels.iter().map(|(level, full)| format!("{level} of {full}")).collect();
        let style = levels.iter().min().map_or(Style::new(), |&(level, full)| style(level, full));
        match &texts[..] {
            [] => String::new(),
            [one] => format!(", quota {style}{one}{style:#}"),
            all => format!(", quotas {style}{}{style:#}", all.join(" and ")),
        }
    }
}

/// Returns the style of a level: it warns below a half, and alarms below a tenth.
fn style(level: u32, full: u32) -> Style {
    match level {
        _ if level < full / 10 => look::BAD,
        _ if level < full / 2 => look::WARNING,
        _ => Style::new(),
    }
}
