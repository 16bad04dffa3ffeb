//! The ids of operations.

use crate::support::random::{draw, random_u128};
use crate::support::sync::AtomicU64;
use std::fmt;
#[cfg(any(feature = "tracing", feature = "global-observer"))]
use std::sync::atomic::{AtomicU64 as UnsharedAtomic, Ordering};

/// The id of an operation, for use as an idempotency key or an invocation id. Events, contexts and `tracing` show the
/// same id.
///
/// Ids are random 128-bit numbers, so they are unique across processes and machines. There are two exceptions. In both,
/// call [`reseed`](crate::reseed) when the program starts. A forked process that continues with the memory of its parent
/// would generate the same ids as the parent. On `wasm32-unknown-unknown` the standard library has no source of random
/// numbers, so programs would generate the same ids there.
///
/// The text form is a UUID of version 4 (RFC 9562), such as `67e55044-10b1-426f-9247-bb680e5fe0c8`.
///
/// The order of ids, which makes them keys of a map, has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
// The number of the operation in this process. The random number is computed from it on demand, because most observers
// never need it.
pub struct OperationId(u64);

impl OperationId {
    /// Draws the id of an operation.
    #[inline]
    pub(crate) fn draw() -> Self {
        static DRAWN: AtomicU64 = AtomicU64::new(1);
        Self(draw(&DRAWN))
    }

    /// Creates a new id. For tests that construct events.
    #[cfg(feature = "test")]
    pub fn random() -> Self {
        Self::draw()
    }

    /// Returns the id as a number.
    pub fn as_u128(self) -> u128 {
        // The 13th digit is the version, 4 (random). The two highest bits of the 17th are the variant of RFC 9562.
        let random = random_u128(self.0) & !(0xf << 76) & !(0b11 << 62);
        random | 4 << 76 | 0b10 << 62
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.as_u128();
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            id >> 96,
            id >> 80 & 0xffff,
            id >> 64 & 0xffff,
            id >> 48 & 0xffff,
            id & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperationId({self})")
    }
}

/// A place for the id of an operation, which is drawn on first use.
///
/// Only its operation uses it, one step after another. It is an atomic because a `Cell` would make futures that hold an
/// operation not `Sync`; a relaxed load and a relaxed store are plain instructions. It is never loom's, because no thread
/// shares it.
#[cfg(any(feature = "tracing", feature = "global-observer"))]
#[derive(Debug, Default)]
pub(crate) struct IdSlot(UnsharedAtomic);

#[cfg(any(feature = "tracing", feature = "global-observer"))]
impl IdSlot {
    /// Returns the id.
    pub(crate) fn get(&self) -> OperationId {
        let Self(slot) = self;
        match slot.load(Ordering::Relaxed) {
            0 => {
                let id = OperationId::draw();
                slot.store(id.0, Ordering::Relaxed);
                id
            }
            number => OperationId(number),
        }
    }
}
