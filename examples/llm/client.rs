//! One attempt: it opens the stream of an answer, and reads it to its end.

use crate::prompts::Prompt;
use crate::service::{Rejected, Service};
use retry_clients::llm;
use retry_core::RetryInfo;
use retry_core::classify::{Classification, io};
use std::time::SystemTime;

#[derive(Debug, RetryInfo)]
pub(crate) enum CallError {
    /// The stream broke.
    #[retry(with = io::known)]
    Broken(std::io::Error),
    #[retry(transparent)]
    Rejected(Classification),
}

impl From<std::io::Error> for CallError {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Rejected> for CallError {
    fn from(Rejected { status, headers, code }: Rejected) -> Self {
        Self::Rejected(llm::response(status, &headers, llm::known_openai(code), SystemTime::now()))
    }
}

/// Reads the answer from the event after `last_id` on. What it has read stays in `last_id` and `sink` when it fails, because
/// they belong to the caller. Returns the tokens that this attempt used of the limit.
pub(crate) async fn attempt(
    service: &Service,
    prompt: &Prompt,
    last_id: &mut u32,
    sink: &mut Vec<u32>,
) -> Result<u32, CallError> {
    let mut events = service.open(prompt, *last_id).await?;
    while let Some(id) = events.next().await? {
        // Stored together, without a point in between where the attempt can be dropped.
        sink.push(id);
        *last_id = id;
    }
    Ok(events.tokens)
}
