//! One run: the service, the processes and the faults.

use crate::fault::Faults;
use crate::options::{Mode, Settings};
use crate::outage::Outage;
use crate::progress::Progress;
use crate::service::{Counters, Service};
use crate::source::Source;
use crate::store::StoreServer;
use crate::workers::{FleetName, Worker};
use std::collections::HashSet;
use std::error::Error;
use std::time::{Duration, Instant};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(50);
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
    /// Returns whether nothing was lost.
    pub(crate) fn is_good(&self) -> bool {
        self.lost == 0
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
    let mut writes_before = Writes::default();
    let mut progress = Progress::new(mode, settings);
    let deadline = settings.ideal() + GRACE;
    while workers.iter().any(|worker| !worker.has_ended()) && started.elapsed() < deadline {
        tokio::time::sleep(LOOK).await;
        let outage = service.outage().and_then(Outage::elapsed);
        let counters = service.counters();
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
    Ok(Outcome {
        mode,
        in_outage: outage.0,
        retries: outage.1,
        writes,
        late_writes: writes.since(writes_before),
        failed: workers.iter().map(|worker| worker.report().failed).sum(),
        lost: missing(false),
        abandoned: missing(true),
        elapsed,
    })
}
