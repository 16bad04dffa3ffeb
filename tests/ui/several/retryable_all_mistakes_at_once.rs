use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

struct Client;

impl Client {
    #[retryable(strateggy = STORE, clone(key), idempotent(true))]
    fn get(&mut self) -> &u32 {
        &1
    }
}

// The method exists all the same, so nothing is reported here.
fn use_it(mut client: Client) -> u32 {
    *client.get()
}

fn main() {}

// Rule M12.
