//! The store in Redis, with real servers. Each test starts its own: run them by `.ci/servers`.

mod authority;
#[cfg(feature = "redis1-cluster")]
mod cluster;
mod connection;
mod contents;
mod differential;
#[cfg(unix)]
mod end;
mod errors;
mod fake;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod limit;
#[cfg(unix)]
mod process;
#[cfg(all(unix, feature = "metrics"))]
mod prometheus;
#[cfg(unix)]
mod promoted;
mod proxy;
#[path = "../fleet/random.rs"]
mod random;
mod rights;
#[cfg(feature = "redis1-sentinel")]
mod sentinel;
#[path = "../../../tests/clients/redis1/server.rs"]
mod server;
mod switch;
mod tls;
