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
/// | `ERR max number of clients` | yes | server | the server closed the connection before it read a command |
/// | `UNBLOCKED` | maybe | server | a blocking command was ended, by an operator or because the server became a replica. Of several commands, others may have been executed |
/// | `MOVED`, `ASK`, `REDIRECT` of Valkey | yes | other | another node has the slot, or is the primary; a cluster client follows by itself |
/// | `ERR` of a script with another code behind ` -` | by that code | | before Redis 7, a script reports the errors of its commands so: `ERR Error running script (call to f_..): @user_script:1: -READONLY ..` |
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
    error_in_script(error).or_else(|| by_first_word(error))
}

fn by_first_word(error: &str) -> Option<Classification> {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    match error.split_ascii_whitespace().next()? {
        "ERR" if error.contains("max number of clients") => Some(Classification::new(Yes).with_fault(Server)),
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "READONLY" | "BUSY" | "NOREPLICAS" | "OOM" => {
            Some(Classification::new(Yes).with_fault(Server))
        }
        "UNBLOCKED" => Some(Classification::new(Maybe).with_fault(Server)),
        "MOVED" | "ASK" | "REDIRECT" => Some(Classification::new(Yes)),
        "EXECABORT" | "NOSCRIPT" | "WRONGTYPE" | "NOAUTH" | "WRONGPASS" | "NOPERM" | "ERR" => {
            Some(Classification::new(No).with_fault(Client))
        }
        _ => None,
    }
}

/// Classifies the error of a command that a script reports within its own error.
fn error_in_script(error: &str) -> Option<Classification> {
    let text = error.trim_start().strip_prefix("ERR ")?;
    // This error repeats what the client sent.
    if text.trim_start().starts_with("unknown ") {
        return None;
    }
    text.match_indices(" -").find_map(|(place, mark)| {
        let inner = &text[place + mark.len()..];
        let is_code = inner.starts_with(|first: char| first.is_ascii_uppercase()) && !inner.starts_with("ERR ");
        if is_code { by_first_word(inner) } else { None }
    })
}
