//! Scopes: which keys a map keeps, which operations share a strategy, and the settings and switches that reach them.

use crate::program::{check, each};
use crate::support::Failed;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_config::{ConfiguredStrategy, ConfiguredToken, RetryConfig, ScopedRetryConfig};
use retry_core::strategy::{ForeignToken, Scope};
use retry_core::{
    Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken, ScopedRetryStrategy, StandardRetryStrategy,
    Success, TokioTimer,
};
use std::borrow::Borrow;
use std::cell::{Cell, RefCell};

/// One step of a program. There are eight hands, each of which can hold a handle and a token of its strategy.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A hand looks a key up, unless it holds a handle.
    LookUp(usize, u32),
    /// A key is looked up, and its handle is dropped immediately.
    Touch(u32),
    Copy(usize, usize),
    Drop(usize),
    /// An operation fails, and the next one begins if the hand has no token.
    Fail(usize),
    Succeed(usize),
    Release(usize),
    /// A token goes to the strategy of another hand.
    Mistake(usize, usize),
    Apply(Settings, Option<(u32, Settings)>),
    TurnAll(bool),
    TurnOne(usize, bool),
}

#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    capacity: Option<u32>,
    max_attempts: Option<u32>,
}

impl Settings {
    fn config(self) -> RetryConfig {
        let mut config = RetryConfig::new();
        if let Some(capacity) = self.capacity {
            config = config.quota_capacity(capacity);
        }
        if let Some(max_attempts) = self.max_attempts {
            config = config.try_max_attempts(max_attempts).unwrap();
        }
        config
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let (hands, keys) = (|| 0..8_usize, || 0..9_u32);
    let settings = || {
        (option::of(prop_oneof![1..40_u32, Just(500)]), option::of(1..5_u32))
            .prop_map(|(capacity, max_attempts)| Settings { capacity, max_attempts })
    };
    prop_oneof![
        10 => (hands(), keys()).prop_map(|(hand, key)| Step::LookUp(hand, key)),
        5 => keys().prop_map(Step::Touch),
        1 => (hands(), hands()).prop_map(|(from, to)| Step::Copy(from, to)),
        8 => hands().prop_map(Step::Drop),
        10 => hands().prop_map(Step::Fail),
        3 => hands().prop_map(Step::Succeed),
        2 => hands().prop_map(Step::Release),
        1 => (hands(), hands()).prop_map(|(from, to)| Step::Mistake(from, to)),
        2 => (settings(), option::of((keys(), settings()))).prop_map(|(all, one)| Step::Apply(all, one)),
        1 => any::<bool>().prop_map(Step::TurnAll),
        1 => (hands(), any::<bool>()).prop_map(|(hand, is_on)| Step::TurnOne(hand, is_on)),
    ]
}

/// What the rules say about the strategy of a key.
#[derive(Debug)]
struct Known {
    key: u32,
    /// The last look-up, and the last time that a handle was dropped.
    used: u32,
    released: u32,
    is_in_map: bool,
    is_on: bool,
    balance: u32,
    capacity: u32,
    max_attempts: u32,
}

impl Known {
    fn configure(&mut self, all: Settings, one: Option<(u32, Settings)>) {
        let one = one.filter(|(key, _)| *key == self.key).map_or(Settings::default(), |(_, settings)| settings);
        self.max_attempts = one.max_attempts.or(all.max_attempts).unwrap_or(5);
        let before = std::mem::replace(&mut self.capacity, one.capacity.or(all.capacity).unwrap_or(CAPACITY));
        self.balance = self.balance * self.capacity / before;
    }

    fn add(&mut self, amount: u32) {
        self.balance = self.capacity.min(self.balance + amount);
    }
}

const CAPACITY: u32 = 60;

/// A token, by the rules.
#[derive(Clone, Copy, Debug)]
struct Operation {
    attempt: u32,
    paid: u32,
}

type Held = (Scope<ConfiguredStrategy>, Option<ConfiguredToken>);

struct World {
    scopes: ScopedRetryStrategy<Key, ConfiguredStrategy>,
    most: usize,
    hands: [Option<Held>; 8],
    /// The strategy of each hand and its operation, by the rules.
    held: [Option<(usize, Option<Operation>)>; 8],
    known: Vec<Known>,
    uses: u32,
    is_on: bool,
    settings: (Settings, Option<(u32, Settings)>),
}

/// A key. The map drops it when it evicts it, so this is noted.
#[derive(PartialEq, Eq, Hash)]
struct Key(Name);

/// The name by which a key is looked up.
#[derive(PartialEq, Eq, Hash)]
struct Name(u32);

impl ToOwned for Name {
    type Owned = Key;

    fn to_owned(&self) -> Key {
        Key(Self(self.0))
    }
}

impl Borrow<Name> for Key {
    fn borrow(&self) -> &Name {
        &self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        DROPPED.with_borrow_mut(|dropped| dropped.push(self.0.0));
    }
}

thread_local! {
    static MADE: Cell<u32> = const { Cell::new(0) };
    static DROPPED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

fn make() -> ConfiguredStrategy {
    MADE.set(MADE.get() + 1);
    let standard = StandardRetryStrategy::new().jitter(Jitter::None).quota_capacity(CAPACITY);
    RetryConfig::new().build_on(standard).unwrap()
}

impl World {
    fn new(most: usize) -> Self {
        Self {
            scopes: ScopedRetryStrategy::new(make).max_scopes(most),
            most,
            hands: std::array::from_fn(|_| None),
            held: [None; 8],
            known: Vec::new(),
            uses: 0,
            is_on: true,
            settings: (Settings::default(), None),
        }
    }

    fn look_up(&mut self, key: u32) -> (Scope<ConfiguredStrategy>, usize) {
        let made = MADE.get();
        DROPPED.take();
        let scope = self.scopes.scope(&Name(key));
        let evicted = DROPPED.take();
        self.uses += 1;
        let found = self.known.iter().position(|known| known.is_in_map && known.key == key);
        assert_eq!(MADE.get() - made, u32::from(found.is_none()), "whether key {key} is new");
        let id = found.unwrap_or_else(|| self.add(key));
        self.known[id].used = self.uses;
        assert!(found.is_none() || evicted.is_empty(), "keys are evicted only by new ones");
        if found.is_none() {
            self.evict(id, &evicted);
        }
        for (other, held) in self.hands.iter().zip(&self.held).filter_map(|(hand, held)| Some((hand.as_ref()?, held))) {
            let is_same = std::ptr::eq::<ConfiguredStrategy>(&raw const *other.0, &raw const *scope);
            assert_eq!(is_same, held.is_some_and(|(of, _)| of == id), "all handles of a key are one strategy");
        }
        (scope, id)
    }

    fn add(&mut self, key: u32) -> usize {
        let (balance, capacity) = (CAPACITY, CAPACITY);
        let mut known =
            Known { key, used: 0, released: 0, is_in_map: true, is_on: true, balance, capacity, max_attempts: 5 };
        known.configure(self.settings.0, self.settings.1);
        self.known.push(known);
        self.known.len() - 1
    }

    /// Checks the keys that were evicted, in this order, and that not too many are left.
    fn evict(&mut self, new: usize, evicted: &[u32]) {
        let is_used = |id: usize| id == new || self.held.iter().flatten().any(|(of, _)| *of == id);
        let unused = |known: &[Known]| (0..known.len()).filter(|id| known[*id].is_in_map && !is_used(*id)).collect();
        for key in evicted {
            let unused: Vec<usize> = unused(&self.known);
            let id = unused.iter().find(|id| self.known[**id].key == *key);
            let id = *id.unwrap_or_else(|| panic!("key {key} was evicted while it was in use"));
            let Known { used, released, .. } = self.known[id];
            let is_older = |other: &&usize| self.known[**other].used < used && self.known[**other].released < released;
            let older = unused.iter().find(is_older).map(|id| self.known[*id].key);
            assert_eq!(older, None, "key {key} was evicted before a key that was used less recently");
            self.known[id].is_in_map = false;
        }
        let left = self.known.iter().filter(|known| known.is_in_map).count();
        assert!(left <= self.most || unused(&self.known).is_empty(), "{left} keys are left");
        assert!(left >= self.most || evicted.is_empty(), "more keys were evicted than needed");
    }

    /// A hand drops its handle, if it has one.
    fn release(&mut self, hand: usize) {
        if let Some((id, _)) = self.held[hand].take() {
            self.hands[hand] = None;
            self.uses += 1;
            self.known[id].released = self.uses;
        }
    }

    fn fail(&mut self, hand: usize) {
        let (Some((scope, token)), Some((id, operation))) = (&mut self.hands[hand], &mut self.held[hand]) else {
            return;
        };
        let first = || scope.acquire_initial_token(&TokioTimer).unwrap();
        let next =
            scope.refresh_retry_token(token.take().unwrap_or_else(first), &Failure::of(&Failed::SAFE), &TokioTimer);
        let known = &mut self.known[*id];
        let Operation { attempt, .. } = operation.take().unwrap_or(Operation { attempt: 1, paid: 0 });
        let expected = if !(self.is_on && known.is_on) {
            Err(RetryError::Disabled)
        } else if attempt >= known.max_attempts {
            Err(RetryError::MaxAttempts)
        } else if known.balance < 5 {
            Err(RetryError::QuotaExhausted)
        } else {
            known.balance -= 5;
            Ok(attempt + 1)
        };
        assert_eq!(next.as_ref().map(RetryToken::attempt).map_err(|reason| *reason), expected);
        *token = next.ok();
        *operation = expected.ok().map(|attempt| Operation { attempt, paid: 5 });
    }

    fn apply(&mut self, all: Settings, one: Option<(u32, Settings)>) {
        let mut config = ScopedRetryConfig::new(all.config());
        if let Some((key, settings)) = one {
            config = config.scope(Key(Name(key)), settings.config());
        }
        config.apply_to(&self.scopes, TokioTimer).unwrap();
        self.settings = (all, one);
        self.known.iter_mut().filter(|known| known.is_in_map).for_each(|known| known.configure(all, one));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::LookUp(hand, key) if self.hands[hand].is_none() => {
                let (scope, id) = self.look_up(key);
                (self.hands[hand], self.held[hand]) = (Some((scope, None)), Some((id, None)));
            }
            Step::Touch(key) => {
                let (_, id) = self.look_up(key);
                self.uses += 1;
                self.known[id].released = self.uses;
            }
            Step::Copy(from, to) => {
                if let (Some((scope, _)), None, Some((id, _))) = (&self.hands[from], &self.hands[to], self.held[from]) {
                    (self.hands[to], self.held[to]) = (Some((scope.clone(), None)), Some((id, None)));
                }
            }
            // A token that is dropped takes what it paid for with it.
            Step::Drop(hand) => self.release(hand),
            Step::Fail(hand) => self.fail(hand),
            Step::Succeed(hand) | Step::Release(hand) => {
                let (Some((scope, token)), Some((id, operation))) = (&mut self.hands[hand], &mut self.held[hand])
                else {
                    return;
                };
                let (Some(token), Some(Operation { paid, .. })) = (token.take(), operation.take()) else { return };
                if matches!(step, Step::Succeed(_)) {
                    scope.record_success(token, &Success::default(), &TokioTimer).unwrap();
                    self.known[*id].add(1);
                } else {
                    scope.release(token);
                    self.known[*id].add(paid);
                }
            }
            Step::Mistake(from, to) if from != to => {
                let Some((other, _)) = self.held[to] else { return };
                let Some((id, operation)) = &mut self.held[from] else { return };
                let Some(token) = self.hands[from].as_mut().and_then(|(_, token)| token.take()) else { return };
                operation.take();
                let result = self.hands[to].as_ref().unwrap().0.record_success(token, &Success::default(), &TokioTimer);
                if *id == other {
                    self.known[other].add(1);
                }
                assert_eq!(result, if *id == other { Ok(()) } else { Err(ForeignToken) });
            }
            Step::LookUp(..) | Step::Mistake(..) => {}
            Step::Apply(all, one) => self.apply(all, one),
            Step::TurnAll(is_on) => {
                self.scopes.set_enabled(is_on);
                self.is_on = is_on;
            }
            Step::TurnOne(hand, is_on) => {
                if let (Some((scope, _)), Some((id, _))) = (&self.hands[hand], self.held[hand]) {
                    scope.set_enabled(is_on);
                    self.known[id].is_on = is_on;
                }
            }
        }
        assert_eq!(self.scopes.len(), self.known.iter().filter(|known| known.is_in_map).count());
        for ((scope, _), (id, _)) in self.hands.iter().flatten().zip(self.held.iter().flatten()) {
            let known = &self.known[*id];
            assert_eq!(
                (scope.quota().available(), scope.quota().capacity()),
                (known.balance, known.capacity),
                "{known:?}"
            );
        }
    }
}

// Rules S1, S2, S3, S4, S5, S8, S9, R13, R19, C20.
#[test]
fn a_map_keeps_the_keys_in_use_and_evicts_the_least_recently_used_one() {
    check(file!(), 600, (1..5_usize, vec(steps(), 1..120)), |(most, steps)| {
        let mut world = World::new(most);
        each(steps, |step| world.step(step));
    });
}
