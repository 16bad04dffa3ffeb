//! Transactions that know whether COMMIT had been sent, with a server that is stopped and a proxy that cuts connections.

use crate::{connect, try_connect};
use clients_tests::postgres::{
    ANSWERS_TO_COMMIT, COMMITTED, INSERTED, RAISED, REFUSED, before_commit, port, primary, raise, restarted,
};
use clients_tests::transfers::{LEDGER, Outcome, TABLES, TRANSFERS, Transfer, Worker, compare, runs, transfer_all};
use clients_tests::{BROKEN, Cut, FINAL, LIMIT, Proxy, UNKNOWN, UNSENT, refused_address};
use retry_clients::tokio_postgres07::{self, TransactionError, classify};
use retry_core::classify::{Classification, chain};
use retry_core::{RetryInfo, RetryQuota, StandardRetryStrategy, retry, retryable};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_postgres::{Client, Error, IsolationLevel, Transaction};

/// Many attempts for the conflicts, with short waits, and a quota that pays for 40 workers whose connections break immediately.
static BANK: StandardRetryStrategy = StandardRetryStrategy::new()
    .max_attempts(60)
    .backoff(Duration::from_secs(1), Duration::from_secs(1))
    .quota_capacity(1_000);

/// A connection that is replaced when it is closed.
pub(crate) struct Connection {
    address: String,
    client: Option<Client>,
}

impl Connection {
    pub(crate) fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), client: None }
    }

    pub(crate) async fn open(&mut self) -> Result<&mut Client, Error> {
        let open = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => try_connect(&self.address).await?,
        };
        Ok(self.client.insert(open))
    }
}

async fn move_money(tx: &Transaction<'_>, transfer: &Transfer) -> Result<(), Error> {
    let read = "SELECT balance FROM accounts WHERE id = $1";
    let rest: i64 = tx.query_one(read, &[&transfer.from]).await?.get(0);
    let other: i64 = tx.query_one(read, &[&transfer.to]).await?.get(0);
    let write = "UPDATE accounts SET balance = $1 WHERE id = $2";
    tx.execute(write, &[&(rest - 1), &transfer.from]).await?;
    tx.execute(write, &[&(other + 1), &transfer.to]).await?;
    tx.execute("INSERT INTO ledger VALUES ($1)", &[&transfer.id]).await?;
    transfer.commits();
    Ok(())
}

pub(crate) async fn attempt(connection: &mut Connection, transfer: &Transfer) -> Result<(), TransactionError> {
    transfer.begins();
    let client = connection.open().await.map_err(TransactionError::before_commit)?;
    let begin = client.build_transaction().isolation_level(IsolationLevel::Serializable);
    tokio_postgres07::transaction(begin.start(), async |tx| {
        move_money(&tx, transfer).await?;
        Ok((tx, ()))
    })
    .await
}

#[retryable(strategy = BANK, idempotent = false)]
pub(crate) async fn pay(connection: &mut Connection, transfer: &Transfer) -> Result<(), TransactionError> {
    attempt(connection, transfer).await
}

#[retryable(strategy = BANK)]
async fn pay_without_a_mark(connection: &mut Connection, transfer: &Transfer) -> Result<(), TransactionError> {
    attempt(connection, transfer).await
}

/// The error of a program, which has more than errors of the database.
#[derive(Debug, RetryInfo)]
enum PayError {
    #[retry(with = classify)]
    Database(Error),
    #[retry(safe = "maybe", fault = "server")]
    RatesAreMissing,
    #[retry(never)]
    Overdrawn,
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl std::error::Error for PayError {}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A transfer that can be repeated, because the database knows its number.
#[retryable(strategy = BANK, idempotent)]
async fn pay_once(connection: &mut Connection, transfer: &Transfer) -> Result<(), TransactionError<PayError>> {
    transfer.begins();
    let client = connection.open().await.map_err(TransactionError::before_commit)?;
    let begin = client.build_transaction().isolation_level(IsolationLevel::Serializable);
    tokio_postgres07::transaction(begin.start(), async |tx| {
        let note = "INSERT INTO once VALUES ($1) ON CONFLICT DO NOTHING";
        if tx.execute(note, &[&transfer.id]).await? == 1 {
            move_money(&tx, transfer).await?;
        }
        Ok((tx, ()))
    })
    .await
}

/// Makes tables that only one test uses, and returns a client that uses them.
async fn tables(schema: &str) -> Client {
    let client = connect().await;
    let create =
        format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path = {schema}; {TABLES}");
    client.batch_execute(&create).await.unwrap();
    client
}

fn through(proxy: &Proxy, schema: &str) -> Connection {
    let options = format!("options='-c search_path={schema}'");
    Connection::new(format!("host=127.0.0.1 port={} user=tester dbname=postgres {options}", proxy.port))
}

pub(crate) async fn ledger(client: &Client) -> Vec<i64> {
    client.query(LEDGER, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn at_restarted() -> Client {
    try_connect(&restarted()).await.unwrap()
}

// Rule H15.
#[tokio::test]
async fn transfers_survive_a_server_that_stops_without_a_shutdown() {
    for _ in 0..runs() {
        at_restarted().await.batch_execute(TABLES).await.unwrap();
        let transfers = transfer_all(|| -> Worker {
            let connection = Arc::new(Mutex::new(Connection::new(restarted())));
            Box::new(move |transfer| {
                let connection = Arc::clone(&connection);
                Box::pin(async move { Outcome::of(pay(&mut *connection.lock().await, &transfer).await) })
            })
        })
        .await;
        let tally = compare(&transfers, &ledger(&at_restarted().await).await);
        println!("not idempotent: {tally:?}, {} left in the quota", BANK.quota().available());
        assert_eq!(tally.failed, 0);

        at_restarted().await.batch_execute(TABLES).await.unwrap();
        let transfers = transfer_all(|| -> Worker {
            let connection = Arc::new(Mutex::new(Connection::new(restarted())));
            Box::new(move |transfer| {
                let connection = Arc::clone(&connection);
                Box::pin(async move { Outcome::of(pay_once(&mut *connection.lock().await, &transfer).await) })
            })
        })
        .await;
        let tally = compare(&transfers, &ledger(&at_restarted().await).await);
        println!("idempotent: {tally:?}, {} left in the quota", BANK.quota().available());
        assert_eq!(i64::try_from(tally.done), Ok(TRANSFERS), "{transfers:?}");
    }
}

// Rule H15.
#[tokio::test]
async fn a_connection_that_breaks_before_commit_has_done_nothing() {
    let bank = tables("before_commit_too").await;
    let mut done = Vec::new();
    for (id, cut, marked) in [(0, Cut::Text, true), (1, Cut::Text, false), (2, INSERTED, true), (3, INSERTED, false)] {
        let proxy = Proxy::start(port(&primary()), "INSERT INTO ledger", cut, 2);
        let (mut connection, transfer) = (through(&proxy, "before_commit_too"), Transfer::new(id));
        let outcome = if marked {
            pay(&mut connection, &transfer).await
        } else {
            pay_without_a_mark(&mut connection, &transfer).await
        };
        outcome.unwrap();
        assert_eq!((transfer.attempts(), proxy.texts()), (2, 2));
        done.push(id);
    }
    assert_eq!(ledger(&bank).await, done);
}

// Rule H15.
#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_retried_only_if_it_is_idempotent() {
    let bank = tables("lost_answer_too").await;
    for (cut, expected) in [(Cut::Text, vec![]), (COMMITTED, vec![0, 1, 2])] {
        let proxy = Proxy::start(port(&primary()), "COMMIT\0", cut, 1);
        let mut connection = through(&proxy, "lost_answer_too");
        let transfers = [Transfer::new(0), Transfer::new(1), Transfer::new(2)];
        let errors = [
            pay(&mut connection, &transfers[0]).await,
            pay_without_a_mark(&mut connection, &transfers[1]).await,
            retry(&BANK, || async { attempt(&mut through(&proxy, "lost_answer_too"), &transfers[2]).await })
                .run()
                .await,
        ];
        for (error, transfer) in errors.map(Result::unwrap_err).into_iter().zip(transfers) {
            assert!(error.is_outcome_unknown(), "{error:?}");
            assert_eq!((Classification::of(&error), transfer.attempts()), (UNKNOWN, 1), "{error:?}");
            assert_eq!(error.to_string(), "the transaction may have been committed");
        }
        assert_eq!(ledger(&bank).await, expected, "{cut:?}");
    }

    bank.batch_execute(TABLES).await.unwrap();
    let proxy = Proxy::start(port(&primary()), "COMMIT\0", COMMITTED, 2);
    let mut connection = through(&proxy, "lost_answer_too");
    for id in 0..10 {
        let transfer = Transfer::new(id);
        pay_once(&mut connection, &transfer).await.unwrap();
        assert_eq!(transfer.attempts(), 2);
    }
    assert_eq!((ledger(&bank).await, proxy.texts()), ((0..10).collect(), 20));
}

// Rule H15.
#[tokio::test]
async fn a_commit_on_a_connection_that_is_closed_was_not_sent() {
    let mut victim = connect().await;
    let error: TransactionError = tokio_postgres07::transaction(victim.transaction(), async |tx| {
        let pid: i32 = tx.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
        connect().await.execute("SELECT pg_terminate_backend($1)", &[&pid]).await?;
        while !tx.client().is_closed() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(error.classification(), before_commit(BROKEN), "{error:?}");
}

// Rule H16.
#[tokio::test]
async fn an_error_outside_of_transaction_does_not_count_as_before_commit() {
    #[retryable(strategy = BANK)]
    async fn commits_by_itself(connection: &mut Connection, transfer: &Transfer) -> Result<(), TransactionError> {
        transfer.begins();
        let tx = connection.open().await?.transaction().await?;
        move_money(&tx, transfer).await?;
        tx.commit().await?;
        Ok(())
    }

    let bank = tables("outside_too").await;
    let proxy = Proxy::start(port(&primary()), "COMMIT\0", COMMITTED, 1);
    let transfer = Transfer::new(7);
    let error = commits_by_itself(&mut through(&proxy, "outside_too"), &transfer).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!((transfer.attempts(), ledger(&bank).await), (1, vec![7]), "{error:?}");
}

// Rule H15.
#[tokio::test]
async fn the_answer_to_a_commit_is_judged_by_its_code() {
    let admin = tables("answers_too").await;
    admin.batch_execute(REFUSED).await.unwrap();
    for (code, expected) in ANSWERS_TO_COMMIT {
        let mut client = connect().await;
        client.batch_execute("SET search_path = answers_too").await.unwrap();
        let error: TransactionError = tokio_postgres07::transaction(client.transaction(), async |tx| {
            tx.execute("INSERT INTO refused VALUES ($1)", &[&code]).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), expected, "{code}: {error:?}");
        assert_eq!(tokio_postgres07::link(&error), Some(expected), "{code}");
        assert_eq!(chain::typed::<TransactionError>(&error), Some(expected), "{code}");
    }
}

// Rule H15.
#[tokio::test]
async fn an_error_of_the_body_keeps_its_class_and_what_may_have_happened_did_not() {
    let mut client = connect().await;
    for (code, expected) in RAISED {
        let error: TransactionError = tokio_postgres07::transaction(client.transaction(), async |tx| {
            tx.batch_execute(&raise(code)).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), before_commit(expected), "{code}: {error:?}");
        assert_eq!(error.to_string(), "the transaction was not committed");
        assert_eq!(format!("{error:#}"), format!("{error}: {:#}", error.error()));
    }

    for (own, expected) in [(PayError::Overdrawn, FINAL), (PayError::RatesAreMissing, before_commit(BROKEN))] {
        let outcome = tokio_postgres07::transaction(client.transaction(), async |tx| match own {
            PayError::Database(_) => Ok((tx, ())),
            own => Err(own),
        });
        let error = outcome.await.unwrap_err();
        assert_eq!(error.classification(), expected, "{error:?}");
        assert!(!error.is_outcome_unknown());
    }

    let mut nowhere = Connection::new(format!("host=127.0.0.1 port={} user=tester", refused_address().port()));
    let error = attempt(&mut nowhere, &Transfer::new(0)).await.unwrap_err();
    assert_eq!(error.classification(), UNSENT, "{error:?}");
}

// Rule H16.
#[tokio::test]
async fn a_time_limit_that_cut_the_attempt_leaves_the_outcome_unknown() {
    #[retryable(strategy = BANK, attempt_timeout = LIMIT)]
    async fn hangs(client: &mut Client, transfer: &Transfer) -> Result<(), TransactionError> {
        transfer.begins();
        tokio_postgres07::transaction(client.transaction(), async |tx| {
            tx.batch_execute("SELECT pg_sleep(60)").await?;
            Ok((tx, ()))
        })
        .await
    }

    let (mut client, transfer) = (connect().await, Transfer::new(0));
    let error = hangs(&mut client, &transfer).await.unwrap_err();
    assert!(error.is_outcome_unknown());
    assert_eq!((error.classification(), transfer.attempts()), (UNKNOWN, 1), "{error:?}");
    assert!(error.into_error().timed_out().is_some());
}
