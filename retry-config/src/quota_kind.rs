//! The kinds of quotas that a configuration can choose.

use super::error::{Chosen, Problem};

/// The kind of a quota that a configuration chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuotaKind {
    /// A [`TokenBucket`](retry_core::TokenBucket), written `bucket`.
    #[default]
    Bucket,
    /// An [`EvidenceQuota`](retry_core::quota::EvidenceQuota), written `evidence`.
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
            Self::Evidence if is_of_quota => Err(Problem::Chosen(Chosen {
                key,
                value: value.to_owned(),
                part: "quota",
                reason: "a quota by evidence has no such setting",
                expected: None,
            })),
            Self::Evidence | Self::Bucket => Ok(()),
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
