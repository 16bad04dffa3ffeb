//! The events that an operation reports when an outcome is settled.

use super::call::Named;
use super::driver::Driver;
use super::observed::Observed;
use super::release::{ReleaseGuard, TokenState};
use super::{Call, OptionalObserver, RunningLimits, State};
use crate::observe::EventKind;
#[cfg(feature = "metrics")]
use crate::observe::metrics::{End, Levels};
use crate::observe::trace::Level;
use crate::policy::RetryErrorType;
use crate::strategy::{DelaySource, Failure, RetryError, RetryStrategy, RetryToken};
use crate::time::Clock;
use std::ops::ControlFlow;

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Reports the end of the operation after a success.
    #[inline]
    pub(super) fn tell_success<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &self,
        call: Call<'_, S, T, O>,
        attempts: u32,
        recorded: bool,
    ) {
        let level = match (recorded, attempts) {
            (true, 1) => Level::Trace,
            (true, _) => Level::Debug,
            (false, _) => Level::Warn,
        };
        if !O::IS_ABSENT {
            let strategy = call.strategy;
            call.tell(&self.observed, level, attempts, &move || succeeded(strategy, recorded));
        } else if Call::<S, T, O>::is_heard(&self.observed, level) {
            let (named, around) = call.parts();
            Self::tell_heard_success(named, around, &self.observed, level, attempts, recorded);
        }
        self.record.ended(attempts, None);
    }

    // Out of line with its kind, so that the path of an operation that nobody observes stays short.
    #[cold]
    fn tell_heard_success<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        named: Named<'_, S>,
        around: (T, O),
        observed: &Observed<N>,
        level: Level,
        attempts: u32,
        recorded: bool,
    ) {
        let call = Call::of(named, around);
        let strategy = call.strategy;
        #[cfg(feature = "metrics")]
        if let Some((metrics, started)) = Call::<S, T, O>::only_metrics(observed, level) {
            let now = call.timer().reading();
            let success = End { attempts, elapsed: started.until(now), levels: Levels::of(strategy) };
            return metrics.succeeded(call.name.get(), strategy.name().as_ref(), &success, now.instant());
        }
        call.tell(observed, level, attempts, &move || succeeded(strategy, recorded));
    }

    /// Reports a failure, and returns the number of attempts. The operation holds the token meanwhile, so that a driver can
    /// release it after a panic of the observer.
    #[inline]
    pub(super) fn tell_attempt_failed<
        S: RetryStrategy<Token = K>,
        T: Clock + Copy,
        O: OptionalObserver<State = N> + Copy,
    >(
        &self,
        call: Call<'_, S, T, O>,
        failure: Failure,
    ) -> u32 {
        self.record.failed(failure.error_type());
        let attempts = self.attempts();
        call.tell(&self.observed, Level::Debug, attempts, &move || EventKind::AttemptFailed { failure });
        attempts
    }

    /// Reports the retry that the token was paid for, and returns whether the driver goes on with it. If an observer or the driver panics,
    /// the token is released.
    #[inline]
    pub(super) fn schedule<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        failure: &Failure,
        attempt: u32,
        driver: impl Driver,
    ) -> ControlFlow<()> {
        let guard = ReleaseGuard::new(&mut self.token, call.strategy);
        let mut flow = ControlFlow::Continue(());
        if let TokenState::Held(token) = &*guard.token {
            let (error_type, delay_source) = (failure.error_type(), token.delay_source());
            self.record.delayed(|| token.delay());
            let kind = || {
                let delay = token.delay();
                let (quota, quota_capacity) = (call.strategy.quota_level(), call.strategy.full_quota_level());
                let quota_mode = call.strategy.quota_mode();
                let send_rate = call.strategy.send_rate();
                if delay_source == DelaySource::Service {
                    let waiting = call.strategy.waiting_operations();
                    EventKind::WaitingForService {
                        error_type,
                        delay,
                        waiting,
                        quota,
                        quota_capacity,
                        quota_mode,
                        send_rate,
                    }
                } else {
                    EventKind::RetryScheduled {
                        error_type,
                        delay,
                        delay_source,
                        quota,
                        quota_capacity,
                        quota_mode,
                        send_rate,
                    }
                }
            };
            call.tell(&self.observed, Level::Debug, attempt, &kind);
            flow = driver.tell(|beginning| call.event(beginning, attempt, &kind()));
        }
        guard.disarm();
        flow
    }

    /// Reports the end of the operation after a failure, and returns its reason.
    #[inline]
    pub(super) fn stop<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &self,
        call: Call<'_, S, T, O>,
        error_type: Option<RetryErrorType>,
        attempts: u32,
        reason: RetryError,
        driver: impl Driver,
    ) -> RetryError {
        self.record.ended(attempts, Some(reason));
        let kind = || EventKind::Stopped {
            reason,
            error_type,
            waiting: call.strategy.waiting_operations(),
            quota: call.strategy.quota_level(),
            quota_capacity: call.strategy.full_quota_level(),
            quota_mode: call.strategy.quota_mode(),
            send_rate: call.strategy.send_rate(),
        };
        call.tell_stopped(&self.observed, reason, attempts, &kind, &|| driver.error_text());
        // There is nothing left to end.
        let _ended = driver.tell(|beginning| call.event(beginning, attempts, &kind()));
        reason
    }
}

/// Returns the kind of the event of a success.
fn succeeded(strategy: &impl RetryStrategy, recorded: bool) -> EventKind {
    EventKind::Succeeded {
        recorded,
        waiting: strategy.waiting_operations(),
        quota: strategy.quota_level(),
        quota_capacity: strategy.full_quota_level(),
        quota_mode: strategy.quota_mode(),
        send_rate: strategy.send_rate(),
    }
}
