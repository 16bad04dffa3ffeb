use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

struct Client;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, idempotent, hedge = "p95")]
async fn in_a_text(key: &str) -> Result<String, Failed> {
    Ok(key.to_owned())
}

impl Client {
    #[retryable(
        strategy = STORE, idempotent, hedge = "50ms", context = context, max_time = "1s", on_retry = |_: &Failed, _| (),
    )]
    async fn in_a_method(&self, key: String) -> Result<u32, Failed> {
        drop(key);
        Ok(context.attempt())
    }
}

// All mistakes are reported together.
#[retryable(strategy = STORE, hedge = "p95")]
async fn not_idempotent(key: &str) -> Result<String, Failed> {
    in_a_text(key).await
}

// The path of the library is not known.
#[retryable(strategy = STORE, idempotent, hedge = "p95", crate = "retry_core")]
async fn of_a_crate_in_quotes(key: &str) -> Result<String, Failed> {
    in_a_text(key).await
}

#[retryable(strategy = STORE, idempotent, hedge = "p95", crat = ::retry_core)]
async fn of_a_misspelled_crate(key: &str) -> Result<String, Failed> {
    in_a_text(key).await
}

#[retryable(strategy = STORE, idempotent)]
async fn without_a_hedge(key: &str) -> Result<String, Failed> {
    in_a_text(key).await
}

fn main() {
    _ = Client.in_a_method(String::new());
    _ = not_idempotent("key");
    _ = of_a_crate_in_quotes("key");
    _ = of_a_misspelled_crate("key");
    _ = without_a_hedge("key");
}

// Rule V11.
