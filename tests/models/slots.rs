//! The concurrency strategy: who has a slot, who waits for one, and how many there are.

use crate::program::{check, each};
use crate::support::{ByHand, Failed, millis, secs};
use proptest::collection::vec;
use proptest::prelude::*;
use retry_core::{Failure, RetryStrategy, RetryToken, StandardRetryStrategy, Success};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, ConcurrencyRetryToken};

/// One step of a program. There are 24 places for operations.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    /// An operation asks for a slot. If there is none, one begins.
    Ask(usize),
    /// A range of operations asks, one after the other.
    AskAll(usize, usize),
    Answer(usize, Outcome),
    /// An operation goes away, whether it waits or has a slot.
    Leave(usize),
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Success,
    Failure,
    /// The server rejects the request, and asks for a wait in milliseconds.
    Rejection(u64),
}

fn steps() -> impl Strategy<Value = Step> {
    let place = || 0..24_usize;
    let outcome = prop_oneof![
        8 => Just(Outcome::Success),
        2 => Just(Outcome::Failure),
        3 => Just(Outcome::Rejection(0)),
        1 => (1..3_000_u64).prop_map(Outcome::Rejection),
    ];
    prop_oneof![
        8 => prop_oneof![4 => 1..60_u64, 1 => 60..400_u64, 1 => 400..8_000_u64].prop_map(Step::Advance),
        12 => place().prop_map(Step::Ask),
        3 => (place(), 1..24_usize).prop_map(|(from, count)| Step::AskAll(from, count)),
        16 => (place(), outcome).prop_map(|(place, outcome)| Step::Answer(place, outcome)),
        2 => place().prop_map(Step::Leave),
    ]
}

/// An operation, by the rules.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// It has not asked, or was not told to wait.
    New,
    /// Its turn, and when it is expected to ask.
    Waits { turn: u32, asks_at: u64 },
    /// The other requests that were in flight, and the cuts up to then.
    Sent { others: u32, cuts: u32 },
}

struct World {
    clock: ByHand,
    strategy: ConcurrencyRetryStrategy,
    most: u32,
    operations: Vec<Option<(ConcurrencyRetryToken, Place)>>,
    turns: u32,
    size: f64,
    /// Whether each success adds one.
    is_starting: bool,
    cuts: u32,
    in_a_row: i32,
    /// The earliest and the latest end of a pause.
    paused_until: (u64, u64),
}

impl World {
    fn new(most: u32) -> Self {
        let limiter = ConcurrencyLimiter::new().max_in_flight(most);
        Self {
            clock: ByHand::at(secs(1_000)),
            strategy: ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter),
            most,
            operations: (0..24).map(|_| None).collect(),
            turns: 0,
            size: f64::from(most.min(10)),
            is_starting: true,
            cuts: 0,
            in_a_row: 0,
            paused_until: (0, 0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.time().as_millis()).unwrap()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small")]
    fn limit(&self) -> u32 {
        self.size as u32
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        self.operations.iter().flatten().map(|(_, place)| *place)
    }

    /// Returns the number of slots in use. One can be kept for an operation that is late.
    fn in_flight(&self) -> u32 {
        let sent = u32::try_from(self.places().filter(|place| matches!(place, Place::Sent { .. })).count()).unwrap();
        let seen = self.strategy.limiter().in_flight();
        let can_be_kept = self.places().any(|place| matches!(place, Place::Waits { .. }));
        assert!((sent..=sent + u32::from(can_be_kept)).contains(&seen), "{seen} slots for {sent} requests");
        seen
    }

    fn ask(&mut self, number: usize) {
        let begin = || (self.strategy.acquire_initial_token(&self.clock).unwrap(), Place::New);
        let (mut token, place) = self.operations[number].take().unwrap_or_else(begin);
        if matches!(place, Place::Sent { .. }) {
            self.operations[number] = Some((token, place));
            return;
        }
        let now = self.now();
        let sent = self.places().filter(|place| matches!(place, Place::Sent { .. })).count();
        let free = (self.limit() as usize).saturating_sub(sent);
        let is_kept = self.strategy.limiter().in_flight() as usize > sent;
        let turn = if let Place::Waits { turn, .. } = place { turn } else { u32::MAX };
        let ahead = self.places().filter_map(|place| match place {
            Place::Waits { turn: other, asks_at } if other < turn => Some(asks_at),
            _ => None,
        });
        let ahead: Vec<u64> = ahead.collect();
        // Those who need not ask yet are waited for. Those who are late are not, after a quarter of a second at most.
        let in_time = ahead.iter().filter(|asks_at| **asks_at >= now).count();
        let not_over = ahead.iter().filter(|asks_at| **asks_at + 250 >= now).count();
        let (wait, place) = match self.strategy.ready(&mut token, &self.clock, None).wait() {
            None => {
                assert!(now >= self.paused_until.0, "it is sent in a pause");
                let can_be_kept = is_kept && turn != u32::MAX;
                assert!(
                    free > in_time || can_be_kept,
                    "it is sent although {in_time} are ahead of it for {free} slots"
                );
                (0, Place::Sent { others: self.strategy.limiter().in_flight() - 1, cuts: self.cuts })
            }
            Some(wait) => {
                let wait = u64::try_from(wait.as_millis()).unwrap();
                let is_free = free > not_over + usize::from(is_kept) && now >= self.paused_until.1;
                assert!(!is_free, "it waits although {free} slots are free and {not_over} are ahead of it");
                self.turns += u32::from(turn == u32::MAX);
                let turn = if turn == u32::MAX { self.turns } else { turn };
                (wait, Place::Waits { turn, asks_at: now + wait })
            }
        };
        assert!(wait <= 100, "an operation asks again after 100 ms, not after {wait} ms");
        self.operations[number] = Some((token, place));
    }

    fn answer(&mut self, number: usize, outcome: Outcome) {
        let Some((token, place)) = self.operations[number].take() else { return };
        let Place::Sent { others, cuts } = place else {
            self.operations[number] = Some((token, place));
            return;
        };
        let is_used_up = self.strategy.limiter().in_flight() >= self.limit();
        match outcome {
            Outcome::Success => {
                self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
                if is_used_up {
                    self.size += if self.is_starting { 1.0 } else { 1.0 / self.size };
                    self.size = self.size.min(f64::from(self.most));
                }
                (self.in_a_row, self.paused_until) = (0, (0, 0));
            }
            Outcome::Failure => {
                let failure = Failure::of(&Failed::FATAL);
                self.strategy.refresh_retry_token(token, &failure, &self.clock).unwrap_err();
                (self.in_a_row, self.paused_until) = (0, (0, 0));
            }
            Outcome::Rejection(wait) => {
                let failure = Failure::of(&Failed::THROTTLED.after(millis(wait)));
                let next = self.strategy.refresh_retry_token(token, &failure, &self.clock).unwrap();
                let delay = next.delay();
                assert!(delay >= millis(wait) && delay <= millis(wait).mul_f64(1.1), "{delay:?} of {wait} ms");
                self.operations[number] = Some((next, Place::New));
                if cuts == self.cuts {
                    self.cut(others, u64::try_from(delay.as_nanos().div_ceil(1_000_000)).unwrap());
                }
            }
        }
    }

    /// A rejection that counts.
    fn cut(&mut self, others: u32, wait: u64) {
        if self.limit() == 1 {
            let pause = (50 * 2_u64.pow(self.in_a_row.min(10).unsigned_abs())).min(5_000);
            let until = |pause: u64| self.now() + pause.max(wait);
            self.paused_until = (until(pause / 2).saturating_sub(1), until(pause));
        }
        let factor = if self.in_a_row == 0 { 0.95 } else { 0.5 };
        self.size = (factor * self.size.min(f64::from(others))).max(1.0);
        // After a request that was alone, the search for the limit begins again.
        self.is_starting = others == 0;
        self.in_a_row += 1;
        self.cuts += 1;
    }

    fn leave(&mut self, number: usize) {
        if let Some((token, _)) = self.operations[number].take() {
            self.strategy.release(token);
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => self.clock.advance(millis(time)),
            Step::Ask(number) => self.ask(number),
            Step::AskAll(from, count) => (from..from + count).for_each(|number| self.ask(number % 24)),
            Step::Answer(number, outcome) => self.answer(number, outcome),
            Step::Leave(number) => self.leave(number),
        }
        self.in_flight();
        let limit = self.strategy.limiter().limit();
        assert!(limit.is_none_or(|limit| limit == self.limit()), "{limit:?} slots instead of {}", self.size);
    }

    /// All operations go away, and no slot is in use.
    fn end(&mut self) {
        (0..24).for_each(|number| self.leave(number));
        assert_eq!(self.strategy.limiter().in_flight(), 0);
        self.clock.advance(secs(20));
        (0..self.limit().min(24)).for_each(|number| self.ask(number as usize));
        assert_eq!(self.strategy.limiter().in_flight(), self.limit().min(24));
    }
}

// Rules I6, I7, I8, I9, I10, I11, A12, A13, L7.
#[test]
fn no_slot_is_lost_or_given_twice_and_the_window_follows_the_rules() {
    let most = prop_oneof![1 => Just(1_u32), 2 => 2..12_u32, 2 => Just(u32::MAX)];
    check(file!(), 1000, (most, vec(steps(), 1..150)), |(most, steps)| {
        let mut world = World::new(most);
        each(steps, |step| world.step(step));
        world.end();
    });
}
