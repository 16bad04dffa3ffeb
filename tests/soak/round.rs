//! One round: tasks that work, what disturbs them, and what must be left at the end.

use crate::fleet::Members;
use crate::problem::{equal, generator, problem};
use crate::server::Server;
use crate::store::StoreError;
use crate::world::{API, TENANTS, World, settings};
use rand::RngExt;
use rand::rngs::StdRng;
use retry_config::{RetryConfig, RetryMode, ScopedRetryConfig};
use retry_core::{TokioTimer, retry, set_retries_enabled};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

const WORKERS: u64 = 24;
const MEMBERS: u64 = 4;
/// How long the tasks work in a round.
const BUSY: Duration = Duration::from_secs(5);

/// Runs a round and returns a line about it.
pub(crate) async fn run(round: u64, seed: u64) -> Result<String, Box<dyn Error>> {
    let mut random = generator(seed, round);
    let server = Server::start(random.random()).await?;
    let world = Arc::new(World::new(server.address, Arc::clone(&server.service), &mut random)?);
    let members = Arc::new(Members::new(round, random.random()));
    let mut tasks = JoinSet::new();
    let mut handles = Vec::new();
    for number in 0..MEMBERS {
        let (world, members) = (Arc::clone(&world), Arc::clone(&members));
        tasks.spawn(async move { members.member(&world, number).await });
    }
    for _ in 0..WORKERS {
        handles.push(start(&mut tasks, &world, &mut random));
    }

    let busy_since = Instant::now();
    let mut restarts = 0_u32;
    while busy_since.elapsed() < BUSY {
        sleep(Duration::from_millis(random.random_range(5..60))).await;
        restarts += u32::from(disturb(&mut tasks, &mut handles, &world, &mut random).await?);
        world.watch(handles.len());
    }

    world.stop.stop();
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended
                && !error.is_cancelled()
            {
                problem(format!("a task has panicked: {error}"));
            }
        }
    };
    if timeout(Duration::from_secs(20), all).await.is_err() {
        problem("tasks are stuck at the end".to_owned());
    }
    configure(&settings())?;
    members.check().await;
    world.check().await;
    switched_off().await;

    let tally = &world.tally;
    let [begun, succeeded, cancelled, attempts] = [&tally.begun, &tally.succeeded, &tally.cancelled, &tally.attempts]
        .map(|counter| counter.load(Ordering::Relaxed));
    drop(world);
    if !server.end().await {
        problem("the connections of the server are not closed".to_owned());
    }
    Ok(format!(
        "{begun} operations ({succeeded} succeeded, {cancelled} cancelled), {attempts} attempts, {restarts} restarts"
    ))
}

fn start(tasks: &mut JoinSet<()>, world: &Arc<World>, random: &mut StdRng) -> AbortHandle {
    let (world, random) = (Arc::clone(world), rand::SeedableRng::seed_from_u64(random.random()));
    tasks.spawn(async move { world.work(random).await })
}

/// Disturbs the tasks in one way. Returns whether one was restarted.
async fn disturb(
    tasks: &mut JoinSet<()>,
    handles: &mut [AbortHandle],
    world: &Arc<World>,
    random: &mut StdRng,
) -> Result<bool, Box<dyn Error>> {
    match random.random_range(0..10) {
        0 => world.service.turn(random),
        1 => {
            let mode =
                [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced, RetryMode::Off][random.random_range(0..4)];
            let config = settings().mode(mode).quota_capacity(random.random_range(0..1_000));
            configure(&config.try_max_attempts(random.random_range(1..7))?)?;
        }
        2 => {
            set_retries_enabled(false);
            sleep(Duration::from_millis(random.random_range(1..50))).await;
            set_retries_enabled(true);
        }
        _ => {
            let handle = random.random_range(0..handles.len());
            handles[handle].abort();
            handles[handle] = start(tasks, world, random);
            return Ok(true);
        }
    }
    Ok(false)
}

fn configure(config: &RetryConfig) -> Result<(), Box<dyn Error>> {
    API.apply(config, &TokioTimer)?;
    Ok(ScopedRetryConfig::new(config.clone()).apply_to(&TENANTS, TokioTimer)?)
}

/// While retries are off, each operation makes one attempt, and afterwards it makes more.
async fn switched_off() {
    for (is_on, expected) in [(false, 1), (true, 5)] {
        set_retries_enabled(is_on);
        let call = retry(&*API, || async { Err::<(), _>(StoreError::Busy) });
        equal("attempts", call.report().await.attempts, expected);
    }
}
