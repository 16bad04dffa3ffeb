//! Reports about hedges: events, warnings, and what the settings of a hedge learn.

use crate::hedge::{Hedge, LittleHelp};
use crate::observe::trace::{self, Level};
use crate::observe::{EventKind, NoHedge};
use crate::operation::release::TokenState;
use crate::operation::warned::Warned;
use crate::operation::{Call, OptionalObserver, RunningLimits, StateOf};
use crate::strategy::RetryStrategy;
use crate::time::Clock;
use std::time::Duration;

/// The functions that never have a hedge, because of their strategy or their policy, about which there was a warning.
static WARNED: Warned = Warned::new();

/// The functions whose hedges do little, about which there was a warning.
static DO_LITTLE: Warned = Warned::new();

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Reports that there is no hedge. If there never is one, because the strategy sells none or the policy does not say that the operation
    /// may be executed twice, the first report of a function is a warning.
    #[cold]
    pub(super) fn tell_not_sent<L: RunningLimits>(self, operation: &StateOf<S, L, O>, hedge: &Hedge, reason: NoHedge) {
        operation.record.no_hedge(reason.as_str());
        // These reasons pass.
        if !matches!(reason, NoHedge::AllSlow | NoHedge::WarmingUp | NoHedge::Disabled | NoHedge::Stopped) {
            self.note(hedge, None);
        }
        let is_permanent = match reason {
            NoHedge::NotSold => matches!(operation.token, TokenState::Held(_)),
            NoHedge::IdempotencyUnknown => true,
            _ => false,
        };
        let warns = is_permanent && Self::is_warning_wanted(&operation.observed) && WARNED.is_first(self.name().get());
        let level = if warns { Level::Warn } else { Level::Debug };
        self.tell(&operation.observed, level, operation.attempts(), &move || EventKind::HedgeNotSent { reason });
    }

    /// Reports the end of a race, whose hedge began at this time.
    #[cold]
    pub(super) fn tell_hedge_ended<L: RunningLimits>(
        self,
        operation: &StateOf<S, L, O>,
        (hedge, began): (&Hedge, Duration),
        attempt: u32,
        won: bool,
    ) {
        self.tell(&operation.observed, Level::Debug, attempt, &move || EventKind::HedgeEnded { won });
        hedge.ended(won);
        let time = self.now().since_origin().saturating_sub(began);
        self.note(hedge, won.then_some(time));
    }

    /// Records the result of a call that reached the delay. If hedges do little, the first such finding of a function is a warning.
    fn note(self, hedge: &Hedge, won_after: Option<Duration>) {
        if let Some(LittleHelp { helped, calls, delay }) = hedge.note(won_after)
            && trace::is_warning_wanted()
            && DO_LITTLE.is_first(self.name().get())
        {
            trace::warn_of_hedges(self.name().get(), self.strategy.name().as_ref(), (helped, calls), delay);
        }
    }
}
