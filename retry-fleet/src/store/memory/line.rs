//! The part of the store in memory about operations that wait for the service.

use super::{Member, millis, up_to_most};
use crate::protocol::{LineCall, LineReply};
use std::time::Duration;

/// The least time after the latest call of a process whose operations wait for which sends are kept for such processes, in milliseconds.
/// It is longer if processes call more rarely.
const WAITS: u64 = 3_000;
/// A send, in the unit in which sends are kept: thousandths.
const SEND: u64 = 1_000;
/// Sends that nobody takes fade, so that those of a healthy service are not left when it fails: after this time in milliseconds, one is
/// left if no call was made, and one and 37 % of the others if many were. The one does not fade: in a fleet with one success in a second, it
/// is put together from halves.
const KEPT: u64 = 1_000;
/// The most sends that are kept, in thousandths. A thousand times this number is exact in the floats of the script.
const MOST_SPARE: u64 = 1 << 40;

/// The number of processes whose waits are compared. A call compares few numbers, however many processes there are. With 16 and
/// [`PER_SEND`], a model of 10, 100 and 1,000 processes bridges 95, 90 and 82 % of an outage of 30 s. With 64, fewer sends fade in a large
/// fleet, and many more in a small one.
const COMPARED: usize = 16;
/// The number of these processes that may have a send, for each send that is left.
const PER_SEND: usize = 2;

/// The sends that no operation of the process with the success used.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Their number, in thousandths.
    spare: u64,
    /// When a call was last made that had such a part.
    spared: u64,
    /// When operations last waited, or 0.
    waited: u64,
    /// The processes whose operations wait, of the latest calls.
    in_wait: Vec<Wait>,
}

/// What a process with operations that wait has reported in its latest call.
#[derive(Clone, Debug)]
struct Wait {
    /// When the first of them began to wait.
    since: u64,
    at: u64,
    member: String,
}

impl Line {
    /// Stores what a process does not use, and returns what it may send.
    pub(super) fn call(&mut self, now: u64, call: LineCall, ttl: u64, name: &str, member: &mut Member) -> LineReply {
        self.spare -= self.spare.saturating_sub(SEND) * now.saturating_sub(self.spared).min(KEPT) / KEPT;
        self.spared = now;
        if call.waiting > 0 {
            self.waited = now;
        }
        let longest = WAITS.max(ttl);
        let is_waiting = self.waited > 0 && now - self.waited < longest;
        let spare = up_to_most(call.spare).saturating_sub(member.spare);
        member.spare += spare;
        self.spare = if is_waiting { (self.spare + spare * (SEND / 2)).min(MOST_SPARE) } else { 0 };
        let sends = u32::try_from(self.spare / SEND).unwrap_or(u32::MAX);
        let since = now.saturating_sub(millis(call.longest_wait));
        self.in_wait.retain(|wait| now - wait.at < longest && wait.member != name);
        if call.waiting > 0 {
            if self.in_wait.len() == COMPARED {
                self.in_wait.remove(0);
            }
            self.in_wait.push(Wait { since, at: now, member: name.to_owned() });
        }
        let last = self.last_to_send(sends);
        if let Some(last) = last.filter(|last| since > *last) {
            return LineReply { granted: 0, is_waiting, least_wait: Duration::from_millis(now - last) };
        }
        let granted = sends.min(call.waiting);
        self.spare -= u64::from(granted) * SEND;
        LineReply { granted, is_waiting, least_wait: Duration::ZERO }
    }

    /// Returns the latest beginning of a wait that may get one of these sends, or `None` if all may.
    fn last_to_send(&self, sends: u32) -> Option<u64> {
        let mut waits: Vec<_> = self.in_wait.iter().map(|wait| wait.since).collect();
        waits.sort_unstable();
        waits.get(PER_SEND.saturating_mul(sends as usize)).copied()
    }
}
