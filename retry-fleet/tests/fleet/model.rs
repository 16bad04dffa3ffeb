//! The invariant of the quota, in random runs: what the processes have spent and hold is never more than the capacity and
//! the refunds. A loss of the store's memory adds a capacity. A process adds its pocket if it has not reached the store, or
//! joined when nothing was left.

use crate::support::{Process, Random};
use retry_core::RetryQuota;
use retry_fleet::FleetQuota;
use retry_fleet::protocol::Call;
use retry_fleet::store::MemoryStore;

const CAPACITY: u32 = 2_000;
const COSTS: [u32; 4] = [5, 7, 10, 14];

/// What can go wrong, each by the number of steps in which it happens once. 0 is never.
#[derive(Clone, Copy, Default)]
struct Faults {
    request_lost: u32,
    reply_lost: u32,
    late: u32,
    repeated: u32,
    crash: u32,
    /// The clock of the store, or the process, stands still for longer than a member may be silent.
    silence: u32,
    leave: u32,
    emptied: u32,
    stale_failover: u32,
    /// The store is away for a while.
    outage: u32,
    /// The clock of the store is set to another time.
    store_clock: u32,
}

struct World {
    random: Random,
    faults: Faults,
    store: MemoryStore,
    /// What a replica knows.
    replica: MemoryStore,
    late: Vec<Call>,
    processes: Vec<(Process, bool)>,
    born: u32,
    /// The time of the processes and of the store, in milliseconds.
    now: u64,
    store_now: u64,
    away_until: u64,
    /// What was spent, or was held by a process that crashed.
    spent: u64,
    refunded: u64,
    losses: u64,
    /// The pockets of processes that crashed before they reached the store, or joined when nothing was left.
    pockets: u64,
    /// The largest part of the allowed amount that was used.
    nearest: f64,
}

impl World {
    fn new(seed: u64, processes: u32, faults: Faults) -> Self {
        let mut world = Self {
            random: Random(seed),
            faults,
            store: MemoryStore::new(),
            replica: MemoryStore::new(),
            late: Vec::new(),
            processes: Vec::new(),
            born: 0,
            now: 10_000_000,
            store_now: 77_000_000,
            away_until: 0,
            spent: 0,
            refunded: 0,
            losses: 0,
            pockets: 0,
            nearest: 0.0,
        };
        for _ in 0..processes {
            let process = world.process();
            world.processes.push((process, false));
        }
        world
    }

    fn process(&mut self) -> Process {
        self.born += 1;
        Process::new(&format!("p{}", self.born), FleetQuota::new(CAPACITY), self.now)
    }

    fn happens(&mut self, every: u32) -> bool {
        every > 0 && self.random.one_in(every)
    }

    fn any(&mut self) -> usize {
        let processes = u32::try_from(self.processes.len()).unwrap();
        self.random.below(processes) as usize
    }

    /// An attempt fails somewhere and wants its retry, or a call succeeds. In bad times, most attempts fail.
    fn work(&mut self, is_bad: bool) {
        let (index, fails) = (self.any(), self.random.below(10) < if is_bad { 9 } else { 2 });
        let cost = COSTS[self.random.below(4) as usize];
        let process = &self.processes[index].0;
        if fails {
            if process.pay(cost) {
                self.spent += u64::from(cost);
            }
        } else {
            self.refunded += u64::from(process.refund(cost));
        }
    }

    fn call(&mut self) {
        let index = self.any();
        let leaves = self.happens(self.faults.leave);
        let now = self.now;
        let mut call = self.processes[index].0.member.call(crate::support::at(now), leaves);
        call.look_at = 2;
        // They call more rarely here than they should.
        call.ttl = std::time::Duration::from_secs(30);
        let is_away = self.now < self.away_until;
        if is_away || self.happens(self.faults.request_lost) {
            self.processes[index].0.unanswered(now);
        } else if self.happens(self.faults.late) {
            // It arrives later, or never.
            self.late.push(call);
            self.processes[index].0.unanswered(now);
        } else {
            let mut reply = self.store.call(self.store_now, &call);
            if !std::mem::replace(&mut self.processes[index].1, true) {
                // A pocket that the balance could not pay for stays a debt.
                self.pockets += self.store.balance().unwrap().min(0).unsigned_abs().min(14);
            }
            if self.happens(self.faults.repeated) {
                reply = self.store.call(self.store_now, &call);
            }
            if self.happens(self.faults.reply_lost) {
                self.processes[index].0.unanswered(now);
            } else {
                self.processes[index].0.answered(now, &reply);
            }
        }
        if leaves {
            assert_eq!(self.processes[index].0.quota.available(), 0, "a process that left holds nothing");
            self.replace(index);
        }
    }

    fn replace(&mut self, index: usize) {
        let process = self.process();
        let (gone, has_reached) = std::mem::replace(&mut self.processes[index], (process, false));
        self.spent += u64::from(gone.quota.available());
        if !has_reached {
            self.pockets += 14;
        }
    }

    fn step(&mut self, is_bad: bool) {
        match self.random.below(8) {
            0 | 1 => self.call(),
            _ => self.work(is_bad),
        }
        if !self.late.is_empty() && self.random.one_in(5) {
            let any = self.random.below(u32::try_from(self.late.len()).unwrap()) as usize;
            let call = self.late.swap_remove(any);
            // A repeated call may arrive again.
            if self.random.one_in(2) {
                self.late.push(call.clone());
            }
            self.store.call(self.store_now, &call);
        }
        self.late.truncate(50);
        let passed = u64::from(self.random.below(100));
        self.now += passed;
        self.store_now += passed;
        if self.happens(self.faults.silence) {
            self.now += 40_000;
            self.store_now += 40_000;
        }
        if self.happens(self.faults.crash) {
            let index = self.any();
            self.replace(index);
        }
        if self.happens(self.faults.outage) {
            self.away_until = self.now + 5_000;
        }
        if self.happens(self.faults.store_clock) {
            self.store_now = 50_000_000 + u64::from(self.random.below(50_000_000));
        }
        if self.happens(self.faults.emptied) {
            self.store.forget();
            self.losses += 1;
        }
        if self.happens(self.faults.stale_failover) {
            self.store = self.replica.clone();
            self.losses += 1;
        } else if self.random.one_in(500) {
            self.replica = self.store.clone();
        }
    }

    fn check(&mut self, step: u32) {
        let held: u64 = self.processes.iter().map(|(process, _)| u64::from(process.quota.available())).sum();
        let fresh = self.processes.iter().filter(|(_, has_reached)| !has_reached).count() as u64 * 14;
        let used = self.spent + held;
        let allowed = u64::from(CAPACITY) * (1 + self.losses) + self.refunded + self.pockets + fresh;
        assert!(
            used <= allowed,
            "step {step}: {used} are spent ({}) or held ({held}), {allowed} are allowed: {} losses, {} refunded",
            self.spent,
            self.losses,
            self.refunded
        );
        // Only a run in which hardly anything is left shows that the invariant is tight.
        #[expect(clippy::cast_precision_loss, reason = "they are small")]
        let part = (used - (self.refunded.min(used))) as f64 / (allowed - self.refunded) as f64;
        self.nearest = self.nearest.max(part);
    }
}

/// Runs a world, in which good times follow bad ones, and returns how near it came to the limit.
fn run(seed: u64, processes: u32, faults: Faults) -> f64 {
    let mut world = World::new(seed, processes, faults);
    for step in 0..200_000 {
        world.step(step / 10_000 % 2 == 0);
        world.check(step);
    }
    world.nearest
}

// Rules F1, F2.
#[test]
fn without_faults_the_whole_capacity_and_no_more_can_be_used() {
    for (seed, processes) in [(1, 1), (2, 8), (3, 64)] {
        let nearest = run(seed, processes, Faults::default());
        assert!(nearest > 0.97, "a run that does not come near the limit proves nothing: {nearest}");
    }
}

macro_rules! each_fault {
    ($($(#[$mark:meta])* $name:ident: $fault:ident = $every:literal, $least:literal;)+) => {$(
        // Rule F1.
        #[test]
        fn $name() {
            let nearest = run(4, 16, Faults { $fault: $every, ..Faults::default() });
            assert!(nearest > $least, "a run that does not come near the limit proves nothing: {nearest}");
        }
    )+};
}

each_fault! {
    lost_requests_spend_nothing_twice: request_lost = 3, 0.9;
    lost_replies_spend_nothing_twice: reply_lost = 3, 0.9;
    late_calls_spend_nothing_twice: late = 3, 0.9;
    repeated_calls_spend_nothing_twice: repeated = 3, 0.9;
    crashed_processes_have_spent_what_they_held: crash = 1_000, 0.9;
    silent_processes_come_back: silence = 2_000, 0.9;
    processes_that_leave_give_back_what_they_hold: leave = 100, 0.9;
    an_emptied_store_adds_one_capacity: emptied = 20_000, 0.2;
    a_stale_replica_adds_at_most_one_capacity: stale_failover = 20_000, 0.2;
    a_store_that_is_away_adds_nothing: outage = 2_000, 0.9;
    a_clock_of_the_store_that_jumps_adds_nothing: store_clock = 1_000, 0.9;
}

// Rule F1.
#[test]
fn all_faults_together_keep_the_invariant() {
    for seed in 10..15 {
        let faults = Faults {
            request_lost: 5,
            reply_lost: 5,
            late: 5,
            repeated: 5,
            crash: 2_000,
            silence: 5_000,
            leave: 200,
            emptied: 50_000,
            stale_failover: 50_000,
            outage: 5_000,
            store_clock: 5_000,
        };
        run(seed, 16, faults);
    }
}
