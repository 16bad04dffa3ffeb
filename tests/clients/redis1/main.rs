//! How the errors of redis 1 are classified, with real servers. Each test starts its own.

mod explored;
mod kinds;
mod manager;
mod outages;
mod programs;
mod server;

use clients_tests::{
    BROKEN, FINAL, FullBacklog, LIMIT, UNKNOWN, UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out,
    refused_address,
};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, RedisError, cmd, pipe};
use retry_clients::codes::known_redis as table;
use retry_clients::redis1;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, ErrorFault, RetryDirective, RetryErrorType, RetryPolicy, retryable};
use server::{PATIENCE, RedisServer};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A timeout that strikes in the tests that wait for it.
const SOON: Duration = Duration::from_millis(200);

const NOT_EXECUTED: Classification = UNSENT.with_fault(ErrorFault::Server);
const WRONG: Classification = FINAL.with_fault(ErrorFault::Client);

async fn command<T: FromRedisValue>(connection: &mut MultiplexedConnection, words: &[&str]) -> Result<T, RedisError> {
    let mut command = cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query_async(connection).await
}

async fn failure(connection: &mut MultiplexedConnection, words: &[&str]) -> RedisError {
    command::<()>(connection, words).await.expect_err(words[0])
}

async fn run(connection: &mut MultiplexedConnection, words: &[&str]) {
    command::<()>(connection, words).await.unwrap();
}

fn short_timeouts() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(Some(SOON)).set_response_timeout(Some(SOON))
}

/// Checks that the server answered with this code and that the answer is classified by the table.
fn assert_answer(error: &RedisError, code: &str, expected: Classification) {
    assert_eq!((error.code(), redis1::classify(error)), (Some(code), expected), "{error:?}");
    assert_eq!(table(code), Some(expected));
}

// Rule H8.
#[tokio::test]
async fn answers_of_a_server_are_classified_by_their_codes() {
    let server = RedisServer::start(&["--lua-time-limit", "50"]);
    let mut connection = server.connect().await;
    run(&mut connection, &["SET", "text", "1"]).await;

    let error = failure(&mut connection, &["LPUSH", "text", "1"]).await;
    assert_answer(&error, "WRONGTYPE", WRONG);
    let no_script = "ffffffffffffffffffffffffffffffffffffffff";
    assert_answer(&failure(&mut connection, &["EVALSHA", no_script, "0"]).await, "NOSCRIPT", WRONG);
    assert_answer(&failure(&mut connection, &["NOSUCHCOMMAND"]).await, "ERR", WRONG);

    run(&mut connection, &["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_answer(&failure(&mut connection, &["SET", "more", "1"]).await, "OOM", NOT_EXECUTED);
    run(&mut connection, &["CONFIG", "SET", "maxmemory", "0"]).await;

    run(&mut connection, &["CONFIG", "SET", "min-replicas-to-write", "1"]).await;
    assert_answer(&failure(&mut connection, &["SET", "more", "1"]).await, "NOREPLICAS", NOT_EXECUTED);
    run(&mut connection, &["CONFIG", "SET", "min-replicas-to-write", "0"]).await;

    run(&mut connection, &["ACL", "SETUSER", "default", "-get"]).await;
    assert_answer(&failure(&mut connection, &["GET", "text"]).await, "NOPERM", WRONG);

    // A word that a script made up.
    let script = "return redis.error_reply('MYWORD something')";
    let error = failure(&mut connection, &["EVAL", script, "0"]).await;
    assert_eq!((error.code(), redis1::classify(&error)), (Some("MYWORD"), FINAL));
}

#[tokio::test]
async fn a_server_that_runs_a_script_is_busy() {
    let server = RedisServer::start(&["--lua-time-limit", "50"]);
    let (mut connection, mut other) = (server.connect().await, server.connect().await);
    let endless = tokio::spawn(async move { failure(&mut other, &["EVAL", "while true do end", "0"]).await });
    let started = Instant::now();
    let error = loop {
        match command::<Option<String>>(&mut connection, &["GET", "text"]).await {
            Err(error) => break error,
            Ok(_) => assert!(started.elapsed() < PATIENCE, "the script did not start"),
        }
    };
    assert_answer(&error, "BUSY", NOT_EXECUTED);
    run(&mut connection, &["SCRIPT", "KILL"]).await;
    assert_answer(&endless.await.unwrap(), "ERR", WRONG);
}

#[tokio::test]
async fn a_server_that_loads_its_data_has_executed_nothing() {
    let mut server = RedisServer::start(&[]);
    let mut connection = server.connect().await;
    run(&mut connection, &["DEBUG", "POPULATE", "20000"]).await;
    run(&mut connection, &["SAVE"]).await;
    server.restart(&["--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"]);
    let mut connection = server.connect().await;
    assert_answer(&failure(&mut connection, &["GET", "text"]).await, "LOADING", NOT_EXECUTED);
    assert_transaction(&mut connection, UNSENT.with_fault(ErrorFault::Server)).await;
}

#[tokio::test]
async fn a_replica_refuses_writes_and_stale_reads() {
    let master = RedisServer::start(&[]);
    let replica = RedisServer::start(&["--replicaof", &format!("127.0.0.1 {}", master.port)]);
    let mut connection = replica.connect().await;
    assert_answer(&failure(&mut connection, &["SET", "text", "1"]).await, "READONLY", NOT_EXECUTED);
    assert_transaction(&mut connection, NOT_EXECUTED).await;

    let closed = refused_address().port();
    let alone =
        RedisServer::start(&["--replicaof", &format!("127.0.0.1 {closed}"), "--replica-serve-stale-data", "no"]);
    let error = failure(&mut alone.connect().await, &["GET", "text"]).await;
    assert_answer(&error, "MASTERDOWN", NOT_EXECUTED);
}

#[tokio::test]
async fn a_cluster_without_slots_is_down_and_moved_slots_are_safe() {
    let server = RedisServer::start(&["--cluster-enabled", "yes"]);
    let mut connection = server.connect().await;
    assert_answer(&failure(&mut connection, &["GET", "text"]).await, "CLUSTERDOWN", NOT_EXECUTED);

    // Two nodes that know each other share the slots.
    let other = RedisServer::start(&["--cluster-enabled", "yes"]);
    let mut to_other = other.connect().await;
    run(&mut connection, &["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]).await;
    run(&mut to_other, &["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]).await;
    run(&mut connection, &["CLUSTER", "MEET", "127.0.0.1", &other.port.to_string()]).await;
    let started = Instant::now();
    let error = loop {
        // The slot of `foo` is 12182.
        match command::<Option<String>>(&mut connection, &["GET", "foo"]).await {
            Err(error) if error.code() == Some("MOVED") => break error,
            _ => assert!(started.elapsed() < PATIENCE, "the nodes did not meet"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_answer(&error, "MOVED", UNSENT);
}

#[tokio::test]
async fn a_missing_or_wrong_password_is_final() {
    let server = RedisServer::start(&["--requirepass", "secret"]);
    let mut connection = server.connect().await;
    assert_answer(&failure(&mut connection, &["GET", "text"]).await, "NOAUTH", WRONG);
    assert_answer(&failure(&mut connection, &["AUTH", "wrong"]).await, "WRONGPASS", WRONG);
    let client = Client::open(format!("redis://:wrong@127.0.0.1:{}/", server.port)).unwrap();
    let error = client.get_multiplexed_async_connection().await.map(drop).unwrap_err();
    assert_eq!((error.kind(), redis1::classify(&error)), (ErrorKind::AuthenticationFailed, FINAL));
}

/// Checks the verdict on a transaction of one write.
async fn assert_transaction(connection: &mut MultiplexedConnection, expected: Classification) {
    let transaction = pipe().atomic().cmd("SET").arg("text").arg("2").query_async::<()>(connection).await.unwrap_err();
    assert_eq!((transaction.code(), redis1::classify(&transaction)), (Some("EXECABORT"), expected), "{transaction:?}");
}

/// Starts a server that gives this answer to each command after the first request, which sets the connection up.
async fn answering(answer: &'static str) -> Client {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // Two commands that name the client, then those of the test.
        assert_ne!(stream.read(&mut [0; 1_000]).await.unwrap(), 0);
        stream.write_all(b"+OK\r\n+OK\r\n").await.unwrap();
        while stream.read(&mut [0; 1_000]).await.unwrap() > 0 {
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    Client::open(format!("redis://{address}/")).unwrap()
}

// Rule H8.
#[tokio::test]
async fn an_error_within_the_error_of_a_script_decides() {
    let in_script = "-ERR Error running script (call to f_6b1b): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.\r\n";
    for (answer, expected) in [
        (in_script, NOT_EXECUTED),
        ("-ERR Error running script (call to f_6b1b): @user_script:1: attempt to call a nil value\r\n", WRONG),
        ("-ERR max number of clients reached\r\n", NOT_EXECUTED),
        ("-REDIRECT 127.0.0.1:6380\r\n", UNSENT),
        ("-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n", BROKEN),
    ] {
        let mut connection = answering(answer).await.get_multiplexed_async_connection().await.unwrap();
        let error = failure(&mut connection, &["EVAL", "..", "0"]).await;
        assert_eq!(redis1::classify(&error), expected, "{answer:?}: {error:?}");
    }
}

// Rule H8.
#[tokio::test]
async fn a_command_that_was_unblocked_and_a_server_with_too_many_clients_are_not_the_clients_fault() {
    let server = RedisServer::start(&[]);
    let (mut blocked, mut other) = (server.connect().await, server.connect().await);
    let id: i64 = command(&mut blocked, &["CLIENT", "ID"]).await.unwrap();
    let waiting = tokio::spawn(async move { failure(&mut blocked, &["BLPOP", "queue", "0"]).await });
    let id = id.to_string();
    while command::<i64>(&mut other, &["CLIENT", "UNBLOCK", &id, "ERROR"]).await.unwrap() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let error = waiting.await.unwrap();
    assert_eq!((error.code(), redis1::classify(&error)), (Some("UNBLOCKED"), BROKEN), "{error:?}");

    run(&mut other, &["CONFIG", "SET", "maxclients", "1"]).await;
    let mut crowded = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).await.unwrap();
    let mut text = String::new();
    crowded.read_to_string(&mut text).await.unwrap();
    assert_eq!(table(text.strip_prefix('-').unwrap()), Some(NOT_EXECUTED), "{text}");
}

// Rule H8.
#[tokio::test]
async fn a_pipeline_has_executed_what_did_not_fail_and_a_refused_transaction_nothing() {
    let server = RedisServer::start(&[]);
    let mut connection = server.connect().await;
    run(&mut connection, &["SET", "text", "1"]).await;
    run(&mut connection, &["CONFIG", "SET", "maxmemory", "1"]).await;
    let mut two_commands = pipe();
    two_commands.cmd("SET").arg("text").arg("2").cmd("DEL").arg("other");
    let error = two_commands.query_async::<()>(&mut connection).await.unwrap_err();
    assert_eq!(redis1::classify(&error), BROKEN, "the DEL was executed: {error:?}");
    let error = two_commands.atomic().query_async::<()>(&mut connection).await.unwrap_err();
    assert_eq!((error.code(), redis1::classify(&error)), (Some("EXECABORT"), NOT_EXECUTED), "{error:?}");
    run(&mut connection, &["CONFIG", "SET", "maxmemory", "0"]).await;

    let mut unknown_command = pipe();
    unknown_command.atomic().cmd("SET").arg("text").arg("3").cmd("NOSUCHCOMMAND");
    let error = unknown_command.query_async::<()>(&mut connection).await.unwrap_err();
    assert_eq!((error.code(), redis1::classify(&error)), (Some("EXECABORT"), WRONG), "{error:?}");

    for atomic in [false, true] {
        let mut wrong_type = pipe();
        wrong_type.cmd("LPUSH").arg("text").arg("1").cmd("GET").arg("text");
        let wrong_type = if atomic { wrong_type.atomic() } else { &mut wrong_type };
        let error = wrong_type.query_async::<()>(&mut connection).await.unwrap_err();
        assert_eq!(redis1::classify(&error), WRONG, "{error:?}");
    }
    assert_eq!(command::<String>(&mut connection, &["GET", "text"]).await.unwrap(), "1");
}

async fn connect_failure(address: &str) -> [RedisError; 2] {
    let client = Client::open(format!("redis://{address}/")).unwrap();
    let failure = client.get_multiplexed_async_connection_with_config(&short_timeouts()).await.map(drop).unwrap_err();
    [failure, client.get_connection_with_timeout(SOON).map(drop).unwrap_err()]
}

// Rules H1, H24.
#[tokio::test]
async fn a_refused_connection_and_an_unknown_host_are_safe_and_a_timeout_is_not_told_apart() {
    for error in connect_failure(&refused_address().to_string()).await {
        assert_eq!(redis1::classify(&error), UNSENT, "{error:?}");
        assert!(!redis1::ClientError::from(error.clone()).is_outcome_unknown());
        let in_chain = anyhow::Error::from(error).context("while counting");
        assert_eq!(chain::first_known(&in_chain, redis1::link), Some(UNSENT));
        let policy = ChainPolicy::new().also(redis1::link);
        assert_eq!(policy.evaluate(&Err::<(), _>(in_chain)), RetryDirective::retry(RetryErrorType::Other));
    }
    for error in connect_failure(&format!("{UNKNOWN_HOST}:6379")).await {
        assert_eq!(redis1::classify(&error), UNSENT, "{error:?}");
        let payment = redis1::policy().idempotent(false).evaluate(&Err::<(), _>(error));
        assert_eq!(payment, RetryDirective::retry(RetryErrorType::Other));
    }
    let full = FullBacklog::start();
    for error in connect_failure(&full.address().to_string()).await {
        assert_eq!(redis1::classify(&error), UNKNOWN.with_timeout(), "{error:?}");
    }
}

// Rule H24.
#[tokio::test]
async fn a_stalled_server_is_a_timeout() {
    let server = RedisServer::start(&[]);
    let client = server.client();
    let mut patient = server.connect().await;
    let mut connection = client.get_multiplexed_async_connection_with_config(&short_timeouts()).await.unwrap();
    let mut blocking = client.get_connection().unwrap();
    blocking.set_read_timeout(Some(SOON)).unwrap();
    run(&mut patient, &["CLIENT", "PAUSE", "2000"]).await;

    let error = failure(&mut connection, &["SET", "text", "1"]).await;
    assert_eq!(redis1::classify(&error), UNKNOWN.with_timeout(), "{error:?}");
    assert!(redis1::ClientError::from(error).is_outcome_unknown());
    let error = cmd("SET").arg("text").arg("2").query::<()>(&mut blocking).unwrap_err();
    assert_eq!(redis1::classify(&error), UNKNOWN.with_timeout(), "{error:?}");
}

// Rules H3, H24.
#[tokio::test]
async fn a_connection_that_broke_may_hide_an_executed_command() {
    let mut server = RedisServer::start(&[]);
    let mut connection = server.connect().await;
    let mut blocking = server.client().get_connection().unwrap();
    let mut other = server.connect().await;
    let waiting = tokio::spawn(async move {
        let error = failure(&mut connection, &["BLPOP", "queue", "0"]).await;
        (error, connection)
    });
    let blocked = std::thread::spawn(move || {
        let error = cmd("BLPOP").arg("queue").arg("0").query::<()>(&mut blocking).unwrap_err();
        (error, blocking)
    });
    let started = Instant::now();
    while !command::<String>(&mut other, &["INFO", "clients"]).await.unwrap().contains("blocked_clients:2") {
        assert!(started.elapsed() < PATIENCE, "the clients did not block");
    }
    server.kill();
    let ((error, mut connection), (blocking_error, mut blocking)) = (waiting.await.unwrap(), blocked.join().unwrap());
    assert_eq!(redis1::classify(&error), BROKEN, "{error:?}");
    assert_eq!(redis1::classify(&blocking_error), BROKEN, "{blocking_error:?}");
    assert!([error, blocking_error].map(redis1::ClientError::from).iter().all(redis1::ClientError::is_outcome_unknown));

    // These connections stay broken, after a restart too.
    server.restart(&[]);
    let error = failure(&mut connection, &["GET", "text"]).await;
    assert_eq!(redis1::classify(&error), BROKEN, "{error:?}");
    let error = cmd("GET").arg("text").query::<()>(&mut blocking).unwrap_err();
    assert_eq!(redis1::classify(&error), BROKEN, "{error:?}");
}

// Rule H3.
#[tokio::test]
async fn a_broken_answer_may_hide_an_executed_command_and_one_of_another_type_is_final() {
    for answer in ["$10\r\nabc", "$10", "*2\r\n+OK\r\n", "$2\r\nabc\r\n", "HTTP/1.1 400\r\n\r\n"] {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                // The first request sets the connection up, and the second one is a command.
                assert_ne!(stream.read(&mut [0; 1_000]).await.unwrap(), 0);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let error = match Client::open(format!("redis://{address}/")).unwrap().get_multiplexed_async_connection().await
        {
            Ok(mut connection) => failure(&mut connection, &["GET", "text"]).await,
            Err(error) => error,
        };
        assert_eq!(redis1::classify(&error), BROKEN, "{answer:?}: {error:?}");
        server.abort();
    }

    let server = RedisServer::start(&[]);
    let error = command::<Vec<Vec<u8>>>(&mut server.connect().await, &["INCR", "number"]).await.unwrap_err();
    assert_eq!((error.kind(), redis1::classify(&error)), (ErrorKind::Parse, FINAL), "the answer has another type");
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(address: SocketAddr) -> Result<MultiplexedConnection, redis1::ClientError> {
        Ok(Client::open(format!("redis://{address}/"))?.get_multiplexed_async_connection().await?)
    }

    assert_of_client(limited(refused_address()).await.unwrap_err(), UNSENT, redis1::link);
    let server = FullBacklog::start();
    assert_timed_out(limited(server.address()).await.unwrap_err(), redis1::link);
}
