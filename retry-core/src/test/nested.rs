//! The pairs of operations that were retried one within the other.

use crate::support::session::{self, Key, Session, StateCopy, lock};
use crate::support::sync::Mutex;
use std::fmt;
use std::sync::Arc;

/// Two functions whose retries multiply: one was retried within an attempt of the other. Returned by
/// [`TestGuard::nested`](super::TestGuard::nested).
///
/// `Display` names both, and the maximum number of attempts: `A around B: up to 25 attempts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nested {
    /// The name of the outer operation.
    pub outer: &'static str,
    /// The name of the operation that ran within an attempt of the outer one.
    pub inner: &'static str,
    /// The maximum number of attempts of the inner operation in one call of the outer one: the product of both maxima. `None` if
    /// your own strategy does not know its maximum.
    pub max_attempts: Option<u32>,
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} around {}", self.outer, self.inner)?;
        match self.max_attempts {
            Some(max_attempts) => write!(f, ": up to {max_attempts} attempts"),
            None => Ok(()),
        }
    }
}

type Pairs = StateCopy<Mutex<Vec<Nested>>>;

/// The key of the pairs. Each session has its own copy of them.
static KEY: Key = Key::new();

/// Returns the pairs of a session.
pub(super) fn nested(session: &Session) -> Vec<Nested> {
    let pairs = session.copy_of(&KEY, || Mutex::new(Vec::new()));
    pairs.map_or_else(Vec::new, |pairs: Arc<Pairs>| lock(&pairs.state).clone())
}

/// Records a pair once in the session of this thread, if there is one.
pub(crate) fn note_nested(outer: &'static str, inner: &'static str, max_attempts: Option<u32>) {
    let pairs: Option<Arc<Pairs>> = session::copy_of(&KEY, || Mutex::new(Vec::new()));
    let Some(pairs) = pairs else { return };
    let mut pairs = lock(&pairs.state);
    if !pairs.iter().any(|pair| (pair.outer, pair.inner) == (outer, inner)) {
        pairs.push(Nested { outer, inner, max_attempts });
    }
}
