//! The functions that open connections.

use futures_core::Stream;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// What opens the connections of a stream: [`FromStart`] or [`From`](FromPosition) a position. This trait is sealed.
///
/// ```
/// use futures_util::stream::{self, Iter};
/// use retry_core::PatientRetryStrategy;
/// use retry_stream::{Connect, Reconnect, reconnect};
/// use std::convert::Infallible;
///
/// static FEED: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// /// Names the stream, whatever connects it.
/// fn named<S, K: Connect>(settings: Reconnect<S, K>) -> Reconnect<S, K> {
///     settings.name("feed")
/// }
///
/// async fn connect() -> Result<Iter<std::vec::IntoIter<Result<u32, Infallible>>>, Infallible> {
///     Ok(stream::iter(vec![Ok(1)]))
/// }
///
/// let settings = named(reconnect(&FEED, connect));
/// # drop(settings);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not open the connections of a stream",
    label = "the function must return a future of `Result<S, E>`, in which `S` is a stream of `Result<T, E>`",
    note = "after `reconnect_from`, call `.position(|item| ..)`, which returns the position after an item",
    note = "both error types must be the same: convert one of them, for example with `map_err` of `TryStreamExt`"
)]
pub trait Connect: sealed::Sealed {
    /// The items.
    type Item;

    /// The error of a connection, and of opening one.
    type Error;

    /// The items of one connection.
    type Stream: Stream<Item = Result<Self::Item, Self::Error>>;

    /// The future that opens a connection.
    type Connecting: Future<Output = Result<Self::Stream, Self::Error>>;

    /// Opens a connection.
    #[doc(hidden)]
    fn connect(&mut self) -> Self::Connecting;

    /// Notes the position of an item.
    #[doc(hidden)]
    fn note(&mut self, item: &Self::Item);
}

/// A function that opens each connection in the same way; see [`reconnect`](crate::reconnect).
#[derive(Clone, Copy, Debug)]
pub struct FromStart<F>(pub(crate) F);

impl<F> sealed::Sealed for FromStart<F> {}

impl<F, Fut, St, T, E> Connect for FromStart<F>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<St, E>>,
    St: Stream<Item = Result<T, E>>,
{
    type Item = T;
    type Error = E;
    type Stream = St;
    type Connecting = Fut;

    fn connect(&mut self) -> Fut {
        (self.0)()
    }

    fn note(&mut self, _: &T) {}
}

/// A function that opens each connection at a position, and a function that returns the position after an item; see
/// [`reconnect_from`](crate::reconnect_from).
#[derive(Clone, Copy, Debug)]
pub struct FromPosition<F, P, G = CallPositionBeforeStream> {
    pub(crate) connect: F,
    pub(crate) position: P,
    pub(crate) position_of: G,
}

/// Stands for the function that [`position`](crate::Reconnect::position) sets. Its name is what rustc says if it is missing.
#[derive(Clone, Copy, Debug)]
#[expect(unnameable_types, reason = "only its name matters")]
pub struct CallPositionBeforeStream;

impl<F, P, G> sealed::Sealed for FromPosition<F, P, G> {}

impl<F, P, G, Fut, St, T, E> Connect for FromPosition<F, P, G>
where
    F: FnMut(P) -> Fut,
    P: Clone,
    G: FnMut(&T) -> Option<P>,
    Fut: Future<Output = Result<St, E>>,
    St: Stream<Item = Result<T, E>>,
{
    type Item = T;
    type Error = E;
    type Stream = St;
    type Connecting = Fut;

    fn connect(&mut self) -> Fut {
        (self.connect)(self.position.clone())
    }

    fn note(&mut self, item: &T) {
        if let Some(position) = (self.position_of)(item) {
            self.position = position;
        }
    }
}
