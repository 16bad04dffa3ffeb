//! A connection that is replaced when it fails.
//!
//! The connection manager of redis-rs stays on a node that was demoted, and keeps a connection whose peer is silent. So this
//! module manages plain connections of redis-rs itself.

use super::source::{Connection, Source};
use crate::random::{Random, unique_name};
use crate::store::StoreError;
use redis::{RedisError, RedisResult, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// The longest pause before the first new connection. It doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The time limit of an attempt to connect, and of an answer, unless set. The caller can drop a call before.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The number of calls in a row without an answer after which the peer is treated as silent.
const SILENT: u32 = 2;

/// The reason that is reported for a panic in redis-rs, whose own message could contain anything.
const PANICKED: &str = "the client panicked: build the runtime with `enable_all`, and, for TLS, choose a crypto provider of \
                        rustls, by its feature `ring` or `aws_lc_rs`, or by `CryptoProvider::install_default`";

/// The one connection of a store, or the attempt to get one.
#[derive(Debug)]
pub(super) struct Link {
    source: Arc<Source>,
    timeout: Duration,
    state: State,
    /// The calls in a row that were sent and not answered.
    unanswered: u32,
    /// The connections in a row that failed or served no call.
    failures: u32,
    random: Random,
}

#[derive(Debug)]
enum State {
    /// There is no connection, for this reason, and no attempt before this time. The clock is the operating system's,
    /// because tests can stop that of tokio, and no server stops with it.
    Lost {
        reason: String,
        not_before: Instant,
    },
    /// A task connects. It continues if the call that waits for it is dropped, and ends by itself.
    Connecting(JoinHandle<RedisResult<Connection>>),
    Connected(Connection),
}

impl Link {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source: Arc::new(source),
            timeout: TIMEOUT,
            state: State::Lost { reason: String::new(), not_before: Instant::now() },
            unanswered: 0,
            failures: 0,
            random: Random::from_name(&unique_name()),
        }
    }

    /// Sets the time limit of the next attempts to connect, and of answers on their connections.
    pub(super) const fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) const fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected(_))
    }

    /// Returns the connection. While the pause before the next attempt to connect lasts, it returns an error immediately.
    ///
    /// The caller sends one call, and reports the outcome to [`answered`](Self::answered). If the caller is dropped before
    /// that, the call is treated as not answered.
    pub(super) async fn connection(&mut self) -> Result<Connection, StoreError> {
        if self.unanswered >= SILENT {
            self.lose(format!("{} calls in a row were not answered", self.unanswered));
        }
        let connection = self.connected().await?;
        self.unanswered += 1;
        Ok(connection)
    }

    async fn connected(&mut self) -> Result<Connection, StoreError> {
        if let State::Lost { reason, not_before } = &self.state {
            let pause = not_before.saturating_duration_since(Instant::now());
            if !pause.is_zero() {
                return Err(StoreError::new(format!(
                    "there is no connection to {}: {reason}; the next attempt to connect is in {pause:.1?}",
                    self.source
                )));
            }
            let runtime = Handle::try_current()
                .map_err(|_| StoreError::new("can't connect to the store: call it on a tokio runtime"))?;
            let (source, timeout) = (Arc::clone(&self.source), self.timeout);
            self.state = State::Connecting(runtime.spawn(async move { source.connect(timeout).await }));
        }
        if let State::Connecting(connecting) = &mut self.state {
            let (reason, cause) = match connecting.await {
                Ok(Ok(connection)) => {
                    self.unanswered = 0;
                    self.state = State::Connected(connection.clone());
                    return Ok(connection);
                }
                Ok(Err(error)) => (describe_setup(&error), Some(error)),
                Err(error) if error.is_panic() => (PANICKED.into(), None),
                Err(_) => ("the runtime of the attempt to connect has ended".into(), None),
            };
            let failed = StoreError::new(format!("can't connect to {}: {reason}", self.source));
            self.lose(reason);
            return Err(match cause {
                Some(cause) => with_timeout(failed, cause),
                None => failed,
            });
        }
        match &self.state {
            State::Connected(connection) => Ok(connection.clone()),
            // It was handled above.
            State::Lost { .. } | State::Connecting(_) => Err(StoreError::new("there is no connection to the store")),
        }
    }

    /// Notes the outcome of the last call.
    pub(super) fn answered(&mut self, outcome: &RedisResult<Value>) {
        match outcome {
            Err(error) if error.is_timeout() => {}
            Err(error) if wants_another_connection(error) => self.lose(error.to_string()),
            Ok(_) | Err(_) => (self.unanswered, self.failures) = (0, 0),
        }
    }

    fn lose(&mut self, reason: String) {
        let not_before = Instant::now() + pause(self.failures, &mut self.random);
        self.state = State::Lost { reason, not_before };
        self.failures = self.failures.saturating_add(1);
        self.unanswered = 0;
    }
}

/// Returns the pause before the next attempt to connect. It has full jitter, so that the processes of a fleet do not connect
/// again at the same moment.
fn pause(failures: u32, random: &mut Random) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE);
    longest.mul_f64(random.uniform())
}

/// Returns whether a new connection can help: this one is broken, or the node does not accept writes any more.
fn wants_another_connection(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_unrecoverable_error()
        || ["READONLY", "MASTERDOWN"].iter().any(|code| has_code(error, code))
}

/// Returns whether a server answered with this code. Servers before 7.0 wrap the code of a command in a script into the text of
/// another error, some codes with a hyphen and others without one.
pub(super) fn has_code(error: &RedisError, code: &str) -> bool {
    let is_wrapped = |text: &str| ["-", ": "].iter().any(|before| text.contains(&format!("{before}{code} ")));
    error.code() == Some(code) || is_wrapped(&error.to_string())
}

/// Adds the cause to an error if it was a timeout. Other causes may contain the password.
pub(super) fn with_timeout(error: StoreError, cause: RedisError) -> StoreError {
    if cause.is_timeout() { error.caused_by(cause) } else { error }
}

/// Describes why a connection was not made. Only the code of an answer is reported, because a server or a proxy may repeat
/// the command that it refuses, which contains the password.
fn describe_setup(error: &RedisError) -> String {
    error.code().map_or_else(|| error.to_string(), |code| format!("{code} ({})", error.category()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rules F12, F30.
    #[test]
    fn pauses_have_full_jitter_and_double_up_to_five_seconds() {
        let mut random = Random::from_name("a seed");
        for (failures, longest) in [(0, 500), (1, 1_000), (2, 2_000), (3, 4_000), (4, 5_000), (u32::MAX, 5_000)] {
            let longest = Duration::from_millis(longest);
            let pauses: Vec<_> = (0..1_000).map(|_| pause(failures, &mut random)).collect();
            assert!(pauses.iter().all(|pause| *pause <= longest), "{failures} failures: {pauses:?}");
            assert!(pauses.iter().any(|pause| *pause > longest.mul_f64(0.95)), "{failures} failures: {pauses:?}");
            assert!(pauses.iter().any(|pause| *pause < longest.mul_f64(0.05)), "{failures} failures: {pauses:?}");
        }
    }
}
