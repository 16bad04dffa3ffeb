//! One retry quota, one limit and one switch for many processes, kept in Redis or Valkey.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(loom))]
mod events;
#[cfg(not(loom))]
mod member;
#[cfg(not(loom))]
pub mod protocol;
#[cfg(not(loom))]
mod quota;
#[cfg(not(loom))]
mod random;
#[cfg(loom)]
#[path = "quota/stock.rs"]
mod stock;
#[cfg(not(loom))]
pub mod store;
#[cfg(not(loom))]
mod switch;
mod sync;
#[cfg(not(loom))]
mod wake;

#[cfg(not(loom))]
pub use self::{
    member::{FleetStatus, Member},
    quota::FleetQuota,
    store::{Store, StoreError},
    switch::FleetSwitch,
};
