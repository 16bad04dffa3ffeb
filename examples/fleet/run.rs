//! One run: the service, the processes and the faults.

use crate::fault::Faults;
use crate::options::{Mode, Settings};
use crate::outage::Outage;
use crate::process::{CAPACITY, DEAREST_COST, RETRY_COST};
use crate::progress::Progress;
use crate::service::{Counters, Service};
use crate::source::Source;
use crate::store::StoreServer;
use crate::workers::{FleetName, Worker};
use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::time::{Duration, Instant};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// The time before the outage whose answers may arrive in it.
const UNDER_WAY: Duration = Duration::from_millis(100);
/// The time that a run may take beyond the ideal.
const GRACE: Duration = Duration::from_secs(15);

/// The outcome of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) mode: Mode,
    /// The requests in the outage.
    pub(crate) in_outage: u32,
    /// The retries among them.
    pub(crate) retries: u32,
    /// The retries that the quotas allow there.
    pub(crate) allowed: u32,
    /// The writes of the whole run.
    pub(crate) writes: Writes,
    /// Those after the outage, when the limit is known.
    pub(crate) late_writes: Writes,
    /// The copies that failed and were repeated.
    pub(crate) failed: u32,
    /// The objects that were lost.
    pub(crate) lost: usize,
    /// The objects of a killed process that it had not copied.
    pub(crate) abandoned: usize,
    pub(crate) elapsed: Duration,
}

/// What the service did with writes, apart from the outage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Writes {
    accepted: u32,
    rejected: u32,
}

impl Writes {
    fn of(counters: &Counters) -> Self {
        Self { accepted: counters.writes.get(), rejected: counters.throttled.get() }
    }

    fn since(self, earlier: Self) -> Self {
        Self { accepted: self.accepted - earlier.accepted, rejected: self.rejected - earlier.rejected }
    }

    /// Returns the share of writes that were rejected.
    pub(crate) fn rejected_share(self) -> f64 {
        f64::from(self.rejected) / f64::from((self.accepted + self.rejected).max(1))
    }
}

impl Outcome {
    /// Returns whether nothing was lost and no more retries were sent than allowed.
    pub(crate) fn is_good(&self) -> bool {
        self.lost == 0 && self.retries <= self.allowed
    }
}

/// Copies the source by processes. `store` is the URL of the store, and the server if the program has started it.
pub(crate) async fn run(
    settings: &Settings,
    mode: Mode,
    source: &Source,
    store: &str,
    mut server: Option<&mut StoreServer>,
) -> Result<Outcome, Box<dyn Error>> {
    let service = Service::start(settings.rules.clone(), source.contents()).await?;
    // Its own name, because a store of the user keeps a fleet for an hour.
    let name = format!("fleet-example-{}-{}", std::process::id(), service.address().port());
    let fleet = (mode == Mode::Shared).then_some(FleetName { name: &name, store });
    let mut workers = (0..settings.processes)
        .map(|worker| {
            let keys = source.keys().into_iter().skip(worker).step_by(settings.processes).collect();
            Worker::start(service.address(), fleet, keys)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let started = Instant::now();
    for worker in &mut workers {
        worker.begin()?;
    }

    let mut faults = Faults::new(settings, mode);
    let (mut refunds, mut writes_before) = (Refunds::default(), Writes::default());
    let mut progress = Progress::new(mode, settings);
    let deadline = settings.ideal() + GRACE;
    while workers.iter().any(|worker| !worker.has_ended()) && started.elapsed() < deadline {
        tokio::time::sleep(LOOK).await;
        let outage = service.outage().and_then(Outage::elapsed);
        let counters = service.counters();
        refunds.note(counters.reads.get() + counters.writes.get(), outage.is_some());
        if outage.is_none_or(|outage| outage < settings.outage) {
            writes_before = Writes::of(counters);
        }
        if let Some(outage) = outage {
            faults.strike(outage, &mut workers, server.as_deref_mut())?;
        }
        progress.show(started.elapsed(), outage, &workers);
    }
    let elapsed = started.elapsed();
    progress.finish(elapsed, &workers);

    let arrived = service.stop();
    let lost: HashSet<&str> = source
        .objects
        .iter()
        .filter(|object| !object.is_intact(arrived.get(&object.key)))
        .map(|object| object.key.as_str())
        .collect();
    let missing = |was_killed: bool| -> usize {
        let keys = workers.iter().filter(|worker| worker.was_killed == was_killed).flat_map(|worker| &worker.keys);
        keys.filter(|key| lost.contains(key.as_str())).count()
    };
    let writes = Writes::of(service.counters());
    let outage = service.outage().map(|outage| (outage.received.get(), outage.retries.get())).unwrap_or_default();
    let unconnected = workers.iter().filter(|worker| worker.report().is_connected.is_none()).count();
    let quotas = match mode {
        Mode::Separate => settings.processes * CAPACITY as usize,
        // A store that loses its memory adds a capacity, and a process that did not reach the store a pocket.
        Mode::Shared => (1 + faults.emptied) * CAPACITY as usize + unconnected * DEAREST_COST as usize,
    };
    Ok(Outcome {
        mode,
        in_outage: outage.0,
        retries: outage.1,
        allowed: (u32::try_from(quotas)? + refunds.under_way()) / RETRY_COST,
        writes,
        late_writes: writes.since(writes_before),
        failed: workers.iter().map(|worker| worker.report().failed).sum(),
        lost: missing(false),
        abandoned: missing(true),
        elapsed,
    })
}

/// The successes shortly before the outage, which can refund the quota while it lasts.
#[derive(Debug, Default)]
struct Refunds {
    /// The successes so far, at several times. The last one is at the beginning of the outage.
    samples: VecDeque<(Instant, u32)>,
    has_ended: bool,
}

impl Refunds {
    fn note(&mut self, successes: u32, is_outage: bool) {
        if self.has_ended {
            return;
        }
        self.has_ended = is_outage;
        let now = Instant::now();
        self.samples.push_back((now, successes));
        while self.samples.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= UNDER_WAY) {
            self.samples.pop_front();
        }
    }

    /// Returns the number of successes. Each refunds 1, because there were no paid retries before the outage.
    fn under_way(&self) -> u32 {
        self.samples.front().zip(self.samples.back()).map_or(0, |((_, first), (_, last))| last - first)
    }
}
