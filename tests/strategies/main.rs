//! Strategies: the numbers of the standard strategy, backoffs, quotas, scopes and wrappers.

mod backoff;
mod clocks;
mod conflicts;
mod defaults;
mod erased;
mod evidence;
mod exhaustive;
mod forwarding;
mod hint_jitter;
mod hints_and_backoff;
mod new_process;
mod patient;
mod properties;
mod quota_reports;
mod reseed;
mod scoped;
mod standard;
mod tokens;
mod vectors;

use tests::{script, support};
