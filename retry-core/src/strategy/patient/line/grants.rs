//! What a line has to do with the lines of other processes: the sends that it leaves to them, and those that they grant.

use super::{Line, Nanos, SEND};
use crate::time::Timestamp;
use std::task::Waker;
use std::time::Duration;

/// The time after which the operations of other processes wait no longer, unless it is heard again that they do: more than the longest
/// time between two calls to the store of a fleet, 12.5 s.
const PEERS_SILENCE: Duration = Duration::from_secs(15);

/// An operation gets a success of its own process although others have waited this much longer, because the others would get that success
/// one or two calls to the store later. In a model of 10, 100 and 1,000 processes, each bridges an outage of 30 s within two points of its
/// best value; 0.5 to 2 s, and no such time, were compared.
const MUCH_LONGER: Duration = Duration::from_secs(2);

/// What is kept for the operations of other processes that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peers {
    /// The credit that no operation here used, and that was not taken yet.
    credit: u32,
    /// When it was last known that they wait.
    known_at: Timestamp,
    /// An operation here that began to wait later leaves the successes of this process to the others.
    pub(super) own_until: Nanos,
}

/// What the sends that other processes granted have shown since the latest success of this one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grants {
    Open,
    /// The first one was granted at this time. No attempt since then has failed.
    Tried(Timestamp),
    /// An attempt has failed, so this process may be cut off by itself, and successes of others say nothing about its attempts.
    Failed,
}

impl Grants {
    /// Records the failure of an attempt that was sent at this time, if it is known.
    pub(super) fn failed(&mut self, sent: Option<Nanos>) {
        if let Self::Tried(at) = self
            && sent.is_some_and(|sent| Nanos::of(*at) <= sent)
        {
            *self = Self::Failed;
        }
    }
}

impl Line {
    /// Returns the number of sends to ask other processes for: one for each operation that can be sent, but no more often than probes once
    /// such a send has failed. Each of them would fail, and count as an attempt, if this process is cut off by itself. Also returns how
    /// long the operation has waited that is sent first.
    pub(in crate::strategy::patient) fn wanted(&self, now: Timestamp) -> (u32, Duration) {
        let most = match self.grants {
            Grants::Failed => usize::from(now >= self.last_send.saturating_add(self.probe_wait)),
            Grants::Open | Grants::Tried(_) => usize::MAX,
        };
        let mut in_time = self.in_time(now);
        let Some((_, first)) = in_time.next() else { return (0, Duration::ZERO) };
        let count = in_time.count().saturating_add(1).min(most);
        (u32::try_from(count).unwrap_or(u32::MAX), first.since.until(now))
    }

    /// Takes the credit that no operation here used, in halves of a send.
    pub(in crate::strategy::patient) fn take_spare(&mut self, now: Timestamp) -> u32 {
        self.forget_peers(now);
        self.peers.as_mut().map_or(0, |peers| std::mem::take(&mut peers.credit))
    }

    /// Adds credit for this many sends from the successes of other processes, and notes whether operations of others wait, and how long
    /// those that are sent first have waited at least. Returns the wakers of the operations that are sent now.
    pub(in crate::strategy::patient) fn set_peers(
        &mut self,
        granted: u32,
        others_wait: Option<Duration>,
        now: Timestamp,
    ) -> Vec<Waker> {
        if !self.is_watching() {
            // What was measured of earlier traffic says nothing about the gap to the next attempt.
            self.last_first = None;
            self.quiet_since = self.quiet_since.max(now);
        }
        self.forget_peers(now);
        let credit = self.peers.map_or(0, |peers| peers.credit);
        // What others grant is for any operation here.
        self.peers = others_wait.map(|_| Peers { credit, known_at: now, own_until: Nanos::NEVER });
        self.credit = self.credit.saturating_add(granted.saturating_mul(SEND));
        let before = self.queue.len();
        let wakers = self.spend(now);
        if let Some((peers, wait)) = self.peers.as_mut().zip(others_wait.filter(|wait| !wait.is_zero())) {
            peers.own_until = Nanos::of(now.saturating_sub(wait).saturating_add(MUCH_LONGER));
        }
        if granted > 0 && self.queue.len() < before {
            match self.grants {
                Grants::Open => self.grants = Grants::Tried(now),
                Grants::Tried(_) => {}
                Grants::Failed => self.lengthen_probe_wait(),
            }
        }
        wakers
    }

    /// Keeps nothing for other processes of which nothing was heard for a while, as when the task of the fleet has ended.
    pub(super) fn forget_peers(&mut self, now: Timestamp) {
        let silent = self.peers.take_if(|peers| now.saturating_since(peers.known_at) > PEERS_SILENCE);
        if silent.is_some() && self.queue.is_empty() {
            self.keep_half_a_credit();
        }
    }

    /// Leaves credit that no operation here uses to other processes, after a fast success. Half a credit of many processes is much. So it is
    /// given only with a new success, not when operations have begun to fail.
    pub(super) fn leave_credit_to_peers(&mut self, now: Timestamp) {
        if self.peers.is_some()
            && self.next_sent(now).is_none()
            && let Some(peers) = &mut self.peers
        {
            peers.credit = peers.credit.saturating_add(std::mem::take(&mut self.credit));
        }
    }

    /// Leaves whole sends to other processes, once no operation waits here. They are spent once, here or in another process.
    pub(super) fn leave_sends_to_peers(&mut self) {
        if let Some(Peers { credit, .. }) = &mut self.peers {
            let half = self.credit % SEND;
            *credit = credit.saturating_add(std::mem::replace(&mut self.credit, half) - half);
        }
    }
}
