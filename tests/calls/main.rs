//! Calls: the order of steps in an operation, the closure form, the layer for `tower`, time limits, and tests of calls.

mod attempts_of_a_call;
mod batches;
mod by_hand;
mod by_hand_futures;
mod closure;
mod context;
mod cut_on_stop;
mod explore;
mod field_bugs;
mod first_token;
mod given_up;
mod headers;
mod hedge;
mod long_polling;
mod manual_timer;
mod nested;
mod nested_refunds;
mod operation;
mod optional_limits;
mod panics;
mod steps;
mod stop;
mod stop_when;
mod stored;
mod streams;
mod test_mode;
mod time_limits;
mod timed_out;
mod tower;
mod without_retries;

use tests::{script, support};
