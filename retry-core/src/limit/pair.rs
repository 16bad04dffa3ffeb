//! Two limits at once: a pair of limiters is a limiter.

use super::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use crate::policy::{RetryErrorType, Success, Usage};
use crate::time::Clock;

/// See [`LimitedRetryStrategy::with_limiter`](crate::strategy::LimitedRetryStrategy::with_limiter).
impl<A: SendLimiter, B: SendLimiter> SendLimiter for (A, B) {
    type Place = (A::Place, B::Place);

    fn begin(&self, clock: &dyn Clock) -> Self::Place {
        (self.0.begin(clock), self.1.begin(clock))
    }

    fn weigh(&self, place: &mut Self::Place, weight: u32) {
        self.0.weigh(&mut place.0, weight);
        self.1.weigh(&mut place.1, weight);
    }

    fn used(&self, place: &mut Self::Place, usage: Usage) {
        self.0.used(&mut place.0, usage);
        self.1.used(&mut place.1, usage);
    }

    fn must_ask(&self, place: &Self::Place) -> bool {
        self.0.must_ask(&place.0) || self.1.must_ask(&place.1)
    }

    fn ask(&self, place: &mut Self::Place, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        if self.0.must_ask(&place.0)
            && let Some(wait) = self.0.ask(&mut place.0, clock, waker).wait()
        {
            return Ready::After(wait);
        }
        if self.1.must_ask(&place.1)
            && let Some(wait) = self.1.ask(&mut place.1, clock, waker).wait()
        {
            self.0.put_back(&mut place.0);
            return Ready::After(wait);
        }
        Ready::Now
    }

    fn put_back(&self, place: &mut Self::Place) {
        self.0.put_back(&mut place.0);
        self.1.put_back(&mut place.1);
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.0.rejects(error_type) || self.1.rejects(error_type)
    }

    fn succeeded(&self, place: &mut Self::Place, success: &Success, clock: &dyn Clock) {
        self.0.succeeded(&mut place.0, success, clock);
        self.1.succeeded(&mut place.1, success, clock);
    }

    fn failed(&self, place: &mut Self::Place, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let first = self.0.failed(&mut place.0, failure.seen_by(&self.0), clock);
        let second = self.1.failed(&mut place.1, failure.seen_by(&self.1), clock);
        match (first, second) {
            (Some(first), Some(second)) => Some(Unpaid {
                delay: first.delay.zip(second.delay).map(|(first, second)| first.max(second)),
                is_over: first.is_over || second.is_over,
                holds_too_long: first.holds_too_long || second.holds_too_long,
            }),
            (terms, None) | (None, terms) => terms,
        }
    }

    fn uncounted(&self, place: &Self::Place) -> u32 {
        self.0.uncounted(&place.0).max(self.1.uncounted(&place.1))
    }

    fn release(&self, place: &mut Self::Place) {
        self.0.release(&mut place.0);
        self.1.release(&mut place.1);
    }

    /// Returns the lower one of two rates.
    fn send_rate(&self) -> Option<f64> {
        match (self.0.send_rate(), self.1.send_rate()) {
            (Some(first), Some(second)) => Some(first.min(second)),
            (rate, None) | (None, rate) => rate,
        }
    }
}

impl FailedSend {
    /// Returns the failure as one limiter of a pair sees it. The two can treat different failures as rejections.
    fn seen_by(self, limiter: &impl SendLimiter) -> Self {
        match self {
            Self::Rejected { error_type, .. } if !limiter.rejects(error_type) => Self::Otherwise,
            failure => failure,
        }
    }
}
