//! The settings of the patient strategy, and how it is made.

use super::{PatientRetryStrategy, SharedLine};
use crate::backoff::ExponentialBackoff;
use crate::quota::EvidenceQuota;
use crate::strategy::StandardRetryStrategy;
use crate::support::Shared;
use crate::support::random::RandomNumbers;
use std::mem::{self, ManuallyDrop};
use std::time::Duration;

/// The settings of the waits for the service.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitSettings {
    pub(super) max_wait: Duration,
    pub(super) max_waiting: u32,
    /// Whether a process that has seen no success sends its first probe soon.
    pub(super) cold_probe: bool,
}

impl WaitSettings {
    /// The wait is as long as the backoff of five attempts can be in [`StandardRetryStrategy::new`]: 1 + 2 + 4 + 8 seconds.
    const NEW: Self = Self { max_wait: Duration::from_secs(15), max_waiting: 10_000, cold_probe: true };

    /// Returns whether no operation ever waits.
    pub(super) const fn let_nobody_wait(self) -> bool {
        self.max_wait.is_zero() || self.max_waiting == 0
    }
}

impl PatientRetryStrategy {
    /// Creates a strategy with at most 10 attempts, a backoff from 1 second up to 4 seconds, and a quota that knows nothing yet.
    ///
    /// Other strategies have fewer attempts and longer delays, because these are all that bounds what one operation sends in an outage.
    /// Here, evidence bounds it. The 10 attempts are enough for an operation that waits alone for 15 seconds, and their delays take 15
    /// seconds on average if each attempt fails while others succeed.
    pub const fn new() -> Self {
        Self::over(Self::new_standard())
    }

    /// Sets the name of the strategy, which events show; see [`StandardRetryStrategy::name`].
    #[must_use]
    pub const fn name(mut self, name: &'static str) -> Self {
        let standard = self.take().name(name);
        self.put(standard)
    }

    /// Sets the maximum number of attempts of an operation, including the first one: 1 means no retries.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0; in a `static` this is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        let standard = self.take().max_attempts(max_attempts);
        self.put(standard)
    }

    /// Sets the base and the cap of the backoff; see [`StandardRetryStrategy::backoff`].
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        let standard = self.take().backoff(base, cap);
        self.put(standard)
    }

    /// Sets whether a wait that the server asks for replaces the backoff; see
    /// [`StandardRetryStrategy::hint_replaces_backoff`].
    #[must_use]
    pub const fn hint_replaces_backoff(mut self, replaces: bool) -> Self {
        let standard = self.take().hint_replaces_backoff(replaces);
        self.put(standard)
    }

    /// Sets the seed of the jitter and of the times of probes, so that the delays are the same in every run. For tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        let standard = self.take().seed(seed);
        self.random = RandomNumbers::seeded(seed);
        self.put(standard)
    }
}

impl PatientRetryStrategy {
    /// Creates the standard strategy below that of [`new`](Self::new).
    const fn new_standard() -> StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> {
        let standard = StandardRetryStrategy::new().max_attempts(10);
        standard.backoff(Duration::from_secs(1), Duration::from_secs(4)).with_quota(EvidenceQuota::new())
    }

    /// Takes the standard strategy out, to change it. A `const fn` can't take a type with a destructor apart.
    const fn take(&mut self) -> StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> {
        mem::replace(&mut self.standard, Self::new_standard())
    }

    /// Puts the standard strategy back.
    const fn put(mut self, standard: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota>) -> Self {
        // On some platforms, a mutex has a destructor.
        let _taken = ManuallyDrop::new(mem::replace(&mut self.standard, standard));
        self
    }
}

impl Default for PatientRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> PatientRetryStrategy<B, Q> {
    /// Creates a strategy whose refused retries wait, over any standard strategy.
    ///
    /// ```
    /// use retry_core::quota::EvidenceQuota;
    /// use retry_core::PatientRetryStrategy;
    /// use retry_core::StandardRetryStrategy;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::over(
    ///     StandardRetryStrategy::new().max_retry_after(None).with_quota(EvidenceQuota::new()),
    /// );
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        let (settings, random) = (WaitSettings::NEW, RandomNumbers::new());
        Self { standard, settings, random, line: Shared::new(SharedLine::new()) }
    }

    /// Sets how long an operation without `max_time` and `deadline` waits for the service at most, all its waits together. The default is
    /// 15 seconds. With zero, no operation waits, whether it has a `max_time` or not: a retry that the quota can't pay for ends it.
    #[must_use]
    pub const fn max_wait_for_service(mut self, max_wait: Duration) -> Self {
        self.settings.max_wait = max_wait;
        self
    }

    /// Sets the largest number of operations that wait for the service at the same time. The default is 10,000, and with 0 none waits.
    /// One more ends with the reason [`QuotaExhausted`](crate::RetryError::QuotaExhausted).
    #[must_use]
    pub const fn max_waiting(mut self, max_waiting: u32) -> Self {
        self.settings.max_waiting = max_waiting;
        self
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`]. Operations that wait already are still
    /// sent.
    pub fn set_enabled(&self, enabled: bool) {
        self.standard.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](PatientRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }

    /// Returns the quota that retries are paid from.
    pub fn quota(&self) -> &Q {
        self.standard.quota()
    }

    /// Returns the standard strategy below this one.
    pub const fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Replaces the standard strategy below this one, and keeps the settings of the waits.
    ///
    /// ```
    /// use retry_core::PatientRetryStrategy;
    ///
    /// let store = PatientRetryStrategy::new().map_standard(|standard| standard.max_retry_after(None));
    /// assert_eq!(store.standard().settings().max_attempts, 10);
    /// ```
    #[must_use]
    pub fn map_standard<C, R>(
        self,
        map: impl FnOnce(StandardRetryStrategy<B, Q>) -> StandardRetryStrategy<C, R>,
    ) -> PatientRetryStrategy<C, R> {
        let Self { standard, settings, random, line: _ } = self;
        PatientRetryStrategy { standard: map(standard), settings, random, line: Shared::new(SharedLine::new()) }
    }

    /// Sets whether a process whose calls have not succeeded yet sends its first probes soon. The default is `true`: after a
    /// timeout, one within five seconds, and after any other failure, as a process whose calls have succeeded.
    ///
    /// Switch it off for processes that live for a few seconds only, and that are started in large numbers: while a slow server makes
    /// all of them wait, each would send one attempt more.
    #[must_use]
    pub const fn cold_probe(mut self, cold_probe: bool) -> Self {
        self.settings.cold_probe = cold_probe;
        self
    }
}
