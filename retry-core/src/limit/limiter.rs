//! The interface between a strategy and its limiter.

use super::{LazyWaker, Ready};
use crate::policy::{RetryErrorType, Success, Usage};
use crate::time::Clock;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The part of a strategy that decides when an attempt may be sent, and learns from the server's answers.
///
/// A [`LimitedRetryStrategy`](crate::strategy::LimitedRetryStrategy) combines a limiter with the other parts: an
/// [`AdaptiveLimiter`](super::AdaptiveLimiter), a limiter of the crate [`retry-limits`](https://docs.rs/retry-limits), or your own
/// limiter. A pointer to a limiter is a limiter, too, through which strategies share it.
///
/// # Places
///
/// An operation has one *place*, which holds its position in the queue and its permission to send. It borrows nothing,
/// because no part of the strategy is borrowed while an attempt runs.
///
/// The methods are called in this order:
///
/// 1. [`begin`](SendLimiter::begin) once, at the start of the operation, and [`weigh`](SendLimiter::weigh) if it has a weight.
/// 2. Before each attempt, [`ask`](SendLimiter::ask) until the answer is now, as long as [`must_ask`](SendLimiter::must_ask)
///    returns `true`. If the operation ends before the attempt is sent, [`release`](SendLimiter::release).
/// 3. After the attempt, [`used`](SendLimiter::used) if the policy says what was used, and then
///    [`succeeded`](SendLimiter::succeeded) or [`failed`](SendLimiter::failed). After a failure, the place continues with step 2 if
///    another attempt follows.
///
/// Then the place is dropped. If the outcome of an attempt is unknown, because its future was dropped, its body panicked, or
/// its time was up, the place is dropped without step 3. So a limiter whose permissions must come back, such as one that counts
/// requests in flight, keeps a guard that implements `Drop` in its places. The guard owns what it needs, such as an [`Arc`].
///
/// The methods may be called by many threads at once. Run no foreign code while you hold a lock: neither clocks nor wakers.
///
/// # Examples
///
/// A limiter that leaves a pause between two sends. The example `own_limiter` in the repository has slots that are
/// returned.
///
/// ```
/// use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_core::time::Timestamp;
/// use retry_core::{Clock, StandardRetryStrategy, Success};
/// use std::sync::{Mutex, PoisonError};
/// use std::time::Duration;
///
/// const PAUSE: Duration = Duration::from_millis(20);
///
/// /// The time of the next send.
/// #[derive(Debug)]
/// struct Spaced(Mutex<Option<Timestamp>>);
///
/// impl SendLimiter for Spaced {
///     /// The time at which the attempt may be sent.
///     type Place = Option<Timestamp>;
///
///     fn begin(&self, _: &dyn Clock) -> Self::Place {
///         None
///     }
///
///     fn ask(
///         &self,
///         place: &mut Self::Place,
///         clock: &dyn Clock,
///         _: Option<&LazyWaker<'_>>,
///     ) -> Ready {
///         let now = clock.now();
///         let sent_at = *place.get_or_insert_with(|| {
///             let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///             let at = next.map_or(now, |next| next.max(now));
///             *next = Some(at.saturating_add(PAUSE));
///             at
///         });
///         Ready::After(sent_at.saturating_since(now))
///     }
///
///     fn failed(&self, place: &mut Self::Place, _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
///         *place = None;
///         None
///     }
/// }
///
/// static TABLE: LimitedRetryStrategy<Spaced> =
///     LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), Spaced(Mutex::new(None)));
/// ```
pub trait SendLimiter: Debug {
    /// The place of an operation in the limiter.
    type Place: Debug;

    /// Returns the place of an operation that begins now. It holds no permission yet.
    fn begin(&self, clock: &dyn Clock) -> Self::Place;

    /// Records the weight of the operation, for a limit on the sum of weights. Called before the first question, and not at
    /// all for an operation without a weight, which weighs 1. The default does nothing, which is right for a limit on
    /// requests.
    fn weigh(&self, place: &mut Self::Place, weight: u32) {
        let _ = (place, weight);
    }

    /// Records the report of an outcome about a limit on the sum of weights. Called after an attempt, before
    /// [`succeeded`](SendLimiter::succeeded) or [`failed`](SendLimiter::failed), and only if the policy says something. The
    /// default does nothing.
    fn used(&self, place: &mut Self::Place, usage: Usage) {
        let _ = (place, usage);
    }

    /// Returns whether [`ask`](SendLimiter::ask) must be called before the attempt is sent. The default is `true`.
    ///
    /// This is called before each attempt. If sends are not limited at present, or if the place already has the
    /// permission, `false` saves a reading of the clock and the limiter's lock. So take no lock here.
    fn must_ask(&self, place: &Self::Place) -> bool {
        let _ = place;
        true
    }

    /// Asks for the permission to send an attempt, and stores it in the place.
    ///
    /// Returns [`Ready::Now`] if the attempt may be sent, or how long to wait before this is asked again. To end the wait
    /// early, store a [waker](LazyWaker::waker), return an upper bound, and wake the waker when the answer changes, after the
    /// lock is released. If `waker` is `None`, the wait can't end early. For a place that already has its permission, return
    /// [`Ready::Now`] again.
    fn ask(&self, place: &mut Self::Place, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready;

    /// Takes the permission back for a while: the attempt is not sent yet, because the other limiter of a pair makes it wait.
    /// The operation asks for the permission again.
    ///
    /// The default calls [`release`](SendLimiter::release). A limiter with a queue keeps the operation's turn.
    fn put_back(&self, place: &mut Self::Place) {
        self.release(place);
    }

    /// Returns whether a failure of this class is a rejection, from which the limiter learns that too much was sent. By
    /// default, throttling is a rejection.
    fn rejects(&self, error_type: RetryErrorType) -> bool {
        error_type == RetryErrorType::Throttling
    }

    /// Learns from a success. The place is then dropped. The default does nothing.
    fn succeeded(&self, place: &mut Self::Place, success: &Success, clock: &dyn Clock) {
        let _ = (place, success, clock);
    }

    /// Learns from a failure. The permission is used up, so the place is for the next attempt, without a permission.
    ///
    /// Returns the terms of a retry without backoff and cost, or `None` for a retry on the terms of the strategy. The strategy
    /// decides afterwards whether there is a retry, so the place may be dropped next.
    fn failed(&self, place: &mut Self::Place, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid>;

    /// Records that the attempt, whose failure follows, did a part of the work; see
    /// [`RetryStrategy::record_progress`](crate::RetryStrategy::record_progress). If the limiter counts attempts of the operation, such as
    /// the [`uncounted`](SendLimiter::uncounted) ones, it starts again from zero. The default does nothing.
    fn progressed(&self, place: &mut Self::Place) {
        let _ = place;
    }

    /// Returns the number of attempts of the operation up to now that do not count against its maximum. The default is 0. A
    /// limiter that returns [`Unpaid`] from [`failed`](SendLimiter::failed) may exempt these attempts.
    fn uncounted(&self, place: &Self::Place) -> u32 {
        let _ = place;
        0
    }

    /// Gives back what was taken for an attempt that was not sent, and leaves the queue. The operation can ask again with this
    /// place. The default does nothing.
    fn release(&self, place: &mut Self::Place) {
        let _ = place;
    }

    /// Returns the current limit on sends per second, or `None` while there is no such limit. The default is `None`.
    fn send_rate(&self) -> Option<f64> {
        None
    }
}

/// What a limiter learns from a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailedSend {
    /// The server rejected the attempt, as [`SendLimiter::rejects`] says.
    #[non_exhaustive]
    Rejected {
        /// The class of the failure.
        error_type: RetryErrorType,
        /// The wait that the server asks for, as the settings of the strategy limit it. Zero if it asks for none.
        wait: Duration,
        /// Whether the wait is longer than the strategy allows. If so, there is no retry.
        is_too_long: bool,
    },
    /// The attempt failed in another way. So the server had accepted it, unless it did not answer.
    Otherwise {
        /// The class of the failure, if the failure has one.
        error_type: Option<RetryErrorType>,
    },
    /// The attempt was not sent, so there is nothing to learn. What was taken for it must be given back, as by
    /// [`SendLimiter::release`].
    NotSent,
}

/// The terms of a retry without backoff and without a cost, which a limiter sets for a rejected attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unpaid {
    /// The delay, or `None` if the server asks for a longer wait than the strategy allows. Then there is no retry.
    pub delay: Option<Duration>,
    /// Whether the operation's time for such retries is over. If so, there is no retry. Without this limit, an operation
    /// whose attempts are all rejected would never return.
    pub is_over: bool,
    /// Whether this wait, which is longer than the strategy allows, holds back the other operations, too. If so, the strategy
    /// warns through `tracing`. Set it once for each limiter.
    pub holds_too_long: bool,
}

impl Unpaid {
    /// Creates the terms of a retry after this delay.
    pub const fn after(delay: Duration) -> Self {
        Self { delay: Some(delay), is_over: false, holds_too_long: false }
    }

    /// Sets whether the operation's time for such retries is over.
    #[must_use]
    pub const fn over(self, is_over: bool) -> Self {
        Self { is_over, ..self }
    }

    /// Sets whether the delay is longer than the strategy allows, as in [`FailedSend::Rejected`]. If so, there is no retry.
    #[must_use]
    pub const fn too_long(self, is_too_long: bool) -> Self {
        if is_too_long { Self { delay: None, ..self } } else { self }
    }

    /// Sets whether the wait holds back the other operations, too; see [`holds_too_long`](Unpaid::holds_too_long).
    #[must_use]
    pub const fn holding_too_long(self, holds_too_long: bool) -> Self {
        Self { holds_too_long, ..self }
    }

    /// Returns the terms of a retry that obeys both, as for a pair of limiters.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            delay: self.delay.zip(other.delay).map(|(delay, other)| delay.max(other)),
            is_over: self.is_over || other.is_over,
            holds_too_long: self.holds_too_long || other.holds_too_long,
        }
    }
}

// What pointers forward: every method of the trait.
crate::support::forwarding! {
    $ forward_limiter: SendLimiter {
        #[inline]
        fn begin(&self, clock: &dyn Clock) -> Self::Place;
        fn weigh(&self, place: &mut Self::Place, weight: u32);
        fn used(&self, place: &mut Self::Place, usage: Usage);
        #[inline]
        fn must_ask(&self, place: &Self::Place) -> bool;
        #[inline]
        fn ask(&self, place: &mut Self::Place, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready;
        fn put_back(&self, place: &mut Self::Place);
        fn rejects(&self, error_type: RetryErrorType) -> bool;
        #[inline]
        fn succeeded(&self, place: &mut Self::Place, success: &Success, clock: &dyn Clock);
        fn failed(&self, place: &mut Self::Place, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid>;
        fn progressed(&self, place: &mut Self::Place);
        fn uncounted(&self, place: &Self::Place) -> u32;
        fn release(&self, place: &mut Self::Place);
        fn send_rate(&self) -> Option<f64>;
    }
}

// Pointers to a limiter have the same places.

impl<L: SendLimiter + ?Sized> SendLimiter for &L {
    type Place = L::Place;
    forward_limiter! { self => **self }
}

impl<L: SendLimiter + ?Sized> SendLimiter for Arc<L> {
    type Place = L::Place;
    forward_limiter! { self => **self }
}
