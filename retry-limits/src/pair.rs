//! Two limits at once: a pair of limiters is a limiter.

use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::policy::{RetryErrorType, Success, Usage};
use retry_core::time::Clock;

/// Two limiters as one: an attempt is sent when both permit it.
///
/// ```
/// use retry_core::StandardRetryStrategy;
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_limits::{PacedLimiter, Pair};
///
/// // All calls of an account share a limit, and a table has a separate one.
/// static ACCOUNT: PacedLimiter = PacedLimiter::new();
/// static TABLE: LimitedRetryStrategy<Pair<PacedLimiter, &PacedLimiter>> =
///     LimitedRetryStrategy::with_limiter(
///         StandardRetryStrategy::new(),
///         Pair(PacedLimiter::new(), &ACCOUNT),
///     );
/// ```
///
/// The first limiter is asked first. If the second one makes the attempt wait, the permission of the first one is [put
/// back](SendLimiter::put_back). So an operation that waits holds no permission, and pairs of the same limiters in
/// another order don't block each other. Both learn from each outcome. If one of them grants a retry without backoff and
/// cost, the retry has none. If both set a delay, the longer one is used.
///
/// Three limiters are a pair with a pair in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair<A, B>(pub A, pub B);

impl<A: SendLimiter, B: SendLimiter> SendLimiter for Pair<A, B> {
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
            && let waits = self.0.ask(&mut place.0, clock, waker)
            && waits.wait().is_some()
        {
            return waits;
        }
        if self.1.must_ask(&place.1)
            && let waits = self.1.ask(&mut place.1, clock, waker)
            && waits.wait().is_some()
        {
            self.0.put_back(&mut place.0);
            return waits;
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
        let first = self.0.failed(&mut place.0, seen_by(&self.0, failure), clock);
        let second = self.1.failed(&mut place.1, seen_by(&self.1, failure), clock);
        match (first, second) {
            (Some(first), Some(second)) => Some(first.and(second)),
            (terms, None) | (None, terms) => terms,
        }
    }

    fn progressed(&self, place: &mut Self::Place) {
        self.0.progressed(&mut place.0);
        self.1.progressed(&mut place.1);
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

/// Returns the failure as one limiter of a pair sees it. The two can treat different failures as rejections.
fn seen_by(limiter: &impl SendLimiter, failure: FailedSend) -> FailedSend {
    match failure {
        FailedSend::Rejected { error_type, .. } if !limiter.rejects(error_type) => {
            FailedSend::Otherwise { error_type: Some(error_type) }
        }
        failure => failure,
    }
}
