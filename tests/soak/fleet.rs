//! A fleet: members with a shared quota, limit and switch, over a store in memory that fails at times.

use crate::problem::{MAX_TIME, generator, lock, problem};
use crate::world::{ATTEMPT, TENANTS, World};
use rand::RngExt;
use rand::rngs::StdRng;
use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, StandardRetryStrategy, retry};
use retry_fleet::protocol::{Call, Reply};
use retry_fleet::store::MemoryStore;
use retry_fleet::{Fleet, FleetSwitch, Membership, Store, StoreError};
use retry_limits::PacedRetryStrategy;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The switch of the fleet turns the retries of all tenants.
static SWITCH: FleetSwitch = FleetSwitch::new(|is_on| TENANTS.set_enabled(is_on));

/// The store, shared by all members.
struct Shared {
    store: Mutex<MemoryStore>,
    is_troubled: AtomicBool,
    started: Instant,
}

/// The store of one member.
struct Access(Arc<Shared>, StdRng);

impl Store for Access {
    async fn call(&mut self, _: &str, call: &Call) -> Result<Reply, StoreError> {
        let fault = if self.0.is_troubled.load(Ordering::Relaxed) { self.1.random_range(0..10) } else { 9 };
        if fault == 0 {
            sleep(Duration::from_millis(1_200)).await;
        }
        if fault < 3 {
            return Err(StoreError::new("the store fails"));
        }
        let now = u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let reply = lock(&self.0.store).call(now + 1, call);
        // The answer is lost, but the call was made.
        if fault == 3 { Err(StoreError::new("the connection broke")) } else { Ok(reply) }
    }
}

type Limited = PacedRetryStrategy<ExponentialBackoff, Arc<EvidenceQuota>>;

/// The members of one round.
pub(crate) struct Members {
    shared: Arc<Shared>,
    name: String,
    seed: u64,
}

impl Members {
    pub(crate) fn new(round: u64, seed: u64) -> Self {
        let shared = Shared { store: Mutex::default(), is_troubled: AtomicBool::new(true), started: Instant::now() };
        Self { shared: Arc::new(shared), name: format!("soak-{round}"), seed }
    }

    /// Joins and leaves again and again until the round ends, or the task is cancelled. The first member also turns the switch.
    pub(crate) async fn member(&self, world: &World, number: u64) {
        let mut random = generator(self.seed, number);
        let quota = Arc::new(EvidenceQuota::new());
        let limited: Arc<Limited> =
            Arc::new(PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(Arc::clone(&quota))));
        while !world.stop.is_stopped() {
            let store = Access(Arc::clone(&self.shared), generator(self.seed, random.random()));
            let fleet = Fleet::new(self.name.clone(), store).quota(Arc::clone(&quota)).limit(Arc::clone(&limited));
            let fleet = if number == 0 { fleet.switch(&SWITCH) } else { fleet };
            let membership = match fleet.join() {
                Ok(membership) => membership,
                Err(error) => return problem(format!("a member can't join again: {error}")),
            };
            let until = Instant::now() + Duration::from_millis(random.random_range(500..3_000));
            while !world.stop.is_stopped() && Instant::now() < until {
                if number == 0 && random.random_range(0..10) == 0 {
                    let _ = membership.turn_retries_off(Duration::from_millis(50), "soak", "a test").await;
                }
                let call = retry(Arc::clone(&limited), || world.get("fleet")).idempotent(true);
                let call = call.attempt_timeout(ATTEMPT).max_time(MAX_TIME).stop(&world.stop);
                world.tally.count("member", call.report()).await;
                sleep(Duration::from_millis(random.random_range(1..50))).await;
            }
            leave(membership).await;
        }
    }

    /// Records a problem unless the store forgets all members, also those that were cancelled or could not leave.
    pub(crate) async fn check(&self) {
        self.shared.is_troubled.store(false, Ordering::Relaxed);
        let quota = Arc::new(EvidenceQuota::new());
        let store = Access(Arc::clone(&self.shared), generator(self.seed, u64::MAX));
        let fleet = Fleet::new(self.name.clone(), store).quota(quota).switch(&SWITCH);
        let last = match fleet.join() {
            Ok(last) => last,
            Err(error) => return problem(format!("the last member can't join: {error}")),
        };
        // From here on, the store knows the last member.
        if last.turn_retries_on("soak").await.is_err() || !SWITCH.is_on() || !TENANTS.is_enabled() {
            problem("the switch of the fleet is not on again".to_owned());
        }
        let began = Instant::now();
        while lock(&self.shared.store).members() != 1 && began.elapsed() < Duration::from_secs(15) {
            sleep(Duration::from_millis(50)).await;
        }
        let members = lock(&self.shared.store).members();
        if members != 1 {
            problem(format!("{members} members instead of the last one"));
        }
        leave(last).await;
        let members = lock(&self.shared.store).members();
        if members != 0 {
            problem(format!("{members} members are left in the store"));
        }
    }
}

async fn leave(membership: Membership) {
    if tokio::time::timeout(Duration::from_secs(10), membership.leave()).await.is_err() {
        problem("a member does not leave".to_owned());
    }
}
