//! How the errors of `mysql_async` 0.37 are classified, with the servers that `.ci/servers` starts.

mod transactions;

use clients_tests::mysql::{CONFLICT, FAILING, LOST, NOTHING_DONE, RAISED, WAITED, WRONG, port, raise};
use clients_tests::{
    BROKEN, FINAL, FullBacklog, LIMIT, UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out, refused_address,
};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, Pool};
use retry_clients::mysql_async037;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, retryable};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// A time after which a session certainly waits.
const SOON: Duration = Duration::from_millis(300);

fn options(port: u16) -> OptsBuilder {
    let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(port).prefer_socket(false);
    options.user(Some("tester")).db_name(Some("tests"))
}

async fn connect() -> Conn {
    Conn::new(options(port())).await.unwrap()
}

async fn connect_failure(options: impl Into<Opts>) -> Error {
    Conn::new(options.into()).await.map(drop).unwrap_err()
}

async fn run(connection: &mut Conn, statement: &str) {
    connection.query_drop(statement).await.unwrap();
}

async fn failure(connection: &mut Conn, statement: &str) -> Error {
    connection.query_drop(statement).await.expect_err(statement)
}

fn assert_number(error: &Error, number: u16, expected: Classification) {
    let found = if let Error::Server(error) = error { Some(error.code) } else { None };
    assert_eq!((found, mysql_async037::classify(error)), (Some(number), expected), "{error:?}");
    // Also for the answer alone, which can be cloned.
    if let Error::Server(answer) = error {
        assert_eq!(mysql_async037::link(answer), Some(expected));
    }
}

// Rule H7.
#[tokio::test]
async fn answers_of_a_server_are_classified_by_their_numbers() {
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

// Rule H7.
#[tokio::test]
async fn transactions_that_contend_conflict() {
    let (mut first, mut second) = (connect().await, connect().await);
    run(&mut first, "CREATE OR REPLACE TABLE contended_async (id int PRIMARY KEY, value int)").await;
    run(&mut first, "INSERT INTO contended_async VALUES (1, 0), (2, 0)").await;
    for (connection, id) in [(&mut first, 1), (&mut second, 2)] {
        run(connection, "BEGIN").await;
        run(connection, &format!("UPDATE contended_async SET value = 2 WHERE id = {id}")).await;
    }
    let (one, other) = tokio::join!(
        first.query_drop("UPDATE contended_async SET value = 3 WHERE id = 2"),
        second.query_drop("UPDATE contended_async SET value = 3 WHERE id = 1"),
    );
    let loser = match (one, other) {
        (Err(error), Ok(())) | (Ok(()), Err(error)) => error,
        both => panic!("one of the two loses: {both:?}"),
    };
    assert_number(&loser, 1213, CONFLICT);
    run(&mut first, "ROLLBACK").await;
    run(&mut second, "ROLLBACK").await;

    run(&mut second, "BEGIN").await;
    run(&mut second, "UPDATE contended_async SET value = 6 WHERE id = 1").await;
    run(&mut first, "SET innodb_lock_wait_timeout = 1").await;
    assert_number(&failure(&mut first, "UPDATE contended_async SET value = 7 WHERE id = 1").await, 1205, WAITED);
    run(&mut second, "ROLLBACK").await;
}

// Rule H7.
#[tokio::test]
async fn a_killed_session_may_have_committed() {
    let (mut victim, mut killer) = (connect().await, connect().await);
    let id = victim.id();
    let kill = async {
        tokio::time::sleep(SOON).await;
        run(&mut killer, &format!("KILL {id}")).await;
    };
    let (error, ()) = tokio::join!(failure(&mut victim, "SELECT sleep(60)"), kill);
    assert_eq!(mysql_async037::classify(&error), LOST, "{error:?}");
    let error = failure(&mut victim, "SELECT 1").await;
    assert_eq!(mysql_async037::classify(&error), BROKEN, "{error:?}");
}

// Rules H1, H3.
#[tokio::test]
async fn a_refused_connection_and_an_unknown_host_are_safe_and_other_protocols_are_the_servers_fault() {
    let error = connect_failure(options(refused_address().port())).await;
    assert_eq!(mysql_async037::classify(&error), UNSENT, "{error:?}");
    let in_chain = anyhow::Error::from(error).context("while paying");
    assert_eq!(chain::first_known(&in_chain, mysql_async037::link), Some(UNSENT));
    let policy = ChainPolicy::new().also(mysql_async037::link);
    assert_eq!(policy.evaluate(&Err::<(), _>(in_chain)), RetryDirective::retry(RetryErrorType::Other));
    let error = connect_failure(options(port()).ip_or_hostname(UNKNOWN_HOST)).await;
    assert_eq!(mysql_async037::classify(&error), UNSENT, "{error:?}");

    for answer in ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x05\0\0\0\x0b", "\x02\0\0\0\x0a\0", "\x01\0\0\x07\x0a"] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let error = connect_failure(options(port)).await;
        assert_eq!(mysql_async037::classify(&error), BROKEN, "{answer:?}: {error:?}");
    }
    assert_number(&connect_failure(options(port()).user(Some("nobody"))).await, 1045, WRONG);
}

// Rule H7.
#[tokio::test]
async fn errors_of_the_program_are_final_and_a_crowd_is_not() {
    let mut connection = connect().await;
    let pool = Pool::new(options(port()));
    pool.clone().disconnect().await.unwrap();
    let errors = [
        connection.exec_drop("SELECT ?", (1, 2)).await.unwrap_err(),
        pool.get_conn().await.map(drop).unwrap_err(),
        Error::Url(Opts::from_url("mysql://localhost:none/").map(drop).unwrap_err()),
        Error::Other("own".into()),
    ];
    for error in errors {
        assert_eq!(mysql_async037::classify(&error), FINAL, "{error:?}");
    }
    assert_eq!(mysql_async037::classify(&Error::Driver(DriverError::PacketOutOfOrder)), BROKEN);
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    assert_eq!(mysql_async037::classify(&Error::Other(reset.into())), BROKEN);

    // It does not survive a wrong number of parameters.
    let mut connection = connect().await;
    run(&mut connection, "DROP USER IF EXISTS alone_async@'%'").await;
    run(&mut connection, "CREATE USER alone_async@'%' WITH MAX_USER_CONNECTIONS 1").await;
    let alone = options(port()).user(Some("alone_async")).db_name(None::<String>);
    let _only = Conn::new(alone.clone()).await.unwrap();
    assert_number(&connect_failure(alone).await, 1226, NOTHING_DONE);
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(port: u16) -> Result<Conn, mysql_async037::ClientError> {
        Ok(Conn::new(options(port)).await?)
    }

    assert_of_client(limited(refused_address().port()).await.unwrap_err(), UNSENT, mysql_async037::link);
    let server = FullBacklog::start();
    assert_timed_out(limited(server.address().port()).await.unwrap_err(), mysql_async037::link);
}
