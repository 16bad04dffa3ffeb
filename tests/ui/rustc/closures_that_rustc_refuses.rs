// The code of "What rustc says about closures" in the docs of `retry_core::retry`, whose headings are these messages.

use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

struct Client;

impl Client {
    async fn get(&self, _: &str) -> Result<u32, Failed> {
        Ok(1)
    }

    async fn put(&mut self, _: &str) -> Result<u32, Failed> {
        Ok(1)
    }
}

async fn send(_: u32) -> Result<u32, Failed> {
    Ok(1)
}

async fn counts() -> Result<u32, Failed> {
    let mut attempt = 0;
    let call = retry(&STORE, async || {
        attempt += 1;
        send(attempt).await
    });
    call.run().await
}

async fn borrows(client: &mut Client) -> Result<u32, Failed> {
    retry(&STORE, async || client.put("key").await).run().await
}

async fn with_retry(call: impl AsyncFn(&str) -> Result<u32, Failed>) -> Result<u32, Failed> {
    retry(&STORE, || call("key")).run().await
}

async fn one_lifetime(client: Client) -> Result<u32, Failed> {
    with_retry(|key| client.get(key)).await
}

fn spawned(client: Client) {
    tokio::spawn(async move { with_retry(async |key| client.get(key).await).await });
}

fn main() {
    let _ = (counts(), borrows(&mut Client), one_lifetime(Client));
    spawned(Client);
}
