//! Random programs against small reference models, in virtual time.
//!
//! A program is a list of steps of users, servers and clocks. It runs through the public interface, and beside it runs a model:
//! the rules of docs/semantics.md, written down plainly. After each step, both must agree. A failure prints the seed, which
//! proptest keeps in `proptest-regressions`, and the shortest program that fails.

mod calls;
mod fleet;
mod hedge_delay;
mod life;
mod line;
mod outage;
mod readings;
mod scopes;
mod settings;
mod slots;
mod throttled;

use tests::{program, script, support};
