//! The settings of a stream that reconnects.

use crate::connect::CallPositionBeforeStream;
use crate::{Connect, FromPosition, FromStart, ReconnectingStream};
use futures_core::Stream;
use retry_core::drive::{Operation, SharedStop};
use retry_core::retry::{OptionalObserver, Unobserved};
use retry_core::strategy::{Operations, Share};
use retry_core::time::{DEFAULT_TIMER, DefaultTimer};
use retry_core::{Observer, RetryPolicy, RetryStrategy, StandardRetryPolicy, Timer};
use std::time::Duration;

/// How long a connection must last by default until the backoff begins again.
const RESET_AFTER: Duration = Duration::from_secs(60);

/// The settings of a stream that reconnects. Created by [`reconnect`] and [`reconnect_from`]; [`stream`](Reconnect::stream) makes the
/// stream.
#[derive(Clone, Debug)]
#[must_use = "a stream is made when `stream` is called"]
pub struct Reconnect<S, K, P = StandardRetryPolicy, T = DefaultTimer, O = Unobserved> {
    strategy: S,
    connect: K,
    policy: P,
    timer: T,
    observer: O,
    name: &'static str,
    limits: Limits,
    stop: Option<SharedStop>,
}

/// The times of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) reset_after: Duration,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
}

/// Begins the settings of a stream whose connections all begin in the same way. The strategy is a reference to a static, or another handle
/// that is shared by all calls to the service. A [`PatientRetryStrategy`](retry_core::PatientRetryStrategy) waits while the service is
/// down; another strategy ends the stream when its quota refuses a retry.
///
/// `connect` opens a connection: its future returns the stream of its items, or the error.
pub fn reconnect<S, F, Fut, St, T, E>(strategy: S, connect: F) -> Reconnect<S, FromStart<F>>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<St, E>>,
    St: Stream<Item = Result<T, E>>,
{
    Reconnect::new(strategy, FromStart(connect))
}

/// Begins the settings of a stream whose connections continue at the last position, such as the id of a server-sent event, an offset or
/// a resource version. The first connection begins at `start`. [`position`](Reconnect::position) says how to read the position from
/// an item.
///
/// ```
/// # use futures_util::stream::{self, Stream, TryStreamExt};
/// # use retry_core::RetryInfo;
/// use retry_core::PatientRetryStrategy;
/// use retry_stream::reconnect_from;
///
/// # #[derive(Debug, RetryInfo)]
/// # #[retry(timeout)]
/// # struct FeedError;
/// struct Event {
///     id: Option<u64>,
/// }
///
/// # async fn open(last: u64)
/// #     -> Result<impl Stream<Item = Result<Event, FeedError>> + Unpin, FeedError> {
/// #     Ok(stream::iter([Ok(Event { id: Some(last + 1) })]))
/// # }
/// static FEED: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # async fn example() -> Result<(), FeedError> {
/// // An event without an id keeps the last position.
/// let mut events =
///     reconnect_from(&FEED, 0, |last| open(last)).position(|event: &Event| event.id).stream();
/// while let Some(event) = events.try_next().await? {
/// #   let _ = event;
///     // ..
/// }
/// # Ok(())
/// # }
/// ```
pub fn reconnect_from<S, P, F, Fut>(strategy: S, start: P, connect: F) -> Reconnect<S, FromPosition<F, P>>
where
    S: RetryStrategy,
    Operations: Share<S>,
    P: Clone,
    F: FnMut(P) -> Fut,
    Fut: Future,
{
    Reconnect::new(strategy, FromPosition { connect, position: start, position_of: CallPositionBeforeStream })
}

impl<S, K> Reconnect<S, K> {
    const fn new(strategy: S, connect: K) -> Self {
        Self {
            strategy,
            connect,
            policy: StandardRetryPolicy::new().idempotent(true),
            timer: DEFAULT_TIMER,
            observer: Unobserved,
            name: "stream",
            limits: Limits { reset_after: RESET_AFTER, connect_timeout: None, idle_timeout: None },
            stop: None,
        }
    }
}

impl<S, F, P, U, T, O> Reconnect<S, FromPosition<F, P>, U, T, O> {
    /// Sets the function that returns the position after an item, at which the next connection begins. `None` keeps the position. It is
    /// called for each item before the stream returns the item.
    pub fn position<Fut, St, I, E, G>(self, position_of: G) -> Reconnect<S, FromPosition<F, P, G>, U, T, O>
    where
        F: FnMut(P) -> Fut,
        Fut: Future<Output = Result<St, E>>,
        St: Stream<Item = Result<I, E>>,
        G: FnMut(&I) -> Option<P>,
    {
        let Self { strategy, connect, policy, timer, observer, name, limits, stop } = self;
        let FromPosition { connect, position, position_of: CallPositionBeforeStream } = connect;
        let connect = FromPosition { connect, position, position_of };
        Reconnect { strategy, connect, policy, timer, observer, name, limits, stop }
    }
}

impl<S, K, P, T, O> Reconnect<S, K, P, T, O> {
    /// Sets how long a connection must last, from the end of `connect`, until the backoff begins again when it ends. The default is 60
    /// seconds.
    ///
    /// Attempts, backoff and payments then count from the beginning. The next connection follows after the backoff of a first retry, so the
    /// clients of a server that restarts do not all return at the same time. An item alone does not reset the backoff: with
    /// one item for each connection, the client would reconnect without a pause.
    pub fn reset_after(mut self, time: Duration) -> Self {
        self.limits.reset_after = time;
        self
    }

    /// Sets the time limit for opening a connection. Then another one is opened, as after a timeout. The default is no limit.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.limits.connect_timeout = Some(time);
        self
    }

    /// Sets the time for which a connection may send no item. Then it is dropped, and another one is opened, as after a timeout, or, if it
    /// had sent an item, as after a close. The default is no limit, with which a server that stalls is not noticed.
    ///
    /// The time during which nothing polls the stream is not counted. If the server sends messages only to keep the connection open, let
    /// `connect` return them as items.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.limits.idle_timeout = Some(time);
        self
    }

    /// Sets a handle that ends the stream in a shutdown: a reference to a static [`Stop`](retry_core::Stop), or an
    /// [`Arc`](std::sync::Arc) of one. It ends the stream immediately, whether it waits, connects or is connected.
    pub fn stop(mut self, stop: impl Into<SharedStop>) -> Self {
        self.stop = Some(stop.into());
        self
    }

    /// Sets the name of the stream in events. The default is `stream`.
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Sets the policy, which evaluates each error as an outcome. It does not see items. An error that it does not retry ends
    /// the stream.
    ///
    /// The default is a [`StandardRetryPolicy`] with `idempotent(true)`, because a stream that is opened again repeats a read. It needs an
    /// error type that implements [`RetryInfo`](trait@retry_core::RetryInfo).
    pub fn policy<Q>(self, policy: Q) -> Reconnect<S, K, Q, T, O> {
        let Self { strategy, connect, policy: _, timer, observer, name, limits, stop } = self;
        Reconnect { strategy, connect, policy, timer, observer, name, limits, stop }
    }

    /// Sets the timer, which reads the time and sleeps. The default is [`DefaultTimer`].
    pub fn timer<U: Timer>(self, timer: U) -> Reconnect<S, K, P, U, O> {
        let Self { strategy, connect, policy, timer: _, observer, name, limits, stop } = self;
        Reconnect { strategy, connect, policy, timer, observer, name, limits, stop }
    }

    /// Sets the observer, which receives the events of the stream's operation. The default is no observer.
    pub fn observer<N: Observer>(self, observer: N) -> Reconnect<S, K, P, T, N> {
        let Self { strategy, connect, policy, timer, observer: _, name, limits, stop } = self;
        Reconnect { strategy, connect, policy, timer, observer, name, limits, stop }
    }

    /// Creates the stream. It opens its first connection when it is polled.
    pub fn stream(self) -> ReconnectingStream<S, K, P, T, O>
    where
        S: RetryStrategy,
        Operations: Share<S>,
        K: Connect,
        P: RetryPolicy<Result<K::Item, K::Error>>,
        T: Timer + Clone,
        O: OptionalObserver,
    {
        let Self { strategy, connect, policy, timer, observer, name, limits, stop } = self;
        let mut operation = Operation::builder(strategy, name)
            .unlimited_attempts()
            .without_elapsed()
            .clock(timer.clone())
            .observer(observer);
        let stopped = stop.as_ref().map(|stop| stop.stopped());
        if let Some(stop) = stop {
            operation = operation.stop(stop);
        }
        ReconnectingStream::new(operation, (connect, policy, timer), limits, stopped)
    }
}
