//! One retry quota, one limit and one switch for many processes, kept in Redis or Valkey.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(loom))]
mod events;
#[cfg(all(not(loom), feature = "tokio"))]
mod gauges;
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
    switch::FleetSwitch,
};
