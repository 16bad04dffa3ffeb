//! The observer of a call, if it has one.

use super::identity::{Beginning, Identified, UnobservedId};
use super::name::Name;
use crate::observe::{Event, Observer, OperationId};
use crate::time::Clock;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// An optional observer: an [`Observer`], or [`Unobserved`]. This trait is sealed.
///
/// ```
/// use retry_core::retry::{AsyncAttempts, OptionalObserver};
/// use retry_core::time::DefaultTimer;
/// use retry_core::{PatientRetryStrategy, Retry, RetryInfo, StandardRetryPolicy};
///
/// type Call<F, O> =
///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, O>;
///
/// /// Runs a call with an observer, or without one.
/// async fn run<F, O, T, E>(call: Call<F, O>) -> Result<T, E>
/// where
///     F: AsyncAttempts<Outcome = Result<T, E>>,
///     O: OptionalObserver,
///     E: RetryInfo,
/// {
///     call.run().await
/// }
/// ```
pub trait OptionalObserver: sealed::Sealed {
    /// Whether there is no observer.
    #[doc(hidden)]
    const IS_ABSENT: bool;

    /// State kept between events.
    #[doc(hidden)]
    type State: Identified;

    /// A reference to the observer. It is zero-sized if there is none.
    #[doc(hidden)]
    type Ref<'a>: OptionalObserver<State = Self::State> + Copy
    where
        Self: 'a;

    /// Returns a reference to the observer.
    #[doc(hidden)]
    fn by_ref(&self) -> Self::Ref<'_>;

    /// Starts observing an operation.
    #[doc(hidden)]
    fn begin(&self, operation: Name, clock: &impl Clock) -> Self::State;

    /// Returns the id and the start time of the operation, if the observer is interested in it.
    #[doc(hidden)]
    fn beginning(state: &Self::State) -> Option<&Beginning>;

    /// Passes an event to the observer.
    #[doc(hidden)]
    fn observe(&self, event: &Event);
}

/// The absence of an observer, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl sealed::Sealed for Unobserved {}

impl OptionalObserver for Unobserved {
    const IS_ABSENT: bool = true;

    type State = UnobservedId;

    type Ref<'a> = Self;

    #[inline]
    fn by_ref(&self) -> Self {
        *self
    }

    #[inline]
    fn begin(&self, _: Name, _: &impl Clock) -> UnobservedId {
        UnobservedId::default()
    }

    #[inline]
    fn beginning(_: &UnobservedId) -> Option<&Beginning> {
        None
    }

    fn observe(&self, _: &Event) {}
}

/// The state of an operation whose call has an observer.
#[derive(Debug)]
pub enum ObservedState {
    /// The observer is interested in the operation.
    Interested(Beginning),
    /// The observer is not interested in the operation.
    Uninterested(UnobservedId),
}

impl Identified for ObservedState {
    fn operation_id(&self) -> OperationId {
        match self {
            Self::Interested(beginning) => beginning.operation_id,
            Self::Uninterested(id) => id.operation_id(),
        }
    }
}

impl<O: Observer + ?Sized> sealed::Sealed for O {}
impl<O: Observer + ?Sized> OptionalObserver for O {
    const IS_ABSENT: bool = false;

    type State = ObservedState;

    type Ref<'a>
        = &'a O
    where
        O: 'a;

    #[inline]
    fn by_ref(&self) -> &O {
        self
    }

    #[inline]
    fn begin(&self, operation: Name, clock: &impl Clock) -> ObservedState {
        if self.is_interested(operation.get()) {
            ObservedState::Interested(Beginning::new(OperationId::draw(), clock.reading()))
        } else {
            ObservedState::Uninterested(UnobservedId::default())
        }
    }

    #[inline]
    fn beginning(state: &ObservedState) -> Option<&Beginning> {
        match state {
            ObservedState::Interested(beginning) => Some(beginning),
            ObservedState::Uninterested(_) => None,
        }
    }

    fn observe(&self, event: &Event) {
        Observer::observe(self, event);
    }
}
