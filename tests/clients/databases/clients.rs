//! One write with each client of a database, and what the database has of it.

use crate::manager::reconnecting;
use clients_tests::postgres::{port, primary};
use clients_tests::{Link, PATIENCE};
use futures_util::future::BoxFuture;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder, TxOpts};
use redis::AsyncConnectionConfig;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use retry_clients::{mysql_async037, redis1, sqlx09, tokio_postgres07};
use sqlx::Executor;
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(crate) type AnyError = Box<dyn Error + Send + Sync>;

/// Makes a write, and keeps the connection if it can.
pub(crate) type Writer = Box<dyn Fn() -> BoxFuture<'static, Result<(), AnyError>> + Send + Sync>;

/// A write, which is the same in each attempt.
#[derive(Clone)]
pub(crate) struct Write {
    /// The port of the proxy.
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
    /// The name of a counter of Redis, or of a row.
    pub(crate) name: String,
    pub(crate) timeout: Duration,
    /// The SQLSTATE that `PostgreSQL` refuses the statement with.
    pub(crate) state: &'static str,
    /// The SQLSTATE that it refuses the commit with.
    pub(crate) state_at_commit: &'static str,
}

/// A client, and how writes are made with a new one.
pub(crate) struct Tested {
    pub(crate) name: &'static str,
    pub(crate) link: Link,
    /// Whether an attempt waits for a connection until its time limit.
    pub(crate) waits_for_connection: bool,
    pub(crate) connect: fn(Write) -> Writer,
}

/// The client of Redis, with a connection that is kept until it breaks, and with a manager of connections.
pub(crate) const REDIS: [Tested; 2] = [
    Tested { name: "redis 1", link: redis1::link, waits_for_connection: false, connect: redis },
    Tested { name: "redis 1 with a manager", link: redis1::link, waits_for_connection: true, connect: redis_manager },
];

/// The clients of `PostgreSQL`, with single statements.
pub(crate) const STATEMENTS: [Tested; 2] = [
    Tested { name: "sqlx 0.9", link: sqlx09::link, waits_for_connection: false, connect: |write| sqlx(write, false) },
    Tested {
        name: "tokio-postgres 0.7",
        link: tokio_postgres07::link,
        waits_for_connection: false,
        connect: |write| tokio_postgres(write, false),
    },
];

/// The clients of `PostgreSQL`, with transactions.
pub(crate) const TRANSACTIONS: [Tested; 2] = [
    Tested { name: "sqlx 0.9", link: sqlx09::link, waits_for_connection: false, connect: |write| sqlx(write, true) },
    Tested {
        name: "tokio-postgres 0.7",
        link: tokio_postgres07::link,
        waits_for_connection: false,
        connect: |write| tokio_postgres(write, true),
    },
];

/// The clients of `MySQL`, with single statements.
pub(crate) const MYSQL_STATEMENTS: [Tested; 2] = [
    Tested {
        name: "mysql_async 0.37",
        link: mysql_async037::link,
        waits_for_connection: false,
        connect: |write| mysql_async(write, false),
    },
    Tested {
        name: "sqlx 0.9",
        link: sqlx09::link,
        waits_for_connection: false,
        connect: |write| sqlx_mysql(write, false),
    },
];

/// The clients of `MySQL`, with transactions.
pub(crate) const MYSQL_TRANSACTIONS: [Tested; 2] = [
    Tested {
        name: "mysql_async 0.37",
        link: mysql_async037::link,
        waits_for_connection: false,
        connect: |write| mysql_async(write, true),
    },
    Tested {
        name: "sqlx 0.9",
        link: sqlx09::link,
        waits_for_connection: false,
        connect: |write| sqlx_mysql(write, true),
    },
];

/// Makes what the writes need. The state `57P01` is that of a session that was ended.
pub(crate) const TABLES: &str = "
    CREATE TABLE written (name text, state_at_commit text);
    CREATE FUNCTION refuse_now(state text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
        IF state = '57P01' THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        ELSIF state <> '' THEN
            RAISE EXCEPTION 'on purpose' USING ERRCODE = state;
        END IF;
        RETURN true;
    END $$;
    CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM refuse_now(NEW.state_at_commit);
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON written DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION refuse_commit();
    CREATE ROLE limited LOGIN CONNECTION LIMIT 0";

/// The proxy finds a write by this text, which is in each name.
pub(crate) const NAME: &str = "faulty";

const STATEMENT: &str = "INSERT INTO written SELECT $1, $3 WHERE refuse_now($2)";

/// What a write adds to a counter of Redis. It has several digits, so that the length of an answer can be too short.
pub(crate) const STEP: u32 = 1_000;

fn redis(write: Write) -> Writer {
    let kept: Arc<Mutex<Option<MultiplexedConnection>>> = Arc::default();
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE));
    let config = config.set_response_timeout(Some(write.timeout));
    let client = redis_client(&write);
    Box::new(move || {
        let (kept, client, config) = (Arc::clone(&kept), client.clone(), config.clone());
        let name = write.name.clone();
        Box::pin(async move {
            let mut kept = kept.lock().await;
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => client.get_multiplexed_async_connection_with_config(&config).await?,
            };
            add(&mut connection, name).await?;
            *kept = Some(connection);
            Ok(())
        })
    })
}

fn redis_manager(write: Write) -> Writer {
    let config = reconnecting().set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(write.timeout));
    let connection = redis_client(&write).get_connection_manager_lazy(config).unwrap();
    Box::new(move || {
        let (mut connection, name) = (connection.clone(), write.name.clone());
        Box::pin(async move { add(&mut connection, name).await })
    })
}

fn redis_client(write: &Write) -> redis::Client {
    let scheme = if write.is_tls { "rediss" } else { "redis" };
    redis::Client::open(format!("{scheme}://localhost:{}/", write.port)).unwrap()
}

async fn add(connection: &mut impl ConnectionLike, name: String) -> Result<(), AnyError> {
    // Its answer is a text, which has a length.
    redis::cmd("INCRBYFLOAT").arg(name).arg(STEP).query_async::<String>(connection).await?;
    Ok(())
}

/// Returns the user who makes a write.
fn user(write: &Write) -> &'static str {
    // It may open no connection.
    if write.state == "53300" { "limited" } else { "tester" }
}

fn sqlx(write: Write, is_transaction: bool) -> Writer {
    let options = PgConnectOptions::new_without_pgpass().host("localhost").port(write.port).username(user(&write));
    let tls = if write.is_tls { PgSslMode::VerifyFull } else { PgSslMode::Disable };
    let options = options.database("postgres").ssl_mode(tls);
    // It connects again and again until this time.
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_secs(1)).connect_lazy_with(options);
    Box::new(move || {
        let (pool, write) = (pool.clone(), write.clone());
        Box::pin(async move {
            let statement = sqlx::query(STATEMENT).bind(write.name).bind(write.state).bind(write.state_at_commit);
            if is_transaction {
                let transaction = sqlx09::transaction(pool.begin(), async |mut tx| {
                    tx.execute(statement).await?;
                    Ok::<_, sqlx09::ClientError>((tx, ()))
                });
                tokio::time::timeout(write.timeout, transaction).await??;
            } else {
                tokio::time::timeout(write.timeout, pool.execute(statement)).await??;
            }
            Ok(())
        })
    })
}

fn tokio_postgres(write: Write, is_transaction: bool) -> Writer {
    let kept: Arc<Mutex<Option<Session>>> = Arc::default();
    let tls = if write.is_tls { "require" } else { "disable" };
    let address = format!(
        "host=localhost hostaddr=127.0.0.1 port={} user={} dbname=postgres sslmode={tls}",
        write.port,
        user(&write)
    );
    Box::new(move || {
        let (kept, address, write) = (Arc::clone(&kept), address.clone(), write.clone());
        Box::pin(async move {
            let mut kept = kept.lock().await;
            let mut session = match kept.take().filter(|session| !session.client.is_closed()) {
                Some(session) => session,
                None => Session::open(&address, trusting_nobody()).await.map_err(|error| -> AnyError {
                    let before = <tokio_postgres07::TransactionError>::before_commit;
                    if is_transaction { before(error).into() } else { error.into() }
                })?,
            };
            let client = &mut session.client;
            let values: [&(dyn ToSql + Sync); 3] = [&write.name, &write.state, &write.state_at_commit];
            if is_transaction {
                let transaction = tokio_postgres07::transaction(client.transaction(), async |tx| {
                    tx.execute(STATEMENT, &values).await?;
                    Ok::<_, tokio_postgres07::ClientError>((tx, ()))
                });
                tokio::time::timeout(write.timeout, transaction).await??;
            } else {
                tokio::time::timeout(write.timeout, client.execute(STATEMENT, &values)).await??;
            }
            *kept = Some(session);
            Ok(())
        })
    })
}

const MYSQL_STATEMENT: &str = "INSERT INTO written (name) VALUES (?)";

/// Returns the options of a connection to a port.
pub(crate) fn mysql_options(port: u16) -> OptsBuilder {
    let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(port).prefer_socket(false);
    options.user(Some("tester")).db_name(Some("tests"))
}

fn mysql_async(write: Write, is_transaction: bool) -> Writer {
    let kept: Arc<Mutex<Option<Conn>>> = Arc::default();
    Box::new(move || {
        let (kept, write) = (Arc::clone(&kept), write.clone());
        Box::pin(async move {
            let mut kept = kept.lock().await;
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => Conn::new(mysql_options(write.port)).await.map_err(|error| -> AnyError {
                    let before = <mysql_async037::TransactionError>::before_commit;
                    if is_transaction { before(error).into() } else { error.into() }
                })?,
            };
            let values = (write.name,);
            if is_transaction {
                let begin = connection.start_transaction(TxOpts::default());
                let transaction = mysql_async037::transaction(begin, async |mut tx| {
                    tx.exec_drop(MYSQL_STATEMENT, values).await?;
                    Ok::<_, mysql_async037::ClientError>((tx, ()))
                });
                tokio::time::timeout(write.timeout, transaction).await??;
            } else {
                tokio::time::timeout(write.timeout, connection.exec_drop(MYSQL_STATEMENT, values)).await??;
            }
            *kept = Some(connection);
            Ok(())
        })
    })
}

fn sqlx_mysql(write: Write, is_transaction: bool) -> Writer {
    let options = MySqlConnectOptions::new().host("127.0.0.1").port(write.port).username("tester").database("tests");
    // It connects again and again until this time.
    let pool = MySqlPoolOptions::new().acquire_timeout(Duration::from_secs(1));
    let pool = pool.connect_lazy_with(options.ssl_mode(MySqlSslMode::Disabled));
    Box::new(move || {
        let (pool, write) = (pool.clone(), write.clone());
        Box::pin(async move {
            let statement = sqlx::query(MYSQL_STATEMENT).bind(write.name);
            if is_transaction {
                let transaction = sqlx09::transaction(pool.begin(), async |mut tx| {
                    tx.execute(statement).await?;
                    Ok::<_, sqlx09::ClientError>((tx, ()))
                });
                tokio::time::timeout(write.timeout, transaction).await??;
            } else {
                tokio::time::timeout(write.timeout, pool.execute(statement)).await??;
            }
            Ok(())
        })
    })
}

/// Returns a connector of TLS that trusts no certificate.
fn trusting_nobody() -> MakeRustlsConnect {
    let config = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty());
    MakeRustlsConnect::new(config.with_no_client_auth())
}

/// A connection of tokio-postgres, which is closed when this is dropped, also if the server never answers.
pub(crate) struct Session {
    pub(crate) client: tokio_postgres::Client,
    _task: JoinSet<()>,
}

impl Session {
    async fn open<T>(address: &str, tls: T) -> Result<Self, tokio_postgres::Error>
    where
        T: MakeTlsConnect<Socket, Stream: Send + 'static>,
    {
        let (client, connection) = tokio_postgres::connect(address, tls).await?;
        let mut task = JoinSet::new();
        // The errors of requests tell why a connection broke.
        task.spawn(async { _ = connection.await });
        Ok(Self { client, _task: task })
    }
}

/// Connects to `PostgreSQL` itself.
pub(crate) async fn postgres() -> Session {
    Session::open(&primary(), NoTls).await.unwrap()
}

/// Returns the port of `PostgreSQL`.
pub(crate) fn postgres_port() -> u16 {
    port(&primary())
}
