//! A ramp that hurries, because many operations wait for it.

use retry_core::time::Timestamp;
use std::time::Duration;

/// The time that the queue would take at the first rate, in seconds, above which a ramp may hurry. A client of 64 workers or fewer
/// has no such queue: it is as fast without.
const LONG: f64 = 1.0;
/// The longest time until the first answer with which a ramp hurries: a round trip within a continent. With a longer one, more
/// requests would be on their way when the first rejection is known.
const PROMPT: Duration = Duration::from_millis(50);
/// The rate of a ramp that hurries, as a multiple of the first rate. 15 requests are on their way when a burst of 100 is used up: a copy
/// by 256 workers at 100 per second has 0.70 % rejected in place of 0.67 %. With 5, 4,003 operations of 256 workers at 3,500 per second
/// take 2.2 times the ideal time in place of 1.97.
const FIRST: f64 = 7.5;
/// The number of accepted requests beyond which the rate grows: a burst of 100, and what is saved up while it is used. With 100, that copy
/// has 1.1 % rejected.
const FLAT: u32 = 120;

/// Whether a ramp hurries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hurry {
    /// The queue was short so far.
    No,
    /// The queue is long since this time, and nothing was accepted since then.
    Awaited(Timestamp),
    /// So many requests were accepted since then.
    Yes(u32),
    /// There was a rejection, or the first answer was late.
    Never,
}

impl Hurry {
    /// Records that operations wait, and in how many seconds the first rate would send them.
    pub(super) fn meet_queue(&mut self, now: Timestamp, seconds: f64) {
        if matches!(self, Self::No) && seconds > LONG {
            *self = Self::Awaited(now);
        }
    }

    /// Counts accepted requests.
    #[inline]
    pub(super) fn accept(&mut self, now: Timestamp, requests: u32) {
        match self {
            Self::No | Self::Never => {}
            Self::Awaited(since) if now.saturating_since(*since) > PROMPT => *self = Self::Never,
            Self::Awaited(_) => *self = Self::Yes(requests),
            Self::Yes(accepted) => *accepted = accepted.saturating_add(requests),
        }
    }

    /// Ends it, because nothing waits any more.
    #[inline]
    pub(super) fn pause(&mut self) {
        if !matches!(self, Self::Never) {
            *self = Self::No;
        }
    }

    /// Returns the least rate of the ramp, as a multiple of the first one. With each accepted request it grows by the first one, so that
    /// 256 workers have all their requests on their way after four round trips of 20 ms.
    #[inline]
    pub(super) fn factor(&self) -> Option<f64> {
        match self {
            Self::Yes(accepted) => Some(FIRST + f64::from(accepted.saturating_sub(FLAT))),
            _ => None,
        }
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        if let Self::Awaited(since) = self {
            *since = now.min(*since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hurry;
    use retry_core::time::Timestamp;
    use std::time::Duration;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(1_000_000 + millis))
    }

    /// Returns a ramp for which so many seconds of operations wait, and whose first answer comes after this time.
    fn answered(seconds: f64, after_millis: u64) -> Hurry {
        let mut hurry = Hurry::No;
        hurry.meet_queue(at(0), seconds);
        hurry.meet_queue(at(after_millis), seconds);
        hurry.accept(at(after_millis), 1);
        hurry
    }

    // Rule L65.
    #[test]
    fn a_ramp_hurries_with_a_long_queue_and_prompt_answers() {
        assert_eq!(answered(1.01, 50).factor(), Some(7.5));
        assert_eq!(answered(1.0, 50).factor(), None, "the queue was short");
        let mut late = answered(1.01, 51);
        assert_eq!(late.factor(), None);
        late.pause();
        late.meet_queue(at(60), 9.0);
        late.accept(at(60), 1);
        assert_eq!(late.factor(), None, "answers take longer here");
    }

    // Rule L65.
    #[test]
    fn its_rate_grows_with_what_is_accepted_beyond_a_burst_until_nothing_waits() {
        let mut hurry = answered(2.0, 20);
        hurry.accept(at(100), 119);
        assert_eq!(hurry.factor(), Some(7.5));
        hurry.accept(at(200), 30);
        assert_eq!(hurry.factor(), Some(37.5));
        hurry.pause();
        assert_eq!(hurry.factor(), None);
        hurry.meet_queue(at(5_000), 2.0);
        hurry.accept(at(5_020), 1);
        assert_eq!(hurry.factor(), Some(7.5), "it begins again");
    }

    #[test]
    fn a_clock_that_was_set_back_stands_still() {
        let mut hurry = Hurry::No;
        hurry.meet_queue(at(10_000), 2.0);
        hurry.reanchor(at(1_000));
        hurry.accept(at(1_051), 1);
        assert_eq!(hurry.factor(), None);
    }
}
