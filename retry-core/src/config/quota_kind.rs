//! The kinds of quotas that a configuration can choose.

use super::error::Problem;
use crate::policy::RetryErrorType;
use crate::quota::{EvidenceQuota, RetryQuota, TokenBucket, forward_quota};
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
    /// Returns the quota that is in use, for what a success of the first attempt does not call.
    fn used(&self) -> &dyn RetryQuota {
        match &self.evidence {
            None => &self.of_code,
            Some(evidence) => evidence,
        }
    }
}

impl<Q: RetryQuota> RetryQuota for KindQuota<Q> {
    forward_quota! { self => *self.used(); except pay, first_succeeded, is_full, as_bucket, section }

    #[inline]
    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        match &self.evidence {
            None => self.of_code.pay(cost, error_type, clock),
            Some(evidence) => evidence.pay(cost, error_type, clock),
        }
    }

    #[inline]
    fn first_succeeded(&self, refund: u32) {
        match &self.evidence {
            None => self.of_code.first_succeeded(refund),
            Some(evidence) => evidence.first_succeeded(refund),
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        match &self.evidence {
            None => self.of_code.is_full(),
            Some(evidence) => evidence.is_full(),
        }
    }

    fn as_bucket(&self) -> Option<&TokenBucket> {
        self.of_code.as_bucket().filter(|_| self.evidence.is_none())
    }

    fn section(&self) -> Option<&dyn ConfigSection> {
        self.of_code.section()
    }
}

#[cfg(test)]
mod tests {
    use super::KindQuota;
    use crate::policy::RetryErrorType;
    use crate::quota::{EvidenceQuota, QuotaMode, RetryQuota};
    use crate::time::{Clock, Timestamp};
    use std::cell::RefCell;
    use std::fmt::Debug;
    use std::time::Duration;

    /// A clock that stands still.
    struct Standing;

    impl Clock for Standing {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(Duration::from_secs(100))
        }
    }

    /// A quota that notes what it is asked and told. No answer is that of a default.
    #[derive(Debug, Default)]
    struct Noting(RefCell<Vec<String>>);

    impl Noting {
        fn note(&self, what: impl Debug) {
            self.0.borrow_mut().push(format!("{what:?}"));
        }
    }

    impl RetryQuota for Noting {
        fn try_acquire(&self, cost: u32, _: &dyn Clock) -> bool {
            self.note(("try_acquire", cost));
            true
        }

        fn refund(&self, amount: u32) {
            self.note(("refund", amount));
        }

        fn available(&self) -> u32 {
            7
        }

        fn pay(&self, cost: u32, error_type: RetryErrorType, _: &dyn Clock) -> Option<u32> {
            self.note(("pay", cost, error_type));
            Some(70)
        }

        fn give_back(&self, paid: u32) {
            self.note(("give_back", paid));
        }

        fn first_succeeded(&self, refund: u32) {
            self.note(("first_succeeded", refund));
        }

        fn retry_succeeded(&self, paid: u32, refund: u32) {
            self.note(("retry_succeeded", paid, refund));
        }

        fn is_low(&self) -> bool {
            true
        }

        fn pay_hedge(&self, cost: u32, _: &dyn Clock) -> Option<u32> {
            self.note(("pay_hedge", cost));
            Some(71)
        }

        fn level(&self) -> Option<u32> {
            Some(8)
        }

        fn mode(&self) -> Option<QuotaMode> {
            Some(QuotaMode::Exhausted)
        }

        fn is_full(&self) -> bool {
            true
        }

        fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
            self.note(("note_refusal", cost, strategy));
        }
    }

    /// What a quota is asked or told, which can change it. The answer is a number.
    const STEPS: [fn(&dyn RetryQuota) -> Option<u32>; 8] = [
        |quota| Some(u32::from(quota.try_acquire(1, &Standing))),
        |quota| quota.pay(2, RetryErrorType::Timeout, &Standing),
        |quota| quota.pay_hedge(3, &Standing),
        |quota| {
            quota.refund(1);
            None
        },
        |quota| {
            quota.give_back(1);
            None
        },
        |quota| {
            quota.first_succeeded(6);
            None
        },
        |quota| {
            quota.retry_succeeded(2, 8);
            None
        },
        |quota| {
            quota.note_refusal(9, Some("store"));
            None
        },
    ];

    fn state(quota: &dyn RetryQuota) -> ([Option<u32>; 2], bool, Option<QuotaMode>, bool) {
        ([Some(quota.available()), quota.level()], quota.is_low(), quota.mode(), quota.is_full())
    }

    #[test]
    fn each_call_reaches_the_quota_of_the_code_if_no_other_was_chosen() {
        let quota = KindQuota { of_code: Noting::default(), evidence: None };
        let answers = STEPS.map(|step| step(&quota));
        assert_eq!(answers[..3], [Some(1), Some(70), Some(71)]);
        assert_eq!(state(&quota), ([Some(7), Some(8)], true, Some(QuotaMode::Exhausted), true));
        let noted = [
            r#"("try_acquire", 1)"#,
            r#"("pay", 2, Timeout)"#,
            r#"("pay_hedge", 3)"#,
            r#"("refund", 1)"#,
            r#"("give_back", 1)"#,
            r#"("first_succeeded", 6)"#,
            r#"("retry_succeeded", 2, 8)"#,
            r#"("note_refusal", 9, Some("store"))"#,
        ];
        assert_eq!(quota.of_code.0.take(), noted);
    }

    #[test]
    fn each_call_reaches_the_quota_by_evidence_if_it_was_chosen() {
        let quota = KindQuota { of_code: Noting::default(), evidence: Some(EvidenceQuota::new()) };
        let alone = EvidenceQuota::new();
        // An order in which each step changes the quota, except the refusal, which only warns.
        let program: [&[_]; 4] = [&[5, 5, 2, 0, 3, 0, 4], &[6; 100], &[2, 1], &[5; 100]];
        let mut changes = [false; 8];
        for &step in program.iter().copied().flatten().chain(&[7]) {
            let before = state(&alone);
            assert_eq!(STEPS[step](&quota), STEPS[step](&alone), "step {step}");
            assert_eq!(state(&quota), state(&alone), "after step {step}");
            changes[step] |= before != state(&alone);
        }
        assert_eq!(changes, [true, true, true, true, true, true, true, false]);
        assert_eq!(quota.of_code.0.take(), [""; 0]);
    }
}
