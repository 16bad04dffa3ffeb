use retry_core::{RetryInfo, TokioTimer, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = "standard", timer = TokioTimer, blocking)]
fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
