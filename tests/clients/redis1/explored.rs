//! Explorations: a proxy that cuts the connection before a command reaches the server, or before its answer reaches the client.

use crate::manager::reconnecting;
use crate::server::RedisServer;
use clients_tests::{Cut, Proxy};
use redis::aio::ConnectionManager;
use redis::{AsyncTypedCommands, Client, RedisResult};
use retry_clients::redis1;
use retry_core::test::{begin, explore, may_fail};
use retry_core::{StandardRetryStrategy, retryable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

static CACHE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = CACHE, policy = redis1::policy().idempotent(idempotent))]
async fn count(cache: &ConnectionManager, key: &str, idempotent: bool) -> RedisResult<isize> {
    cache.clone().incr(key, 1).await
}

/// Counts once by a proxy. Returns the outcome, if it is known, and the count of the server.
fn counted(server: &RedisServer, key: &str, idempotent: bool) -> (Option<isize>, isize) {
    let test = begin();
    let handle = test.handle();
    let proxy = Proxy::start_with(server.port, "INCR", move |_| {
        handle.run(|| may_fail(|| Cut::Text).and_then(|()| may_fail(|| Cut::Answer(":"))).err())
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::open(format!("redis://127.0.0.1:{}/", proxy.port)).unwrap();
        let cache = client.get_connection_manager_with_config(reconnecting()).await.unwrap();
        let outcome = count(&cache, key, idempotent).await.ok();
        let mut direct = server.connect().await;
        let total = redis::cmd("GET").arg(key).query_async::<Option<isize>>(&mut direct).await.unwrap();
        (outcome, total.unwrap_or(0))
    })
}

// Rules H8, G8.
#[test]
fn wherever_a_connection_is_cut_a_count_that_must_not_be_repeated_is_not_and_one_that_is_repeated_is_found() {
    let server = Arc::new(RedisServer::start(&[]));
    for idempotent in [false, true] {
        let (server, keys) = (Arc::clone(&server), AtomicU32::new(0));
        // The policy has no error of the client for an attempt that is not sent or cut, so only the retries of these are checked.
        let found = explore().accept_unchecked().run(move || {
            let key = format!("{idempotent} {}", keys.fetch_add(1, Ordering::Relaxed));
            counted(&server, &key, idempotent)
        });
        // Two points, each of which fails in three ways, and attempts that are not sent or cut.
        assert!(found.cases > 6, "{found}");
        if idempotent {
            assert!(found.findings.iter().any(|finding| finding.details.starts_with("(Some(2), 2)")), "{found}");
        } else {
            found.assert_none();
        }
    }
}
