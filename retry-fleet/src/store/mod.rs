//! Where the state of a fleet is kept.
//!
//! ```
//! use retry_fleet::protocol::Call;
//! use retry_fleet::store::MemoryStore;
//!
//! let mut store = MemoryStore::new();
//! store.call(0, &Call::new("process 1", "epoch 1"));
//! let reply = store.call(0, &Call::new("process 2", "epoch 2"));
//! assert_eq!((reply.epoch.as_str(), reply.members), ("epoch 1", 2));
//! ```

mod memory;

pub use memory::MemoryStore;

use crate::protocol::{Call, Reply};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// What keeps the state of a fleet.
///
/// A call is one atomic step, as [`MemoryStore::call`] does it. A call may be lost, late or repeated, and so may its
/// reply.
///
/// The task of the fleet makes one call at a time. It drops the future of a call that is not answered in time.
///
/// ```
/// use retry_fleet::protocol::{Call, Reply};
/// use retry_fleet::{Store, StoreError};
///
/// /// A store that counts its calls.
/// struct Counted<S> {
///     store: S,
///     calls: u64,
/// }
///
/// impl<S: Store> Store for Counted<S> {
///     async fn call(&mut self, fleet: &str, call: &Call) -> Result<Reply, StoreError> {
///         self.calls += 1;
///         self.store.call(fleet, call).await
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep the state of a fleet",
    label = "expected a `RedisStore`, or your own `Store`",
    note = "in a test, the processes share an `Arc<Mutex<MemoryStore>>`, with the `Mutex` of the standard library"
)]
pub trait Store: Send + 'static {
    /// Makes a call for the named fleet.
    fn call(&mut self, fleet: &str, call: &Call) -> impl Future<Output = Result<Reply, StoreError>> + Send;
}

/// The reason why a store did not answer.
///
/// The message contains no credentials.
#[derive(Debug)]
pub struct StoreError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// Creates an error with a message that names the store, without credentials.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Sets the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl Display for StoreError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
