//! The delay before a retry if a server asks for a wait, and the refusal of a wait that is too long.

use super::StandardRetrySettings;
use crate::backoff::BackoffStrategy;
use crate::strategy::{DelaySource, RetryError};
use std::time::Duration;

/// Returns the delay before a retry with this backoff, and its source, if the server asks for a wait: that wait, cut to the limit, or the
/// backoff, whichever is longer.
#[cold]
pub(super) fn delay_with_hint(
    settings: &StandardRetrySettings,
    backoff: &impl BackoffStrategy,
    computed: Duration,
    hint: Duration,
) -> Result<(Duration, DelaySource), RetryError> {
    if settings.max_retry_after.is_some_and(|max| hint > max) {
        return Err(RetryError::RetryAfterTooLong);
    }
    let wait = settings.hint_limit.cut(computed, backoff.max_backoff(), hint);
    if wait <= computed && !settings.hint_replaces_backoff {
        return Ok((computed, DelaySource::Backoff));
    }
    Ok((with_jitter(settings, backoff, wait), DelaySource::RetryAfter))
}

/// Adds the jitter to a wait that the server asked for.
pub(super) fn with_jitter(
    settings: &StandardRetrySettings,
    backoff: &impl BackoffStrategy,
    wait: Duration,
) -> Duration {
    let part = match settings.hint_jitter.most(wait) {
        Duration::ZERO => Duration::ZERO,
        most => backoff.random_part(most),
    };
    wait.saturating_add(part)
}

/// Returns the wait for a hint of the server without backoff, or `None` if the hint is longer than allowed.
pub(crate) fn hinted_wait(
    settings: &StandardRetrySettings,
    backoff: &impl BackoffStrategy,
    hint: Duration,
) -> Option<Duration> {
    let is_allowed = settings.max_retry_after.is_none_or(|max| hint <= max);
    is_allowed.then(|| settings.hint_limit.cut(Duration::ZERO, backoff.max_backoff(), hint))
}
