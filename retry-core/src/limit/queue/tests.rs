//! Invariants of a queue after each step of any program.

use super::{SendQueue, SendSupply, Ticket, time_for};
use crate::time::{Latest, Observed, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

const NANO: Duration = Duration::from_nanos(1);
const START: Duration = Duration::from_secs(100_000);

/// Returns a time in nanoseconds.
const fn nanos(nanos: u64) -> Timestamp {
    Timestamp::from_origin(START).saturating_add(Duration::from_nanos(nanos))
}

const fn millis(millis: u64) -> Timestamp {
    nanos(1_000_000 * millis)
}

/// Returns a queue at this rate, without a send that is available.
fn queue(rate: f64) -> SendQueue<Counted> {
    let now = nanos(0);
    SendQueue::new(Counted { rate, sends: 0.0, filled: now, latest: Latest::new(now), came_in: 0.0, taken: 0 }, now)
}

/// Asks for a send. Returns the place, or `None` if the send is granted.
fn ask(queue: &mut SendQueue<Counted>, now: Timestamp) -> Option<Ticket> {
    let mut ticket = None;
    queue.ask(now, &mut ticket, ());
    ticket
}

// Rule A12.
#[test]
fn a_waiter_is_late_after_its_wait_and_passed_over_after_the_grace_period() {
    // At 100 sends per second, a wait is 10 ms, rounded up, and the grace period is the shortest one.
    const ASKS_AT: u64 = 10_000_001;
    for (now, is_kept, is_passed_over) in [
        (ASKS_AT, false, false),
        (ASKS_AT + 1, true, false),
        (ASKS_AT + 50_000_000, true, false),
        (ASKS_AT + 50_000_001, false, true),
    ] {
        let mut queue = queue(100.0);
        let first = ask(&mut queue, nanos(0));
        assert!(first.is_some());
        ask(&mut queue, nanos(now));
        assert_eq!(queue.kept.map(|kept| kept.ticket), first.filter(|_| is_kept), "{now}");
        let is_expected = queue.expected.iter().any(|waiter| Some(waiter.ticket) == first);
        assert_eq!(!is_kept && !is_expected, is_passed_over, "{now}");
    }
}

#[test]
fn late_waiters_are_searched_for_only_if_one_can_be_late() {
    // Without waiters, there is nothing to search for.
    let mut fast = queue(100.0);
    assert!(ask(&mut fast, millis(100)).is_none());
    assert_eq!(fast.search_at, nanos(0));
    // Nobody can be late before a grace period from now on.
    let mut fast = queue(100.0);
    assert!(ask(&mut fast, nanos(0)).is_some());
    assert_eq!(fast.search_at, nanos(0));
    assert!(ask(&mut fast, millis(1)).is_some());
    assert_eq!(fast.search_at, millis(51));
    assert!(ask(&mut fast, millis(51)).is_none());
    assert_eq!(fast.search_at, millis(51));
    // A waiter is 49.5 ms late, but there is at most one search in a millisecond.
    let mut fast = queue(100.0);
    assert!(ask(&mut fast, nanos(0)).is_some());
    ask(&mut fast, nanos(59_500_001));
    assert_eq!(fast.search_at, nanos(60_500_001));
    // One that is passed over does not matter any more.
    let mut fast = queue(100.0);
    assert!(ask(&mut fast, nanos(0)).is_some());
    ask(&mut fast, millis(61));
    assert_eq!(fast.search_at, millis(61 + 50));
    // At two sends per second, the grace period is longer by 450 ms.
    let mut slow = queue(2.0);
    assert!(ask(&mut slow, nanos(0)).is_some());
    for now in [millis(1), millis(450)] {
        assert!(ask(&mut slow, now).is_some());
        assert_eq!(slow.search_at, nanos(0));
    }
    assert!(ask(&mut slow, nanos(450_000_001)).is_some());
    // The first one was expected after 100 ms.
    assert_eq!(slow.search_at, millis(150));
}

// Rules A12, K3.
#[test]
fn late_waiters_are_searched_for_after_the_clock_was_set_back() {
    let mut queue = queue(100.0);
    assert!(ask(&mut queue, nanos(0)).is_some());
    let second = ask(&mut queue, millis(1));
    assert!(second.is_some());
    let earlier = Timestamp::from_origin(Duration::from_secs(1));
    let after = |millis| earlier.saturating_add(Duration::from_millis(millis));
    for millis in [0, 250] {
        ask(&mut queue, after(millis));
    }
    ask(&mut queue, after(400));
    // A send is kept for the first one.
    assert!(queue.expected.iter().all(|waiter| Some(waiter.ticket) != second), "it is late by 400 ms");
}

// Rule I2.
#[test]
fn the_last_operation_that_puts_its_send_back_is_the_first_one() {
    let mut queue = queue(100.0);
    let waiting = ask(&mut queue, nanos(0)).unwrap();
    assert!(ask(&mut queue, nanos(0)).unwrap() > waiting);
    let [mut first, mut second] = [None; 2];
    queue.limit.taken = 3;
    queue.put_back(&mut first, ());
    queue.put_back(&mut second, ());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(second < first && first < waiting);
    // The turn alone.
    let mut third = None;
    queue.keep_turn(&mut third);
    assert!(third.unwrap() < second);
    assert_eq!(queue.limit.taken, 1);
}

#[test]
fn sends_that_never_become_available_are_waited_for_forever() {
    assert_eq!(
        [time_for(1.0, 0.0), time_for(0.0, 1.0), time_for(1.0, 1e12)],
        [Duration::MAX, Duration::ZERO, Duration::ZERO]
    );
    assert_eq!(time_for(1.0, 100.0), Duration::from_millis(10) + NANO);
}

/// A limit at a rate that the program sets. It counts the sends that were taken and not given back.
#[derive(Debug)]
struct Counted {
    rate: f64,
    sends: f64,
    filled: Timestamp,
    latest: Latest,
    came_in: f64,
    taken: usize,
}

impl SendSupply for Counted {
    type Weight = ();

    fn observe(&mut self, now: Timestamp) -> Observed {
        let observed = self.latest.observe(now);
        if let Some(anchor) = observed.went_back_to {
            self.filled = self.filled.min(anchor);
        }
        observed
    }

    fn refill(&mut self, now: Timestamp) {
        let gained = now.saturating_since(self.filled).as_secs_f64() * self.rate;
        self.filled = self.filled.max(now);
        self.sends += gained;
        self.came_in += gained;
    }

    fn wait_for(&self, sends: f64) -> Duration {
        if self.sends >= sends { Duration::ZERO } else { time_for(sends - self.sends, self.rate) }
    }

    fn take(&mut self, (): ()) {
        self.sends -= 1.0;
        self.taken += 1;
    }

    fn give_back(&mut self, (): ()) {
        self.sends += 1.0;
        self.taken = self.taken.checked_sub(1).expect("it was taken before");
    }

    fn interval(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.rate)
    }
}

/// One step of a program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    SetBack(u64),
    /// An operation asks. If its send was granted before, it is made, and the next operation begins.
    Ask(usize),
    /// An operation is dropped, whether it waits or has its send.
    Leave(usize),
    Rate(f64),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..60_u64).prop_map(Step::Advance),
        1 => (0..12_000_u64).prop_map(Step::Advance),
        1 => (0..2_000_u64).prop_map(Step::SetBack),
        12 => (0..10_usize).prop_map(Step::Ask),
        2 => (0..10_usize).prop_map(Step::Leave),
        1 => prop_oneof![Just(0.5), Just(10.0), Just(300.0)].prop_map(Step::Rate),
    ]
}

#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    ticket: Option<Ticket>,
    is_granted: bool,
}

/// Checks what must be true after each step. `made` is the number of sends that were made.
fn check(queue: &SendQueue<Counted>, operations: &[Operation], made: usize) {
    let tickets: Vec<Ticket> = queue.expected.iter().map(|waiter| waiter.ticket).collect();
    assert!(tickets.is_sorted_by(|one, next| one < next), "the list is not sorted: {tickets:?}");
    let held: Vec<Ticket> = operations.iter().filter_map(|operation| operation.ticket).collect();
    let places: BTreeSet<Ticket> = held.iter().copied().collect();
    assert_eq!(places.len(), held.len(), "a place was issued twice: {held:?}");
    let kept = queue.kept.map(|kept| kept.ticket);
    assert!(kept.is_none_or(|kept| places.contains(&kept) && !tickets.contains(&kept)), "{kept:?}: {tickets:?}");
    assert!(tickets.iter().all(|ticket| places.contains(ticket)), "a place without an operation: {tickets:?}");
    assert!(places.last().is_none_or(|last| last.get() < queue.tickets.start));
    let granted = operations.iter().filter(|operation| operation.is_granted).count();
    assert!(operations.iter().all(|operation| !operation.is_granted || operation.ticket.is_none()));
    // Each send that was taken is made, granted or kept, and no other was taken.
    let limit = queue.limit();
    assert_eq!(limit.taken, made + granted + usize::from(kept.is_some()));
    assert!(limit.sends > -1e-6, "{} sends", limit.sends);
    let taken = f64::from(u32::try_from(limit.taken).unwrap());
    assert!((limit.came_in - taken - limit.sends).abs() < 1e-6, "{limit:?}");
}

/// Returns a configuration with 500 programs, or fewer under the slow Miri, or as many as `PROPTEST_CASES` says.
fn programs() -> ProptestConfig {
    let (config, default) = (ProptestConfig::default(), if cfg!(miri) { 20 } else { 500 });
    let is_set = env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if is_set { config.cases } else { default }, ..config }
}

proptest! {
    #![proptest_config(programs())]

    #[test]
    fn sends_and_places_are_conserved_in_any_program(steps in prop::collection::vec(steps(), 1..150)) {
        let mut now = Duration::from_secs(100_000);
        let at = Timestamp::from_origin;
        let limit =
            Counted { rate: 10.0, sends: 0.0, filled: at(now), latest: Latest::new(at(now)), came_in: 0.0, taken: 0 };
        let mut queue = SendQueue::new(limit, at(now));
        let mut operations = [Operation::default(); 10];
        let mut made = 0;
        for step in steps {
            match step {
                Step::Advance(time) => now += Duration::from_millis(time),
                Step::SetBack(time) => now -= Duration::from_millis(time),
                Step::Ask(number) => {
                    let operation = &mut operations[number];
                    made += usize::from(std::mem::take(&mut operation.is_granted));
                    let wait = queue.ask(at(now), &mut operation.ticket, ());
                    operation.is_granted = wait.is_none();
                    prop_assert!(wait.is_none_or(|wait| !wait.is_zero() && wait <= super::RECHECK));
                    prop_assert_eq!(operation.ticket.is_some(), wait.is_some());
                }
                Step::Leave(number) => {
                    let Operation { ticket, is_granted } = std::mem::take(&mut operations[number]);
                    queue.give_up(ticket, is_granted.then_some(()));
                }
                Step::Rate(rate) => {
                    let (limit, now) = queue.limit_at(at(now));
                    limit.refill(now);
                    limit.rate = rate;
                }
            }
            check(&queue, &operations, made);
        }
        for Operation { ticket, is_granted } in std::mem::take(&mut operations) {
            queue.give_up(ticket, is_granted.then_some(()));
        }
        check(&queue, &operations, made);
        prop_assert!(queue.is_empty(), "{queue:?}");
        prop_assert_eq!(queue.limit().taken, made);
    }
}
