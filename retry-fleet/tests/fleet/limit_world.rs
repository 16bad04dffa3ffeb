//! Processes that share the limit of a server, in steps of a millisecond.

use crate::millis::{At, at};
use retry_core::{Failure, RetryDirective, RetryErrorType, RetryStrategy, Success};
use retry_fleet::Member;
use retry_fleet::protocol::Reply;
use retry_fleet::store::MemoryStore;
use retry_limits::{PacedRetryStrategy, PacedRetryToken};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// As much as the process can send.
pub(crate) const GREEDY: u32 = u32::MAX;

/// The time from a request to its answer, and from a call of the store to its reply, in milliseconds.
const ROUND_TRIP: u64 = 20;
const STORE: u64 = 5;
/// The time after which the process gives up a call, in milliseconds.
const DEADLINE: u64 = 1_000;

/// What was accepted and rejected of each process, by seconds.
pub(crate) struct Counts(Vec<Vec<(u32, u32)>>);

impl Counts {
    /// Returns the sums of these seconds.
    pub(crate) fn of_each(&self, seconds: Range<usize>) -> Vec<(u32, u32)> {
        let mut sums = vec![(0, 0); self.0[0].len()];
        for second in &self.0[seconds] {
            for (sum, (accepted, rejected)) in sums.iter_mut().zip(second) {
                *sum = (sum.0 + accepted, sum.1 + rejected);
            }
        }
        sums
    }
}

/// A server with a token bucket, and its clients.
pub(crate) struct World<'a> {
    processes: usize,
    rate: f64,
    burst: f64,
    wants: Box<dyn Fn(usize, u64) -> u32 + 'a>,
    is_cut_off: Box<dyn Fn(usize, u64) -> bool + 'a>,
    has_crashed: Box<dyn Fn(usize, u64) -> bool + 'a>,
    emptied_at: Vec<u64>,
    later: Vec<(u64, f64)>,
    slow: Range<u64>,
}

impl<'a> World<'a> {
    /// Creates processes that send as much as they can.
    pub(crate) fn new(processes: usize, rate: f64) -> Self {
        Self {
            processes,
            rate,
            burst: 1.0,
            wants: Box::new(|_, _| GREEDY),
            is_cut_off: Box::new(|_, _| false),
            has_crashed: Box::new(|_, _| false),
            emptied_at: Vec::new(),
            later: Vec::new(),
            slow: 0..0,
        }
    }

    /// Sets how much of its rate the server saves up, in seconds. The default is one.
    pub(crate) fn burst(self, burst: f64) -> Self {
        Self { burst, ..self }
    }

    /// Sets how many requests of a process come in a millisecond.
    pub(crate) fn wants(self, wants: impl Fn(usize, u64) -> u32 + 'a) -> Self {
        Self { wants: Box::new(wants), ..self }
    }

    /// Sets which process does not reach the store in a second.
    pub(crate) fn cut_off(self, is_cut_off: impl Fn(usize, u64) -> bool + 'a) -> Self {
        Self { is_cut_off: Box::new(is_cut_off), ..self }
    }

    /// Sets which process does not run in a second.
    pub(crate) fn crash(self, has_crashed: impl Fn(usize, u64) -> bool + 'a) -> Self {
        Self { has_crashed: Box::new(has_crashed), ..self }
    }

    /// Empties the store at a time, in milliseconds. Of the processes that call then, the first one has the lowest number.
    pub(crate) fn empty_the_store_at(mut self, time: u64) -> Self {
        self.emptied_at.push(time);
        self
    }

    /// Sets another rate of the server from a second on, and until the next one.
    pub(crate) fn later(mut self, second: u64, rate: f64) -> Self {
        self.later.push((second, rate));
        self
    }

    /// Lets the store take each call, but answer only after the process has given it up, in these seconds.
    pub(crate) fn slow(self, seconds: Range<u64>) -> Self {
        Self { slow: seconds, ..self }
    }

    pub(crate) fn run(self, seconds: usize) -> Counts {
        let (mut store, mut tokens) = (MemoryStore::new(), self.burst * self.rate);
        let mut processes: Vec<_> = (0..self.processes).map(Process::new).collect();
        let mut counts = vec![vec![(0, 0); self.processes]; seconds];
        for now in 0..seconds as u64 * 1_000 {
            let second = now / 1_000;
            if self.emptied_at.contains(&now) {
                store.forget();
            }
            let rate = self.later.iter().rfind(|(from, _)| second >= *from).map_or(self.rate, |(_, rate)| *rate);
            tokens = (tokens + rate / 1_000.0).min(self.burst * rate);
            for (number, process) in processes.iter_mut().enumerate() {
                process.take_answers(now);
                if (self.has_crashed)(number, second) {
                    continue;
                }
                process.call(now, &mut store, (self.is_cut_off)(number, second), self.slow.contains(&second));
                process.want((self.wants)(number, now), now);
                while process.may_send(now) {
                    let is_accepted = tokens >= 1.0;
                    if is_accepted {
                        tokens -= 1.0;
                    }
                    let (accepted, rejected) = &mut counts[usize::try_from(second).unwrap()][number];
                    *(if is_accepted { accepted } else { rejected }) += 1;
                    process.send(is_accepted, now);
                    if (self.wants)(number, now) == GREEDY {
                        process.want(GREEDY, now);
                    }
                }
            }
        }
        Counts(counts)
    }
}

struct Process {
    member: Member,
    strategy: Arc<PacedRetryStrategy>,
    waiting: VecDeque<PacedRetryToken>,
    /// Requests under way: when the answer comes, and whether it is good.
    sent: VecDeque<(u64, PacedRetryToken, bool)>,
    /// A call of the store under way. `None` for a reply that never comes.
    called: Option<(u64, Option<Reply>)>,
}

impl Process {
    fn new(number: usize) -> Self {
        let strategy = Arc::new(PacedRetryStrategy::new());
        let member = Member::new("orders", format!("p{number}"), at(0)).limit(Arc::clone(&strategy));
        Self { member, strategy, waiting: VecDeque::new(), sent: VecDeque::new(), called: None }
    }

    fn take_answers(&mut self, now: u64) {
        while self.sent.front().is_some_and(|(time, ..)| *time <= now)
            && let Some((_, token, is_good)) = self.sent.pop_front()
        {
            if is_good {
                self.strategy.record_success(token, &Success::default(), &At(now)).unwrap();
            } else {
                let throttled = RetryDirective::fail(Some(RetryErrorType::Throttling));
                let failure = Failure::from_directive(throttled);
                self.strategy.refresh_retry_token(token, &failure, &At(now)).unwrap_err();
            }
        }
    }

    fn call(&mut self, now: u64, store: &mut MemoryStore, is_cut_off: bool, is_slow: bool) {
        if let Some((_, reply)) = self.called.take_if(|(time, _)| *time <= now) {
            match reply {
                Some(reply) => self.member.answered(at(now), &reply),
                None => self.member.unanswered(at(now), &"no answer"),
            }
        }
        if self.called.is_none() && self.member.next_call_at() <= at(now) {
            let call = self.member.call(at(now), false);
            let reply = (!is_cut_off).then(|| store.call(now, &call));
            self.called = Some(if is_slow { (now + DEADLINE, None) } else { (now + STORE, reply) });
        }
    }

    /// Lets requests come. A greedy process always has one that waits.
    fn want(&mut self, requests: u32, now: u64) {
        let requests = if requests == GREEDY { u32::from(self.waiting.is_empty()) } else { requests };
        for _ in 0..requests {
            self.waiting.push_back(self.strategy.acquire_initial_token(&At(now)).unwrap());
        }
    }

    fn may_send(&mut self, now: u64) -> bool {
        let Some(token) = self.waiting.front_mut() else { return false };
        self.strategy.ready(token, &At(now), None).wait().is_none()
    }

    fn send(&mut self, is_accepted: bool, now: u64) {
        if let Some(token) = self.waiting.pop_front() {
            self.sent.push_back((now + ROUND_TRIP, token, is_accepted));
        }
    }
}
