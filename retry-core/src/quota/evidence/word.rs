//! What successes change, in one number.

/// The cost of a retry, in the unit of all amounts.
pub(super) const RETRY: u32 = 64;

/// What a first success gives back: 3/64 of a retry, so that a quota is full again after 45 seconds of its own traffic. The
/// more it is, the more requests reach a server that sheds load: the scenario `shed` limits it.
const FIRST: u32 = 3;

/// What a first success gives back after a timeout: 5/16 of a retry. Where 30 % of the requests fail independently, retries
/// are then 22 % of the requests, for which a server at a load of 80 % has room. The scenario `queue` limits it on both sides.
const FIRST_CONGESTED: u32 = 20;

/// What the success of a retry gives back: two retries, so retries pay for themselves while at least half of all attempts
/// succeed. Less ends them where half of the requests fail independently, more lets them displace the first attempts to a
/// server that sheds load.
const EVIDENCE: u32 = 2 * RETRY;

/// How many attempts in a row succeed before the quota forgets the failures. With fewer, it forgets between the failures of one
/// outage that have a chance of one in twenty.
pub(super) const STREAK: u32 = 32;

/// The largest capacity: 16,384 retries. It only bounds the harm of a clock that stands still, at which traffic seems infinite.
pub(super) const MAX_CAPACITY: u32 = RETRY << 14;

/// The capacity of a quota with little traffic, in which one failure is no rate: two retries. So the only operation of a process
/// makes three attempts, however long it waits in between. With less, it depends on the jitter whether it makes the third.
/// With three, 1,000 quotas send 1.23 times the load to a server that is down, and 1.49 times through three services.
pub(super) const FLOOR: u32 = 2 * RETRY;

const AMOUNT_BITS: u32 = 21;
const SUCCESS_BITS: u32 = 18;
const MAX_AMOUNT: u32 = (1 << AMOUNT_BITS) - 1;
const MAX_SUCCESSES: u32 = (1 << SUCCESS_BITS) - 1;

const IS_PROVEN: u64 = 1 << 60;
const HAS_HELPED: u64 = 1 << 61;
const IS_CONGESTED: u64 = 1 << 62;
const IS_SETTLED: u64 = 1 << 63;

/// What successes change, and what they need to know for that, in one number that is changed by compare-and-swap.
///
/// From the lowest bit on: the missing amount, the capacity, the successes since the latest failure, and four flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// The contents of a [`Word`], as a plain value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// What was spent and not given back. It can be more than the capacity.
    pub(super) missing: u32,
    /// What may be missing at most for a retry to be paid. It is measured when attempts fail.
    pub(super) capacity: u32,
    /// The successes since the latest failure. They saturate, and are not counted while the quota is settled.
    pub(super) successes: u32,
    /// Whether an attempt has ever succeeded.
    pub(super) is_proven: bool,
    /// Whether a retry has succeeded since the first failure and the latest timeout.
    pub(super) has_helped: bool,
    /// Whether there was a timeout not long ago.
    pub(super) is_congested: bool,
}

impl Word {
    /// That of a quota that has seen nothing.
    pub(super) const NEW: Self = Self(0);

    /// Returns whether nothing is missing and the latest attempts succeeded, so that one more success changes nothing.
    #[inline]
    pub(super) const fn is_settled(self) -> bool {
        self.0 & IS_SETTLED != 0
    }

    /// Returns the contents.
    #[expect(clippy::cast_possible_truncation, reason = "the fields are shorter than 32 bits")]
    pub(super) const fn account(self) -> Account {
        Account {
            missing: self.0 as u32 & MAX_AMOUNT,
            capacity: (self.0 >> AMOUNT_BITS) as u32 & MAX_AMOUNT,
            successes: (self.0 >> (2 * AMOUNT_BITS)) as u32 & MAX_SUCCESSES,
            is_proven: self.0 & IS_PROVEN != 0,
            has_helped: self.0 & HAS_HELPED != 0,
            is_congested: self.0 & IS_CONGESTED != 0,
        }
    }
}

impl Account {
    /// Returns the number. Amounts that do not fit saturate.
    pub(super) fn word(self) -> Word {
        let Self { missing, capacity, successes, is_proven, has_helped, is_congested } = self;
        let is_settled = is_proven && missing == 0 && successes >= STREAK;
        let amounts = u64::from(missing.min(MAX_AMOUNT)) | u64::from(capacity.min(MAX_AMOUNT)) << AMOUNT_BITS;
        let flags =
            [(is_proven, IS_PROVEN), (has_helped, HAS_HELPED), (is_congested, IS_CONGESTED), (is_settled, IS_SETTLED)];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag);
        Word(amounts | u64::from(successes.min(MAX_SUCCESSES)) << (2 * AMOUNT_BITS) | flags)
    }

    /// Notes that an attempt succeeded, which was the first one of its operation or a retry.
    #[must_use]
    pub(super) fn succeeded(self, is_first: bool) -> Self {
        if !self.is_proven {
            return Self { missing: 0, successes: STREAK, is_proven: true, ..self };
        }
        let gain = match (is_first, self.is_congested) {
            (true, false) => FIRST,
            (true, true) => FIRST_CONGESTED,
            (false, false) => EVIDENCE,
            (false, true) => 0,
        };
        Self {
            missing: self.missing.saturating_sub(gain),
            successes: self.successes + 1,
            has_helped: self.has_helped || !(is_first || self.is_congested),
            ..self
        }
    }

    /// Returns what is available, which is zero if more than the capacity is missing.
    pub(super) fn available(self) -> u32 {
        self.capacity.max(FLOOR).saturating_sub(self.missing)
    }
}
