//! Calls: the order of steps in an operation, the closure form, the layer for `tower`, time limits, and tests of calls.

mod by_hand;
mod closure;
mod context;
mod explore;
mod field_bugs;
mod headers;
mod hedge;
mod long_polling;
mod manual_timer;
mod nested;
mod nested_refunds;
mod operation;
mod panics;
mod steps;
mod stop;
mod stored;
mod test_mode;
mod time_limits;
mod tower;
mod without_retries;

use tests::{script, support};
