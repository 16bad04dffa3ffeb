//! A fleet in virtual time: its store behind a network, and what its processes take from their quotas.

use crate::World;
use crate::world::Random;
use retry_core::RetryQuota;
use retry_core::quota::QuotaMode;
use retry_core::time::{Clock, Timer, Timestamp};
use retry_fleet::protocol::{Call, Reply};
use retry_fleet::store::MemoryStore;
use retry_fleet::{FleetQuota, Member};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

/// The time within which the store has to answer a call, as in the task of the fleet.
const DEADLINE: Duration = Duration::from_secs(1);

/// The store of a fleet, behind a network. It can be away once.
#[derive(Debug)]
pub struct FleetStore {
    world: World,
    memory: RefCell<MemoryStore>,
    random: RefCell<Random>,
    /// The shortest and the longest time of a message.
    message: (Duration, Duration),
    away: Option<(Timestamp, Timestamp)>,
    calls: Cell<u64>,
    pockets: Cell<u64>,
}

impl FleetStore {
    /// Creates an empty store. A message to it or from it takes a time between the shortest and the longest one.
    pub fn new(world: &World, message: (Duration, Duration), seed: u64) -> Self {
        Self {
            world: world.clone(),
            memory: RefCell::default(),
            random: RefCell::new(Random::new(seed, "store")),
            message,
            away: None,
            calls: Cell::new(0),
            pockets: Cell::new(0),
        }
    }

    /// Sets the times between which the store answers nothing. Messages are lost then.
    #[must_use]
    pub fn away(mut self, from: Timestamp, to: Timestamp) -> Self {
        self.away = Some((from, to));
        self
    }

    /// Forgets everything.
    pub fn forget(&self) {
        self.memory.borrow_mut().forget();
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Returns what the invariant allows beyond the capacity and the refunds: the pockets of the processes that never
    /// reached the store, and what processes kept of their pockets though nothing was left when they joined.
    pub fn pockets(&self) -> u64 {
        self.pockets.get()
    }

    /// Runs a process of the fleet, with its quota if it has one, until it leaves at this time, or for ever.
    pub async fn run(self: Rc<Self>, mut member: Member, quota: Option<Arc<FleetQuota>>, leaves: Option<Timestamp>) {
        let held = || quota.as_ref().map_or(0, |quota| u64::from(quota.available()));
        let mut pocket = Pocket::Uncharged(held());
        loop {
            let next =
                |member: &Member| leaves.map_or(member.next_call_at(), |leaves| leaves.min(member.next_call_at()));
            while self.world.now() < next(&member) {
                let mut pause = pin!(self.world.sleep_until(next(&member)));
                let world = &self.world;
                poll_fn(|context| match member.poll_woken(context, world.now()) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => pause.as_mut().poll(context),
                })
                .await;
            }
            let is_leaving = leaves.is_some_and(|leaves| leaves <= self.world.now());
            let call = member.call(self.world.now(), is_leaving);
            let reply = self.call(&call, &mut pocket).await;
            if is_leaving {
                return self.count(pocket, 0);
            }
            let Some(reply) = reply else {
                member.unanswered(self.world.now(), &"no answer within a second");
                continue;
            };
            let before = held() + granted(&call, &reply);
            member.answered(self.world.now(), &reply);
            self.count(mem::replace(&mut pocket, Pocket::Charged { missing: 0 }), before - held());
        }
    }

    /// Counts a pocket that the fleet could not charge, but for what was given back of it.
    fn count(&self, pocket: Pocket, back: u64) {
        let (Pocket::Uncharged(kept) | Pocket::Charged { missing: kept }) = pocket;
        self.pockets.set(self.pockets.get() + kept.saturating_sub(back));
    }

    /// Makes a call.
    async fn call(&self, call: &Call, pocket: &mut Pocket) -> Option<Reply> {
        let sent = self.world.now();
        self.calls.set(self.calls.get() + 1);
        if self.message().await {
            let millis = self.world.now().since_origin().as_millis().try_into().unwrap_or(u64::MAX);
            let reply = self.memory.borrow_mut().call(millis, call);
            if let Pocket::Uncharged(amount) = *pocket {
                let missing = self.memory.borrow().balance().unwrap_or(0).min(0).unsigned_abs();
                *pocket = Pocket::Charged { missing: missing.min(amount) };
            }
            let is_in_time = self.message().await && self.world.now() < sent.saturating_add(DEADLINE);
            if is_in_time {
                return Some(reply);
            }
        }
        self.world.sleep_until(sent.saturating_add(DEADLINE)).await;
        None
    }

    /// Waits until a message arrives. Returns whether it does.
    async fn message(&self) -> bool {
        let (shortest, longest) = self.message;
        let part = self.random.borrow_mut().uniform();
        self.world.sleep(shortest + longest.saturating_sub(shortest).mul_f64(part)).await;
        let now = self.world.now();
        self.away.is_none_or(|(from, to)| now < from || now >= to)
    }
}

/// What a process may spend before the store has charged it.
#[derive(Clone, Copy)]
enum Pocket {
    Uncharged(u64),
    /// The balance went below zero by this much.
    Charged {
        missing: u64,
    },
}

/// Returns what a reply grants to its call.
fn granted(call: &Call, reply: &Reply) -> u64 {
    call.quota.zip(reply.quota).map_or(0, |(call, reply)| reply.given.saturating_sub(call.seen))
}

/// What processes have taken from their quotas.
#[derive(Debug, Default)]
pub struct Ledger {
    spent: AtomicU64,
    refunded: AtomicU64,
    most: AtomicU64,
}

impl Ledger {
    /// Returns the largest amount that was spent and not refunded, at any time.
    pub fn most_drawn(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    fn spend(&self, cost: u32) {
        let spent = self.spent.fetch_add(cost.into(), Ordering::Relaxed) + u64::from(cost);
        let drawn = spent.saturating_sub(self.refunded.load(Ordering::Relaxed));
        self.most.fetch_max(drawn, Ordering::Relaxed);
    }

    fn refund(&self, amount: u32) {
        self.refunded.fetch_add(amount.into(), Ordering::Relaxed);
    }
}

/// A quota whose changes are written into a ledger.
#[derive(Debug)]
pub struct Counted<Q> {
    quota: Q,
    ledger: Arc<Ledger>,
}

impl<Q: RetryQuota> Counted<Q> {
    /// Writes the changes of this quota into the ledger, which others may share.
    pub fn new(quota: Q, ledger: &Arc<Ledger>) -> Self {
        Self { quota, ledger: Arc::clone(ledger) }
    }
}

impl<Q: RetryQuota> RetryQuota for Counted<Q> {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        let is_paid = self.quota.try_acquire(cost, clock);
        if is_paid {
            self.ledger.spend(cost);
        }
        is_paid
    }

    fn refund(&self, amount: u32) {
        let before = self.quota.available();
        self.quota.refund(amount);
        self.ledger.refund(self.quota.available() - before);
    }

    fn available(&self) -> u32 {
        self.quota.available()
    }

    fn is_low(&self) -> bool {
        self.quota.is_low()
    }

    fn mode(&self) -> Option<QuotaMode> {
        self.quota.mode()
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        self.quota.note_refusal(cost, strategy);
    }
}
