//! The kinds of quotas that a configuration can choose.

use super::error::Problem;
use crate::policy::RetryErrorType;
use crate::quota::{EvidenceQuota, QuotaMode, RetryQuota, TokenBucket};
use crate::support::ConfigSection;
use crate::time::Clock;

/// The kind of a quota that a configuration chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuotaKind {
    /// A [`TokenBucket`], written `bucket`.
    #[default]
    Bucket,
    /// An [`EvidenceQuota`], written `evidence`.
    Evidence,
}

impl QuotaKind {
    const ALL: [Self; 2] = [Self::Bucket, Self::Evidence];

    /// Returns the name: `bucket` or `evidence`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bucket => "bucket",
            Self::Evidence => "evidence",
        }
    }

    /// Checks that a quota of this kind has the setting with this key. The only setting of a quota by evidence is whether
    /// a retry after a conflict costs something.
    pub(super) fn check(self, key: &'static str, value: &str) -> Result<(), Problem> {
        let is_of_quota = key.starts_with("quota.") && !matches!(key, "quota.kind" | "quota.costs.conflict");
        match self {
            Self::Evidence if is_of_quota => Err(Problem::OfBucket { key, value: value.to_owned() }),
            Self::Evidence | Self::Bucket => Ok(()),
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The quota of a configured strategy: a quota by evidence, if the configuration chose it in place of the default bucket,
/// and otherwise the quota of the code.
#[derive(Debug)]
pub(super) struct KindQuota<Q> {
    pub(super) of_code: Q,
    pub(super) evidence: Option<EvidenceQuota>,
}

impl<Q: RetryQuota> KindQuota<Q> {
    /// Returns the quota that is in use, for what is not on the path of an attempt.
    fn used(&self) -> &dyn RetryQuota {
        match &self.evidence {
            None => &self.of_code,
            Some(evidence) => evidence,
        }
    }
}

impl<Q: RetryQuota> RetryQuota for KindQuota<Q> {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        self.used().try_acquire(cost, clock)
    }

    fn refund(&self, amount: u32) {
        self.used().refund(amount);
    }

    fn available(&self) -> u32 {
        self.used().available()
    }

    #[inline]
    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        match &self.evidence {
            None => self.of_code.pay(cost, error_type, clock),
            Some(evidence) => evidence.pay(cost, error_type, clock),
        }
    }

    fn give_back(&self, paid: u32) {
        self.used().give_back(paid);
    }

    #[inline]
    fn first_succeeded(&self, refund: u32) {
        match &self.evidence {
            None => self.of_code.first_succeeded(refund),
            Some(evidence) => evidence.first_succeeded(refund),
        }
    }

    fn retry_succeeded(&self, paid: u32, refund: u32) {
        self.used().retry_succeeded(paid, refund);
    }

    fn is_low(&self) -> bool {
        self.used().is_low()
    }

    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        self.used().pay_hedge(cost, clock)
    }

    fn mode(&self) -> Option<QuotaMode> {
        self.used().mode()
    }

    #[inline]
    fn is_full(&self) -> bool {
        match &self.evidence {
            None => self.of_code.is_full(),
            Some(evidence) => evidence.is_full(),
        }
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        self.used().note_refusal(cost, strategy);
    }

    fn as_bucket(&self) -> Option<&TokenBucket> {
        self.of_code.as_bucket().filter(|_| self.evidence.is_none())
    }

    fn section(&self) -> Option<&dyn ConfigSection> {
        self.of_code.section()
    }

    fn as_own_bucket(&mut self) -> Option<&mut TokenBucket> {
        self.of_code.as_own_bucket().filter(|_| self.evidence.is_none())
    }
}
