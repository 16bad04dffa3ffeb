//! The waits before an attempt: the token's delay, which is slept once, and the waits for a limiter.

use super::call::Named;
use super::record::SkippedWait;
use super::release::{ReleaseGuard, Tally, TokenState};
use super::{Call, Needs, OptionalObserver, RunningLimits, State, StateOf, Stop};
use crate::limit::{EarlyWake, LazyWaker, Ready};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::strategy::{DelaySource, RetryStrategy, RetryToken};
use crate::time::{Clock, Timer, Timestamp};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A wait of an operation.
///
/// `G` protects the token: if the wait is dropped before it is over, a [`ReleaseGuard`] gives up the next attempt and releases
/// the token. It borrows the strategy only while the operation waits. A driver that can't borrow the strategy has no guard,
/// and releases the token itself.
#[must_use = "futures do nothing unless polled"]
pub struct Waiting<G, Z> {
    /// This field comes before the sleep, so that it is dropped first.
    guard: G,
    /// `None` once the sleep is over.
    sleep: Option<Pin<Box<Z>>>,
    reason: Reason,
    was_polled: bool,
}

/// A wait that protects its token. The guard is `None` once the wait is over.
pub type Wait<'a, S, Z> = Waiting<Option<ReleaseGuard<'a, S>>, Z>;

/// The reason of a wait.
pub(super) enum Reason {
    /// The token's delay, which only a [`Stop`] can end early.
    Delay(Option<EarlyWake>),
    /// A limiter, which can end the wait early if it asked for a waker. So can a [`Stop`].
    Limiter(Option<EarlyWake>),
    /// The service. Evidence that it answers can end the wait early, and so can a [`Stop`].
    Service(Option<EarlyWake>),
    /// Either of the others, but a test guard skips the wait.
    Skipped(SkippedWait),
}

impl<'a, S: RetryStrategy, Z> Wait<'a, S, Z> {
    #[cold]
    fn new<L: RunningLimits, N>(
        operation: &'a mut State<S::Token, L, N>,
        strategy: &'a S,
        timer: &impl Timer<Sleep = Z>,
        (delay, reason): (Duration, Reason),
    ) -> Self {
        let reason = skipped(operation, delay, reason);
        let guard = ReleaseGuard::new(&mut operation.token, strategy);
        let sleep = match reason {
            Reason::Skipped(_) => None,
            Reason::Delay(_) | Reason::Limiter(_) | Reason::Service(_) => Some(Box::pin(timer.sleep(delay))),
        };
        Self { guard: Some(guard), sleep, reason, was_polled: false }
    }

    /// Returns the wait without its guard.
    fn unguarded(mut self) -> Waiting<(), Z> {
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
        let Self { guard: _, sleep, reason, was_polled } = self;
        Waiting { guard: (), sleep, reason, was_polled }
    }
}

impl<S: RetryStrategy, Z: Future<Output = ()>> Future for Wait<'_, S, Z> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        ready!(self.poll_unguarded(context));
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
        Poll::Ready(())
    }
}

impl<Z> Waiting<(), Z> {
    /// Creates the rest of a wait, which this waker ends early.
    pub(super) fn rest(sleep: Z, wake: Option<EarlyWake>) -> Self {
        Self { guard: (), sleep: Some(Box::pin(sleep)), reason: Reason::Limiter(wake), was_polled: false }
    }

    /// Creates a wait that a test guard skips.
    pub(super) fn skipped(wait: SkippedWait) -> Self {
        Self { guard: (), sleep: None, reason: Reason::Skipped(wait), was_polled: false }
    }
}

impl<G, Z: Future<Output = ()>> Waiting<G, Z> {
    /// Polls the wait, and leaves the guard alone.
    #[inline]
    pub(crate) fn poll_unguarded(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_first_poll = !mem::replace(&mut self.was_polled, true);
        if let Some(sleep) = &mut self.sleep {
            let is_woken = matches!(
                &self.reason,
                Reason::Limiter(Some(wake)) | Reason::Service(Some(wake)) | Reason::Delay(Some(wake))
                    if wake.register(context.waker())
            );
            if !is_woken {
                ready!(sleep.as_mut().poll(context));
            }
            // The sleep is dropped while the token is protected, so a panic in its `Drop` releases the token.
            self.sleep = None;
            // A limiter is asked again after each wait. With sleeps that are ready immediately and a clock that stands
            // still, it would be asked forever within one poll, and a timeout around the operation could not end it. So
            // a wait that is over in its first poll yields once.
            if is_first_poll && matches!(self.reason, Reason::Limiter(_) | Reason::Service(_)) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Reason::Skipped(wait) = &self.reason {
            // A skipped wait yields once, so that other tasks can run, as they can during a real wait.
            if is_first_poll {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            wait.end();
        }
        Poll::Ready(())
    }
}

impl<'c, S: RetryStrategy, T: Timer + Copy, O: OptionalObserver + Copy> Call<'c, S, T, O> {
    /// Returns the next wait before the attempt, or `None` if the attempt is due or will not be made.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wait<L: RunningLimits>(self, operation: &'c mut StateOf<S, L, O>) -> Option<Wait<'c, S, T::Sleep>> {
        // With such a strategy, the drivers of functions and closures come here for retries only, or during an outage. The path is long, so
        // all of them share it.
        if S::Token::may_wait() || self.strategy.starts_empty() {
            let (named, around) = self.parts();
            Self::rare_wait(named, around, operation)
        } else {
            let wait = self.next_wait(operation)?;
            Some(Wait::new(operation, self.strategy, &self.timer(), wait))
        }
    }

    #[inline(never)]
    fn rare_wait<L: RunningLimits>(
        named: Named<'c, S>,
        around: (T, O),
        operation: &'c mut StateOf<S, L, O>,
    ) -> Option<Wait<'c, S, T::Sleep>> {
        let call = Call::of(named, around);
        let wait = call.next_wait(operation)?;
        Some(Wait::new(operation, call.strategy, &call.timer(), wait))
    }

    /// Begins the attempt if it needs nothing, and returns whether it did. Otherwise [`wait`](Call::wait) begins it once it is due.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_if_due<L: RunningLimits>(self, operation: &mut StateOf<S, L, O>) -> bool {
        operation.needs_nothing() && self.next_wait(operation).is_none()
    }

    /// Returns the next wait, as [`wait`](Call::wait) does, without a guard. A driver that is dropped during the wait calls
    /// [`release`](State::release).
    pub(super) fn unguarded_wait<L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
    ) -> Option<Waiting<(), T::Sleep>> {
        Some(self.wait(operation)?.unguarded())
    }
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns whether the token has a delay before its attempt.
    #[inline]
    pub(super) fn has_delay(self, token: &mut TokenState<S::Token>) -> bool {
        let guard = ReleaseGuard::new(token, self.strategy);
        let has_delay = matches!(&*guard.token, TokenState::Held(token) if token.has_delay());
        guard.disarm();
        has_delay
    }

    /// Returns the length and the reason of the next wait, or `None` if the attempt is due or will not be made: first the token's delay,
    /// then waits for the strategy.
    ///
    /// The path of an attempt without a limiter is inlined. The rest is cold.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_wait<L: RunningLimits>(self, operation: &mut StateOf<S, L, O>) -> Option<(Duration, Reason)> {
        if operation.stopped.is_some() {
            return None;
        }
        let has_just_begun = operation.has_just_begun();
        let is_looked_at = !operation.needs_nothing();
        if operation.needs == Needs::Delay {
            operation.needs = Needs::Look;
            let (named, around) = self.parts();
            return Self::next_delay(named, around, operation);
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        if is_looked_at && let TokenState::Held(token) = &mut *guard.token {
            let waker = LazyWaker::new();
            let waits = S::Token::may_wait() && token.delay_source() == DelaySource::Service;
            match self.strategy.ready(token, &self.clock(), Some(&waker)) {
                Ready::After(wait) if !wait.is_zero() => {
                    guard.disarm();
                    return self.hold_back(operation, (wait, wait), waker.into_early_wake());
                }
                Ready::Queued { wait, expected } if !wait.is_zero() => {
                    guard.disarm();
                    return self.hold_back(operation, (wait, expected), waker.into_early_wake());
                }
                // Without a place for the last outcome, the attempt is sent instead.
                Ready::Stop if token.attempt() > 1 && waits => {
                    guard.end(&move || self.clock().now());
                    operation.record.waited(operation.token.tally().waited());
                    return None;
                }
                Ready::Now | Ready::After(_) | Ready::Queued { .. } | Ready::Stop if waits => {
                    let (attempt, waited) = (token.attempt(), token.waited());
                    operation.record.waited(waited);
                    self.tell(&operation.observed, Level::Debug, attempt, &move || EventKind::Released {
                        waited,
                        waiting: self.strategy.waiting_operations(),
                    });
                }
                Ready::Now | Ready::After(_) | Ready::Queued { .. } | Ready::Stop => {}
            }
        }
        operation.stopped = if L::IS_TIMED && has_just_begun && Self::is_unheard() {
            operation.limits.begin_first()
        } else {
            operation.limits.is_over(Duration::ZERO, &self.timer())
        };
        if operation.stopped.is_some() {
            guard.give_up(&move || self.clock().now());
            return None;
        }
        operation.record.attempted(|| guard.token.attempts());
        self.tell_started(&operation.observed, || guard.token.attempts(), has_just_begun);
        guard.disarm();
        None
    }

    /// Returns the wait for the token's delay, or `None` if it is longer than the time that the operation has left.
    #[cold]
    fn next_delay<L: RunningLimits>(
        named: Named<'_, S>,
        around: (T, O),
        operation: &mut StateOf<S, L, O>,
    ) -> Option<(Duration, Reason)> {
        let call = Call::of(named, around);
        let guard = ReleaseGuard::new(&mut operation.token, call.strategy);
        let TokenState::Held(token) = &*guard.token else { return None };
        let delay = token.delay();
        operation.stopped = operation.limits.is_over(delay, &call.timer());
        if operation.stopped.is_some() {
            guard.give_up(&move || call.clock().now());
            return None;
        }
        guard.disarm();
        Some((delay, Reason::Delay(None)))
    }

    /// Returns the wait for a limiter, or `None` if the operation is expected to wait for longer than the time that it has left.
    #[cold]
    fn hold_back<L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        (wait, expected): (Duration, Duration),
        wake: Option<EarlyWake>,
    ) -> Option<(Duration, Reason)> {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        // A wait that can end early is an upper bound, so it is shortened to the time that is left. Any other wait must
        // fit into that time.
        let allowed = if wake.is_some() {
            operation.limits.shorten(wait, &self.timer())
        } else {
            operation.limits.is_over(expected, &self.timer()).map_or(Ok(wait), Err)
        };
        match allowed {
            Ok(wait) => {
                let attempt = guard.token.attempts();
                let reason = if guard.token.waits_for_service() {
                    Reason::Service(wake)
                } else {
                    self.tell(&operation.observed, Level::Trace, attempt, &move || EventKind::Limited { wait });
                    Reason::Limiter(wake)
                };
                guard.disarm();
                Some((wait, reason))
            }
            // Asked after the limits, so that a stop meanwhile is the reason.
            Err(_) if guard.token.waits_for_service() && !operation.limits.is_stopped() => {
                guard.end(&move || self.clock().now());
                operation.record.waited(operation.token.tally().waited());
                None
            }
            Err(cut) => {
                operation.stopped = Some(cut);
                guard.give_up(&move || self.clock().now());
                operation.record.waited(operation.token.tally().waited());
                None
            }
        }
    }
}

/// Returns the reason of a new wait: [`Reason::Skipped`] if a test guard skips it, otherwise the given one, with a waker by which a
/// [`Stop`] can end the wait. A skipped wait is subtracted from the time limits as well.
///
/// A wait that a limiter can end early is not skipped, because its length is only a bound.
#[inline]
pub(super) fn skipped<K, L: RunningLimits, N>(
    operation: &mut State<K, L, N>,
    delay: Duration,
    reason: Reason,
) -> Reason {
    if !matches!(reason, Reason::Limiter(Some(_)))
        && let Some(wait) = SkippedWait::begin(delay)
    {
        operation.limits.skip(delay);
        return Reason::Skipped(wait);
    }
    operation.limits.stops().into_iter().flatten().fold(reason, Reason::ended_by)
}

impl Reason {
    /// Lets a stop end the wait.
    #[cold]
    fn ended_by(self, stop: &Stop) -> Self {
        let watched = |wake: Option<EarlyWake>| {
            let wake = wake.unwrap_or_else(EarlyWake::new);
            stop.watch(&wake);
            Some(wake)
        };
        match self {
            Self::Delay(wake) => Self::Delay(watched(wake)),
            Self::Limiter(wake) => Self::Limiter(watched(wake)),
            Self::Service(wake) => Self::Service(watched(wake)),
            Self::Skipped(wait) => Self::Skipped(wait),
        }
    }
}

impl<S: RetryStrategy> ReleaseGuard<'_, S> {
    /// Releases the token, because its attempt ended before it was sent.
    #[cold]
    fn give_up(self, now: &dyn Fn() -> Timestamp) {
        self.release(TokenState::Unsent, now);
    }

    /// Releases the token, because the service did not recover while the operation waited for it.
    #[cold]
    fn end(self, now: &dyn Fn() -> Timestamp) {
        self.release(TokenState::NoRecovery, now);
    }

    fn release(self, state: fn(Tally) -> TokenState<S::Token>, now: &dyn Fn() -> Timestamp) {
        let unsent = self.token.unsent(now);
        if let TokenState::Held(token) = mem::replace(self.token, state(unsent)) {
            self.strategy.release(token);
        }
    }
}
