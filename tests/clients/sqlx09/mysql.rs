//! How the errors of sqlx 0.9 are classified with `MariaDB` and `SQLite`.

use clients_tests::mysql::{
    CONFLICT, FAILING, NOTHING_DONE, RAISED, WAITED, WAITED_AND_ROLLED_BACK, WRONG, before_commit, control_restarted,
    port, raise, restarted,
};
use clients_tests::{BROKEN, Cut, FINAL, Proxy, UNKNOWN, UNSENT, refused_address};
use retry_clients::sqlx09::{self, TransactionError};
use retry_core::classify::Classification;
use retry_core::{StandardRetryStrategy, retryable};
use sqlx::mysql::{
    MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlPool, MySqlPoolOptions, MySqlSslMode,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Error, Executor};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

static BANK: StandardRetryStrategy = StandardRetryStrategy::new()
    .max_attempts(60)
    .backoff(Duration::from_millis(500), Duration::from_secs(1))
    .quota_capacity(2_000);

fn options(port: u16) -> MySqlConnectOptions {
    let options = MySqlConnectOptions::new().host("127.0.0.1").port(port).username("tester").database("tests");
    options.ssl_mode(MySqlSslMode::Disabled)
}

async fn connect() -> MySqlConnection {
    MySqlConnection::connect_with(&options(port())).await.unwrap()
}

fn pool(port: u16) -> MySqlPool {
    MySqlPoolOptions::new().max_connections(10).acquire_timeout(Duration::from_secs(5)).connect_lazy_with(options(port))
}

async fn run(connection: &mut MySqlConnection, statement: &str) {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await.unwrap();
}

async fn failure(connection: &mut MySqlConnection, statement: &str) -> Error {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await.expect_err(statement)
}

fn assert_number(error: &Error, number: u16, expected: Classification) {
    let found = error.as_database_error().map(|error| error.downcast_ref::<MySqlDatabaseError>().number());
    assert_eq!((found, sqlx09::classify(error)), (Some(number), expected), "{error:?}");
}

// Rule H7.
#[tokio::test]
async fn answers_of_a_mariadb_are_classified_by_their_numbers() {
    for (statements, number, expected) in FAILING {
        let mut connection = connect().await;
        let (last, before) = statements.split_last().unwrap();
        for statement in before {
            run(&mut connection, statement).await;
        }
        assert_number(&failure(&mut connection, last).await, number, expected);
    }
    let mut connection = connect().await;
    for (number, state, message, expected) in RAISED {
        assert_number(&failure(&mut connection, &raise(number, state, message)).await, number, expected);
    }
}

// Rules H7, H15.
#[tokio::test]
async fn transactions_of_a_mariadb_that_contend_conflict() {
    let (mut first, mut second) = (connect().await, connect().await);
    run(&mut first, "CREATE OR REPLACE TABLE contended (id int PRIMARY KEY, value int)").await;
    run(&mut first, "INSERT INTO contended VALUES (1, 0), (2, 0)").await;

    // Each waits for the lock of the other one.
    for (connection, id) in [(&mut first, 1), (&mut second, 2)] {
        run(connection, "BEGIN").await;
        run(connection, &format!("UPDATE contended SET value = 2 WHERE id = {id}")).await;
    }
    let (one, other) = tokio::join!(
        first.execute(sqlx::raw_sql("UPDATE contended SET value = 3 WHERE id = 2")),
        second.execute(sqlx::raw_sql("UPDATE contended SET value = 3 WHERE id = 1")),
    );
    let loser = match (one, other) {
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => error,
        both => panic!("one of the two loses: {both:?}"),
    };
    assert_number(&loser, 1213, CONFLICT);
    run(&mut first, "ROLLBACK").await;
    run(&mut second, "ROLLBACK").await;

    // A snapshot that another transaction overtook.
    run(&mut first, "SET innodb_snapshot_isolation = ON").await;
    run(&mut first, "START TRANSACTION WITH CONSISTENT SNAPSHOT").await;
    run(&mut second, "UPDATE contended SET value = 4").await;
    assert_number(&failure(&mut first, "UPDATE contended SET value = 5").await, 1020, CONFLICT);
    let is_open: u64 = sqlx::query_scalar("SELECT @@in_transaction").fetch_one(&mut first).await.unwrap();
    assert_eq!(is_open, 0, "the transaction was rolled back");

    // A lock wait rolls back the statement only.
    run(&mut second, "BEGIN").await;
    run(&mut second, "UPDATE contended SET value = 6 WHERE id = 1").await;
    run(&mut first, "SET innodb_lock_wait_timeout = 1").await;
    run(&mut first, "BEGIN").await;
    run(&mut first, "UPDATE contended SET value = 7 WHERE id = 2").await;
    assert_number(&failure(&mut first, "UPDATE contended SET value = 7 WHERE id = 1").await, 1205, WAITED);
    let value: i32 =
        sqlx::query_scalar("SELECT value FROM contended WHERE id = 2").fetch_one(&mut first).await.unwrap();
    assert_eq!(value, 7, "the transaction is still open");
    run(&mut first, "ROLLBACK").await;

    let waited: TransactionError = sqlx09::transaction(first.begin(), async |mut tx| {
        tx.execute("UPDATE contended SET value = 8 WHERE id = 1").await?;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(waited.classification(), WAITED_AND_ROLLED_BACK, "{waited:?}");
    let nowait = failure(&mut first, "SELECT * FROM contended WHERE id = 1 FOR UPDATE NOWAIT").await;
    assert_number(&nowait, 1205, WAITED);
    run(&mut second, "ROLLBACK").await;
}

// Rules H7, H15.
#[tokio::test]
async fn a_mariadb_that_ends_a_session_or_stops_may_have_committed_unless_the_phase_is_known() {
    let (mut victim, mut killer) = (connect().await, connect().await);
    let id: u64 = sqlx::query_scalar("SELECT connection_id()").fetch_one(&mut victim).await.unwrap();
    let kill = async {
        tokio::time::sleep(crate::SOON).await;
        run(&mut killer, &format!("KILL {id}")).await;
    };
    let (error, ()) = tokio::join!(failure(&mut victim, "SELECT sleep(60)"), kill);
    assert_eq!(sqlx09::classify(&error), BROKEN, "{error:?}");
    let error = failure(&mut victim, "SELECT 1").await;
    assert_eq!(sqlx09::classify(&error), BROKEN, "{error:?}");

    let mut idle = connect().await;
    let error: TransactionError = sqlx09::transaction(idle.begin(), async |mut tx| {
        tx.execute("SET idle_transaction_timeout = 1").await?;
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        tx.execute("SELECT 1").await?;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(error.classification(), before_commit(BROKEN), "{error:?}");
}

// Rules H7, H15.
#[tokio::test]
async fn transfers_survive_a_mariadb_that_is_stopped_and_killed() {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

    #[retryable(strategy = BANK, idempotent = false)]
    async fn pay(bank: &MySqlPool, id: i64) -> Result<(), TransactionError> {
        ATTEMPTS.fetch_add(1, Ordering::Relaxed);
        sqlx09::transaction(bank.begin(), async |mut tx| {
            sqlx::query("UPDATE account SET balance = balance - 1 WHERE id = ?").bind(id % 3).execute(&mut *tx).await?;
            sqlx::query("UPDATE account SET balance = balance + 1 WHERE id = ?")
                .bind((id + 1) % 3)
                .execute(&mut *tx)
                .await?;
            sqlx::query("INSERT INTO ledger VALUES (?)").bind(id).execute(&mut *tx).await?;
            Ok((tx, ()))
        })
        .await
    }

    let bank = pool(restarted());
    for statement in [
        "CREATE OR REPLACE TABLE account (id int PRIMARY KEY, balance int)",
        "CREATE OR REPLACE TABLE ledger (id bigint)",
        "INSERT INTO account VALUES (0, 0), (1, 0), (2, 0)",
    ] {
        bank.execute(statement).await.unwrap();
    }
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let bank = bank.clone();
            tokio::spawn(async move {
                let mut ends = Vec::new();
                for round in 0..40 {
                    let id = round * 8 + worker;
                    let unknown = match pay(&bank, id).await {
                        Ok(()) => false,
                        Err(error) => {
                            assert!(error.is_outcome_unknown(), "{error:?}");
                            true
                        }
                    };
                    ends.push((id, unknown));
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
                ends
            })
        })
        .collect();
    for word in ["stop", "start", "restart"] {
        tokio::time::sleep(crate::SOON).await;
        tokio::task::spawn_blocking(move || control_restarted(word)).await.unwrap();
    }
    let mut ends = Vec::new();
    for worker in workers {
        ends.extend(worker.await.unwrap());
    }
    let ledger: Vec<i64> = sqlx::query_scalar("SELECT id FROM ledger").fetch_all(&bank).await.unwrap();
    for (id, unknown) in &ends {
        let times = ledger.iter().filter(|it| *it == id).count();
        assert!(times == 1 || times == 0 && *unknown, "carried out {times} times: {id}, {unknown}");
    }
    let total: i64 =
        sqlx::query_scalar("SELECT CAST(sum(balance) AS int) FROM account").fetch_one(&bank).await.unwrap();
    assert_eq!(total, 0);
    assert!(ATTEMPTS.load(Ordering::Relaxed) > 320, "nothing was retried");

    // A server that is gone, and one that is read-only since.
    tokio::task::spawn_blocking(|| control_restarted("kill")).await.unwrap();
    let error = MySqlConnection::connect_with(&options(restarted())).await.map(drop).unwrap_err();
    assert_eq!(sqlx09::classify(&error), UNSENT, "{error:?}");
    tokio::task::spawn_blocking(|| control_restarted("start")).await.unwrap();
    read_only_and_crowded().await;
}

/// On the server that other tests do not use.
async fn read_only_and_crowded() {
    let mut admin = MySqlConnection::connect_with(&options(restarted())).await.unwrap();
    for statement in [
        "DROP USER IF EXISTS plain@'%', alone@'%'",
        "CREATE USER plain@'%'",
        "CREATE USER alone@'%' WITH MAX_USER_CONNECTIONS 1",
        "GRANT SELECT, INSERT ON tests.* TO plain@'%'",
        "CREATE OR REPLACE TABLE written (id int)",
    ] {
        run(&mut admin, statement).await;
    }
    let plain = options(restarted()).username("plain");
    let mut session = MySqlConnection::connect_with(&plain).await.unwrap();
    run(&mut admin, "SET GLOBAL read_only = ON").await;
    assert_number(&failure(&mut session, "INSERT INTO written VALUES (1)").await, 1290, NOTHING_DONE);
    run(&mut admin, "SET GLOBAL read_only = OFF").await;
    // It became read-only before COMMIT.
    let commit: TransactionError = sqlx09::transaction(session.begin(), async |mut tx| {
        tx.execute("INSERT INTO written VALUES (2)").await?;
        run(&mut admin, "SET GLOBAL read_only = ON").await;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(commit.classification(), NOTHING_DONE, "{commit:?}");
    run(&mut admin, "SET GLOBAL read_only = OFF").await;
    let written: i64 = sqlx::query_scalar("SELECT count(*) FROM written").fetch_one(&mut admin).await.unwrap();
    assert_eq!(written, 0);

    let alone = options(restarted()).username("alone").database("information_schema");
    let _only = MySqlConnection::connect_with(&alone).await.unwrap();
    let error = MySqlConnection::connect_with(&alone).await.map(drop).unwrap_err();
    assert_number(&error, 1226, NOTHING_DONE);
    // The same number for another option.
    assert_number(&failure(&mut admin, "SET GLOBAL max_user_connections = 1").await, 1290, WRONG);
    run(&mut admin, "SET GLOBAL max_connections = 10").await;
    let mut crowd = Vec::new();
    let error = loop {
        match MySqlConnection::connect_with(&options(restarted())).await {
            Ok(session) => crowd.push(session),
            Err(error) => break error,
        }
    };
    assert_number(&error, 1040, NOTHING_DONE);
    run(&mut admin, "SET GLOBAL max_connections = 200").await;

    // COMMIT waits for the backup's lock.
    let mut last = MySqlConnection::connect_with(&options(restarted())).await.unwrap();
    let commit: TransactionError = sqlx09::transaction(last.begin(), async |mut tx| {
        tx.execute("SET lock_wait_timeout = 1").await?;
        tx.execute("INSERT INTO written VALUES (3)").await?;
        run(&mut admin, "BACKUP STAGE START").await;
        run(&mut admin, "BACKUP STAGE BLOCK_COMMIT").await;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(commit.classification(), WAITED_AND_ROLLED_BACK, "{commit:?}");
    run(&mut admin, "BACKUP STAGE END").await;
    let written: i64 = sqlx::query_scalar("SELECT count(*) FROM written").fetch_one(&mut admin).await.unwrap();
    assert_eq!(written, 0);
}

// Rule H15.
#[tokio::test]
async fn an_error_of_a_body_for_mariadb_keeps_its_class_and_a_lost_answer_to_commit_is_unknown() {
    let bank = pool(port());
    for (number, state, message, expected) in RAISED {
        let error: TransactionError = sqlx09::transaction(bank.begin(), async |mut tx| {
            sqlx::raw_sql(AssertSqlSafe(raise(number, state, message))).execute(&mut *tx).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), before_commit(expected), "{number}: {error:?}");
    }

    let proxy = Proxy::start(port(), "COMMIT", Cut::Text, 1);
    let cut: TransactionError =
        sqlx09::transaction(pool(proxy.port).begin(), async |tx| Ok((tx, ()))).await.unwrap_err();
    assert_eq!(cut.classification(), UNKNOWN, "{cut:?}");
    assert!(cut.is_outcome_unknown());
}

// Rules H1, H3.
#[tokio::test]
async fn a_refused_connection_to_mysql_is_safe_and_bytes_of_another_protocol_are_the_servers_fault() {
    let refused = MySqlConnection::connect_with(&options(refused_address().port())).await.map(drop).unwrap_err();
    assert_eq!(sqlx09::classify(&refused), UNSENT, "{refused:?}");
    for answer in ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x05\0\0\0\x0b", "\x04\0\0\0\x0aabc", "\0\0\0\0"] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let error = MySqlConnection::connect_with(&options(port)).await.map(drop).unwrap_err();
        assert_eq!(sqlx09::classify(&error), BROKEN, "{answer:?}: {error:?}");
    }
    let wrong = MySqlConnection::connect_with(&options(port()).username("nobody")).await.map(drop).unwrap_err();
    assert_number(&wrong, 1045, WRONG);
    let mut connection = connect().await;
    let mismatch = sqlx::query_scalar::<_, i32>("SELECT 'text'").fetch_one(&mut connection).await.unwrap_err();
    assert_eq!(sqlx09::classify(&mismatch), FINAL, "{mismatch:?}");
}

// Rule H7.
#[tokio::test]
async fn a_sqlite_that_is_locked_is_a_conflict() {
    let files = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new().filename(files.path().join("data")).create_if_missing(true);
    let options = options.journal_mode(sqlx::sqlite::SqliteJournalMode::Wal).busy_timeout(Duration::ZERO);
    let mut first = SqliteConnection::connect_with(&options).await.unwrap();
    let mut second = SqliteConnection::connect_with(&options).await.unwrap();
    first.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY)").await.unwrap();
    let assert_code = |error: &Error, code: &str, expected: Classification| {
        let found = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        assert_eq!((found.as_deref(), sqlx09::classify(error)), (Some(code), expected), "{error:?}");
    };
    first.execute("BEGIN IMMEDIATE").await.unwrap();
    assert_code(&second.execute("INSERT INTO accounts VALUES (1)").await.unwrap_err(), "5", CONFLICT);
    first.execute("ROLLBACK").await.unwrap();

    // The snapshot of a reader is older than a write of another connection.
    second.execute("BEGIN").await.unwrap();
    sqlx::query("SELECT count(*) FROM accounts").fetch_one(&mut second).await.unwrap();
    first.execute("INSERT INTO accounts VALUES (2)").await.unwrap();
    assert_code(&second.execute("INSERT INTO accounts VALUES (3)").await.unwrap_err(), "517", CONFLICT);
    second.execute("ROLLBACK").await.unwrap();
    assert_code(&second.execute("INSERT INTO accounts VALUES (2)").await.unwrap_err(), "1555", FINAL);
}
