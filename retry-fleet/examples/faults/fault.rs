//! The faults.

use crate::world::{PROCESSES, World};
use std::error::Error;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long to wait for the limit to be used again.
const PATIENCE: Duration = Duration::from_secs(40);

/// A fault.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The time after which the limit must be used again, in seconds, if the protocol promises one.
    goal: Option<u64>,
    /// Makes the fault happen, and returns the time at which it was over.
    happen: fn(&mut World) -> Result<Instant, Box<dyn Error>>,
}

/// All faults. After those of processes, the limit is used again within 5 s, and after those of the store within 10 s. Processes
/// that die all the time have no goal, because each has a share for 3 s after its death.
pub(crate) const FAULTS: [Fault; 12] = [
    Fault { name: "start", goal: Some(5), happen: start },
    Fault { name: "deaths", goal: Some(5), happen: deaths },
    Fault { name: "mass-death", goal: Some(5), happen: mass_death },
    Fault { name: "rollout", goal: Some(5), happen: rollout },
    Fault { name: "short-lives", goal: None, happen: short_lives },
    Fault { name: "stopped", goal: Some(5), happen: stopped },
    Fault { name: "empty", goal: Some(10), happen: empty },
    Fault { name: "silent", goal: Some(10), happen: silent },
    Fault { name: "lost", goal: Some(10), happen: lost },
    Fault { name: "back", goal: Some(10), happen: back },
    Fault { name: "evicted", goal: Some(10), happen: evicted },
    Fault { name: "garbage", goal: Some(60), happen: garbage },
];

/// What a fault has done.
pub(crate) struct Row {
    name: &'static str,
    goal: Option<Duration>,
    after: Option<Duration>,
    used: f64,
    rejected: f64,
}

impl Row {
    pub(crate) fn is_good(&self) -> bool {
        self.goal.is_none_or(|goal| self.after.is_some_and(|after| after <= goal))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.after.map_or("never".to_owned(), |after| format!("{:.1} s", after.as_secs_f64()));
        let goal = self.goal.map_or("none".to_owned(), |goal| format!("{} s", goal.as_secs()));
        let name = self.name;
        let (used, rejected) = (100.0 * self.used, 100.0 * self.rejected);
        write!(f, "| {name} | {after} | {goal} | {used:.0} % | {rejected:.1} % |")
    }
}

impl Fault {
    pub(crate) fn run(&self, world: &mut World) -> Result<Row, Box<dyn Error>> {
        let since = (self.happen)(world)?;
        let goal = self.goal.map(Duration::from_secs);
        let after = world.time_until_used(since, goal.unwrap_or_default().max(PATIENCE));
        let period = Duration::from_secs(10);
        sleep((since + period).saturating_duration_since(Instant::now()));
        let seen = world.seen(since, period);
        Ok(Row { name: self.name, goal, after, used: seen.used, rejected: seen.rejected })
    }
}

/// All processes start at the same time, and none knows the limit.
fn start(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.start(PROCESSES)?;
    Ok(Instant::now())
}

/// Half of the processes are killed.
fn deaths(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.kill(PROCESSES / 2)?;
    Ok(Instant::now())
}

/// All processes but two are killed.
fn mass_death(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.kill(PROCESSES - 2)?;
    Ok(Instant::now())
}

/// All processes are replaced, one after the other, within 30 s. The limit must be used meanwhile.
fn rollout(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    let since = Instant::now();
    for _ in 0..PROCESSES {
        world.start(1)?;
        sleep(Duration::from_millis(500));
        world.end_one()?;
        sleep(Duration::from_millis(900));
    }
    Ok(since)
}

/// Ten processes live for 2 s and end without leaving the fleet, again and again.
fn short_lives(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    let since = Instant::now();
    for _ in 0..10 {
        world.kill(PROCESSES / 2)?;
        world.start(PROCESSES / 2)?;
        // The oldest are at the front, so these are not the ones that have just started.
        world.processes.rotate_left(PROCESSES / 2);
        sleep(Duration::from_secs(2));
    }
    Ok(since)
}

/// Half of the processes are stopped for longer than a silent process stays in the fleet.
fn stopped(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.signal(PROCESSES / 2, "STOP")?;
    let since = Instant::now();
    sleep(Duration::from_secs(10));
    world.signal(PROCESSES / 2, "CONT")?;
    Ok(since)
}

/// Somebody deletes all keys.
fn empty(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.command(&["FLUSHALL"])?;
    Ok(Instant::now())
}

/// The store does not answer for 8 s.
fn silent(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.signal("STOP")?;
    sleep(Duration::from_secs(8));
    world.store.signal("CONT")?;
    Ok(Instant::now())
}

/// The store is away.
fn lost(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.kill();
    Ok(Instant::now())
}

/// The store was away for 10 s, and returns without its state.
fn back(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.kill();
    sleep(Duration::from_secs(10));
    world.store.restart()?;
    Ok(Instant::now())
}

/// The store has no memory for 3 s, and evicts all keys.
fn evicted(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"])?;
    world.store.command(&["CONFIG", "SET", "maxmemory", "1"])?;
    sleep(Duration::from_secs(3));
    world.store.command(&["CONFIG", "SET", "maxmemory", "0"])?;
    Ok(Instant::now())
}

/// Somebody writes numbers into the state that fit nothing, and damages entries.
fn garbage(world: &mut World) -> Result<Instant, Box<dyn Error>> {
    world.settle()?;
    world.store.damage()?;
    Ok(Instant::now())
}
