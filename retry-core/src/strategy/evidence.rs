//! The standard strategy with a quota by evidence.

use super::StandardRetryStrategy;
use crate::backoff::ExponentialBackoff;
use crate::quota::EvidenceQuota;

/// The [standard strategy](StandardRetryStrategy) with a quota that needs no number, an [`EvidenceQuota`].
///
/// A retry that the quota can't pay for ends its operation. In a [`PatientRetryStrategy`](crate::PatientRetryStrategy), which has the same
/// quota, it waits: start with that one, and use this one under a limiter of sends. Everything but the quota is as in [`StandardRetryStrategy`],
/// including the settings. But the quota ignores the costs of retries and the refunds, except that a cost of 0, the default
/// for conflicts, stays free.
///
/// ```
/// use retry_core::EvidenceRetryStrategy;
///
/// static STORE: EvidenceRetryStrategy = EvidenceRetryStrategy::standard().max_attempts(4);
/// ```
///
/// With a limiter of sends:
///
/// ```
/// use retry_core::quota::EvidenceQuota;
/// use retry_core::{EvidenceRetryStrategy, ExponentialBackoff, PacedRetryStrategy};
///
/// static TABLE: PacedRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     PacedRetryStrategy::over(EvidenceRetryStrategy::standard());
/// ```
pub type EvidenceRetryStrategy = StandardRetryStrategy<ExponentialBackoff, EvidenceQuota>;

impl EvidenceRetryStrategy {
    /// Creates a strategy with the numbers of [`StandardRetryStrategy::new`] and a quota that knows nothing yet.
    pub const fn standard() -> Self {
        StandardRetryStrategy::new().with_quota(EvidenceQuota::new())
    }
}
