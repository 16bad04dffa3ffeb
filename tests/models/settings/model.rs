//! What the rules say about a quota and the operations that it pays for.

use super::{Kind, RetryError, Settings};
use crate::readings::Readings;

/// An operation: its attempt, what was paid for it, and the number of retries after a conflict.
#[derive(Clone, Copy, Debug)]
struct Operation {
    attempt: u32,
    paid: u32,
    conflicts: u32,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) balance: u32,
    pub(super) is_on: bool,
    /// The settings of the code.
    code: Settings,
    /// Those in effect, where each value is known.
    now: Settings,
    operations: [Option<Operation>; 4],
    readings: Readings,
    /// The time up to which periods of the refill are settled.
    settled: Option<u64>,
    /// The balance and the capacity before the capacity became 0.
    before_zero: Option<(u32, u32)>,
}

impl Model {
    pub(super) fn new(capacity: u32, refill: Option<(u32, u64)>) -> Self {
        // The numbers of group N. The base after throttling follows the ordinary one.
        let code = Settings {
            is_off: false,
            max_attempts: Some(5),
            delays: Some((1_000, 20_000)),
            throttling_base: None,
            conflict_base: Some(20),
            max_retry_after: Some(Some(300_000)),
            capacity: Some(capacity),
            refill,
            costs: Some([5, 10, 0, 5]),
            refunds: Some((1, Some(1))),
        };
        Self {
            balance: capacity,
            is_on: true,
            code,
            now: code,
            operations: [None; 4],
            readings: Readings::default(),
            settled: None,
            before_zero: None,
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.now.capacity.unwrap()
    }

    pub(super) fn begin(&mut self, slot: usize) {
        self.operations[slot] = Some(Operation { attempt: 1, paid: 0, conflicts: 0 });
    }

    /// Adds the refills of the periods that have ended. Returns the time to use.
    fn settle(&mut self, reading: u64) -> u64 {
        let (now, set_back_to) = self.readings.read(reading);
        let mut settled = self.settled.unwrap_or(now);
        // Nothing is refilled by a jump.
        settled = settled.min(set_back_to.unwrap_or(settled));
        if let Some((amount, every)) = self.now.refill {
            // Periods are counted from the origin of the clock.
            let periods = (now / every).saturating_sub(settled / every);
            self.add(u64::from(amount) * periods);
        }
        self.settled = Some(settled.max(now));
        now
    }

    fn add(&mut self, amount: u64) {
        let sum = u64::from(self.balance) + amount;
        self.balance = u32::try_from(sum.min(u64::from(self.capacity()))).unwrap();
    }

    /// Judges a failure. Returns the next attempt and its delay.
    pub(super) fn fail(
        &mut self,
        slot: usize,
        kind: Kind,
        hint: Option<u64>,
        left: Option<u64>,
        reading: u64,
    ) -> Result<(u32, u64), RetryError> {
        let Operation { attempt, mut conflicts, .. } = self.operations[slot].take().unwrap();
        let of_kind = match kind {
            Kind::Throttled => 0,
            Kind::TimedOut => 1,
            Kind::Conflict => 2,
            Kind::Other => 3,
            Kind::Final => return Err(RetryError::NotRetryable),
        };
        if !self.is_on {
            return Err(RetryError::Disabled);
        }
        if attempt >= self.now.max_attempts.unwrap() {
            return Err(RetryError::MaxAttempts);
        }
        let longest = self.now.max_retry_after.unwrap();
        if hint.zip(longest).is_some_and(|(hint, longest)| hint > longest) {
            return Err(RetryError::RetryAfterTooLong);
        }
        let (base, cap) = self.now.delays.unwrap();
        let base = match kind {
            Kind::Throttled => self.now.throttling_base.unwrap_or(base),
            Kind::Conflict => self.now.conflict_base.unwrap().min(base),
            _ => base,
        };
        let retry = if kind == Kind::Conflict { conflicts } else { attempt - 1 - conflicts };
        let backoff = (base << retry).min(cap);
        let delay = backoff.max(hint.unwrap_or(0));
        if left.is_some_and(|left| delay > left) {
            return Err(RetryError::MaxTime);
        }
        if self.now.refill.is_some() {
            self.settle(reading);
        }
        let cost = self.now.costs.unwrap()[of_kind];
        if cost > self.balance {
            return Err(RetryError::QuotaExhausted);
        }
        self.balance -= cost;
        conflicts += u32::from(kind == Kind::Conflict);
        self.operations[slot] = Some(Operation { attempt: attempt + 1, paid: cost, conflicts });
        Ok((attempt + 1, delay))
    }

    pub(super) fn succeed(&mut self, slot: usize) {
        let Operation { attempt, paid, .. } = self.operations[slot].take().unwrap();
        let (first, retry) = self.now.refunds.unwrap();
        self.add(u64::from(if attempt == 1 { first } else { retry.unwrap_or(paid) }));
    }

    pub(super) fn leave(&mut self, slot: usize) {
        let Operation { paid, .. } = self.operations[slot].take().unwrap();
        self.add(u64::from(paid));
    }

    pub(super) fn apply(&mut self, settings: &Settings, reading: u64) {
        let now = self.settle(reading);
        let former = self.now;
        let of = &self.code;
        self.now = Settings {
            is_off: settings.is_off,
            max_attempts: settings.max_attempts.or(of.max_attempts),
            delays: settings.delays.or(of.delays),
            throttling_base: settings.throttling_base.or(of.throttling_base),
            conflict_base: settings.conflict_base.or(of.conflict_base),
            max_retry_after: settings.max_retry_after.or(of.max_retry_after),
            capacity: settings.capacity.or(of.capacity),
            refill: settings.refill.or(of.refill),
            costs: settings.costs.or(of.costs),
            refunds: settings.refunds.or(of.refunds),
        };
        if former.is_off != settings.is_off {
            self.is_on = !settings.is_off;
        }
        // The balance keeps its proportion to the capacity, and a capacity of 0 has none.
        let (balance, before) = self.before_zero.take().unwrap_or((self.balance, former.capacity.unwrap()));
        let capacity = self.capacity();
        self.balance = if balance == before {
            capacity
        } else {
            u32::try_from(u64::from(balance) * u64::from(capacity) / u64::from(before)).unwrap()
        };
        if capacity == 0 && before > 0 {
            self.before_zero = Some((balance, before));
        }
        // A refill that changes begins at the change.
        if self.now.refill != former.refill {
            self.settled = Some(now);
        }
    }
}
