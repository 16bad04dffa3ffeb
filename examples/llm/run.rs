//! All prompts with one of the strategies, and what became of them.

use crate::client::CallError;
use crate::limits::TOKENS_PER_MINUTE;
use crate::prompts::{Prompt, prompts};
use crate::service::{Account, EVENTS, Service};
use futures_util::future::join_all;
use std::cell::Cell;
use std::time::Duration;
use tokio::time::Instant;

const WORKERS: usize = 32;

/// A row of the table.
pub(crate) struct Run {
    pub(crate) lost: u32,
    pub(crate) requests: u32,
    /// The rejected share of the requests, in percent.
    pub(crate) rejected: f64,
    pub(crate) time: Duration,
    /// The tokens that were used of those that the limit allows, from the second minute until the last prompt was admitted, in
    /// percent. `None` if no prompt was admitted after the first minute.
    pub(crate) used: Option<f64>,
    pub(crate) resumed: u32,
    /// Events that arrived although they had arrived before.
    pub(crate) twice: usize,
}

/// Answers all prompts by 32 workers.
pub(crate) async fn run(
    call: impl AsyncFn(&Service, &Prompt, &mut u32, &mut Vec<u32>) -> Result<u32, CallError>,
) -> Run {
    let (service, prompts, begun) = (Service::new(Account::Paid), prompts(), Instant::now());
    let (queue, lost, twice) = (Cell::new(prompts.iter()), Cell::new(0), Cell::new(0));
    let next = || {
        let mut rest = queue.take();
        let prompt = rest.next();
        queue.set(rest);
        prompt
    };
    let worker = async || {
        while let Some(prompt) = next() {
            let (mut last_id, mut sink) = (0, Vec::new());
            let answer = call(&service, prompt, &mut last_id, &mut sink).await;
            let events = sink.len();
            sink.sort_unstable();
            sink.dedup();
            twice.set(twice.get() + events - sink.len());
            match answer {
                Ok(_) => assert!(sink.iter().copied().eq(1..=EVENTS), "an answer is complete"),
                Err(_) => lost.set(lost.get() + 1),
            }
        }
    };
    join_all((0..WORKERS).map(|_| worker())).await;

    let (requests, rejected) = (service.requests.get(), service.rejected.get());
    Run {
        lost: lost.get(),
        requests,
        rejected: 100.0 * f64::from(rejected) / f64::from(requests),
        time: begun.elapsed(),
        used: used(&service, begun),
        resumed: service.resumed.get(),
        twice: twice.get(),
    }
}

fn used(service: &Service, begun: Instant) -> Option<f64> {
    const MINUTE: Duration = Duration::from_mins(1);

    let admitted = service.admitted.borrow();
    let last = admitted.last()?.0.checked_duration_since(begun + MINUTE).filter(|time| !time.is_zero())?;
    let tokens: u32 = admitted.iter().filter(|(at, _)| *at >= begun + MINUTE).map(|(_, tokens)| tokens).sum();
    Some(100.0 * f64::from(tokens) / (TOKENS_PER_MINUTE * last.as_secs_f64() / 60.0))
}
