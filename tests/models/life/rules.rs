//! The rules by which a limiter grants sends, written down plainly. Every question looks at every waiter.

use crate::support::{millis, secs};
use std::time::Duration;

/// The part of a second by which readings of the clock may be out of order.
const DISORDER: Duration = millis(250);
/// What is counted as one send. The rest is far less than what comes in between two steps.
const ALMOST_ONE: f64 = 1.0 - 1e-6;

/// A limiter, by its rules.
#[derive(Debug)]
pub(super) struct Rules {
    /// The time in seconds whose sends are saved up.
    saves: f64,
    pub(super) is_limiting: bool,
    pub(super) rate: f64,
    pub(super) sends: f64,
    pub(super) filled: Duration,
    readings: Option<Readings>,
    /// The waiters in the order in which they came.
    waiters: Vec<Waiter>,
    /// The waiter that a send is kept for, since when, and whether the send is a probe of the hold.
    kept: Option<(u32, Duration, bool)>,
    /// The time at which an operation last had to wait, or the limit began.
    waited_at: Duration,
    pub(super) hold: Option<Hold>,
    /// The sends that came in, and those that were granted and not given back.
    pub(super) came_in: f64,
    pub(super) granted: f64,
}

#[derive(Debug)]
struct Waiter {
    name: u32,
    /// The time at which the waiter is expected to ask; `None` if it is passed over until it asks.
    asks_at: Option<Duration>,
}

/// The readings of the clock.
#[derive(Debug)]
struct Readings {
    latest: Duration,
    /// The earliest reading of those that are before the latest one.
    behind: Option<Duration>,
}

/// A time in which nothing is sent but probes.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) begun: Duration,
    pub(super) until: Duration,
    pub(super) probe_at: Duration,
    /// The operations that got a probe of the hold.
    pub(super) probes: Vec<u32>,
}

impl Rules {
    pub(super) const fn new(saves: f64) -> Self {
        Self {
            saves,
            is_limiting: false,
            rate: 0.0,
            sends: 0.0,
            filled: Duration::ZERO,
            readings: None,
            waiters: Vec::new(),
            kept: None,
            waited_at: Duration::ZERO,
            hold: None,
            came_in: 0.0,
            granted: 0.0,
        }
    }

    /// Returns the time to use. If the clock was set back, what was in the future is now.
    pub(super) fn observe(&mut self, reading: Duration) -> Duration {
        let readings = self.readings.get_or_insert(Readings { latest: reading, behind: None });
        if reading >= readings.latest {
            *readings = Readings { latest: reading, behind: None };
            return reading;
        }
        let since = readings.behind.map_or(reading, |earliest| earliest.min(reading));
        if reading.saturating_sub(since) < DISORDER {
            readings.behind = Some(since);
            return readings.latest;
        }
        *readings = Readings { latest: reading, behind: None };
        self.filled = self.filled.min(since);
        self.waited_at = self.waited_at.min(since);
        for waiter in &mut self.waiters {
            waiter.asks_at = waiter.asks_at.map(|asks_at| asks_at.min(reading));
        }
        self.kept = self.kept.map(|(name, kept, is_probe)| (name, kept.min(reading), is_probe));
        if let Some(hold) = &mut self.hold {
            hold.begun = hold.begun.min(since);
            hold.until = hold.until.min(since);
            hold.probe_at = hold.probe_at.min(since);
        }
        reading
    }

    /// A limit begins. Those who wait keep their places.
    pub(super) fn begin(&mut self, now: Duration, rate: f64) {
        self.is_limiting = true;
        (self.rate, self.sends, self.filled, self.hold) = (rate, 0.0, now, None);
        self.waited_at = now;
    }

    /// Adds what came in up to now, at this rate.
    pub(super) fn refill(&mut self, now: Duration, rate: f64) {
        if let Some(hold) = &mut self.hold {
            let until = hold.until;
            if now >= until {
                self.hold = None;
            } else if now >= hold.probe_at {
                // The next probe comes after twice the time since the start of the hold, and a second.
                let space = now.saturating_sub(hold.begun).clamp(secs(1), secs(300));
                hold.probe_at = now + (space + secs(1)).min(secs(300));
                // A send that came back is the probe.
                self.came_in += (1.0 - self.sends).max(0.0);
                self.sends = self.sends.max(1.0);
            }
            self.filled = self.filled.max(until.min(now));
        }
        let elapsed = now.saturating_sub(self.filled).as_secs_f64();
        if elapsed > 0.0 {
            self.rate = rate;
            self.came_in += elapsed * rate;
            self.sends += elapsed * rate;
            self.save_up();
        }
        self.filled = self.filled.max(now);
    }

    /// Loses the sends that are more than what is saved up.
    pub(super) fn save_up(&mut self) {
        self.sends = self.sends.min((self.saves * self.rate).max(1.0));
    }

    /// A server asks for a wait, in which nothing is sent. A probe that is available stays so if the wait is prolonged.
    pub(super) fn hold(&mut self, now: Duration, wait: Duration) {
        let until = now.saturating_add(wait);
        match &mut self.hold {
            Some(hold) if now < hold.until => hold.until = hold.until.max(until),
            _ => {
                self.hold = Some(Hold { begun: now, until, probe_at: now + secs(1), probes: Vec::new() });
                self.kept = self.kept.map(|(name, since, _)| (name, since, false));
                self.sends = 0.0;
            }
        }
    }

    /// A hold ends, because a probe was accepted.
    pub(super) fn end_hold(&mut self, now: Duration) {
        self.hold = None;
        self.filled = self.filled.max(now);
    }

    /// Asks for a send at this time and rate. Returns the wait in seconds, or `None` if the send is granted.
    pub(super) fn ask(&mut self, now: Duration, rate: f64, name: u32) -> Option<f64> {
        self.refill(now, rate);
        let grace = Duration::try_from_secs_f64(1.0 / self.rate).unwrap_or(Duration::MAX).max(millis(50));
        for waiter in &mut self.waiters {
            waiter.asks_at = waiter.asks_at.filter(|asks_at| now.saturating_sub(*asks_at) <= grace);
        }
        self.keep_no_longer(|(_, since, _)| now.saturating_sub(since) > secs(10));
        let first = self.waiters.iter_mut().take_while(|waiter| waiter.name != name).find(|it| it.asks_at.is_some());
        if let Some(first) = first
            && self.kept.is_none()
            && first.asks_at.is_some_and(|asks_at| asks_at < now)
            && self.sends > ALMOST_ONE
        {
            // It does not wait for another send, so it is not counted below.
            first.asks_at = None;
            // In a hold, only probes are available.
            self.kept = Some((first.name, now, self.hold.is_some()));
            self.take();
        }
        if let Some((_, _, is_probe)) = self.kept.take_if(|(kept, _, _)| *kept == name) {
            return self.grant(name, is_probe);
        }
        let ahead = self.waiters.iter().take_while(|waiter| waiter.name != name).filter(|it| it.asks_at.is_some());
        let needed = ahead.fold(1.0, |sends, _| sends + 1.0);
        if self.sends > needed - 1.0 + ALMOST_ONE {
            self.take();
            return self.grant(name, true);
        }
        let wait = (needed - self.sends) / self.rate;
        Some(match &self.hold {
            None => wait,
            Some(hold) => {
                let end = hold.until.saturating_sub(now).as_secs_f64();
                let probe = hold.probe_at.saturating_sub(now).as_secs_f64();
                // The first waiter asks again at the end, too.
                if needed > 1.0 { end + wait } else { end.min(probe) }
            }
        })
    }

    /// Takes a send, also to keep it for a waiter that is late.
    fn take(&mut self) {
        self.sends = (self.sends - 1.0).max(0.0);
    }

    /// Grants a send. In a hold, it is a probe unless it was kept since before the hold.
    fn grant(&mut self, name: u32, is_probe: bool) -> Option<f64> {
        if let Some(hold) = self.hold.as_mut().filter(|_| is_probe) {
            hold.probes.push(name);
        }
        self.waiters.retain(|waiter| waiter.name != name);
        self.granted += 1.0;
        None
    }

    /// Records when a waiter is expected to ask.
    pub(super) fn told(&mut self, name: u32, asks_at: Duration) {
        self.waited_at = self.now();
        match self.waiters.iter_mut().find(|waiter| waiter.name == name) {
            Some(waiter) => waiter.asks_at = Some(asks_at),
            None => self.waiters.push(Waiter { name, asks_at: Some(asks_at) }),
        }
    }

    /// An operation goes away.
    pub(super) fn leave(&mut self, name: u32) {
        self.keep_no_longer(|(kept, _, _)| kept == name);
        self.waiters.retain(|waiter| waiter.name != name);
    }

    /// A send that was granted to this operation is not made.
    pub(super) fn give_back(&mut self, name: u32) {
        self.granted -= 1.0;
        self.come_back(self.hold.as_ref().is_some_and(|hold| hold.probes.contains(&name)));
    }

    /// A send is not kept any more if this is true of it.
    fn keep_no_longer(&mut self, is_over: impl Fn((u32, Duration, bool)) -> bool) {
        if let Some((_, _, is_probe)) = self.kept.take_if(|kept| is_over(*kept)) {
            self.come_back(is_probe);
        }
    }

    /// A send that was taken comes back. In a hold, only a probe of this hold can be sent again, and there is one at a time.
    fn come_back(&mut self, is_probe: bool) {
        if self.hold.is_some() {
            if is_probe {
                self.sends = 1.0;
            }
            return;
        }
        self.sends += 1.0;
        self.save_up();
    }

    /// Returns the operations that have a place.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> {
        self.waiters.iter().map(|waiter| waiter.name)
    }

    /// Returns whether an operation had to wait for a send in the last second.
    pub(super) fn is_limited(&self, now: Duration) -> bool {
        now.saturating_sub(self.waited_at) <= secs(1)
    }

    /// Returns the time that was used last.
    pub(super) fn now(&self) -> Duration {
        self.readings.as_ref().map_or(Duration::ZERO, |readings| readings.latest)
    }
}
