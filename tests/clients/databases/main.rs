//! Each client of a database against a proxy and servers that misbehave in each way. The tables in retry-clients/FAULTS.md have the
//! results, and are renewed with `UPDATE_EXPECT=1`. Run them by `.ci/servers`.

mod clients;
#[path = "../redis1/manager.rs"]
mod manager;
#[path = "../redis1/server.rs"]
#[allow(dead_code, reason = "the tests of redis use more of it")]
mod server;

use clients::{
    AnyError, MYSQL_STATEMENTS, MYSQL_TRANSACTIONS, NAME, REDIS, STATEMENTS, STEP, TABLES, TRANSACTIONS, Tested, Write,
    mysql_options, postgres, postgres_port,
};
use clients_tests::{
    DatabaseFault, Fault, FaultyProxy, Link, PATIENCE, Protocol, assert_table, classification, grouped, mysql,
};
use futures_util::future::{BoxFuture, join_all};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, StandardRetryStrategy, retry};
use server::RedisServer;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// The timeout of a request that only a timeout ends.
const SHORT: Duration = Duration::from_secs(1);

/// One row of a table, for all clients.
#[derive(Clone)]
struct Case {
    text: String,
    fault: DatabaseFault,
    /// The text in the requests that the proxy misbehaves at.
    request: &'static str,
    /// The SQLSTATE that `PostgreSQL` refuses the statement with.
    state: &'static str,
    /// The SQLSTATE that it refuses the commit with.
    state_at_commit: &'static str,
}

impl Case {
    /// A proxy that misbehaves at each write.
    fn at_write(fault: DatabaseFault) -> Self {
        let text = fault.text();
        Self { text, fault, request: NAME, state: "", state_at_commit: "" }
    }

    fn at_commit(fault: DatabaseFault) -> Self {
        Self { text: format!("COMMIT: {}", fault.text()), request: "COMMIT", ..Self::at_write(fault) }
    }

    /// A server that refuses the statement with this SQLSTATE.
    fn refused(state: &'static str) -> Self {
        let why = match state {
            "23505" => "the row is there already",
            "40001" => "a lost race",
            "53300" => "too many connections",
            "57P01" => "the session is ended",
            _ => panic!("{state}"),
        };
        Self { text: format!("answer {state}, {why}"), state, ..Self::at_write(DatabaseFault::None) }
    }

    fn refused_at_commit(state: &'static str) -> Self {
        let refused = Self::refused(state);
        Self { text: format!("COMMIT: {}", refused.text), state: "", state_at_commit: state, ..refused }
    }
}

/// A database with what writes have carried out.
struct Database {
    protocol: Protocol,
    port: u16,
    /// Returns how often the write of this name was carried out.
    carried_out: Box<dyn Fn(String) -> BoxFuture<'static, u32>>,
}

/// What came of a retried write.
struct Seen {
    /// The error of the first attempt, unless it succeeded or was cut by the time limit.
    first: Option<Classification>,
    attempts: u32,
    carried_out: u32,
    is_success: bool,
}

impl Seen {
    fn cell(&self) -> String {
        let end = if self.is_success { ", success" } else { "" };
        format!("{} / {}{end}", self.attempts, self.carried_out)
    }
}

/// Makes a retried write through a proxy with this fault.
async fn seen(client: &Tested, database: &Database, case: &Case, idempotent: bool) -> Seen {
    static NUMBER: AtomicU32 = AtomicU32::new(0);

    let proxy = FaultyProxy::start(database.port, database.protocol, case.fault, case.request).await;
    let timeout = if case.fault.is_endless() { SHORT } else { PATIENCE };
    let name = format!("{NAME} {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let (state, state_at_commit) = (case.state, case.state_at_commit);
    let is_tls = matches!(case.fault, DatabaseFault::Tls(_));
    let write =
        (client.connect)(Write { port: proxy.port, is_tls, name: name.clone(), timeout, state, state_at_commit });
    let mut earlier = 0;
    if case.fault.is_of_reused() {
        write().await.unwrap();
        // The client notices that the connection was closed.
        tokio::time::sleep(Duration::from_millis(300)).await;
        earlier = 1;
    }
    let strategy = StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));
    let (link, first) = (client.link, OnceLock::new());
    let attempt = async || write().await.inspect_err(|error| _ = first.get_or_init(|| known(error, link)));
    let policy = ChainPolicy::new().also(link).idempotent(idempotent);
    let waits = client.waits_for_connection && case.fault.is_while_connecting();
    let max_time = if waits { SHORT } else { PATIENCE };
    let report = retry(&strategy, attempt).policy(policy).max_time(max_time).report().await;
    let carried_out = (database.carried_out)(name).await - earlier;
    Seen { first: first.get().copied(), attempts: report.attempts, carried_out, is_success: report.outcome.is_ok() }
}

/// Returns the classification of an error, each of which must have one.
fn known(error: &AnyError, link: Link) -> Classification {
    let known = chain::first_known(error, |it| link(it).or_else(|| chain::link(it)));
    known.unwrap_or_else(|| panic!("nothing classifies {error:?}"))
}

/// Returns the rows of a table.
async fn rows(clients: &'static [Tested], database: &Database, cases: &[Case]) -> Vec<String> {
    // The servers have a limit of connections, and short timeouts need a machine that is not too busy.
    let at_once = Semaphore::new(16);
    let cells = async |case: &Case| {
        let of_client = clients.iter().map(async |client| {
            let seen = async |idempotent| {
                let _permit = at_once.acquire().await.unwrap();
                seen(client, database, case, idempotent).await
            };
            let (twice, once) = tokio::join!(seen(true), seen(false));
            let times = once.carried_out;
            assert!(times <= 1, "{}: a write was carried out {times} times: {}", client.name, case.text);
            assert!(!once.is_success || times == 1, "{}: a write was lost: {}", client.name, case.text);
            assert_eq!(twice.first, once.first, "{}: {}", client.name, case.text);
            let without = if once.is_success { "none" } else { "time limit" };
            let first = once.first.map_or(without.to_owned(), classification);
            (client.name, format!("{first} | {} | {}", twice.cell(), once.cell()))
        });
        grouped(&case.text, join_all(of_client).await)
    };
    join_all(cases.iter().map(cells)).await.concat()
}

/// Connects to `PostgreSQL`, in which the tables are made once.
async fn postgres_with_tables() -> Database {
    static MADE: OnceCell<()> = OnceCell::const_new();
    let session = Arc::new(postgres().await);
    MADE.get_or_init(async || session.client.batch_execute(TABLES).await.unwrap()).await;
    let carried_out = move |name: String| -> BoxFuture<'static, u32> {
        let session = Arc::clone(&session);
        Box::pin(async move {
            let count = "SELECT count(*) FROM written WHERE name = $1";
            let rows: i64 = session.client.query_one(count, &[&name]).await.unwrap().get(0);
            rows.try_into().unwrap()
        })
    };
    Database { protocol: Protocol::Postgres, port: postgres_port(), carried_out: Box::new(carried_out) }
}

/// Connects to `MariaDB`, in which the table is made once.
async fn mysql_with_table() -> Database {
    static MADE: OnceCell<()> = OnceCell::const_new();
    let make = async || {
        let mut connection = Conn::new(mysql_options(mysql::port())).await.unwrap();
        connection.query_drop("DROP TABLE IF EXISTS written").await.unwrap();
        connection.query_drop("CREATE TABLE written (name VARCHAR(40)) ENGINE = InnoDB").await.unwrap();
        connection.disconnect().await.unwrap();
    };
    MADE.get_or_init(make).await;
    let carried_out = |name: String| -> BoxFuture<'static, u32> {
        Box::pin(async move {
            let mut connection = Conn::new(mysql_options(mysql::port())).await.unwrap();
            let count = "SELECT count(*) FROM written WHERE name = ?";
            let rows: Option<u32> = connection.exec_first(count, (name,)).await.unwrap();
            connection.disconnect().await.unwrap();
            rows.unwrap()
        })
    };
    Database { protocol: Protocol::MySql, port: mysql::port(), carried_out: Box::new(carried_out) }
}

/// Lets a connection be reused after the first COMMIT.
fn of_transactions(case: Case) -> Case {
    match case.fault {
        DatabaseFault::ReusedClosedBefore => Case { request: "COMMIT", ..case },
        _ => case,
    }
}

/// Returns the faults at COMMIT.
fn at_commit() -> impl Iterator<Item = Case> {
    FAULTS.into_iter().filter(|it| !it.is_of_reused() && !it.is_while_connecting()).map(Case::at_commit)
}

/// The faults of TLS.
const TLS: [DatabaseFault; 3] =
    [DatabaseFault::Tls(Fault::TlsUntrusted), DatabaseFault::Tls(Fault::TlsMissing), DatabaseFault::Tls(Fault::TlsCut)];

/// The faults at a request to Redis, and at a single statement of `PostgreSQL`.
const FAULTS: [DatabaseFault; 14] = [
    DatabaseFault::Refused,
    DatabaseFault::ClosedAtStart,
    DatabaseFault::ResetUnread,
    DatabaseFault::ResetRead,
    DatabaseFault::Closed,
    DatabaseFault::CutInAnswer,
    DatabaseFault::Stall,
    DatabaseFault::StallInAnswer,
    DatabaseFault::TooShort,
    DatabaseFault::TooLong,
    DatabaseFault::Garbage,
    DatabaseFault::ReusedClosedBefore,
    DatabaseFault::ReusedReset,
    DatabaseFault::ReusedClosed,
];

fn install_tls() {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
}

// Rules H1, H3, H8, P2.
#[tokio::test]
async fn a_write_is_carried_out_once_whatever_a_redis_does() {
    install_tls();
    let redis = RedisServer::start(&[]);
    let client = redis.client();
    let carried_out = move |name: String| -> BoxFuture<'static, u32> {
        let client = client.clone();
        Box::pin(async move {
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            let value: Option<u32> = redis::cmd("GET").arg(name).query_async(&mut connection).await.unwrap();
            value.unwrap_or_default() / STEP
        })
    };
    let database = Database { protocol: Protocol::Redis, port: redis.port, carried_out: Box::new(carried_out) };
    let answers = ["LOADING", "READONLY", "BUSY", "OOM", "MOVED", "WRONGTYPE"].map(DatabaseFault::Answer);
    let answers = answers.map(Case::at_write).map(|case| Case { text: format!("answer {}", case.text), ..case });
    let cases: Vec<_> = FAULTS.into_iter().chain(TLS).map(Case::at_write).chain(answers).collect();
    assert_table("## Redis", &rows(&REDIS, &database, &cases).await);
}

// Rules H1, H3, H7, P2.
#[tokio::test]
async fn a_statement_is_carried_out_once_whatever_a_postgresql_does() {
    install_tls();
    let database = postgres_with_tables().await;
    let refused = ["53300", "57P01", "40001", "23505"].map(Case::refused);
    let cases: Vec<_> = FAULTS.into_iter().chain(TLS).map(Case::at_write).chain(refused).collect();
    assert_table("## PostgreSQL: one statement", &rows(&STATEMENTS, &database, &cases).await);
}

// Rules H1, H7, H15, H16, P2.
#[tokio::test]
async fn a_transaction_is_committed_once_whatever_a_postgresql_does() {
    install_tls();
    let database = postgres_with_tables().await;
    let refused = ["53300", "57P01", "40001", "23505"].map(Case::refused);
    let refused_at_commit = ["57P01", "40001", "23505"].map(Case::refused_at_commit);
    let before = FAULTS.into_iter().chain(TLS).map(Case::at_write).map(of_transactions).chain(refused);
    let cases: Vec<_> = before.chain(at_commit()).chain(refused_at_commit).collect();
    assert_table("## PostgreSQL: a transaction", &rows(&TRANSACTIONS, &database, &cases).await);
}

// Rules H1, H3, H7, P2.
#[tokio::test]
async fn a_statement_is_carried_out_once_whatever_a_mysql_does() {
    let database = mysql_with_table().await;
    let cases: Vec<_> = FAULTS.into_iter().map(Case::at_write).collect();
    assert_table("## MySQL: one statement", &rows(&MYSQL_STATEMENTS, &database, &cases).await);
}

// Rules H1, H7, H15, H16, P2.
#[tokio::test]
async fn a_transaction_is_committed_once_whatever_a_mysql_does() {
    let database = mysql_with_table().await;
    let before = FAULTS.into_iter().map(Case::at_write).map(of_transactions);
    let cases: Vec<_> = before.chain(at_commit()).collect();
    assert_table("## MySQL: a transaction", &rows(&MYSQL_TRANSACTIONS, &database, &cases).await);
}
