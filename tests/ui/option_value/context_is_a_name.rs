use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = "standard", context)]
async fn without_a_name() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", context = self)]
async fn no_name_of_its_own() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", context = "context")]
async fn a_text() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", context = key)]
async fn an_argument(key: &str) -> Result<usize, Failed> {
    Ok(key.len())
}

fn main() {}
