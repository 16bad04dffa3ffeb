use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
struct Client;

#[retryable(strategy = STORE)]
impl Client {}

#[retryable(strategy = STORE)]
mod client {}

fn main() {}
