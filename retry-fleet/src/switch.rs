//! The switch of a fleet.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch for the retries of a whole fleet, for example during an incident.
///
/// Any process can turn it, by [`Membership::turn_retries_off`](crate::Membership::turn_retries_off), and so can an
/// operator with the client of the store; the [crate documentation](crate) shows the key. The other processes see it with
/// their next call to the store, that is within 1.5 s. If the store is lost, the last value stays.
///
/// The switch calls a function when its value changes. So a process can also be switched by itself, until the value of the
/// fleet changes again.
///
/// ```
/// use retry_core::StandardRetryStrategy;
/// use retry_fleet::FleetSwitch;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
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

    /// Only the task of the fleet sets the value, so there is no race.
    pub(crate) fn set(&self, is_on: bool) {
        if self.is_on.swap(is_on, Ordering::Relaxed) != is_on {
            (self.turn)(is_on);
            crate::events::switched(is_on);
        }
    }
}

impl Debug for FleetSwitch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetSwitch").field("is_on", &self.is_on()).finish_non_exhaustive()
    }
}
