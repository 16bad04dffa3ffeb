//! The command, in a process.

use crate::server::{PATIENCE, RedisServer};
use serde_json::Value;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What the command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }
}

/// Runs the command with a store.
pub(crate) fn run_at(url: &str, words: &[&str]) -> Ran {
    run_with(&[("RETRY_FLEET_URL", url)], words)
}

/// Runs the command with these variables.
pub(crate) fn run_with(variables: &[(&str, &str)], words: &[&str]) -> Ran {
    finish(command(words).env("USER", "ada").envs(variables.iter().copied()))
}

/// Runs the command where nothing says who the operator is.
pub(crate) fn run_without_user(server: &RedisServer, words: &[&str]) -> Ran {
    finish(command(words).env_remove("USER").env("RETRY_FLEET_URL", url(server)))
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retry-fleet"));
    command.args(words);
    command
}

fn finish(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

pub(crate) fn url(server: &RedisServer) -> String {
    format!("redis://127.0.0.1:{}", server.port)
}

pub(crate) fn run(server: &RedisServer, words: &[&str]) -> Ran {
    run_at(&url(server), words)
}

pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
