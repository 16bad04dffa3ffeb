//! Operations during and after an outage, through a connection manager with the settings that the module advises.

use crate::manager::reconnecting;
use crate::server::{PATIENCE, RedisServer};
use redis::Client;
use redis::aio::ConnectionManager;
use retry_clients::redis1::ClientError;
use retry_core::{Report, RetryError, StandardRetryStrategy, retry};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Longer than the waits of the strategy for its first attempts.
const OUTAGE: Duration = Duration::from_secs(2);

/// The time limit of an operation that finds no server.
const SHORT: Duration = Duration::from_millis(300);

/// Returns a manager that has connected. `options` follow the address in its URL.
async fn manager(port: u16, options: &str) -> ConnectionManager {
    let client = Client::open(format!("redis://127.0.0.1:{port}/{options}")).unwrap();
    client.get_connection_manager_with_config(reconnecting()).await.unwrap()
}

async fn count(cache: &ConnectionManager, idempotent: bool, max_time: Duration) -> Report<Result<i64, ClientError>> {
    let strategy = StandardRetryStrategy::new().max_attempts(3);
    let attempt = async || -> Result<i64, ClientError> {
        Ok(redis::cmd("INCR").arg("visits").query_async(&mut cache.clone()).await?)
    };
    retry(&strategy, attempt).idempotent(idempotent).max_time(max_time).report().await
}

/// Starts a server between clients and this one. Also while this one is down, it accepts connections, and closes them. Returns its port.
async fn load_balancer(server: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await {
                    // Both ends break connections.
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn an_outage_costs_an_operation_only_the_attempt_that_it_broke() {
    let mut server = RedisServer::start(&[]);
    let cache = manager(server.port, "").await;
    server.kill();
    let during = tokio::spawn({
        let cache = cache.clone();
        async move { count(&cache, true, PATIENCE).await }
    });
    tokio::time::sleep(OUTAGE).await;
    server.restart(&[]);
    let during = during.await.unwrap();
    assert_eq!((during.attempts, during.outcome.unwrap()), (2, 1));
    let after = count(&cache, true, PATIENCE).await;
    assert_eq!((after.attempts, after.outcome.unwrap()), (1, 2));
}

#[tokio::test]
async fn a_count_after_an_outage_succeeds_although_connections_broke_meanwhile() {
    let mut server = RedisServer::start(&[]);
    let cache = manager(load_balancer(server.port).await, "").await;
    server.kill();
    let broken = count(&cache, false, PATIENCE).await;
    assert_eq!((broken.attempts, broken.reason), (1, Some(RetryError::NotRetryable)), "{:?}", broken.outcome);
    assert!(broken.outcome.is_err_and(|error| error.is_outcome_unknown()));
    let waiting = count(&cache, false, SHORT).await;
    assert!(waiting.outcome.as_ref().is_err_and(|error| error.timed_out().is_some()), "{:?}", waiting.outcome);

    server.restart(&[]);
    let after = count(&cache, false, PATIENCE).await;
    assert_eq!((after.attempts, after.outcome.unwrap()), (1, 1));
}

#[tokio::test]
async fn a_password_that_was_wrong_for_a_time_is_not_wrong_for_ever() {
    let right = ["--requirepass", "right"];
    let mut server = RedisServer::start(&right);
    let client = Client::open(format!("redis://:right@127.0.0.1:{}/", server.port)).unwrap();
    let cache = client.get_connection_manager_with_config(reconnecting()).await.unwrap();
    server.restart(&["--requirepass", "changed"]);
    assert!(count(&cache, true, SHORT).await.outcome.is_err());
    assert!(count(&cache, true, SHORT).await.outcome.is_err());

    server.restart(&right);
    assert_eq!(count(&cache, true, PATIENCE).await.outcome.unwrap(), 1);
}

#[tokio::test]
async fn with_resp_3_a_count_after_an_idle_time_does_not_meet_the_connection_that_was_closed() {
    let mut server = RedisServer::start(&[]);
    let cache = manager(server.port, "?protocol=resp3").await;
    server.restart(&[]);
    let mut other = server.connect().await;
    let started = Instant::now();
    while !info(&mut other).await.contains("connected_clients:2") {
        assert!(started.elapsed() < PATIENCE, "the manager did not connect again");
    }
    let report = count(&cache, false, PATIENCE).await;
    assert_eq!((report.attempts, report.outcome.unwrap()), (1, 1));
}

async fn info(connection: &mut redis::aio::MultiplexedConnection) -> String {
    redis::cmd("INFO").arg("clients").query_async(connection).await.unwrap()
}
