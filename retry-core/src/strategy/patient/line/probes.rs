//! When an operation of the line is sent as a probe, although nothing shows that the service answers.

use super::{Line, Timeouts, Waiting};
use crate::time::Timestamp;
use std::time::Duration;

/// The wait before the first probe. It doubles with each probe that fails, up to [`MAX_PROBE_WAIT`].
pub(super) const FIRST_PROBE_WAIT: Duration = Duration::from_secs(1);
const MAX_PROBE_WAIT: Duration = Duration::from_secs(16);
/// The least wait before a probe, in mean gaps between the first attempts of the process: all processes together send at most an
/// eighth of their traffic as probes. With three, a thousand processes keep a server slow for twice as long.
const GAPS_PER_PROBE: u32 = 8;
/// The most that [`GAPS_PER_PROBE`] amounts to, and the wait of a process that has seen timeouts and no timely success, after its
/// first probe.
const RARE_PROBE_WAIT: Duration = Duration::from_secs(30);
/// The part of its time to wait after which an operation is the first probe of such a process. The operations behind it need the rest to
/// be sent one after another.
const COLD_PROBE_PART: u32 = 3;
/// The longest wait before this first probe: the part of the time that an operation without limits waits. With it, the first calls of a
/// process outlast a service that hangs for five seconds. After one second, they are lost if it hangs for three. With another probe soon
/// after it, each lone call is three requests: a server that has stalled for ten seconds then stays down at a load of 34 % of such calls,
/// and of 50 % if each process makes two, in place of 50 and 67 %. If only the answer to one call was lost, it ends four seconds later.
const MAX_COLD_PROBE_WAIT: Duration = Duration::from_secs(5);
/// The shortest gap of a rare caller, for which eight gaps are longer than an operation waits.
const RARE_CALLER_GAP: Duration = RARE_PROBE_WAIT;
/// The number of gaps for which a success shows that the service answers a rare caller. Its probes don't wait for eight gaps then:
/// without that, a process with one call per minute loses a quarter of the calls where half of the requests fail.
const WARM_GAPS: u32 = 4;
/// From this probe wait on, a rare caller waits for eight gaps, too, so that an operation of a rare caller sends at most three probes.
const LONG_PROBE_WAIT: Duration = Duration::from_secs(8);

/// The least wait before a probe of a process that makes one call after the other, if its mean gap is longer. While an operation of it
/// waits, it makes no other calls, so its probes take their place. In a model of 300 such processes with gaps of 2 to 20 s, nearly all
/// calls of an outage of ten seconds are lost if their probes wait for eight gaps, and next to none with this.
const SEQUENTIAL_PROBE_WAIT: Duration = Duration::from_secs(4);

/// The same after a timeout, in mean gaps, because the service may have too much to do. With eight, each process that makes a call every two
/// seconds loses the one that a stall of three seconds meets, and with four none. With two, those with a gap of five seconds lose none,
/// either, but after a stall of ten seconds and at a load of 80 %, those with a gap of two lose twice as many.
const SEQUENTIAL_GAPS: u32 = 4;

impl Line {
    /// Returns the time of the next probe, which is the operation at this index.
    pub(super) fn probe_at(&self, index: usize, now: Timestamp, cold_probe: bool) -> Timestamp {
        let gap = self.gap.unwrap_or_default();
        let since_success = self.last_success.map(|at| now.saturating_since(at));
        let is_warm = self.is_rare() && since_success.is_some_and(|since| since < gap.saturating_mul(WARM_GAPS));
        let wait = if self.is_cold(cold_probe) {
            if cold_probe && !self.has_probed_cold { self.first_cold_wait(&self.queue[index]) } else { RARE_PROBE_WAIT }
        } else if is_warm && self.probe_wait < LONG_PROBE_WAIT {
            self.probe_wait
        } else if self.is_sequential {
            let least = if self.timeouts == Timeouts::Latest {
                gap.saturating_mul(SEQUENTIAL_GAPS).min(RARE_PROBE_WAIT)
            } else {
                gap.min(SEQUENTIAL_PROBE_WAIT)
            };
            self.probe_wait.max(least)
        } else {
            self.probe_wait.max(self.usual_probe_wait())
        };
        self.last_send.saturating_add(wait.mul_f64(self.jitter))
    }

    /// Returns whether the process has seen no timely success, and a timeout last. A server that answers slowly is kept slow by the probes
    /// of many new processes; one that fails requests at once is not.
    pub(super) fn is_cold(&self, cold_probe: bool) -> bool {
        !self.latency.had_timely_answer() && (self.timeouts == Timeouts::Latest || !cold_probe)
    }

    /// Returns the wait before the first probe of a process that is cold.
    fn first_cold_wait(&self, prober: &Waiting) -> Duration {
        let part = prober.end.until.since(prober.since) / COLD_PROBE_PART;
        part.min(MAX_COLD_PROBE_WAIT).max(self.probe_wait)
    }

    /// Returns the least wait before a probe of a process that makes calls at this rate.
    pub(super) fn usual_probe_wait(&self) -> Duration {
        self.gap.unwrap_or_default().saturating_mul(GAPS_PER_PROBE).min(RARE_PROBE_WAIT)
    }

    /// Returns whether the process calls so rarely that each of its successes matters.
    pub(super) fn is_rare(&self) -> bool {
        self.gap.is_some_and(|gap| gap >= RARE_CALLER_GAP)
    }

    pub(super) fn lengthen_probe_wait(&mut self) {
        self.probe_wait = (self.probe_wait * 2).min(MAX_PROBE_WAIT);
    }
}
