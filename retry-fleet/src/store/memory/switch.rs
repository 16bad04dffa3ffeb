//! The switch of a fleet, in memory.

use super::{MOST, millis};
use crate::protocol::{Call, Turn};
use std::time::Duration;

/// The lifetime of the text that a process writes when it turns retries on, in milliseconds.
const ON: u64 = 60_000;
/// Ends of a switch that differ by at most this many milliseconds are treated as equal.
const SAME: u64 = 1_000;

/// What the state knows of the switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Switch {
    /// The number of the latest turn, or 0.
    turned: u64,
    /// 0 if it is on.
    off_until: u64,
    reason: String,
}

impl Switch {
    /// Makes a call. The turn of the call decides, else the operator's text while it exists, else the latest turn that the state
    /// or a process knows.
    pub(super) fn call(&mut self, now: u64, call: &Call, written: &mut Option<(String, u64)>) -> Option<Turn> {
        let now = now.min(MOST.unsigned_abs());
        if let Some(known) = call.known_turn.as_ref().filter(|known| number(known.number) > self.turned) {
            let off_until = if known.off_for.is_zero() { 0 } else { until(now, known.off_for) };
            *self = Self { turned: number(known.number), off_until, reason: known.reason.clone() };
        }
        let next = number(now.max(self.turned + 1));
        if let Some(turn) = &call.turn {
            if turn.off_for.is_zero() {
                *self = Self { turned: next, off_until: 0, reason: turn.reason.clone() };
                *written = Some(("on".to_owned(), now + ON));
            } else {
                *self = Self { turned: next, off_until: until(now, turn.off_for), reason: turn.reason.clone() };
                *written = Some((format!("off {}", turn.reason), self.off_until));
            }
        } else if let Some((text, until)) = written {
            let is_on = text == "on";
            let off_until = if is_on { 0 } else { number(*until) };
            let reason = text.strip_prefix("off ").unwrap_or_default();
            let is_same = self.turned > 0
                && (self.off_until > 0) != is_on
                // This text does not say who turned it on.
                && (is_on || self.reason == reason)
                && self.off_until.abs_diff(off_until) <= SAME;
            if !is_same {
                *self = Self { turned: next, off_until, reason: reason.to_owned() };
            }
        }
        let off_for = Duration::from_millis(self.off_until.saturating_sub(now));
        // Nobody has turned it on if its time is over.
        let is_over = self.off_until > 0 && off_for.is_zero();
        let reason = if is_over { String::new() } else { self.reason.clone() };
        (self.turned > 0).then_some(Turn { number: self.turned, off_for, reason })
    }
}

fn number(number: u64) -> u64 {
    number.min(MOST.unsigned_abs())
}

fn until(now: u64, time: Duration) -> u64 {
    number(now.saturating_add(millis(time)))
}
