//! One limit for many processes, against a server that accepts so many requests in a second.

use crate::support::at;
use retry_core::time::Timestamp;
use retry_core::{Clock, Failure, PacedRetryStrategy, RetryDirective, RetryErrorType, RetryStrategy, Success};
use retry_fleet::Member;
use retry_fleet::store::MemoryStore;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A process that has more to send than it may.
struct Sender {
    member: Member,
    strategy: Arc<PacedRetryStrategy>,
    waiting: retry_core::strategy::PacedRetryToken,
    /// The time between two requests that it wants to send, in milliseconds, and the time of the next one.
    interval: u64,
    /// The seconds in which it has nothing to send.
    idle: Range<u64>,
    next_at: u64,
    accepted: u32,
    rejected: u32,
}

/// A token bucket.
struct Server {
    rate: f64,
    tokens: f64,
    now: u64,
}

impl Server {
    fn accepts(&mut self, now: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "they are small")]
        let passed = (now - self.now) as f64 / 1_000.0;
        self.tokens = (self.tokens + passed * self.rate).min(self.rate);
        self.now = now;
        let accepts = self.tokens >= 1.0;
        if accepts {
            self.tokens -= 1.0;
        }
        accepts
    }
}

const ROUND_TRIP: u64 = 20;
const STORE: u64 = 5;

/// Lets the processes send for some seconds, and returns what was accepted and rejected of each in the last 30 s.
fn run(processes: usize, rate: f64, seconds: u64, store_is_away: Range<u64>) -> Vec<(u32, u32)> {
    run_with(&vec![(0, 0..0); processes], rate, seconds, store_is_away)
}

/// Lets processes send that want to send at these intervals, in milliseconds, but not between these seconds. 0 is as much as
/// they can.
fn run_with(wanted: &[(u64, Range<u64>)], rate: f64, seconds: u64, store_is_away: Range<u64>) -> Vec<(u32, u32)> {
    let processes = wanted.len();
    let mut store = MemoryStore::new();
    let mut server = Server { rate, tokens: rate, now: 0 };
    let mut senders: Vec<_> = (0..processes)
        .map(|number| {
            let strategy = Arc::new(PacedRetryStrategy::new());
            let member = Member::new("orders", format!("p{number}"), at(0)).limit(Arc::clone(&strategy));
            let waiting = strategy.acquire_initial_token(&At(at(0))).unwrap();
            let (interval, idle) = wanted[number].clone();
            Sender { member, strategy, waiting, interval, idle, next_at: 0, accepted: 0, rejected: 0 }
        })
        .collect();
    // Answers of the server and of the store, by their time.
    let mut answers = BinaryHeap::new();
    let (mut tokens, mut replies) = (Vec::new(), Vec::new());
    let mut busy = vec![false; processes];
    for now in 0..seconds * 1_000 {
        while answers.peek().is_some_and(|Reverse((time, _, _, _))| *time <= now) {
            let Some(Reverse((_, kind, number, index))) = answers.pop() else { unreachable!() };
            let sender: &mut Sender = &mut senders[number];
            if kind == 0 {
                let (token, accepted): &mut (Option<_>, bool) = &mut tokens[index];
                let token = token.take().unwrap();
                let is_counted = now >= seconds.saturating_sub(30) * 1_000;
                if *accepted {
                    sender.strategy.record_success(token, &Success::default(), &At(at(now))).unwrap();
                    sender.accepted += u32::from(is_counted);
                } else {
                    let throttled = RetryDirective::fail(Some(RetryErrorType::Throttling));
                    let failure = Failure::from_directive(throttled);
                    sender.strategy.refresh_retry_token(token, &failure, &At(at(now))).unwrap_err();
                    sender.rejected += u32::from(is_counted);
                }
            } else {
                busy[number] = false;
                let reply: &Option<_> = &replies[index];
                match reply {
                    Some(reply) => sender.member.answered(at(now), reply),
                    None => sender.member.unanswered(at(now), &"no answer"),
                }
            }
        }
        for (number, sender) in senders.iter_mut().enumerate() {
            if !busy[number] && sender.member.next_call_at() <= at(now) {
                busy[number] = true;
                let call = sender.member.call(at(now), false);
                let is_away = store_is_away.contains(&(now / 1_000));
                replies.push((!is_away).then(|| store.call(now, &call)));
                answers.push(Reverse((now + STORE, 1, number, replies.len() - 1)));
            }
            while sender.next_at <= now
                && !sender.idle.contains(&(now / 1_000))
                && sender.strategy.ready(&mut sender.waiting, &At(at(now)), None).wait().is_none()
            {
                sender.next_at += sender.interval;
                let next = sender.strategy.acquire_initial_token(&At(at(now))).unwrap();
                let token = std::mem::replace(&mut sender.waiting, next);
                tokens.push((Some(token), server.accepts(now)));
                answers.push(Reverse((now + ROUND_TRIP, 0, number, tokens.len() - 1)));
            }
        }
    }
    senders.into_iter().map(|sender| (sender.accepted, sender.rejected)).collect()
}

/// Returns the share that was rejected, Jain's index of fairness, and the part of the limit that was used.
fn outcome(counts: &[(u32, u32)], rate: f64) -> (f64, f64, f64) {
    let accepted: f64 = counts.iter().map(|(accepted, _)| f64::from(*accepted)).sum();
    let rejected: f64 = counts.iter().map(|(_, rejected)| f64::from(*rejected)).sum();
    let squares: f64 = counts.iter().map(|(accepted, _)| f64::from(*accepted).powi(2)).sum();
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let fairness = accepted * accepted / (counts.len() as f64 * squares);
    (rejected / (accepted + rejected), fairness, accepted / (30.0 * rate))
}

// Rules F8, F9.
#[test]
fn many_processes_share_a_limit_fairly_and_are_hardly_rejected() {
    for (processes, rate) in [(1, 100.0), (10, 500.0), (100, 500.0)] {
        let (rejected, fairness, used) = outcome(&run(processes, rate, 90, 0..0), rate);
        let outcome = format!("{processes} processes: {rejected} rejected, fairness {fairness}, {used} used");
        assert!(rejected < 0.02 && fairness > 0.98 && used > 0.97, "{outcome}");
    }
}

// Rule F10.
#[test]
fn while_the_store_is_lost_each_process_keeps_its_share_of_the_estimate() {
    let (rejected, fairness, used) = outcome(&run(100, 500.0, 90, 65..85), 500.0);
    let outcome = format!("{rejected} rejected, fairness {fairness}, {used} used");
    println!("{outcome}");
    assert!(rejected < 0.05 && fairness > 0.98 && used > 0.95, "{outcome}");
}

// Rule F9.
#[test]
fn processes_that_want_less_leave_the_rest_to_the_others() {
    // Three want 5, 10 and 20 per second, and two as much as they can.
    let counts = run_with(&[200, 100, 50, 0, 0].map(|interval| (interval, 0..0)), 100.0, 60, 0..0);
    let accepted: Vec<_> = counts.iter().map(|(accepted, _)| f64::from(*accepted) / 30.0).collect();
    for (accepted, wanted) in accepted.iter().zip([5.0, 10.0, 20.0, 32.5, 32.5]) {
        assert!((accepted / wanted - 1.0).abs() < 0.06, "{accepted} instead of {wanted}");
    }
}

// Rule F9.
#[test]
fn processes_that_begin_to_send_at_the_same_moment_do_not_all_take_the_rest() {
    // One is busy from the start, and the others have nothing to send for 35 s.
    let mut wanted = vec![(0, 0..35); 25];
    wanted[0] = (0, 0..0);
    let (rejected, _, used) = outcome(&run_with(&wanted, 100.0, 60, 0..0), 100.0);
    assert!(rejected < 0.05 && used > 0.97, "{rejected} rejected, {used} used");
}

// Rule F8.
#[test]
fn a_fleet_that_was_idle_goes_on_from_its_estimate() {
    let (rejected, _, used) = outcome(&run_with(&vec![(0, 20..35); 8], 100.0, 50, 0..0), 100.0);
    // A half of the 30 s that count, and the burst that the server has saved up.
    assert!(rejected < 0.03 && (0.5..0.55).contains(&used), "{rejected} rejected, {used} used");
}

// Rule F9.
#[test]
fn before_its_first_answer_a_process_sends_ten_requests_per_second() {
    let counts = run(3, 1_000.0, 2, 0..2);
    assert!(counts.iter().all(|(accepted, _)| (18..=20).contains(accepted)), "{counts:?}");
    // The store is lost after three seconds, and the process has an estimate of its own.
    let counts = run(1, 1_000.0, 12, 0..12);
    assert!(counts[0].0 > 5_000, "{counts:?}");
}
