//! The library, module by module.

mod chart;
mod judgement;
#[cfg(feature = "peers")]
mod peers;
mod report;
mod scenario;
mod servers;
mod settings;
mod tables;
mod timeline;
mod world;
