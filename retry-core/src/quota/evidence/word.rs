//! The state that successes change, in one number.

/// The cost of a retry, in the unit of all amounts.
pub(super) const RETRY: u32 = 64;

/// The refund of a first success: 3/64 of a retry, so that a quota is full again after 45 seconds of its own traffic. With
/// a larger refund, more requests reach a server that sheds load: the scenario `shed` limits it.
const FIRST: u32 = 3;

/// The refund of a first success after a timeout: 5/16 of a retry. Where 30 % of the requests fail independently, retries
/// are then 22 % of the requests, for which a server at a load of 80 % has room. The scenario `queue` limits it on both sides.
const FIRST_CONGESTED: u32 = 20;

/// The refund of a successful retry: two retries, so retries pay for themselves while at least half of all attempts
/// succeed. A smaller refund ends them where half of the requests fail independently; with a larger one, they displace
/// the first attempts to a server that sheds load.
const EVIDENCE: u32 = 2 * RETRY;

/// The number of successes in a row after which the quota forgets the failures. With fewer, it forgets them during an outage
/// in which one of 20 attempts fails.
pub(super) const STREAK: u32 = 32;

/// The successes that outweigh a failure, in the score by which timeouts are retried.
pub(super) const SUCCESSES_PER_FAILURE: u32 = 5;

/// The largest capacity: 16,384 retries. It only bounds the harm of a clock that stands still, for which traffic seems
/// infinite.
pub(super) const MAX_CAPACITY: u32 = RETRY << 14;

/// The capacity of a quota with little traffic, in which one failure is not a rate: two retries. So the only operation of a process
/// makes at least three attempts, however long it waits in between. With less, it depends on the jitter whether it makes the third.
/// With three, 1,000 quotas send 1.23 times the load to a server that is down, and 1.49 times through three services.
pub(super) const FLOOR: u32 = 2 * RETRY;

const IS_SETTLED: u64 = 1;
/// A burst has begun, an attempt has succeeded, there was no recent timeout, and there are no peers. Then most decisions need
/// only the word.
const IS_PLAIN: u64 = 1 << 1;
const IS_PROVEN: u64 = 1 << 2;
const HAS_HELPED: u64 = 1 << 3;
const IS_CONGESTED: u64 = 1 << 4;

/// A bit field of the number.
struct Field {
    shift: u32,
    max: u32,
}

impl Field {
    const fn new(shift: u32, bits: u32) -> Self {
        Self { shift, max: u32::MAX >> (u32::BITS - bits) }
    }

    /// Returns the bits of a value, which must fit.
    const fn bits(&self, value: u32) -> u64 {
        (value as u64) << self.shift
    }

    const fn mask(&self) -> u64 {
        self.bits(self.max)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a field is shorter than 32 bits")]
    const fn of(&self, word: Word) -> u32 {
        (word.0 >> self.shift) as u32 & self.max
    }
}

const MISSING: Field = Field::new(5, 21);
const SUCCESSES: Field = Field::new(26, 6);
const SCORE: Field = Field::new(32, 6);
/// It is the highest field, so that a count that overflows changes no other one. It then begins at zero, which is little traffic.
const ATTEMPTS: Field = Field::new(38, 26);

/// The knowledge of a quota, except the part that depends on the time, in one number that is changed by
/// compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// The contents of a [`Word`], as a plain value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// The attempts since the burst of failures began. Old ones have less weight. 0 if no failure is remembered.
    pub(super) attempts: u32,
    /// The amount that was spent and not given back. It can exceed the capacity.
    pub(super) missing: u32,
    /// The successes at the latest failure, less five for each failure: from 0 to 32.
    pub(super) score: u32,
    /// The successes since the latest failure: from 0 to 32.
    pub(super) successes: u32,
    /// Whether an attempt has ever succeeded.
    pub(super) is_proven: bool,
    /// Whether a retry has succeeded since the first failure and the latest timeout.
    pub(super) has_helped: bool,
    /// Whether there was a recent timeout.
    pub(super) is_congested: bool,
}

impl Word {
    /// The word of a quota that has seen nothing.
    pub(super) const NEW: Self = Self(0);

    /// The word of a quota that has forgotten all failures.
    pub(super) const SETTLED: Self = Self(IS_SETTLED | IS_PROVEN | SCORE.bits(SUCCESSES_PER_FAILURE));

    /// The word after one failure of a settled quota, whose retry is paid.
    pub(super) const BEGUN: Self = Self(IS_PLAIN | IS_PROVEN | MISSING.bits(RETRY) | ATTEMPTS.bits(1));

    /// Returns whether nothing is missing and the latest attempts succeeded, so that one more success changes nothing.
    #[inline]
    pub(super) const fn is_settled(self) -> bool {
        self.0 & IS_SETTLED != 0
    }

    /// Returns the contents.
    pub(super) const fn account(self) -> Account {
        Account {
            attempts: ATTEMPTS.of(self),
            missing: MISSING.of(self),
            score: SCORE.of(self),
            successes: SUCCESSES.of(self),
            is_proven: self.0 & IS_PROVEN != 0,
            has_helped: self.0 & HAS_HELPED != 0,
            is_congested: self.0 & IS_CONGESTED != 0,
        }
    }

    /// Returns the word of a quota that must consult its peers before it pays.
    pub(super) const fn with_peers(self) -> Self {
        Self(self.0 & !IS_PLAIN)
    }

    /// Gives back an amount whose retry was not sent.
    pub(super) fn given_back(self, amount: u32) -> Self {
        let word = Self(self.0 - MISSING.bits(amount.min(MISSING.of(self))));
        if self.0 & IS_PROVEN == 0 { word } else { word.forgetting() }
    }

    /// Records a failure other than a timeout and pays for its retry, if the smallest capacity suffices for that and no
    /// timeout could have been forgotten since. The burst must have begun, and there must be no peers.
    #[inline]
    pub(super) fn paid_from_floor(self) -> Option<Self> {
        if !self.is_plain() || MISSING.of(self) > FLOOR - RETRY {
            return None;
        }
        let score = (SCORE.of(self) + SUCCESSES.of(self)).min(STREAK).saturating_sub(SUCCESSES_PER_FAILURE);
        let others = self.0 & !(SUCCESSES.mask() | SCORE.mask());
        Some(Self((others | SCORE.bits(score)).wrapping_add(ATTEMPTS.bits(1) + MISSING.bits(RETRY))))
    }

    /// Records that an attempt succeeded, either a first attempt or a retry, if that needs only the word.
    #[inline]
    pub(super) fn succeeded_plainly(self, is_first: bool) -> Option<Self> {
        let (gain, helps) = if is_first { (FIRST, 0) } else { (EVIDENCE, HAS_HELPED) };
        self.is_plain().then(|| self.given(gain, helps))
    }

    /// Records that an attempt succeeded, either a first attempt or a retry.
    pub(super) fn succeeded(self, is_first: bool) -> Self {
        if self.0 & IS_PROVEN == 0 {
            return self.settled();
        }
        let helps = if is_first || self.0 & IS_CONGESTED != 0 { 0 } else { HAS_HELPED };
        self.given(self.gain(is_first), helps)
    }

    /// Records a success that gives back this amount and sets these flags.
    #[inline]
    fn given(self, gain: u32, helps: u64) -> Self {
        let gain = MISSING.bits(gain).min(self.0 & MISSING.mask());
        let mut bits = (self.0 | helps).wrapping_add(ATTEMPTS.bits(1)) - gain;
        if bits & SUCCESSES.bits(STREAK) == 0 {
            bits += SUCCESSES.bits(1);
        }
        Self(bits).forgetting()
    }

    /// Returns the most that a success gives back.
    const fn gain(self, is_first: bool) -> u32 {
        match (is_first, self.0 & IS_CONGESTED != 0) {
            (true, false) => FIRST,
            (true, true) => FIRST_CONGESTED,
            (false, false) => EVIDENCE,
            (false, true) => 0,
        }
    }

    /// Returns the amount that a success gives back beyond what is missing. The peers of a quota should know of it.
    pub(super) fn surplus(self, is_first: bool) -> u32 {
        self.gain(is_first).saturating_sub(MISSING.of(self))
    }

    #[inline]
    pub(super) const fn is_plain(self) -> bool {
        self.0 & IS_PLAIN != 0
    }

    /// Forgets the failures if nothing is missing and the latest attempts succeeded.
    #[inline]
    fn forgetting(self) -> Self {
        let is_over = self.0 & (MISSING.mask() | SUCCESSES.bits(STREAK)) == SUCCESSES.bits(STREAK);
        if is_over { self.settled() } else { self }
    }

    #[cold]
    const fn settled(self) -> Self {
        Self(Self::SETTLED.0 | self.0 & IS_CONGESTED)
    }
}

impl Account {
    /// Returns whether a timeout of the last two minutes is a reason to sell no hedges: the failures are not forgotten, and successes
    /// do not outweigh them. Otherwise few requests time out, as with one server of many that hangs, against which hedges help.
    pub(super) const fn doubts(self) -> bool {
        self.is_congested && self.attempts > 0 && self.score + self.successes < 2 * SUCCESSES_PER_FAILURE
    }

    /// Returns the number. Amounts that do not fit saturate.
    pub(super) fn word(self) -> Word {
        let Self { attempts, missing, score, successes, is_proven, has_helped, is_congested } = self;
        let bits = |field: &Field, value: u32| field.bits(value.min(field.max));
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        let amounts = bits(&ATTEMPTS, attempts)
            | bits(&MISSING, missing)
            | bits(&SCORE, score.min(STREAK))
            | bits(&SUCCESSES, successes.min(STREAK));
        let flags = flag(attempts > 0 && is_proven && !is_congested, IS_PLAIN)
            | flag(is_proven, IS_PROVEN)
            | flag(has_helped, HAS_HELPED)
            | flag(is_congested, IS_CONGESTED);
        let word = Word(amounts | flags);
        if is_proven { word.forgetting() } else { word }
    }
}

#[cfg(test)]
mod tests;
