use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(idempotent = "yes")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(max_atempts = 3)]
async fn misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(retries = 3)]
async fn word_of_another_library() -> Result<(), Failed> {
    Ok(())
}

#[retryable(max_attempts: 3, !idempotent)]
async fn unreadable() -> Result<(), Failed> {
    Ok(())
}

// These were probably meant for the strategy.
#[retryable(stratgy = STORE)]
async fn misspelled_strategy() -> Result<(), Failed> {
    Ok(())
}

#[retryable(crate::STORE)]
async fn without_a_name() -> Result<(), Failed> {
    Ok(())
}

#[retryable(&STORE, max_attempts: 3)]
async fn unreadable_without_a_name() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
