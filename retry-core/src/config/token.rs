//! The operations of a configured strategy: their tokens, and which limiter they meet.

use super::configured::{ADAPTIVE, ConfiguredStrategy, PACED};
use super::resolved::Resolved;
use crate::limit::{AdaptivePlace, PacedPlace};
use crate::policy::{RetryErrorType, Success};
use crate::quota::RetryQuota;
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StandardRetryToken,
    StrategyName,
};
use crate::time::Clock;
use std::time::Duration;

/// The token of a [`ConfiguredStrategy`].
#[derive(Debug)]
pub struct ConfiguredToken {
    standard: StandardRetryToken,
    /// The number of attempts that were throttled in the mode `paced`.
    throttled: u32,
    place: Place,
}

/// What the operation holds of the limiter of the mode in which its token was issued.
#[derive(Debug)]
enum Place {
    Unlimited,
    Adaptive(AdaptivePlace),
    Paced(PacedPlace),
}

impl Place {
    /// Returns whether no limiter need be asked.
    #[inline]
    const fn is_granted(&self) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Adaptive(place) => place.is_granted(),
            Self::Paced(place) => place.is_granted(),
        }
    }
}

impl RetryToken for ConfiguredToken {
    fn attempt(&self) -> u32 {
        self.standard.attempt()
    }

    fn delay(&self) -> Duration {
        self.standard.delay()
    }

    fn delay_source(&self) -> DelaySource {
        self.standard.delay_source()
    }
}

impl ConfiguredStrategy {
    /// Returns an empty place of the mode.
    #[inline]
    fn place(&self, clock: &dyn Clock) -> Place {
        match self.limit() {
            ADAPTIVE => {
                self.adaptive.begin(clock);
                Place::Adaptive(AdaptivePlace::default())
            }
            PACED => {
                self.paced.begin(clock, || self.resolved().has_ramp);
                Place::Paced(PacedPlace::default())
            }
            _ => Place::Unlimited,
        }
    }

    /// Gives back what a limiter took for an attempt that was not sent.
    #[cold]
    fn release_place(&self, place: &Place) {
        match place {
            Place::Unlimited => {}
            Place::Adaptive(place) => self.adaptive.release(place),
            Place::Paced(place) => self.paced.release(place),
        }
    }

    /// Gives up the place in the limiter of another mode, and asks the limiter of this mode.
    #[cold]
    fn change_place(&self, place: &mut Place, clock: &dyn Clock) -> Ready {
        match place {
            Place::Unlimited => {}
            Place::Adaptive(place) => self.adaptive.leave(place),
            Place::Paced(place) => self.paced.leave(place),
        }
        *place = self.place(clock);
        match place {
            Place::Unlimited => Ready::Now,
            Place::Adaptive(place) => self.adaptive.ready(place, || true, clock),
            Place::Paced(place) => self.paced.ready(place, || true, clock),
        }
    }
}

impl RetryStrategy for ConfiguredStrategy {
    type Token = ConfiguredToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ConfiguredToken, RetryError> {
        let standard = self.standard.acquire_initial_token(clock)?;
        Ok(ConfiguredToken { standard, throttled: 0, place: self.place(clock) })
    }

    fn refresh_retry_token(
        &self,
        token: ConfiguredToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ConfiguredToken, RetryError> {
        let ConfiguredToken { standard: token, throttled, place } = token;
        if !self.standard.issued(&token) {
            return Err(RetryError::ForeignToken);
        }
        let Resolved { settings, backoff, max_throttled, .. } = &*self.resolved();
        if !failure.was_sent() {
            self.release_place(&place);
            self.standard.give_back(&token);
        }
        let next = self.place(clock);
        // The limiter of the mode of the attempt learns, and after a change the limiter of the new mode, too.
        let is_throttled = failure.error_type() == Some(RetryErrorType::Throttling);
        match (&place, &next) {
            _ if !failure.was_sent() => {}
            (Place::Adaptive(place), _) | (_, Place::Adaptive(place)) => {
                self.adaptive.learn(clock, is_throttled, place);
            }
            _ => {}
        }
        let delay = match (&place, &next) {
            _ if !failure.was_sent() => None,
            (Place::Paced(place), _) | (_, Place::Paced(place)) => {
                self.paced.learn(settings, backoff, place, failure, clock)
            }
            _ => None,
        };
        let (standard, throttled) = match (delay, &next) {
            (Some(delay), Place::Paced(_)) => {
                let throttled = throttled.saturating_add(1);
                (self.standard.grant_unpaid(token, failure, (throttled, *max_throttled), delay)?, throttled)
            }
            _ => (self.standard.judge(settings, backoff, token, failure, clock, throttled)?, throttled),
        };
        Ok(ConfiguredToken { standard, throttled, place: next })
    }

    #[inline]
    fn record_success(&self, token: ConfiguredToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let ConfiguredToken { standard: token, place, .. } = token;
        if !self.standard.issued(&token) {
            return Err(ForeignToken);
        }
        match place {
            Place::Unlimited => {}
            Place::Adaptive(place) => self.adaptive.learn(clock, false, &place),
            Place::Paced(place) => self.paced.accept(&place, *success, clock),
        }
        // With a full quota, the amount of the refund makes no difference, so it is not read.
        if !self.quota().is_full() {
            self.refund(&token);
        }
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut ConfiguredToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        if token.place.is_granted() || !self.standard.issued(&token.standard) {
            return Ready::Now;
        }
        match (&mut token.place, self.limit()) {
            (Place::Adaptive(place), ADAPTIVE) => self.adaptive.ready(place, || true, clock),
            (Place::Paced(place), PACED) => self.paced.ready(place, || true, clock),
            _ => self.change_place(&mut token.place, clock),
        }
    }

    fn release(&self, token: ConfiguredToken) {
        if self.standard.issued(&token.standard) {
            self.release_place(&token.place);
        }
        self.standard.release(token.standard);
    }

    fn refused_delay(&self, token: &ConfiguredToken, failure: &Failure) -> Duration {
        let Resolved { settings, backoff, .. } = &*self.resolved();
        self.standard.delay_of(settings, backoff, &token.standard, failure, token.throttled)
    }

    fn quota_level(&self) -> Option<u32> {
        Some(self.quota().available())
    }

    fn send_rate(&self) -> Option<f64> {
        Self::send_rate(self)
    }

    fn name(&self) -> Option<StrategyName> {
        RetryStrategy::name(&self.standard)
    }
}
