//! The command, with real servers. Each test starts its own: run them by `.ci/servers`.

#[path = "../../../retry-fleet/tests/redis1/authority.rs"]
#[expect(dead_code, reason = "the clients are commands here")]
mod authority;
mod run;
#[path = "../../../tests/clients/redis1/server.rs"]
#[expect(dead_code, reason = "of the servers' clients, only those that do not wait are used here")]
mod server;
mod tls;
mod verbs;
#[cfg(unix)]
mod walkthrough;
