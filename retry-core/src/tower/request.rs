//! Ways to clone a request, so that it can be sent again, and to change the request of each attempt.

use super::choice::{Same, With, sealed};
use crate::operation::{AttemptContext, ContextState, Identified};
use crate::policy::RetryDirective;
use std::time::Duration;

/// A way to clone requests of type `R`: [`Same`] or [`With`]. This trait is sealed.
///
/// ```
/// use retry_core::tower::RetryLayer;
/// use retry_core::PatientRetryStrategy;
///
/// /// A request that can be sent again only if its body is in memory.
/// struct Request {
///     body: Option<Vec<u8>>,
/// }
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// let layer = RetryLayer::new(&API)
///     .clone_with(|request: &Request| Some(Request { body: Some(request.body.clone()?) }));
/// # let _ = layer;
/// ```
pub trait CloneRequest<R>: sealed::Sealed {
    /// Returns a clone of the request, or `None` if it can't be cloned.
    #[doc(hidden)]
    fn clone_request(&self, request: &R) -> Option<R>;
}

impl<R: Clone> CloneRequest<R> for Same {
    fn clone_request(&self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

impl<R, F: Fn(&R) -> Option<R>> CloneRequest<R> for With<F> {
    fn clone_request(&self, request: &R) -> Option<R> {
        (self.0)(request)
    }
}

/// A way to change the requests of attempts, of type `R`: [`Same`] or [`With`]. This trait is sealed.
///
/// ```
/// use retry_core::tower::RetryLayer;
/// use retry_core::PatientRetryStrategy;
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// // Each request ends with the number of its attempt.
/// let layer = RetryLayer::new(&API).before_attempt(|request: &mut String, context| {
///     request.push_str(&context.attempt().to_string());
/// });
/// # let _ = layer;
/// ```
pub trait ChangeRequest<R>: sealed::Sealed {
    /// State kept from one attempt to the next.
    #[doc(hidden)]
    type State;

    /// Creates the state at the start of an operation.
    #[doc(hidden)]
    fn begin(operation: &impl Identified) -> Self::State;

    /// Changes the request of the attempt with this number and this time limit.
    #[doc(hidden)]
    fn change(&self, request: &mut R, state: &Self::State, number: u32, time_left: Option<Duration>);

    /// Stores the directive for an attempt, and returns it.
    #[doc(hidden)]
    fn remember(state: &mut Self::State, directive: RetryDirective) -> RetryDirective;
}

impl<R> ChangeRequest<R> for Same {
    type State = ();

    fn begin(_: &impl Identified) {}

    fn change(&self, _: &mut R, (): &(), _: u32, _: Option<Duration>) {}

    fn remember((): &mut (), directive: RetryDirective) -> RetryDirective {
        directive
    }
}

impl<R, F: Fn(&mut R, AttemptContext)> ChangeRequest<R> for With<F> {
    type State = ContextState;

    fn begin(operation: &impl Identified) -> ContextState {
        ContextState::new(operation.operation_id())
    }

    fn change(&self, request: &mut R, state: &ContextState, number: u32, time_left: Option<Duration>) {
        (self.0)(request, state.attempt(number, time_left));
    }

    fn remember(state: &mut ContextState, directive: RetryDirective) -> RetryDirective {
        state.remember(directive)
    }
}
