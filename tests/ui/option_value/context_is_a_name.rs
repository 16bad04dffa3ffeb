use retry_core::{AttemptContext, RetryInfo, retryable};

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

#[retryable(strategy = "standard", context = context)]
async fn its_own_argument(key: &str, context: AttemptContext) -> Result<usize, Failed> {
    Ok(key.len() + context.attempt() as usize)
}

#[retryable(strategy = "standard", context = context)]
async fn a_reference(context: &retry_core::AttemptContext) -> Result<u32, Failed> {
    Ok(context.attempt())
}

#[retryable(strategy = "standard", context = context)]
async fn another_argument(context: &str) -> Result<usize, Failed> {
    Ok(context.len())
}

fn main() {}
