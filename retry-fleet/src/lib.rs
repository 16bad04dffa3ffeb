//! One retry quota, one limit and one switch for many processes, kept in Redis or Valkey.
//!
//! A retry quota protects a server from one process. A fleet of a thousand processes has a thousand quotas, and each of
//! them is full when an outage begins. With this crate, the processes of a fleet share:
//!
//! | what | how | effect |
//! |---|---|---|
//! | a quota | [`Fleet::quota`], a [`FleetQuota`] | all retries of the fleet are paid from one budget |
//! | a limit | [`Fleet::limit`], a [`PacedRetryStrategy`](retry_core::PacedRetryStrategy) | one rejection teaches all processes the rate that the server accepts, and each sends at its fair share |
//! | a switch | [`Fleet::switch`], a [`FleetSwitch`] | retries off for the whole fleet, by any process or an operator |
//!
//! Decisions stay local and never wait for the network: each process holds a part of the quota and a share of the limit. A
//! task calls the store every second, or every quarter of a second with a limit, and at once when the process runs low.
//!
//! # Setup
//!
//! ```no_run
//! # #[cfg(feature = "redis1")]
//! # mod program {
//! use retry_core::{ExponentialBackoff, StandardRetryStrategy};
//! use retry_fleet::redis1::RedisStore;
//! use retry_fleet::{Fleet, FleetQuota};
//!
//! static QUOTA: FleetQuota = FleetQuota::new(5_000);
//! static ORDERS: StandardRetryStrategy<ExponentialBackoff, &FleetQuota> =
//!     StandardRetryStrategy::new().with_quota(&QUOTA);
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let store = RedisStore::open("redis://127.0.0.1")?;
//! let membership = Fleet::new("orders", store).quota(&QUOTA).join()?;
//! // The program runs, and at its end:
//! membership.leave().await;
//! # Ok(())
//! # }
//! # }
//! ```
//!
//! The functions are retried as before, with `#[retryable(strategy = ORDERS)]`. With a limit and a switch:
//!
//! ```
//! use retry_core::{ExponentialBackoff, PacedRetryStrategy, StandardRetryStrategy};
//! use retry_fleet::{Fleet, FleetQuota, FleetSwitch, JoinError, Membership, Store};
//!
//! static QUOTA: FleetQuota = FleetQuota::new(5_000);
//! static TABLE: PacedRetryStrategy<ExponentialBackoff, &FleetQuota> =
//!     PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(&QUOTA));
//! static SWITCH: FleetSwitch = FleetSwitch::new(retry_core::set_retries_enabled);
//!
//! fn join(store: impl Store) -> Result<Membership, JoinError> {
//!     Fleet::new("table", store).quota(&QUOTA).limit(&TABLE).switch(&SWITCH).join()
//! }
//! ```
//!
//! # When something fails
//!
//! | what happens | what the process does |
//! |---|---|
//! | the store has not answered yet | the quota has its pocket, one retry unless set; with a limit, the process sends 10 requests per second |
//! | the store does not answer for 3 s, or longer in fleets of more than 1,200 | it goes on with what it holds; refunds fill its fair share of the quota, and, from the first call without an answer on, it sends its share of the estimated limit. It goes on asking, and comes back by itself |
//! | the store was not reached for 3 s after joining | the quota has its pocket; the limit is that of a single process |
//! | the store was emptied | the processes tell the store what they hold, and go on with the estimated limit; at most one capacity more is spent |
//! | a stale replica took over | the same, but the limit goes on with what the replica knows of it |
//! | the process crashes | what it held counts as spent, and successes of the others fill it |
//! | the process stops for a while | after 3 s, or longer in fleets of more than 3,400, the store removes it, and takes it back with its next call |
//! | the tokio runtime ends | as if the store were lost |
//!
//! Reconnecting takes nothing from a quota. Memory is bounded: a process keeps a few numbers, and the store one short field
//! for each process.
//!
//! # For operators
//!
//! The state of a fleet is one hash, `retry-fleet:1:{NAME}`; the README of this crate describes its fields. Operators turn
//! the switch by another key. To turn retries off for ten minutes, and on again before that:
//!
//! ```text
//! redis-cli SET 'retry-fleet:{orders}:switch' 'off ada: orders are down' EX 600
//! redis-cli SET 'retry-fleet:{orders}:switch' on EX 60
//! ```
//!
//! The state and all processes carry the switch with its end and its reason, so it survives the store, and the key.
//!
//! # What it reports
//!
//! [`Membership::status`] returns what the process knows. With the feature `metrics`, it is published as gauges with the
//! label `fleet`:
//!
//! | gauge | meaning |
//! |---|---|
//! | `retry_fleet_store_up` | 1 while the store answers, else 0 |
//! | `retry_fleet_members` | the number of processes |
//! | `retry_fleet_balance` | what the store can still give |
//! | `retry_fleet_held` | what this process holds |
//! | `retry_fleet_rate` | the limit of the fleet, in sends per second |
//! | `retry_fleet_share` | the share of this process, in sends per second |
//! | `retry_fleet_retries_enabled` | 1 while retries are on, else 0 |
//!
//! With the feature `tracing`, there are warnings with the target `retry_fleet`:
//!
//! | event | when |
//! |---|---|
//! | `store_lost`, `store_back` | once each, in turns |
//! | `store_emptied` | each time the store has lost its memory |
//! | `quota_exhausted`, `quota_recovered` | once each, in turns |
//! | `capacity_differs` | once for each capacity of the store that is not that of the process |
//! | `share_is_small` | once, if the fair share pays for less than one retry |
//! | `switched` | each time the switch has another value |
//! | `membership_dropped` | a membership was dropped within a second, as by `let _ = fleet.join()` |
//! | `stays_alone` | once, if no other process was seen in the first minute, as in a fleet with a misspelled name |
//!
//! # Features
//!
//! `redis1` is on by default: the store in Redis, and the task on tokio (`tokio`). `redis1-cluster` and `redis1-sentinel` add
//! their connections, `metrics`, `tracing` and `test` what is said here. TLS is a feature of the crate redis, as the docs of
//! `RedisStore` show.
//!
//! # Without Redis or without tokio
//!
//! A [`Store`] of your own can keep the state elsewhere, if it can make a call in one atomic step, as
//! [`MemoryStore`](store::MemoryStore) does. A [`Member`] is one process without I/O and without a runtime, for a runtime
//! of your own and for simulations.
//!
//! # Tests
//!
//! Under a test guard of `retry_core::test` (feature `test`), each test has a quota of its own and is cut off the store.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(loom))]
mod events;
#[cfg(all(not(loom), feature = "tokio"))]
mod gauges;
#[cfg(all(not(loom), feature = "tokio"))]
mod joined;
#[cfg(not(loom))]
mod limit;
#[cfg(not(loom))]
mod member;
#[cfg(not(loom))]
pub mod protocol;
#[cfg(not(loom))]
mod quota;
#[cfg(not(loom))]
mod random;
#[cfg(all(not(loom), feature = "redis1"))]
pub mod redis1;
#[cfg(loom)]
#[path = "quota/stock.rs"]
#[allow(dead_code, reason = "the models do not need all of it")]
mod stock;
#[cfg(not(loom))]
pub mod store;
#[cfg(not(loom))]
mod switch;
mod sync;
#[cfg(all(not(loom), feature = "tokio"))]
mod task;
#[cfg(not(loom))]
mod wake;

#[cfg(all(not(loom), feature = "tokio"))]
pub use self::task::{Fleet, JoinError, Membership};
#[cfg(not(loom))]
pub use self::{
    member::{FleetStatus, Member},
    quota::FleetQuota,
    store::{Store, StoreError},
    switch::{FleetSwitch, SwitchedOff},
};
