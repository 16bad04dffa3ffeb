//! What the state machine asks of a driver by hand.

use crate::observe::Event;
use crate::operation::{Beginning, Driver};
use std::ops::ControlFlow;

/// What a driver by hand knows about an attempt.
#[derive(Clone, Copy)]
pub(super) struct ByHand {
    pub(super) was_sent: bool,
    pub(super) is_repeatable: bool,
}

impl Driver for ByHand {
    fn was_sent(&self) -> bool {
        self.was_sent
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }
}

/// A driver by hand that keeps the event of a failure.
pub(super) struct Keeping<'a> {
    pub(super) attempt: ByHand,
    /// `None` if the event is not kept.
    pub(super) beginning: Option<Beginning>,
    pub(super) failure: &'a mut Option<Box<Event>>,
}

impl Driver for Keeping<'_> {
    fn was_sent(&self) -> bool {
        self.attempt.was_sent
    }

    fn is_repeatable(&self) -> bool {
        self.attempt.is_repeatable
    }

    fn tell(self, event: impl FnOnce(Beginning) -> Event) -> ControlFlow<()> {
        if let Some(beginning) = self.beginning {
            *self.failure = Some(Box::new(event(beginning)));
        }
        ControlFlow::Continue(())
    }
}
