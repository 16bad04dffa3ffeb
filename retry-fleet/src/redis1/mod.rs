//! The store in Redis or Valkey, by redis 1.
//!
//! ```
//! use retry_fleet::redis1::RedisStore;
//!
//! // It connects with the first call.
//! let store = RedisStore::open("redis://127.0.0.1")?;
//! # Ok::<(), retry_fleet::StoreError>(())
//! ```

mod connection;
mod operate;
mod source;
mod wire;

use crate::protocol::{Call, Reply};
use crate::store::{Store, StoreError};
use connection::{Link, has_code, with_timeout};
pub use operate::{FleetState, LimitState};
use redis::{Client, ErrorKind, RedisError, Script, ServerErrorKind, Value};
use source::Source;
use std::fmt::{self, Debug, Formatter};
use std::time::Duration;
use wire::Keys;

/// One call of a process, as one atomic step.
const SCRIPT: &str = include_str!("script.lua");

/// Is added to the error of a URL with TLS, because redis-rs reports a missing feature like other mistakes.
const TLS: &str = "TLS needs a feature of the crate redis, such as `tokio-rustls-comp`";

/// The state of fleets in Redis 6.2 or later, or in Valkey.
///
/// The state of a fleet is the hash `retry-fleet:1:{NAME}`, and its switch is the key `retry-fleet:{NAME}:switch`. The README of
/// this crate describes their fields and lifetimes. A call is one run of a script (`EVALSHA`), so the user of the store needs
/// the permission for `EVALSHA` and `EVAL` and for the commands of the script on these keys.
///
/// # Connections
///
/// A store has one connection, which is made with the first call and is replaced by a new one
///
/// - after an I/O error,
/// - after two calls in a row that were not answered,
/// - if the node does not accept writes any more, for example because it became a replica.
///
/// Between the attempts to connect, there are pauses of random length, at first up to 0.5 s and never above 5 s. During a
/// pause, a call fails immediately. TCP keepalive is set unless the client sets it, and so is the user timeout of Linux.
///
/// # Servers, sentinels, clusters, TLS
///
/// [`open`](RedisStore::open) takes the URL of a server, with user, password and database. Further settings are those of a
/// [`redis::Client`], for example with your certificate authority for TLS:
///
/// ```no_run
/// use redis::{Client, TlsCertificates};
/// use retry_fleet::redis1::RedisStore;
///
/// # fn open() -> Result<RedisStore, Box<dyn std::error::Error>> {
/// let root_cert = Some(std::fs::read("authority.pem")?);
/// let certificates = TlsCertificates { client_tls: None, root_cert };
/// let client = Client::build_with_tls("rediss://10.0.0.1:6380", certificates)?;
/// # Ok(RedisStore::from(client)) }
/// ```
///
/// TLS is switched on by a URL with `rediss://` and by features in your own `Cargo.toml`, since a program has one crypto
/// provider of rustls, which it chooses itself:
///
/// ```toml
/// redis = { version = "1", default-features = false, features = ["tokio-rustls-comp"] }
/// rustls = { version = "0.23", default-features = false, features = ["ring", "tls12"] }
/// ```
#[cfg_attr(
    feature = "redis1-sentinel",
    doc = r#"
Behind sentinels (feature `redis1-sentinel`), each new connection goes to the master of that time:

```no_run
use redis::sentinel::{SentinelClient, SentinelServerType};
use retry_fleet::redis1::RedisStore;

let sentinels = vec!["redis://10.0.0.1:26379", "redis://10.0.0.2:26379", "redis://10.0.0.3:26379"];
let client = SentinelClient::build(sentinels, "mymaster".to_owned(), None, SentinelServerType::Master)?;
let store = RedisStore::from(client);
# Ok::<(), redis::RedisError>(())
```

TLS, the user and the certificates are set for the sentinels and for the servers, each for themselves:

```no_run
use redis::sentinel::{SentinelClientBuilder, SentinelServerType::Master};
use redis::{IntoConnectionInfo, TlsCertificates, TlsMode};
use retry_fleet::redis1::RedisStore;

# fn open() -> Result<RedisStore, Box<dyn std::error::Error>> {
let root_cert = Some(std::fs::read("authority.pem")?);
let certificates = TlsCertificates { client_tls: None, root_cert };
let mut sentinels = Vec::new();
for url in ["rediss://10.0.0.1:26379", "rediss://10.0.0.2:26379", "rediss://10.0.0.3:26379"] {
    sentinels.push(url.into_connection_info()?.addr().clone());
}
let client = SentinelClientBuilder::new(sentinels, "mymaster", Master)?
    .set_client_to_sentinel_certificates(certificates.clone())
    // Without it, the connections to the servers are not encrypted.
    .set_client_to_redis_tls_mode(TlsMode::Secure)
    .set_client_to_redis_certificates(certificates)
    .set_client_to_redis_username("fleet")
    .set_client_to_redis_password(std::env::var("REDIS_PASSWORD")?)
    .build()?;
# Ok(RedisStore::from(client)) }
```
"#
)]
#[cfg_attr(
    feature = "redis1-cluster",
    doc = r#"
In a cluster (feature `redis1-cluster`), the keys of a fleet are in one slot. The store sets the timeouts and the TCP settings of
the builder:

```no_run
use redis::cluster::ClusterClient;
use retry_fleet::redis1::RedisStore;

let store = RedisStore::try_from(ClusterClient::builder(["redis://10.0.0.1:6379", "redis://10.0.0.2:6379"]))?;
# Ok::<(), retry_fleet::StoreError>(())
```

With TLS, the nodes announce their TLS ports (`tls-cluster yes`). The certificates apply to all nodes:

```no_run
use redis::TlsCertificates;
use redis::cluster::ClusterClient;
use retry_fleet::redis1::RedisStore;

# fn open() -> Result<RedisStore, Box<dyn std::error::Error>> {
let root_cert = Some(std::fs::read("authority.pem")?);
let certificates = TlsCertificates { client_tls: None, root_cert };
let nodes = ["rediss://10.0.0.1:6379", "rediss://10.0.0.2:6379"];
let store = RedisStore::try_from(ClusterClient::builder(nodes).certs(certificates))?;
# Ok(store) }
```
"#
)]
pub struct RedisStore {
    link: Link,
    script: Script,
}

impl RedisStore {
    /// Creates the store at this URL, as [`redis::Client::open`] reads it. It connects with the first call.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid. The message does not contain the URL.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        Client::open(url).map(Self::from).map_err(|error| {
            let error = invalid("URL", &error);
            let has_tls = ["rediss:", "valkeys:"].iter().any(|scheme| url.starts_with(scheme));
            if has_tls { StoreError::new(format!("{error}; {TLS}")) } else { error }
        })
    }

    /// Sets the time limit of an attempt to connect, and of each answer. The default is 2 s.
    ///
    /// It is for operators of a store that is slow. A process of a fleet gives up a call after a second. The
    /// [source](std::error::Error::source) of the error is then a [`RedisError`] whose `is_timeout` is true.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.link.set_timeout(time);
        self
    }

    fn new(source: Source) -> Self {
        Self { link: Link::new(source), script: Script::new(SCRIPT) }
    }

    /// Runs the script. A server that does not know it yet, because it was restarted, gets its text.
    async fn run(&mut self, keys: &Keys, call: &Call) -> Result<Value, StoreError> {
        let mut connection = self.link.connection().await?;
        let mut outcome = connection.send(&wire::command("EVALSHA", self.script.get_hash(), keys, call)).await;
        if matches!(&outcome, Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)) {
            outcome = connection.send(&wire::command("EVAL", SCRIPT, keys, call)).await;
        }
        self.link.answered(&outcome);
        outcome.map_err(|error| self.refused(keys, error))
    }

    fn refused(&self, keys: &Keys, error: RedisError) -> StoreError {
        let source = self.link.source();
        let refused = StoreError::new(if has_code(&error, "WRONGTYPE") {
            format!(
                "the key {:?} in {source} holds another type: expected a hash; delete the key, or rename the fleet",
                keys.hash
            )
        } else {
            format!("the call to {source} for the key {:?} failed: {error}", keys.hash)
        });
        with_timeout(refused, error)
    }
}

impl Store for RedisStore {
    async fn call(&mut self, fleet: &str, call: &Call) -> Result<Reply, StoreError> {
        let keys = Keys::new(fleet);
        let value = self.run(&keys, call).await?;
        wire::reply(call, &keys.hash, &value)
    }
}

impl From<Client> for RedisStore {
    fn from(client: Client) -> Self {
        Self::new(Source::Server(client))
    }
}

#[cfg(feature = "redis1-sentinel")]
impl From<redis::sentinel::SentinelClient> for RedisStore {
    fn from(client: redis::sentinel::SentinelClient) -> Self {
        Self::new(Source::Sentinel(client.into()))
    }
}

#[cfg(feature = "redis1-cluster")]
impl TryFrom<redis::cluster::ClusterClientBuilder> for RedisStore {
    type Error = StoreError;

    fn try_from(builder: redis::cluster::ClusterClientBuilder) -> Result<Self, StoreError> {
        Source::cluster(builder).map(Self::new).map_err(|error| invalid("cluster", &error))
    }
}

/// The message has no detail of the error, which could be a part of the URL.
fn invalid(what: &str, error: &RedisError) -> StoreError {
    StoreError::new(format!("invalid {what} of the store: {}", error.category()))
}

impl Debug for RedisStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_connected = self.link.is_connected();
        f.debug_struct("RedisStore")
            .field("store", self.link.source())
            .field("is_connected", &is_connected)
            .finish_non_exhaustive()
    }
}
