//! What an operation tells: its events, metrics and warnings, and the names and ids in them.

mod dry_quota;
mod events;
mod given_up;
mod global_observer;
mod hedges_do_little;
mod metrics;
mod names;
mod nouns;
mod observer;
mod operation_ids;
mod outages;
mod strategy_names;
mod unheard;
mod unknown;

use tests::{script, support};
