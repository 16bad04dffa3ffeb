//! The switch of a fleet.

use crate::protocol::Turn;
use retry_core::time::Timestamp;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A switch for the retries of a whole fleet, for example during an incident.
///
/// Any process can turn it, by [`Membership::turn_retries_off`](crate::Membership::turn_retries_off), and so can an
/// operator with the command `retry-fleet` or the client of the store; the [crate documentation](crate) shows the key. The
/// other processes see it with their next call to the store, within 1.5 s. Each process keeps it and restores it in a store
/// that was emptied. If the store is lost, the last value stays until its end.
///
/// The switch calls a function when its value changes. So a process can set its own value in between, until the value of
/// the fleet changes again.
///
/// ```
/// use retry_core::PatientRetryStrategy;
/// use retry_fleet::FleetSwitch;
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// static SWITCH: FleetSwitch = FleetSwitch::new(|is_on| STORE.set_enabled(is_on));
/// // For all strategies of the process:
/// static ALL: FleetSwitch = FleetSwitch::new(retry_core::strategy::set_retries_enabled);
/// ```
pub struct FleetSwitch {
    is_on: AtomicBool,
    turn: fn(bool),
}

impl FleetSwitch {
    /// Creates a switch that is on. `turn` is called with the new value when the value changes.
    pub const fn new(turn: fn(bool)) -> Self {
        Self { is_on: AtomicBool::new(true), turn }
    }

    /// Returns the last known value.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Sets the value, which has this reason, as in [`Turn`]. Only the task of the fleet does that, so there is no race.
    pub(crate) fn set(&self, fleet: &str, is_on: bool, reason: &str) {
        if self.is_on.swap(is_on, Ordering::Relaxed) != is_on {
            (self.turn)(is_on);
            crate::numbers::switched(fleet, is_on, reason);
            crate::events::switched(fleet, is_on, reason);
        }
    }
}

/// The shortest time for which retries are turned off: less than a millisecond would mean on.
#[cfg(feature = "tokio")]
const SHORTEST_OFF: Duration = Duration::from_millis(1);

/// Returns the time for which retries are turned off if this time is given.
#[cfg(feature = "tokio")]
pub(crate) fn time_off(off_for: Duration) -> Duration {
    off_for.max(SHORTEST_OFF)
}

/// Returns the reason of a turn to off: who did it, and why. Both are cut to the length of a name.
#[cfg(feature = "tokio")]
pub(crate) fn reason_of(by: &str, reason: &str) -> String {
    format!("{}: {}", cut(by), cut(reason))
}

/// Cuts a text to the length of a name.
pub(crate) fn cut(text: &str) -> &str {
    let mut end = text.len().min(crate::names::LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// How the retries of a fleet were turned off.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SwitchedOff {
    /// Who turned them off, and why, as in `ada: orders are down`. Any text, and empty if an operator gave none.
    pub reason: String,
    /// The time until they are on again by themselves. [`Duration::MAX`], or centuries, mean no end.
    pub off_for: Duration,
}

impl SwitchedOff {
    /// Returns `None` if the retries are on.
    pub(crate) fn new(turn: &Turn, until: Timestamp, now: Timestamp) -> Option<Self> {
        let off_for = until.saturating_since(now);
        (!off_for.is_zero()).then(|| Self { reason: turn.reason.clone(), off_for })
    }
}

impl Debug for FleetSwitch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetSwitch").field("is_on", &self.is_on()).finish_non_exhaustive()
    }
}
