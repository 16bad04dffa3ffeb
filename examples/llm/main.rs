//! Prompts for a service with a limit on requests and a limit on tokens, by 32 workers, in virtual time.
//!
//! 400 prompts of 100 to 4,000 tokens go to a service that accepts 20 requests per second and 100,000 tokens per minute
//! (`limits.rs`), and whose streams break twice in a hundred. The table shows what becomes of them with the strategies of
//! `strategies.rs`. Then, two calls end after one attempt: the quota of an account is used up, and a limit is reset later than
//! the strategy waits by default.
//!
//! The tokens are those used since the second minute, as a share of the limit. More than 100 % were saved up before. With limits
//! that are told, sends are even from the start, so the first 100,000 tokens stay in the bucket of the service: nothing is
//! rejected, and it takes a minute longer.
//!
//! `cargo run --example llm`

mod client;
mod limits;
mod prompts;
mod run;
mod service;
mod strategies;

use client::{CallError, attempt};
use prompts::prompts;
use retry_core::{PatientRetryStrategy, Report, RetryError, RetryInfo, retry};
use run::{Run, run};
use service::{Account, Service};

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!(
        "{:18} {:>5} {:>9} {:>9} {:>8} {:>9} {:>8} {:>6}",
        "", "lost", "requests", "rejected", "time", "tokens", "resumed", "twice"
    );
    print("backon", &run(strategies::with_backon).await);
    print("patient", &run(strategies::patient).await);
    let untold = run(strategies::untold).await;
    print("paced", &untold);
    let weights = run(strategies::weights).await;
    print("paced, weights", &weights);
    let told = run(strategies::told).await;
    print("paced, both told", &told);

    for run in [&untold, &weights, &told] {
        assert_eq!(
            (run.lost, run.resumed, run.twice),
            (0, 8, 0),
            "each prompt is answered, and each broken stream continues"
        );
    }
    assert!(told.rejected <= 1.0, "{} % rejected", told.rejected);
    assert!(told.used.is_some_and(|used| used >= 95.0), "{:?} % of the tokens used", told.used);

    let report = end(Account::Unpaid).await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
    let report = end(Account::UsedUp).await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::RetryAfterTooLong)));
}

fn print(name: &str, run: &Run) {
    let used = run.used.map_or("-".to_owned(), |used| format!("{used:.1} %"));
    println!(
        "{name:18} {:>5} {:>9} {:>7.1} % {:>6} s {used:>9} {:>8} {:>6}",
        run.lost,
        run.requests,
        run.rejected,
        run.time.as_secs(),
        run.resumed,
        run.twice,
    );
}

/// Makes a call that ends immediately, and prints why.
async fn end(account: Account) -> Report<Result<u32, CallError>> {
    static MODEL: PatientRetryStrategy = PatientRetryStrategy::new();

    let (service, prompt) = (Service::new(account), &prompts()[0]);
    let call = retry(&MODEL, async || attempt(&service, prompt, &mut 0, &mut Vec::new()).await);
    let report = call.idempotent(true).report().await;
    let reason = report.reason.map(|reason| reason.to_string()).unwrap_or_default();
    let wait = report.outcome.as_ref().err().and_then(CallError::retry_after);
    println!("{account:?}, wait: {wait:?}, attempts: {}: {reason}", report.attempts);
    report
}
