//! Programs as a user writes them, while a server is restarted and loads its data.

use crate::manager::reconnecting;
use crate::server::RedisServer;
use redis::aio::ConnectionManager;
use redis::{AsyncTypedCommands, RedisResult};
use retry_clients::redis1;
use retry_core::{RetryError, StandardRetryStrategy, retry, retryable};
use std::time::Duration;

static CACHE: StandardRetryStrategy =
    StandardRetryStrategy::new().max_attempts(20).backoff(Duration::from_millis(50), Duration::from_millis(500));

#[retryable(strategy = CACHE, policy = redis1::policy().idempotent(true))]
async fn get(cache: &ConnectionManager, key: &str) -> RedisResult<Option<String>> {
    cache.clone().get(key).await
}

// An INCR must not be counted twice.
#[retryable(strategy = CACHE, policy = redis1::policy().idempotent(false))]
async fn count(cache: &ConnectionManager, key: &str) -> RedisResult<isize> {
    cache.clone().incr(key, 1).await
}

async fn manager(server: &RedisServer) -> ConnectionManager {
    server.client().get_connection_manager_with_config(reconnecting()).await.unwrap()
}

#[tokio::test]
async fn reads_survive_a_restart_and_counts_are_not_repeated() {
    let mut server = RedisServer::start(&[]);
    let cache = manager(&server).await;
    cache.clone().set("text", "value").await.unwrap();
    assert_eq!(count(&cache, "visits").await.unwrap(), 1);
    redis::cmd("DEBUG").arg("POPULATE").arg("2000").query_async::<()>(&mut cache.clone()).await.unwrap();
    redis::cmd("SAVE").query_async::<()>(&mut cache.clone()).await.unwrap();

    // The server loads its data for a second.
    let slowly = ["--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"];
    server.restart(&slowly);
    assert_eq!(get(&cache, "text").await.unwrap().as_deref(), Some("value"));

    server.restart(&slowly);
    let report = retry(&CACHE, || async { cache.clone().incr("visits", 1).await })
        .policy(redis1::policy().idempotent(false))
        .report()
        .await;
    let lost: RedisResult<isize> = report.outcome;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)), "{lost:?}");
    // What the server certainly did not execute is retried: it is still loading.
    assert_eq!(count(&cache, "visits").await.unwrap(), 2);
}
