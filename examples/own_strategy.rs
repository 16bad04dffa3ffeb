//! A custom retry strategy in three methods: a maximum number of retries, a constant delay, and no quota.
//!
//! `cargo run --example own_strategy`

use retry_core::strategy::ForeignToken;
use retry_core::{Clock, Failure, RetryError, RetryInfo, RetryStrategy, RetryToken, Success, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Retries after a constant delay. Without a quota nothing protects the server from many clients, so this strategy
/// suits a resource with a single client.
struct Steadily {
    max_retries: u32,
    delay: Duration,
}

/// The state of one operation. The strategy itself has no state, so it accepts the token of any instance.
struct SteadyToken {
    attempt: u32,
    /// The delay before the attempt; zero for the first one.
    delay: Duration,
}

impl RetryToken for SteadyToken {
    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn delay(&self) -> Duration {
        self.delay
    }
}

impl RetryStrategy for Steadily {
    type Token = SteadyToken;

    fn acquire_initial_token(&self, _clock: &dyn Clock) -> Result<SteadyToken, RetryError> {
        Ok(SteadyToken { attempt: 1, delay: Duration::ZERO })
    }

    fn refresh_retry_token(
        &self,
        token: SteadyToken,
        failure: &Failure,
        _clock: &dyn Clock,
    ) -> Result<SteadyToken, RetryError> {
        // The wait that the server asked for is the minimum.
        let delay = self.delay.max(failure.retry_after().unwrap_or_default());
        if !failure.is_retryable() {
            Err(RetryError::NotRetryable)
        } else if token.attempt > self.max_retries {
            Err(RetryError::MaxAttempts)
        } else if failure.remaining().is_some_and(|remaining| delay > remaining) {
            Err(RetryError::MaxTime)
        } else {
            Ok(SteadyToken { attempt: token.attempt + 1, delay })
        }
    }

    fn record_success(&self, _token: SteadyToken, _success: &Success, _clock: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(()) // This strategy learns nothing from a success.
    }
}

static SENSOR: Steadily = Steadily { max_retries: 4, delay: Duration::from_millis(100) };

#[derive(Debug, RetryInfo)]
enum SensorError {
    #[retry(timeout)]
    NoAnswer,
}

#[retryable(strategy = SENSOR, idempotent)]
async fn read() -> Result<f64, SensorError> {
    // One attempt. The sensor is asleep at first and answers the fourth attempt.
    static ATTEMPTS: AtomicU32 = AtomicU32::new(1);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    let outcome = if attempt < 4 { Err(SensorError::NoAnswer) } else { Ok(21.5) };
    println!("attempt {attempt}: {outcome:?}");
    outcome
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), SensorError> {
    let started = tokio::time::Instant::now();
    let temperature = read().await?;
    println!("{temperature} degrees, after {} ms", started.elapsed().as_millis());
    Ok(())
}
