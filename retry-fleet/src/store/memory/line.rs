//! The part of the store in memory about operations that wait for the service.

use super::{Member, up_to_most};
use crate::protocol::{LineCall, LineReply};

/// The least time after the latest call of a process whose operations wait for which sends are kept for such processes, in milliseconds.
/// It is longer if processes call more rarely.
const WAITS: u64 = 3_000;
/// Sends that nobody takes fade, so that those of a healthy service are not left when it fails: after this time in milliseconds, none is
/// left if no call was made, and 37 % if many were.
const KEPT: u64 = 1_000;
/// The most sends that are kept, in thousandths. A thousand times this number is exact in the floats of the script.
const MOST_SPARE: u64 = 1 << 40;

/// The sends that no operation of the process with the success used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// Their number, in thousandths.
    spare: u64,
    /// When a call was last made that had such a part.
    spared: u64,
    /// When operations last waited, or 0.
    waited: u64,
}

impl Line {
    /// Stores what a process does not use, and returns what it may send.
    pub(super) fn call(&mut self, now: u64, call: LineCall, ttl: u64, member: &mut Member) -> LineReply {
        self.spare -= self.spare * now.saturating_sub(self.spared).min(KEPT) / KEPT;
        self.spared = now;
        if call.waiting > 0 {
            self.waited = now;
        }
        let is_waiting = self.waited > 0 && now - self.waited < WAITS.max(ttl);
        let spare = up_to_most(call.spare).saturating_sub(member.spare);
        member.spare += spare;
        self.spare = if is_waiting { (self.spare + spare * 1_000).min(MOST_SPARE) } else { 0 };
        let granted = u32::try_from(self.spare / 1_000).unwrap_or(u32::MAX).min(call.waiting);
        self.spare -= u64::from(granted) * 1_000;
        LineReply { granted, is_waiting }
    }
}
