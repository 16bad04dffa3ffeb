//! The number of requests that may be in flight, which is learned from rejections. It is pure arithmetic, without a lock.

use crate::number::next;
use retry_core::parts::{GRACE, SendSupply};
use retry_core::parts::{Latest, Observed};
use retry_core::time::Timestamp;
use std::num::NonZeroU32;
use std::time::Duration;

/// The initial window, as in TCP (RFC 6928).
const INITIAL: f64 = 10.0;
/// The factor of a cut. In a simulation of 20 slots whose service times differ, 0.9 takes 1.09 times the ideal time, and 0.7
/// takes 1.2 times.
const CUT: f64 = 0.95;
/// The factor of a cut if nothing was accepted since the last one, so that a server that rejects everything soon gets few
/// requests.
const CUT_IN_A_ROW: f64 = 0.5;
/// The pause after a rejection at a window of one. It doubles with each one in a row.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The state of the window when a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The number of other requests in flight.
    others: u32,
    /// The number of the last cut up to then.
    cuts: NonZeroU32,
}

impl Sent {
    /// Creates the state with this number of other requests in flight, after this cut.
    #[inline]
    pub(super) const fn new(others: u32, cuts: NonZeroU32) -> Self {
        Self { others, cuts }
    }
}

/// The requests in flight, and their limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    latest: Latest,
    /// The number of requests that may be in flight, rounded down. At least 1.
    size: f64,
    /// The highest size, which the user set.
    most: f64,
    in_flight: u32,
    /// Whether each success adds one, because no limit was met yet.
    is_starting: bool,
    /// One more than the number of cuts.
    cuts: NonZeroU32,
    /// The number of cuts since the last accepted request.
    in_a_row: u32,
    /// Nothing is sent up to this time.
    paused_until: Option<Timestamp>,
    /// The time of the last question.
    now: Timestamp,
}

impl Window {
    pub(super) fn new(most: u32, now: Timestamp) -> Self {
        let most = f64::from(most.max(1));
        Self {
            latest: Latest::new(now),
            size: INITIAL.min(most),
            most,
            in_flight: 0,
            is_starting: true,
            cuts: NonZeroU32::MIN,
            in_a_row: 0,
            paused_until: None,
            now,
        }
    }

    /// Returns the number of requests in flight.
    pub(super) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Sets the number of requests in flight, which was counted elsewhere.
    pub(super) const fn set_in_flight(&mut self, requests: u32) {
        self.in_flight = requests;
    }

    /// Returns the number of the last cut.
    pub(super) const fn cuts(&self) -> NonZeroU32 {
        self.cuts
    }

    /// Returns whether a request is sent, and its slot taken back, without a change of anything but the number in flight, as long as
    /// that is below the size.
    pub(super) const fn is_steady(&self) -> bool {
        self.in_a_row == 0 && self.paused_until.is_none()
    }

    /// Returns the number of requests that may be in flight.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and `as` saturates")]
    pub(super) const fn size(&self) -> u32 {
        self.size as u32
    }

    /// Returns the number of requests that may be sent now.
    pub(super) const fn free(&self) -> u32 {
        if self.paused_until.is_some() { 0 } else { self.size().saturating_sub(self.in_flight) }
    }

    /// Returns the state for a request that is sent, whose slot was taken just now.
    pub(super) const fn sent(&self) -> Sent {
        Sent { others: self.in_flight.saturating_sub(1), cuts: self.cuts }
    }

    /// Takes back a slot. The outcome of its request is unknown.
    pub(super) const fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Takes back the slot of a request that failed, but was accepted.
    pub(super) const fn accepted(&mut self) {
        self.ended();
        self.in_a_row = 0;
    }

    /// Takes back the slot of a success. The window grows if it was used up.
    pub(super) const fn succeeded(&mut self) {
        let is_full = self.in_flight >= self.size();
        self.accepted();
        if is_full {
            let gain = if self.is_starting { 1.0 } else { 1.0 / self.size };
            self.size = (self.size + gain).min(self.most);
        }
    }

    /// Takes back the slot of a request that was rejected, and that is repeated after this wait if the server asks for one that
    /// is allowed. `part` is a random number from 0 to 1.
    ///
    /// A request that was sent before the last cut says nothing about the window after it.
    pub(super) fn rejected(&mut self, now: Timestamp, sent: Sent, wait: Option<Duration>, part: f64) {
        self.ended();
        if sent.cuts != self.cuts {
            return;
        }
        if self.size() == 1 {
            let pause = PAUSE.saturating_mul(2_u32.saturating_pow(self.in_a_row)).min(LONGEST_PAUSE);
            let pause = pause.mul_f64(0.5 + 0.5 * part).max(wait.unwrap_or_default());
            self.paused_until = Some(now.saturating_add(pause));
        }
        let factor = if self.in_a_row == 0 { CUT } else { CUT_IN_A_ROW };
        self.size = (self.size.min(f64::from(sent.others)) * factor).max(1.0);
        // A request that was alone in flight says nothing about how many may be.
        self.is_starting = sent.others == 0;
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.cuts = next(self.cuts);
    }
}

impl SendSupply for Window {
    type Weight = ();

    /// With a window of one, a slot that is kept stops all others.
    fn keeps_for() -> Duration {
        GRACE
    }

    fn observe(&mut self, now: Timestamp) -> Observed {
        let observed = self.latest.observe(now);
        if let Some(anchor) = observed.went_back_to {
            self.paused_until = self.paused_until.map(|until| until.min(anchor));
        }
        observed
    }

    fn refill(&mut self, now: Timestamp) {
        self.now = now;
        self.paused_until = self.paused_until.filter(|until| now < *until);
    }

    /// Returns the rest of a pause. Without a pause, the time at which a slot is returned is unknown.
    fn wait_for(&self, sends: f64) -> Duration {
        match self.paused_until {
            Some(until) => until.saturating_since(self.now),
            None if f64::from(self.in_flight) + sends <= f64::from(self.size()) => Duration::ZERO,
            None => Duration::MAX,
        }
    }

    fn take(&mut self, (): ()) {
        self.in_flight = self.in_flight.saturating_add(1);
    }

    fn give_back(&mut self, (): ()) {
        self.ended();
    }

    /// Slots come back at any time, so the grace period is the shortest one.
    fn interval(&self) -> Duration {
        GRACE
    }
}
