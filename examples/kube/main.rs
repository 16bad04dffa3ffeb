//! The client kube with the retries of retry-core in place of its own, and what happens if both retry: the requests multiply.
//!
//! `cargo run -p kube-stack`

mod server;

use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::client::{Body, ClientBuilder};
use kube::{Api, Client, Config};
use retry_clients::hyper_util01;
use retry_core::PatientRetryStrategy;
use retry_tower::RetryLayer;
use server::Answer::{self, Found, Lost, Throttled, Unavailable};
use server::Server;
use std::error::Error;
use tower::buffer::BufferLayer;

/// One strategy for the cluster.
static CLUSTER: PatientRetryStrategy = PatientRetryStrategy::new();

/// Creates a client with our retries in place of kube's own, which is a layer of the stack that `ClientBuilder` makes.
fn retrying_client(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    with_retries(config)
}

/// Creates a client with our retries. The method of a request decides whether it may be executed twice. The stack of
/// `ClientBuilder` can't be cloned, so a buffer below the retries shares it among their attempts.
fn with_retries(config: Config) -> kube::Result<Client> {
    let retries = RetryLayer::new(&CLUSTER)
        .policy_with(|request: &Request<Body>| hyper_util01::response_policy().for_method(request.method()))
        .clone_with(clone_request);
    Ok(ClientBuilder::try_from(config)?.with_layer(&BufferLayer::new(1024)).with_layer(&retries).build())
}

/// Clones a request. A body that is a stream can't be cloned, and its request is sent once.
fn clone_request(request: &Request<Body>) -> Option<Request<Body>> {
    let mut clone = Request::new(request.body().try_clone()?);
    clone.method_mut().clone_from(request.method());
    clone.uri_mut().clone_from(request.uri());
    clone.headers_mut().clone_from(request.headers());
    clone.extensions_mut().clone_from(request.extensions());
    Some(clone)
}

/// Which retries a client has.
#[derive(Clone, Copy, Debug)]
enum Retries {
    Kube,
    Both,
    Ours,
}

/// A call of the server.
#[derive(Clone, Copy, Debug)]
enum Call {
    Get,
    Create,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Done,
    Failed,
}

/// Makes a call of a server that gives these answers in turn and repeats the last one. Returns the number of requests that
/// the server received, and what became of the call.
async fn make(call: Call, answers: &'static [Answer], retries: Retries) -> Result<(usize, Outcome), Box<dyn Error>> {
    let server = Server::start(answers).await?;
    let config = Config::new(server.url().parse()?);
    let client = match retries {
        Retries::Kube => ClientBuilder::try_from(config)?.build(),
        Retries::Both => with_retries(config)?,
        Retries::Ours => retrying_client(config)?,
    };
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let answer = match call {
        Call::Get => maps.get("settings").await,
        Call::Create => maps.create(&PostParams::default(), &ConfigMap::default()).await,
    };
    Ok((server.requests(), if answer.is_ok() { Outcome::Done } else { Outcome::Failed }))
}

// The clock is tokio's paused one, so the waits take no time.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let calls: [(Call, &'static [Answer]); 5] = [
        (Call::Get, &[Unavailable]),
        (Call::Get, &[Throttled, Unavailable, Lost, Found]),
        (Call::Create, &[Throttled, Found]),
        (Call::Create, &[Unavailable, Found]),
        (Call::Create, &[Lost, Found]),
    ];
    for (call, answers) in calls {
        println!("{call:?} {answers:?}, the last one repeated:");
        for retries in [Retries::Kube, Retries::Both, Retries::Ours] {
            let (requests, outcome) = make(call, answers, retries).await?;
            println!("    retries of {retries:?}: {requests:>2} requests, {outcome:?}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Call::{Create, Get};
    use Outcome::{Done, Failed};

    async fn assert_requests(call: Call, answers: &'static [Answer], kube: usize, both: usize, ours: (usize, Outcome)) {
        assert_eq!(make(call, answers, Retries::Kube).await.unwrap().0, kube, "{call:?} {answers:?}, by kube");
        assert_eq!(make(call, answers, Retries::Both).await.unwrap().0, both, "{call:?} {answers:?}, by both");
        assert_eq!(make(call, answers, Retries::Ours).await.unwrap(), ours, "{call:?} {answers:?}, by ours");
    }

    #[tokio::test(start_paused = true)]
    async fn retries_of_both_multiply_until_those_of_kube_are_taken_out() {
        assert_requests(Get, &[Unavailable], 16, 80, (5, Failed)).await;
        assert_requests(Create, &[Throttled], 16, 80, (5, Failed)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_is_repeated_after_each_kind_of_failure() {
        assert_requests(Get, &[Throttled, Unavailable, Lost, Found], 3, 4, (4, Done)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_creation_is_repeated_only_if_nothing_was_created() {
        assert_requests(Create, &[Throttled, Found], 2, 2, (2, Done)).await;
        assert_requests(Create, &[Unavailable, Found], 2, 2, (1, Failed)).await;
        assert_requests(Create, &[Lost, Found], 1, 1, (1, Failed)).await;
    }
}
