//! Where connections come from: one server, or the servers behind sentinels or in a cluster.

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, Value};
use std::fmt::{self, Debug, Display, Formatter};
use std::time::Duration;

/// TCP keepalive: the idle time before the first probe, and the time between probes.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));
/// TCP user timeout: the time after which the operating system closes a connection whose peer acknowledges nothing.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const USER_TIMEOUT: Duration = Duration::from_secs(10);

/// Where connections come from.
#[allow(
    clippy::large_enum_variant,
    reason = "a store has one; which variant is large depends on the features of redis"
)]
pub(super) enum Source {
    Server(Client),
    #[cfg(feature = "redis1-sentinel")]
    Sentinel(tokio::sync::Mutex<redis::sentinel::SentinelClient>),
    #[cfg(feature = "redis1-cluster")]
    Cluster(redis::cluster::ClusterClient),
}

/// A connection. Clones share the same connection.
#[derive(Clone)]
pub(super) enum Connection {
    Server(MultiplexedConnection),
    #[cfg(feature = "redis1-cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

impl Source {
    /// Sets the TCP settings of the connections to a cluster.
    #[cfg(feature = "redis1-cluster")]
    pub(super) fn cluster(builder: redis::cluster::ClusterClientBuilder) -> RedisResult<Self> {
        builder.tcp_settings(tcp_settings(TcpSettings::default())).build().map(Self::Cluster)
    }

    /// Connects. The time limit is one of the attempt, with all handshakes, and one of each answer.
    pub(super) async fn connect(&self, timeout: Duration) -> RedisResult<Connection> {
        match self {
            Self::Server(client) => connect(client, timeout).await,
            #[cfg(feature = "redis1-sentinel")]
            Self::Sentinel(sentinel) => {
                let client = sentinel.lock().await.async_get_client().await?;
                connect(&client, timeout).await
            }
            #[cfg(feature = "redis1-cluster")]
            Self::Cluster(client) => {
                let config =
                    redis::cluster::ClusterConfig::new().set_connection_timeout(timeout).set_response_timeout(timeout);
                client.get_async_connection_with_config(config).await.map(Connection::Cluster)
            }
        }
    }
}

async fn connect(client: &Client, timeout: Duration) -> RedisResult<Connection> {
    let server = client.get_connection_info().clone();
    let settings = server.tcp_settings().clone();
    let client = Client::open(server.set_tcp_settings(tcp_settings(settings)))?;
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(timeout)).set_response_timeout(Some(timeout));
    client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::Server)
}

/// Sets TCP keepalive and the TCP user timeout, unless the client has set them, so that the operating system notices a dead peer.
fn tcp_settings(settings: TcpSettings) -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE.0).with_interval(KEEPALIVE.1);
    let keepalive = settings.keepalive().cloned().unwrap_or(keepalive);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let settings = {
        let user_timeout = settings.user_timeout().unwrap_or(USER_TIMEOUT);
        settings.set_user_timeout(user_timeout)
    };
    settings.set_keepalive(keepalive).set_nodelay(true)
}

impl Connection {
    pub(super) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Server(connection) => connection.req_packed_command(command).await?.extract_error(),
            #[cfg(feature = "redis1-cluster")]
            Self::Cluster(connection) => connection.req_packed_command(command).await?.extract_error(),
        }
    }
}

/// Names the store without credentials.
impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(client) => write!(f, "the store at {}", client.get_connection_info().addr()),
            #[cfg(feature = "redis1-sentinel")]
            Self::Sentinel(_) => f.write_str("the store behind the sentinels"),
            #[cfg(feature = "redis1-cluster")]
            Self::Cluster(_) => f.write_str("the store in the cluster"),
        }
    }
}

impl Debug for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Debug for Connection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
