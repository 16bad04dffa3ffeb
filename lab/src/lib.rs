//! Scenarios in virtual time that show what retrying does to clients and servers.
//!
//! A scenario runs clients and servers in a [`World`], which has its own clock. The clients are plain async code
//! that calls the shipped strategies through their public API, as a program would. No time passes, nothing is read or
//! written, and the same seed gives the same result. Only `lab processes`, a part of the program, has real processes, in real time.
//!
//! Each module of [`scenario`] has `Options`, whose defaults are those of the published reference, `Case`s (what is
//! compared), a function `run(options, case, seed) -> Outcome`, and a function that turns the outcomes of all cases and
//! seeds into a [`Report`](report::Report): plain data for tables and charts.

pub mod aimd;
pub mod call;
pub mod chart;
pub mod fleet;
pub mod judgement;
#[cfg(feature = "peers")]
pub mod peers;
pub mod report;
pub mod scenario;
pub mod servers;
pub mod settings;
pub mod strategies;
pub mod study;
pub mod tables;
pub mod timeline;
pub mod world;

pub use world::World;
