//! The quota of a configured strategy.

use super::live::LiveSettings;
use retry_core::RetryErrorType;
use retry_core::quota::{ConfigSection, EvidenceQuota, QuotaMode, RetryQuota, TokenBucket};
use retry_core::strategy::Refund;
use retry_core::time::Clock;

/// The quota of a configured strategy: a quota by evidence, if the configuration chose it in place of the default bucket,
/// and otherwise the quota of the code. Its refunds are those of the settings in effect.
#[derive(Debug)]
pub(super) struct ConfiguredQuota<Q> {
    pub(super) of_code: Q,
    pub(super) evidence: Option<EvidenceQuota>,
    pub(super) settings: LiveSettings,
}

impl<Q: RetryQuota> ConfiguredQuota<Q> {
    /// Returns the quota that is in use, for what a success of the first attempt does not call.
    fn used(&self) -> &dyn RetryQuota {
        match &self.evidence {
            None => &self.of_code,
            Some(evidence) => evidence,
        }
    }

    #[cold]
    fn refund_first(&self) {
        self.used().first_succeeded(self.settings.first_refund());
    }
}

impl<Q: RetryQuota> RetryQuota for ConfiguredQuota<Q> {
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

    /// With a full quota, the amount of the refund makes no difference, so it is not read.
    #[inline]
    fn first_succeeded(&self, _: u32) {
        if !self.is_full() {
            self.refund_first();
        }
    }

    fn retry_succeeded(&self, paid: u32, _: u32) {
        let refund = match self.settings.get().settings.retry_refund {
            Refund::Amount(amount) => amount,
            _ => paid,
        };
        self.used().retry_succeeded(paid, refund);
    }

    fn is_low(&self) -> bool {
        self.used().is_low()
    }

    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        self.used().pay_hedge(cost, clock)
    }

    #[inline]
    fn is_full(&self) -> bool {
        match &self.evidence {
            None => self.of_code.is_full(),
            Some(evidence) => evidence.is_full(),
        }
    }

    fn level(&self) -> Option<u32> {
        self.used().level()
    }

    fn full_level(&self) -> Option<u32> {
        self.used().full_level()
    }

    fn mode(&self) -> Option<QuotaMode> {
        self.used().mode()
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
}

#[cfg(test)]
mod tests {
    use super::ConfiguredQuota;
    use crate::live::LiveSettings;
    use crate::parts::with_modes;
    use crate::resolved::Resolved;
    use retry_core::StandardRetryStrategy;
    use retry_core::policy::RetryErrorType;
    use retry_core::quota::{EvidenceQuota, QuotaMode, RetryQuota};
    use retry_core::strategy::Refund;
    use retry_core::time::{Clock, Timestamp};
    use std::cell::{Cell, RefCell};
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
    struct Noting {
        noted: RefCell<Vec<String>>,
        is_full: Cell<bool>,
    }

    impl Noting {
        fn note(&self, what: impl Debug) {
            self.noted.borrow_mut().push(format!("{what:?}"));
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

        fn full_level(&self) -> Option<u32> {
            Some(9)
        }

        fn mode(&self) -> Option<QuotaMode> {
            Some(QuotaMode::Exhausted)
        }

        fn is_full(&self) -> bool {
            self.is_full.get()
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
            quota.first_succeeded(60);
            None
        },
        |quota| {
            quota.retry_succeeded(2, 80);
            None
        },
        |quota| {
            quota.note_refusal(9, Some("store"));
            None
        },
    ];

    /// A quota with the refunds 6 and 8. The amounts that a strategy passes to it make no difference.
    fn quota(evidence: Option<EvidenceQuota>) -> ConfiguredQuota<Noting> {
        let base = StandardRetryStrategy::new().refunds(6, Refund::Amount(8));
        let (_, settings) = Resolved::of(with_modes(base));
        ConfiguredQuota { of_code: Noting::default(), evidence, settings: LiveSettings::new(settings) }
    }

    fn state(quota: &dyn RetryQuota) -> ([Option<u32>; 3], bool, Option<QuotaMode>, bool) {
        ([Some(quota.available()), quota.level(), quota.full_level()], quota.is_low(), quota.mode(), quota.is_full())
    }

    #[test]
    fn each_call_reaches_the_quota_of_the_code_if_no_other_was_chosen() {
        let quota = quota(None);
        let answers = STEPS.map(|step| step(&quota));
        assert_eq!(answers[..3], [Some(1), Some(70), Some(71)]);
        assert_eq!(state(&quota), ([Some(7), Some(8), Some(9)], true, Some(QuotaMode::Exhausted), false));
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
        assert_eq!(quota.of_code.noted.take(), noted);
        quota.of_code.is_full.set(true);
        assert!(quota.is_full());
        quota.first_succeeded(60);
        assert_eq!(quota.of_code.noted.take(), [""; 0], "a full quota need not be told");
    }

    #[test]
    fn each_call_reaches_the_quota_by_evidence_if_it_was_chosen() {
        let quota = quota(Some(EvidenceQuota::new()));
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
        assert_eq!(quota.of_code.noted.take(), [""; 0]);
    }
}
