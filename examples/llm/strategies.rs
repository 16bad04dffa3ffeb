//! The same call with each strategy. Each function is what a program would have.

use crate::client::{CallError, attempt};
use crate::limits::{REQUESTS_PER_SECOND, TOKENS_PER_MINUTE};
use crate::prompts::Prompt;
use crate::service::Service;
use backon::{ExponentialBuilder, Retryable};
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{PatientRetryStrategy, RetryInfo, RetrySafety, StandardRetryStrategy, retryable};
use retry_limits::{PacedLimiter, PacedRetryStrategy, Pair, Weights};
use tokio::sync::Mutex;

type Answer = Result<u32, CallError>;

/// backon lends nothing to attempts, so the place for the answer is behind a lock. It obeys `retry-after` by `adjust`.
pub(crate) async fn with_backon(service: &Service, prompt: &Prompt, last_id: &mut u32, sink: &mut Vec<u32>) -> Answer {
    let place = Mutex::new((last_id, sink));
    let read = || async {
        let (last_id, sink) = &mut *place.lock().await;
        attempt(service, prompt, last_id, sink).await
    };
    read.retry(ExponentialBuilder::default().with_jitter())
        .when(|error| error.is_retry_safe() != RetrySafety::No)
        .adjust(|error, delay| delay.map(|delay| error.retry_after().unwrap_or(delay).max(delay)))
        .await
}

static PATIENT: PatientRetryStrategy = PatientRetryStrategy::new();

#[retryable(strategy = PATIENT, idempotent)]
pub(crate) async fn patient(service: &Service, prompt: &Prompt, last_id: &mut u32, sink: &mut Vec<u32>) -> Answer {
    attempt(service, prompt, last_id, sink).await
}

static UNTOLD: PacedRetryStrategy = PacedRetryStrategy::new();

/// It learns one rate, in requests per second, from what the service rejects.
#[retryable(strategy = UNTOLD, idempotent)]
pub(crate) async fn untold(service: &Service, prompt: &Prompt, last_id: &mut u32, sink: &mut Vec<u32>) -> Answer {
    attempt(service, prompt, last_id, sink).await
}

type Weighing = LimitedRetryStrategy<Pair<PacedLimiter, PacedLimiter<Weights>>>;

static WEIGHTS: Weighing = LimitedRetryStrategy::with_limiter(
    StandardRetryStrategy::new(),
    Pair(PacedLimiter::new(), PacedLimiter::of_weights()),
);

/// It knows the tokens of each prompt, and learns both limits.
#[retryable(
    strategy = WEIGHTS,
    idempotent,
    weight = prompt.tokens,
    used = |outcome| outcome.as_ref().ok().copied(),
)]
pub(crate) async fn weights(service: &Service, prompt: &Prompt, last_id: &mut u32, sink: &mut Vec<u32>) -> Answer {
    attempt(service, prompt, last_id, sink).await
}

static TOLD: Weighing = LimitedRetryStrategy::with_limiter(
    StandardRetryStrategy::new(),
    Pair(
        PacedLimiter::new().max_rate(REQUESTS_PER_SECOND),
        PacedLimiter::of_weights().max_rate(TOKENS_PER_MINUTE / 60.0),
    ),
);

/// It knows both limits, and the tokens of each prompt. An answer that continues after a break used none.
#[retryable(
    strategy = TOLD,
    idempotent,
    weight = prompt.tokens,
    used = |outcome| outcome.as_ref().ok().copied(),
)]
pub(crate) async fn told(service: &Service, prompt: &Prompt, last_id: &mut u32, sink: &mut Vec<u32>) -> Answer {
    attempt(service, prompt, last_id, sink).await
}
