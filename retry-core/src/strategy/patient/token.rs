//! The tokens of the patient strategy.

use crate::strategy::{DelaySource, RetryToken, StandardRetryToken};
use crate::support::{KeptInWait, KeptOutcome};
use crate::time::Timestamp;
use std::num::NonZeroU64;
use std::time::Duration;

/// The token of a [`PatientRetryStrategy`](super::PatientRetryStrategy).
#[derive(Debug)]
pub struct PatientRetryToken {
    pub(super) standard: StandardRetryToken,
    pub(super) stage: Stage,
    /// The time for which the operation has waited for the service in earlier waits.
    waited: Millis,
}

/// What a token is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// An attempt whose duration is not measured.
    Unmeasured,
    /// A retry that is measured once it is sent.
    Watched,
    /// An attempt that is sent at this time.
    Sent {
        at: Nanos,
        /// Whether it is a retry that a credit sends from the line.
        for_credit: bool,
    },
    /// A retry that the quota could not pay for, and that has not come to the line yet.
    Refused {
        /// The end of its wait.
        until: Nanos,
        /// Whether the operation is over then, so that an attempt needs time before it.
        is_hard: bool,
        /// Whether it may be sent as a probe.
        may_probe: bool,
    },
    /// A retry that waits in the line, or was sent from it and has not asked since.
    Waiting {
        ticket: Ticket,
        /// When the wait began.
        since: Millis,
    },
}

/// The place of an operation in the line. Later ones have higher numbers.
pub(super) type Ticket = NonZeroU64;

/// A point in time, in nanoseconds since the origin of the clock. It saturates after 584 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nanos(u64);

impl Nanos {
    pub(super) fn of(at: Timestamp) -> Self {
        let time = at.since_origin();
        Self(time.as_secs().saturating_mul(1_000_000_000).saturating_add(time.subsec_nanos().into()))
    }

    /// The end of a wait without an end.
    pub(super) const NEVER: Self = Self(u64::MAX);

    /// Returns the time from this point to a later one; zero if the clock was set back.
    pub(super) fn until(self, later: Timestamp) -> Duration {
        Self::of(later).since(self)
    }

    /// Returns the time since an earlier point; zero if it is a later one.
    pub(super) const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A time in milliseconds, or a point in time, which wraps after 49 days. No wait is that long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Millis(u32);

impl Millis {
    #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
    fn of(at: Timestamp) -> Self {
        Self(at.since_origin().as_millis() as u32)
    }

    /// Returns the time up to a later point; zero if the clock was set back.
    fn until(self, later: Timestamp) -> Self {
        let passed = Self::of(later).0.wrapping_sub(self.0);
        Self(if passed > u32::MAX / 2 { 0 } else { passed })
    }
}

impl PatientRetryToken {
    /// Creates the token of a first attempt that is not measured.
    #[inline]
    pub(super) const fn first(standard: StandardRetryToken) -> Self {
        Self { standard, stage: Stage::Unmeasured, waited: Millis(0) }
    }

    /// Returns the same token again.
    #[inline]
    pub(super) const fn copy(&self) -> Self {
        self.next(self.standard.copy(), self.stage)
    }

    /// Creates the token of the attempt after this one.
    #[inline]
    pub(super) const fn next(&self, standard: StandardRetryToken, stage: Stage) -> Self {
        Self { standard, stage, waited: self.waited }
    }

    /// Returns when the attempt was sent, if that is known.
    #[inline]
    pub(super) const fn sent(&self) -> Option<Nanos> {
        if let Stage::Sent { at, .. } = self.stage { Some(at) } else { None }
    }

    /// Records that the operation waits in the line.
    pub(super) fn begin_wait(&mut self, ticket: Ticket, now: Timestamp) {
        self.stage = Stage::Waiting { ticket, since: Millis::of(now) };
    }

    /// Records that the operation waits no longer.
    pub(super) fn end_wait(&mut self, stage: Stage, now: Timestamp) {
        self.waited = self.waited_until(now);
        self.stage = stage;
    }

    fn waited_until(&self, now: Timestamp) -> Millis {
        match self.stage {
            Stage::Waiting { since, .. } => Millis(self.waited.0.saturating_add(since.until(now).0)),
            _ => self.waited,
        }
    }
}

impl RetryToken for PatientRetryToken {
    #[inline]
    fn attempt(&self) -> u32 {
        self.standard.attempt()
    }

    #[inline]
    fn delay(&self) -> Duration {
        self.standard.delay()
    }

    #[inline]
    fn has_delay(&self) -> bool {
        self.standard.has_delay()
    }

    #[inline]
    fn delay_source(&self) -> DelaySource {
        match self.stage {
            Stage::Unmeasured | Stage::Watched | Stage::Sent { .. } => self.standard.delay_source(),
            Stage::Refused { .. } | Stage::Waiting { .. } => DelaySource::Service,
        }
    }

    #[inline]
    fn waited(&self) -> Duration {
        Duration::from_millis(self.waited.0.into())
    }

    fn waited_at(&self, now: Timestamp) -> Duration {
        Duration::from_millis(self.waited_until(now).0.into())
    }

    #[inline]
    fn may_wait() -> bool {
        true
    }

    fn kept_outcome<R>() -> impl KeptOutcome<R> {
        KeptInWait::<R>::new()
    }
}
