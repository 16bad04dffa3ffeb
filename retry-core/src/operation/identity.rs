//! The id of an operation. It is drawn when an event or a context needs it, so that other operations do not pay for it.

#[cfg(any(feature = "tracing", feature = "global-observer"))]
use crate::observe::IdSlot;
use crate::observe::OperationId;
use crate::time::Reading;

/// Something that belongs to an operation and has its id.
pub trait Identified {
    /// Returns the id of the operation.
    fn operation_id(&self) -> OperationId;
}

/// The place for the id of an operation whose call has no observer that is interested in it.
///
/// A `tracing` subscriber or the global observer may still get its events, and all of them need the same id. So with one
/// of these features, each operation has eight bytes for the id. Drawing the id early instead would not save them, and
/// each operation would write to a counter that all threads share.
///
/// Without these features, nothing gets the events of such an operation, and this type is zero-sized. Its contexts or its
/// `on_retry` closure draw the id once and keep it.
#[derive(Debug, Default)]
pub struct UnobservedId(#[cfg(any(feature = "tracing", feature = "global-observer"))] IdSlot);

impl Identified for UnobservedId {
    #[inline]
    fn operation_id(&self) -> OperationId {
        #[cfg(any(feature = "tracing", feature = "global-observer"))]
        return self.0.get();
        #[cfg(not(any(feature = "tracing", feature = "global-observer")))]
        OperationId::draw()
    }
}

/// The id and the start time of an operation, for the events that an `on_retry` closure gets.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    pub(super) operation_id: OperationId,
    pub(super) started: Reading,
}

impl Beginning {
    #[inline]
    pub(crate) const fn new(operation_id: OperationId, started: Reading) -> Self {
        Self { operation_id, started }
    }
}
