//! Operations that come faster than the limit allows, with a time limit each: how many are accepted, and how long they take. It runs in
//! virtual time, through the public API.

use crate::random::Random;
use retry_core::{RetryInfo, TimedOut, retry};
use retry_fleet::protocol::{Call, Reply};
use retry_fleet::store::MemoryStore;
use retry_fleet::{Fleet, Store, StoreError};
use retry_limits::PacedRetryStrategy;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

/// The requests per second that the server accepts.
const LIMIT: f64 = 300.0;
const MAX_TIME: Duration = Duration::from_secs(8);
/// The time from a request to the server, and back.
const ONE_WAY: Duration = Duration::from_millis(10);
/// The seconds in which operations come, and the first one that is measured.
const SECONDS: u32 = 40;
const MEASURED: u32 = 15;

#[derive(Debug, RetryInfo)]
enum Refused {
    #[retry(throttling)]
    SlowDown,
    #[retry(timeout)]
    TimedOut,
}

impl From<TimedOut> for Refused {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// A store whose calls take 3 ms, so that some are in flight while operations come.
#[derive(Clone, Default)]
struct Slow(Arc<Mutex<MemoryStore>>);

impl Store for Slow {
    async fn call(&mut self, fleet: &str, call: &Call) -> Result<Reply, StoreError> {
        sleep(Duration::from_millis(3)).await;
        self.0.call(fleet, call).await
    }
}

/// A server with a token bucket, and what became of the operations.
struct World {
    started: Instant,
    burst: f64,
    tokens: f64,
    filled: Instant,
    /// The requests that were accepted in the measured seconds.
    accepted: u32,
    /// Of the operations that came in these seconds, those that failed immediately, and the times of those that succeeded.
    refused: u32,
    took: Vec<Duration>,
}

impl World {
    fn is_measured(&self, at: Instant) -> bool {
        (u64::from(MEASURED)..u64::from(SECONDS)).contains(&at.duration_since(self.started).as_secs())
    }

    fn accepts(&mut self) -> bool {
        let now = Instant::now();
        self.tokens = (self.tokens + now.duration_since(self.filled).as_secs_f64() * LIMIT).min(self.burst * LIMIT);
        self.filled = now;
        let accepts = self.tokens >= 1.0;
        if accepts {
            self.tokens -= 1.0;
            self.accepted += u32::from(self.is_measured(now));
        }
        accepts
    }
}

async fn operate(strategy: &PacedRetryStrategy, world: &RefCell<World>) {
    let came = Instant::now();
    let attempt = async || {
        sleep(ONE_WAY).await;
        let is_accepted = world.borrow_mut().accepts();
        sleep(ONE_WAY).await;
        if is_accepted { Ok(()) } else { Err(Refused::SlowDown) }
    };
    let is_ok = retry(strategy, attempt).max_time(MAX_TIME).run().await.is_ok();
    let (mut world, took) = (world.borrow_mut(), came.elapsed());
    if world.is_measured(came) {
        world.refused += u32::from(!is_ok && took.is_zero());
        if is_ok {
            world.took.push(took);
        }
    }
}

/// Runs processes whose operations come at random, at this multiple of the limit in all. Those of one are alone. Returns the part of the
/// limit that was used, the part of the operations that failed immediately, and the times of those that succeeded, in order.
async fn overloaded(processes: u32, overload: f64, burst: f64, seed: u64) -> (f64, f64, Vec<Duration>) {
    let started = Instant::now();
    let world =
        World { started, burst, tokens: burst * LIMIT, filled: started, accepted: 0, refused: 0, took: Vec::new() };
    let (local, store, world) = (LocalSet::new(), Slow::default(), Rc::new(RefCell::new(world)));
    let each = overload * LIMIT / f64::from(processes);
    for process in 0..processes {
        let strategy: &'static PacedRetryStrategy = Box::leak(Box::new(PacedRetryStrategy::new().seed(seed)));
        let (world, store) = (Rc::clone(&world), store.clone());
        let mut random = Random((seed << 8 | u64::from(process)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        local.spawn_local(async move {
            let membership = (processes > 1).then(|| Fleet::new("orders", store).limit(strategy).join().unwrap());
            let mut next = started;
            while next < started + Duration::from_secs(SECONDS.into()) {
                sleep_until(next).await;
                let world = Rc::clone(&world);
                spawn_local(async move { operate(strategy, &world).await });
                let uniform = (f64::from(random.below(1 << 20)) + 0.5) / f64::from(1 << 20);
                next += Duration::from_secs_f64(-uniform.ln() / each);
            }
            sleep(2 * MAX_TIME).await;
            drop(membership);
        });
    }
    local.await;
    let World { accepted, refused, took, .. } = &mut *world.borrow_mut();
    took.sort_unstable();
    let seconds = f64::from(SECONDS - MEASURED);
    (f64::from(*accepted) / (LIMIT * seconds), f64::from(*refused) / (overload * LIMIT * seconds), std::mem::take(took))
}

// Rules L56, L63.
#[tokio::test(start_paused = true)]
async fn a_limit_is_used_although_the_time_of_operations_that_wait_is_over() {
    // One process that searches uses 0.96 of a limit whose server saves up a tenth of a second.
    for (processes, burst, overload, least) in
        [(1, 0.1, 3.0, 0.94), (1, 1.0, 3.0, 0.97), (20, 1.0, 1.5, 0.97), (20, 1.0, 3.0, 0.97)]
    {
        let (used, refused, took) = overloaded(processes, overload, burst, 3).await;
        let part = |part: usize| took[(took.len() - 1) * part / 100].as_secs_f64();
        let case = format!(
            "{processes}, burst {burst} s, {overload} times the limit: {used:.3} used, {refused:.3} refused, {:.2} s, 99 %: {:.2} s",
            part(50),
            part(99)
        );
        assert!(used >= least, "{case}");
        // An operation that can't be sent in time ends at once: most of those that are too many.
        assert!(refused > 0.6 * (1.0 - 1.0 / overload), "{case}");
        assert!(took[took.len() - 1] < MAX_TIME, "{case}");
    }
}
