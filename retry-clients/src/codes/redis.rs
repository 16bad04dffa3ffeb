//! The error codes of Redis and Valkey.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};

/// Classifies an error of Redis or Valkey by its code, which is the first word of the message. Returns `None` if the
/// code is not in the table.
///
/// The authorities are the [protocol](https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors), the
/// [cluster specification](https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/) and the server's
/// source, where each of these errors is returned before a command is executed:
///
/// | code | safe | fault | why |
/// |---|---|---|---|
/// | `LOADING` | yes | server | the server reads its data set from disk after a start |
/// | `MASTERDOWN` | yes | server | a replica lost its master and must not answer with stale data |
/// | `CLUSTERDOWN`, `TRYAGAIN` | yes | server | the cluster lacks a node, or is moving the slot |
/// | `READONLY` | yes | server | the node is a replica, often after a failover: connect again |
/// | `BUSY` | yes | server | a script blocks the server |
/// | `NOREPLICAS` | yes | server | fewer replicas are connected than `min-replicas-to-write` asks for |
/// | `OOM` | yes | server | `maxmemory` is reached |
/// | `MOVED`, `ASK` | yes | other | another node has the slot; a cluster client follows by itself |
/// | `EXECABORT`, `NOSCRIPT`, `WRONGTYPE`, `NOAUTH`, `WRONGPASS`, `NOPERM`, `ERR` | no | client | the same command fails again |
/// | any other | no answer | | a module or a script can return any word |
///
/// A script that ran into one of these errors halfway has already written. If your scripts can, mark the operation
/// by what they write, and label their errors yourself.
///
/// ```
/// use retry_clients::codes::known_redis;
/// use retry_core::{RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// struct CacheError(#[retry(with = known_redis)] String);
///
/// let loading = CacheError("LOADING Redis is loading the dataset in memory".to_owned());
/// assert_eq!(loading.is_retry_safe(), RetrySafety::Yes);
/// let wrong_type = CacheError("WRONGTYPE Operation against a key".to_owned());
/// assert_eq!(wrong_type.is_retry_safe(), RetrySafety::No);
/// ```
pub fn known_redis(error: &str) -> Option<Classification> {
    use ErrorFault::{Client, Server};
    use RetrySafety::{No, Yes};

    match error.split_ascii_whitespace().next()? {
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "READONLY" | "BUSY" | "NOREPLICAS" | "OOM" => {
            Some(Classification::new(Yes).with_fault(Server))
        }
        "MOVED" | "ASK" => Some(Classification::new(Yes)),
        "EXECABORT" | "NOSCRIPT" | "WRONGTYPE" | "NOAUTH" | "WRONGPASS" | "NOPERM" | "ERR" => {
            Some(Classification::new(No).with_fault(Client))
        }
        _ => None,
    }
}
