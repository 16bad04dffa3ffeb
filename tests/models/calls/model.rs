//! What the rules say about a call. It calculates the course of events, and waits for nothing.

use super::{Attempt, Call, Outcome, Settings};
use crate::script::{Error, judge};
use crate::support::millis;
use retry_core::RetryErrorType::{Conflict, Throttling, Timeout};
use retry_core::{RetryDirective, RetryError, RetryErrorType, TimeLimit, TimedOut};

/// The end of a call that was not dropped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) attempts: u32,
    pub(super) reason: Option<RetryError>,
    pub(super) at: u64,
}

#[derive(Debug)]
pub(super) struct Model {
    settings: Settings,
    pub(super) balances: [u32; 2],
    pub(super) is_on: bool,
    pub(super) begun: Vec<(usize, usize, u64)>,
}

/// The points in time of one call, and what it knows.
struct Course<'a> {
    depth: usize,
    call: &'a Call,
    limit: u64,
    /// The error if the limit is over before any outcome.
    over: TimedOut,
    stop: u64,
    /// The call is dropped then, after what happens at the same time.
    dropped: u64,
    last: Option<Outcome>,
    paid: u32,
    attempts: usize,
    /// The number of retries after a conflict.
    conflicts: usize,
}

/// How an attempt ends.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Outcome(u64, Outcome),
    /// The limit of the call cuts it.
    Over,
    Dropped,
}

/// What is worth a retry: the class, and the wait that the server asks for.
#[derive(Clone, Copy, Debug)]
struct Failure {
    class: RetryErrorType,
    hint: Option<u64>,
}

fn failure(outcome: &Outcome) -> Option<Failure> {
    match judge(outcome) {
        RetryDirective::Retry { error_type, retry_after, .. } => {
            Some(Failure { class: error_type, hint: retry_after.map(|it| u64::try_from(it.as_millis()).unwrap()) })
        }
        _ => None,
    }
}

const fn succeeds(outcome: &Outcome) -> bool {
    matches!(outcome, Ok(1..))
}

impl Course<'_> {
    /// Returns the end of the call at this time.
    fn end(&self, at: u64, reason: Option<RetryError>) -> End {
        let outcome = self.last.unwrap_or(Err(Error::TimedOut(self.over)));
        End { outcome, attempts: u32::try_from(self.attempts).unwrap(), reason, at }
    }
}

impl Model {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, balances: settings.capacities, is_on: true, begun: Vec::new() }
    }

    pub(super) fn spend(&mut self, amount: u32) -> bool {
        let is_paid = amount <= self.balances[0];
        self.balances[0] -= if is_paid { amount } else { 0 };
        is_paid
    }

    fn refund(&mut self, depth: usize, amount: u32) {
        let depth = depth.min(1);
        self.balances[depth] = self.settings.capacities[depth].min(self.balances[depth] + amount);
    }

    /// Returns the end of a call, or `None` if it is dropped before.
    pub(super) fn call(&mut self, depth: usize, call: &Call, start: u64, dropped: u64) -> Option<End> {
        let max_time = call.max_time.map(|time| (time, TimeLimit::Operation));
        let deadline = call.deadline.map(|time| (time.max(0).unsigned_abs(), TimeLimit::Deadline));
        let first = [max_time, deadline].into_iter().flatten().min_by_key(|(time, _)| *time);
        let (time, name) = first.unwrap_or((1 << 40, TimeLimit::Operation));
        let mut course = Course {
            depth,
            call,
            limit: start + time,
            over: TimedOut::new(name, millis(time)),
            stop: call.stop.map_or(u64::MAX, |time| start + time),
            dropped,
            last: None,
            paid: 0,
            attempts: 1,
            conflicts: 0,
        };
        let mut ending = match self.hedge_at(&course, start) {
            Some(at) => match self.race(&mut course, start, at) {
                Ok((at, failure)) => self.after_failure(&mut course, at, failure),
                Err(end) => return end,
            },
            None => Ok(start),
        };
        loop {
            let now = match ending {
                Ok(now) => now,
                Err(end) => return end,
            };
            match self.attempt(&course, course.attempts, now) {
                Ending::Dropped => return None,
                Ending::Over => return Some(course.end(course.limit, Some(RetryError::MaxTime))),
                Ending::Outcome(at, outcome) => {
                    course.last = Some(outcome);
                    if succeeds(&outcome) {
                        let is_first = course.attempts == 1;
                        let of_retry = if self.settings.refunds_last_cost { course.paid } else { 1 };
                        self.refund(depth, if is_first { 1 } else { of_retry });
                        return Some(course.end(at, None));
                    }
                    let Some(failure) = failure(&outcome) else {
                        return Some(course.end(at, Some(RetryError::NotRetryable)));
                    };
                    ending = self.after_failure(&mut course, at, failure);
                }
            }
        }
    }

    /// Begins an attempt.
    fn attempt(&mut self, course: &Course<'_>, number: usize, now: u64) -> Ending {
        self.begun.push((course.depth, number, now));
        let own = course.call.attempt_timeout.map_or(u64::MAX, |time| now + time);
        let cut = own.min(course.limit);
        let ready = match course.call.attempt(number) {
            Attempt::Takes(time, outcome) => Some((now + time, *outcome)),
            Attempt::Calls(inner) => {
                self.call(course.depth + 1, inner, now, cut.min(course.dropped)).map(|end| (end.at, end.outcome))
            }
        };
        match ready.filter(|(at, _)| *at <= cut.min(course.dropped)) {
            Some((at, outcome)) => Ending::Outcome(at, outcome),
            None if course.dropped < cut => Ending::Dropped,
            None if cut == course.limit => Ending::Over,
            None => {
                let time = millis(course.call.attempt_timeout.unwrap());
                Ending::Outcome(cut, Err(Error::TimedOut(TimedOut::new(TimeLimit::Attempt, time))))
            }
        }
    }

    /// Decides on a retry. Returns when its attempt begins, or the end.
    fn after_failure(&mut self, course: &mut Course<'_>, now: u64, failure: Failure) -> Result<u64, Option<End>> {
        let refused = |course: &Course<'_>, reason| Err(Some(course.end(now, Some(reason))));
        let depth = course.depth.min(1);
        if course.stop < now {
            return refused(course, RetryError::Stopped);
        }
        if depth == 0 && !self.is_on {
            return refused(course, RetryError::Disabled);
        }
        if course.attempts >= self.settings.max_attempts as usize {
            return refused(course, RetryError::MaxAttempts);
        }
        if failure.hint > Some(1_000) {
            return refused(course, RetryError::RetryAfterTooLong);
        }
        let (base, retry) = match failure.class {
            Conflict => (20, course.conflicts),
            _ => (100, course.attempts - 1 - course.conflicts),
        };
        let delay = (base << retry).min(500).max(failure.hint.unwrap_or(0));
        if delay > course.limit - now {
            return refused(course, RetryError::MaxTime);
        }
        let cost = match failure.class {
            Timeout => 10,
            Conflict => 0,
            _ => 5,
        };
        let is_paid = cost <= self.balances[depth];
        let wait = if is_paid || course.call.long_polling { delay } else { 0 };
        // A wait ends when the call is stopped or dropped.
        let end = now + wait;
        let (is_stopped, is_dropped) = (course.stop < end, course.dropped < end.min(course.stop));
        if !is_paid && wait == 0 {
            return refused(course, RetryError::QuotaExhausted);
        }
        if is_dropped {
            return Err(None);
        }
        if is_stopped {
            return Err(Some(course.end(course.stop, Some(RetryError::Stopped))));
        }
        if !is_paid {
            return Err(Some(course.end(end, Some(RetryError::QuotaExhausted))));
        }
        self.balances[depth] -= cost;
        course.paid = cost;
        course.attempts += 1;
        course.conflicts += usize::from(failure.class == Conflict);
        Ok(end)
    }

    /// Returns when a hedge is sent, if it is.
    fn hedge_at(&self, course: &Course<'_>, start: u64) -> Option<u64> {
        let at = start + course.call.hedge?;
        let Attempt::Takes(time, _) = course.call.attempt(1) else { panic!("a hedged attempt that calls") };
        let is_answered = time.min(&course.call.attempt_timeout.unwrap_or(u64::MAX)) + start <= at;
        let is_over = course.limit <= at || course.dropped < at || course.stop < at;
        let (balance, capacity) = (self.balances[0], self.settings.capacities[0]);
        let is_sold = self.is_on && self.settings.max_attempts > 1 && 2 * balance >= capacity && balance >= 5;
        (is_sold && !is_answered && !is_over).then_some(at)
    }

    /// Runs both attempts. Returns the failure that is worth a retry and its time, or the end.
    fn race(&mut self, course: &mut Course<'_>, start: u64, at: u64) -> Result<(u64, Failure), Option<End>> {
        self.balances[0] -= 5;
        course.attempts = 2;
        let endings = [self.attempt(course, 1, start), self.attempt(course, 2, at)];
        let mut ended: Vec<_> = endings
            .into_iter()
            .enumerate()
            .filter_map(|(number, ending)| match ending {
                Ending::Outcome(at, outcome) => Some((at, number, outcome)),
                _ => None,
            })
            .collect();
        // Of what happens at the same time, an outcome comes before the end of a time limit.
        ended.sort_by_key(|(at, number, outcome)| (*at, matches!(outcome, Err(Error::TimedOut(_))), *number));
        let mut failures = Vec::new();
        for (at, number, outcome) in &ended {
            let is_hedge = *number == 1;
            if succeeds(outcome) {
                course.last = Some(*outcome);
                self.refund(0, if is_hedge && self.settings.refunds_last_cost { 5 } else { 1 });
                return Err(Some(course.end(*at, None)));
            }
            match failure(outcome) {
                Some(failure) => {
                    course.last = Some(*outcome);
                    failures.push(failure);
                }
                None if is_hedge => {}
                None => {
                    course.last = Some(*outcome);
                    return Err(Some(course.end(*at, Some(RetryError::NotRetryable))));
                }
            }
        }
        if ended.len() < 2 {
            let is_dropped = course.dropped < course.limit;
            return Err((!is_dropped).then(|| course.end(course.limit, Some(RetryError::MaxTime))));
        }
        // The worse class and the longer wait.
        let rank = |failure: &Failure| match failure.class {
            Throttling => 3,
            Timeout => 2,
            Conflict => 0,
            _ => 1,
        };
        let worse = failures.iter().max_by_key(|failure| rank(failure)).unwrap();
        let hint = failures.iter().filter_map(|failure| failure.hint).max();
        Ok((ended[1].0, Failure { class: worse.class, hint }))
    }
}
