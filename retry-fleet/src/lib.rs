//! Many processes that share what their retry quotas have learned, one limit and one switch, kept in Redis or Valkey.
//!
//! A retry quota protects a server from one process. With a thousand processes, each quota sees little traffic, and so learns
//! little. With this crate, the processes of a fleet share:
//!
//! | what | how | effect |
//! |---|---|---|
//! | a quota | [`Fleet::quota`], an [`EvidenceQuota`](retry_core::quota::EvidenceQuota) | all processes know whether retries help, nearly as if they were one |
//! | a quota, and evidence that the service answers | [`Fleet::patient`], a [`PatientRetryStrategy`](retry_core::PatientRetryStrategy) | successes of any process send the operations that wait, in whichever process they wait |
//! | a limit | [`Fleet::limit`], a [`PacedRetryStrategy`](retry_limits::PacedRetryStrategy) | one rejection teaches all processes the rate that the server accepts, and each sends at its fair share |
//! | a switch | [`Fleet::switch`], a [`FleetSwitch`] | retries off for the whole fleet, by any process or an operator |
//!
//! Decisions stay local and never wait for the network: each process pays for its own retries, and sends at its share of the
//! limit. A task calls the store twice a second, or four times with a limit.
//!
//! # Setup
//!
//! ```no_run
//! # #[cfg(feature = "redis1")]
//! # mod program {
//! use retry_core::quota::EvidenceQuota;
//! use retry_core::{ExponentialBackoff, StandardRetryStrategy};
//! use retry_fleet::redis1::RedisStore;
//! use retry_fleet::{Fleet, FleetSwitch};
//! use retry_limits::PacedRetryStrategy;
//!
//! static ORDERS: PacedRetryStrategy<ExponentialBackoff, EvidenceQuota> =
//!     PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(EvidenceQuota::new()));
//! static SWITCH: FleetSwitch = FleetSwitch::new(retry_core::set_retries_enabled);
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let store = RedisStore::open("redis://127.0.0.1")?;
//! let fleet = Fleet::new("orders", store).quota(ORDERS.standard().quota());
//! let membership = fleet.limit(&ORDERS).switch(&SWITCH).join()?;
//! // The program runs, and at its end:
//! membership.leave().await;
//! # Ok(())
//! # }
//! # }
//! ```
//!
//! The functions are retried as before, with `#[retryable(strategy = ORDERS)]`. Strategies that call the same service can
//! have one quota, as `&EvidenceQuota`. Each part can be left out. For a service without a limit on requests, take a
//! [`PatientRetryStrategy`](retry_core::PatientRetryStrategy), whose operations wait for a service that is down:
//!
//! ```
//! use retry_core::PatientRetryStrategy;
//! use retry_fleet::{Fleet, JoinError, Membership, Store};
//!
//! static ORDERS: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! fn join(store: impl Store) -> Result<Membership, JoinError> {
//!     Fleet::new("orders", store).patient(&ORDERS).join()
//! }
//! ```
//!
//! Kubernetes and systemd end a service by SIGTERM. To call `leave` then, the program must handle the signal, as the example
//! `service` of this crate does.
//!
//! # What sharing a quota does
//!
//! A process reports what its quota has learned: how much was spent on retries and not given back, its own traffic, and when
//! an attempt last timed out. It receives the sums over the other processes. A report that is lost, late or repeated changes
//! little, and the weight of the received sums halves every five seconds. Whatever it receives, a process spends at most twice
//! its own capacity between two reports.
//!
//! For a fixed bound on the retries of all processes together, divide a capacity among their own quotas.
//!
//! # When something fails
//!
//! | what happens | what the process does |
//! |---|---|
//! | the store has not answered yet | the quota decides alone; with a limit, the process sends 10 requests per second |
//! | the store does not answer for 3 s, or longer in fleets of more than 2,400 | the quota forgets what it received, half of it every five seconds, and then decides alone. Operations that wait are sent by the successes of the process. From the first call without an answer on, the process sends its share of the estimated limit. It continues to call, and returns to the fleet by itself |
//! | the store was not reached for 3 s after joining | the limit is that of a single process |
//! | the store was emptied | the processes restore it with their next calls |
//! | a stale replica took over | the same, but the limit continues from the values of the replica |
//! | the process crashes | its report counts until the store removes it, after 3 s |
//! | the process stops for a while | after 3 s, or longer in fleets of more than 3,400, the store removes it, and takes it back with its next call |
//! | the tokio runtime ends | as if the store were lost |
//!
//! Memory is bounded: a process keeps a few numbers, and the store one short field for each process.
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
//! The state and all processes carry the switch with its end and its reason, so it survives the loss of the store and of the key.
//!
//! # What it reports
//!
//! [`Membership::status`] returns what the process knows. With the feature `metrics`, each process publishes:
//!
//! | name | type | unit | labels | meaning |
//! |---|---|---|---|---|
//! | `retry_fleet_store_up` | gauge | `count` | `fleet` | 1 while the store answers, else 0 |
//! | `retry_fleet_members` | gauge | `count` | `fleet` | the number of processes |
//! | `retry_fleet_rate` | gauge | `count_per_second` | `fleet` | the limit of the fleet |
//! | `retry_fleet_share` | gauge | `count_per_second` | `fleet` | the share of this process |
//! | `retry_fleet_retries_enabled` | gauge | `count` | `fleet` | 1 while retries are on, else 0 |
//! | `retry_fleet_store_calls_total` | counter | `count` | `fleet`, `outcome` | calls to the store; the outcome is `ok`, `error`, or `timeout` after a second |
//! | `retry_fleet_store_call_seconds` | histogram | `seconds` | `fleet` | the time until the store answered, for the calls that it answered |
//! | `retry_fleet_switches_total` | counter | `count` | `fleet`, `to`, `by` | changes of the switch that this process saw |
//!
//! `to` is `off` or `on`. `by` is who turned the switch. For `off`, it is the text before the first `: ` of the reason. It is empty
//! if the name is unknown, as after `on` by redis-cli, and for `on` also if the time was over.
//!
//! The retries that were granted and refused are counted by the metrics of retry-core, not again here:
//! `retry_retries_total`, and `retry_operations_total` with the outcome `quota_exhausted`. Name the strategy as the fleet, and
//! its label `strategy` is that name.
//!
//! With the feature `tracing`, there are warnings with the target `retry_fleet`:
//!
//! | event | when |
//! |---|---|
//! | `store_lost`, `store_back` | once each, alternately |
//! | `store_emptied` | each time the store has lost its data |
//! | `switched` | each time the switch has another value |
//! | `membership_dropped` | a membership was dropped within a second, as by `let _ = fleet.join()` |
//! | `stays_alone` | once, if no other process was seen in the first minute, as in a fleet with a misspelled name |
//! | `other_program` | once for each other program that uses the fleet, with both names; see [`Fleet::program`] |
//!
//! # Features
//!
//! `redis1` is on by default: the store in Redis, and the task on tokio (`tokio`). `redis1-cluster` and `redis1-sentinel` add
//! connections to clusters and by sentinels. This page describes `metrics`, `tracing` and `test`. TLS is a feature of the crate redis, as the docs of
//! `RedisStore` show.
//!
//! # Without Redis or without tokio
//!
//! Your own [`Store`] can keep the state elsewhere, if it can make a call in one atomic step, as
//! [`MemoryStore`](store::MemoryStore) does. A [`Member`] is one process without I/O and without a runtime, for other
//! runtimes and for simulations.
//!
//! # Tests
//!
//! An `Arc<Mutex<MemoryStore>>` is a store, so several processes of one fleet can run in a test. On tokio's paused clock, the test takes
//! milliseconds:
//!
//! ```
//! # #[cfg(feature = "tokio")]
//! # {
//! use retry_core::{PatientRetryStrategy, RetryInfo, retry};
//! use retry_fleet::{Fleet, store::MemoryStore};
//! use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//! use tokio::task::JoinSet;
//! use tokio::time::sleep;
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(fault = "server")]
//! struct Down;
//!
//! static IS_UP: AtomicBool = AtomicBool::new(false);
//!
//! async fn call(strategy: Arc<PatientRetryStrategy>) -> Result<(), Down> {
//!     let attempt = async || if IS_UP.load(Relaxed) { Ok(()) } else { Err(Down) };
//!     retry(&*strategy, attempt).run().await
//! }
//!
//! # let mut builder = tokio::runtime::Builder::new_current_thread();
//! # builder.enable_time().start_paused(true).build().unwrap().block_on(async {
//! // The body of a `#[tokio::test(start_paused = true)]`, without a test guard.
//! let store = Arc::<Mutex<MemoryStore>>::default();
//! let processes = [(); 2].map(|()| {
//!     let strategy = Arc::new(PatientRetryStrategy::new());
//!     let fleet = Fleet::new("orders", store.clone()).patient(strategy.clone());
//!     (strategy, fleet.join().unwrap())
//! });
//! let [(first, _), (second, _)] = &processes;
//!
//! let mut waiting: JoinSet<_> = (0..10).map(|_| call(first.clone())).collect();
//! sleep(Duration::from_secs(10)).await;
//! assert_eq!(waiting.len(), 10);
//!
//! // The calls of the second process send those of the first one, whose next probe would be seconds later.
//! IS_UP.store(true, Relaxed);
//! for _ in 0..200 {
//!     call(second.clone()).await.unwrap();
//!     sleep(Duration::from_millis(10)).await;
//! }
//! while let Some(outcome) = waiting.try_join_next() {
//!     assert!(outcome.unwrap().is_ok());
//! }
//! assert!(waiting.is_empty());
//! # });
//! # }
//! ```
//!
//! A [test guard](retry_core::test) gives each test separate state, and a fleet must not mix it with that of other tests. So with the feature `test`
//! of this crate, a member that runs under a guard shares nothing. Enable it in `[dev-dependencies]` if tests with a guard run the code that joins.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod events;
#[cfg(feature = "tokio")]
mod joined;
mod limit;
mod line;
mod member;
mod names;
mod numbers;
pub mod protocol;
mod quota;
mod random;
#[cfg(feature = "redis1")]
pub mod redis1;
mod status;
pub mod store;
mod switch;
#[cfg(feature = "tokio")]
mod task;

#[cfg(feature = "tokio")]
pub use self::task::{Fleet, JoinError, Membership};
pub use self::{
    member::Member,
    status::FleetStatus,
    store::{Store, StoreError},
    switch::{FleetSwitch, SwitchedOff},
};
