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
    /// Makes a call. While an operator's text exists, it decides. Otherwise it is the latest turn that the state or a process
    /// knows.
    pub(super) fn call(&mut self, now: u64, call: &Call, written: &mut Option<(String, u64)>) -> Option<Turn> {
        let now = now.min(MOST.unsigned_abs());
        let reported = call.known_turn.as_ref().map_or(0, |turn| number(turn.number));
        let next = |turned: u64| number(now.max(turned + 1).max(reported + 1));
        if let Some((text, until)) = written {
            let is_on = text == "on";
            let off_until = if is_on { 0 } else { number(*until) };
            let reason = text.strip_prefix("off ").unwrap_or_default();
            let is_same = self.turned > 0
                && (self.off_until > 0) != is_on
                // This text does not say who turned it on.
                && (is_on || self.reason == reason)
                && self.off_until.abs_diff(off_until) <= SAME;
            if !is_same {
                *self = Self { turned: next(self.turned), off_until, reason: reason.to_owned() };
            }
        } else if let Some(known) = call.known_turn.as_ref().filter(|_| reported > self.turned) {
            let off_until = if known.off_for.is_zero() { 0 } else { until(now, known.off_for) };
            *self = Self { turned: reported, off_until, reason: known.reason.clone() };
        }
        if let Some(turn) = &call.turn {
            let turned = next(self.turned);
            if turn.off_for.is_zero() {
                *self = Self { turned, off_until: 0, reason: turn.reason.clone() };
                *written = Some(("on".to_owned(), now + ON));
            } else {
                *self = Self { turned, off_until: until(now, turn.off_for), reason: turn.reason.clone() };
                *written = Some((format!("off {}", turn.reason), self.off_until));
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
