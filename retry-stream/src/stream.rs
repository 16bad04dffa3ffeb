//! The stream, which drives one operation through all its connections.

use crate::Connect;
use crate::reconnect::Limits;
use futures_core::Stream;
use futures_core::stream::FusedStream;
use retry_core::drive::{Due, Ended, Operation, OperationBuilder, Outcome, Running, Settled, Stopped, Wait};
use retry_core::retry::OptionalObserver;
use retry_core::time::Timestamp;
use retry_core::{RetryDirective, RetryError, RetryErrorType, RetryPolicy, RetryStrategy, Timer};
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A stream that reconnects. [`Reconnect::stream`](crate::Reconnect::stream) returns it.
///
/// It is [`Unpin`], because each connection is boxed, and [`Send`] if its parts are. After its end it returns `None`.
#[must_use = "streams do nothing unless polled"]
pub struct ReconnectingStream<S: RetryStrategy, K: Connect, P, T: Timer, O: OptionalObserver> {
    stage: Stage<S, K, T, O>,
    connect: K,
    policy: P,
    timer: T,
    limits: Limits,
    stopped: Option<Stopped>,
    /// An item that came with the end of its connection.
    item: Option<K::Item>,
    /// The last error since a connection has reset the backoff.
    last: Option<K::Error>,
}

/// The stages of a stream.
#[expect(clippy::large_enum_variant, reason = "it is moved once")]
enum Stage<S: RetryStrategy, K: Connect, T: Timer, O: OptionalObserver> {
    /// The stream was not polled yet.
    New(OperationBuilder<S, T, O>),
    /// The operation is under way.
    Driven(Driven<S, K, T, O>),
    /// The stream has ended.
    Done,
}

/// An operation that is under way.
struct Driven<S: RetryStrategy, K: Connect, T: Timer, O: OptionalObserver> {
    operation: Operation<S, T, O>,
    wait: Option<Wait<T::Sleep>>,
    /// The attempt, which lasts as long as its connection. `None` while the operation waits.
    attempt: Option<Attempt<K, T::Sleep>>,
}

/// How a connection ended.
enum End<T, E> {
    /// With an error, or because an exploration let the attempt fail.
    Failed(Outcome<Result<T, E>>),
    /// The server closed it.
    Closed,
    /// The connection or its next item did not come in time.
    Silent {
        /// Whether it had sent an item.
        answered: bool,
    },
}

impl<S: RetryStrategy, K: Connect, P, T: Timer, O: OptionalObserver> ReconnectingStream<S, K, P, T, O> {
    pub(crate) fn new(
        operation: OperationBuilder<S, T, O>,
        (connect, policy, timer): (K, P, T),
        limits: Limits,
        stopped: Option<Stopped>,
    ) -> Self {
        Self { stage: Stage::New(operation), connect, policy, timer, limits, stopped, item: None, last: None }
    }
}

impl<S, K, P, T, O> ReconnectingStream<S, K, P, T, O>
where
    S: RetryStrategy,
    K: Connect,
    P: RetryPolicy<Result<K::Item, K::Error>>,
    T: Timer,
    O: OptionalObserver,
{
    /// Drives the operation to the next item, or to its end.
    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<K::Item, K::Error>>> {
        let Self { stage, connect, policy, timer, limits, stopped, item, last } = self;
        if let Some(item) = item.take() {
            return Poll::Ready(Some(Ok(item)));
        }
        if let Stage::New(_) = stage
            && let Stage::New(operation) = mem::replace(stage, Stage::Done)
        {
            *stage = Stage::Driven(Driven { operation: operation.begin(), wait: None, attempt: None });
        }
        let Stage::Driven(Driven { operation, wait, attempt }) = stage else { return Poll::Ready(None) };
        while attempt.is_none() {
            if let Some(wait) = wait {
                ready!(Pin::new(wait).poll(context));
            }
            *wait = None;
            match operation.due() {
                Due::Wait(next) => *wait = Some(next),
                Due::Attempt => *attempt = Some(Attempt::new(operation.attempt())),
                Due::Stop(ended) => return Poll::Ready(last_item(&ended, last.take().map(Err))),
            }
        }
        let Some(running) = attempt else { return Poll::Pending };
        if let Some(stopped) = stopped
            && Pin::new(stopped).poll(context).is_ready()
        {
            if running.opened.is_some() {
                operation.settle(RetryDirective::succeed());
            }
            return Poll::Ready(None);
        }
        let end = match running.poll(|| operation.sent(), connect, timer, context) {
            (next, Poll::Pending) => {
                if next.is_some() {
                    return Poll::Ready(next.map(Ok));
                }
                if !running.is_out_of_time(timer, limits, context) {
                    return Poll::Pending;
                }
                End::Silent { answered: running.has_answered }
            }
            (next, Poll::Ready(end)) => {
                *item = next;
                end
            }
        };
        let is_healthy = running.is_healthy(limits.reset_after, timer, matches!(end, End::Silent { .. }));
        // The connection is closed before the wait.
        *attempt = None;
        if is_healthy {
            *last = None;
        }
        match end {
            End::Failed(outcome) => {
                let directive = operation.evaluate(policy, &outcome).progressed(is_healthy);
                match operation.settle_outcome(directive, policy, &outcome) {
                    Settled::Retry => *last = outcome.kept().and_then(Result::err),
                    Settled::Done(ended) => return Poll::Ready(last_item(&ended, Some(outcome.last()))),
                }
            }
            End::Closed | End::Silent { .. } => {
                // After an item, the silence is no evidence that the service does not answer: it may have nothing to send.
                let class = match end {
                    End::Silent { answered: false } => RetryErrorType::Timeout,
                    _ => RetryErrorType::Other,
                };
                if let Settled::Done(ended) = operation.settle(RetryDirective::retry(class).progressed(is_healthy)) {
                    return Poll::Ready(last_item(&ended, last.take().map(Err)));
                }
            }
        }
        // Other tasks run first: under a test guard, which skips waits, a service that is down would keep the thread busy.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Returns the last item of a stream whose operation has ended: none after a stop.
fn last_item<R>(ended: &Ended, last: Option<R>) -> Option<R> {
    last.filter(|_| ended.reason != Some(RetryError::Stopped))
}

impl<S, K, P, T, O> Stream for ReconnectingStream<S, K, P, T, O>
where
    S: RetryStrategy,
    K: Connect,
    P: RetryPolicy<Result<K::Item, K::Error>>,
    T: Timer,
    O: OptionalObserver,
{
    type Item = Result<K::Item, K::Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let polled = this.poll_item(context);
        // Items are passed on while the operation is under way, and an error is the last item.
        if let Poll::Ready(None | Some(Err(_))) = polled {
            this.stage = Stage::Done;
        }
        polled
    }
}

impl<S, K, P, T, O> FusedStream for ReconnectingStream<S, K, P, T, O>
where
    S: RetryStrategy,
    K: Connect,
    P: RetryPolicy<Result<K::Item, K::Error>>,
    T: Timer,
    O: OptionalObserver,
{
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}

/// Nothing is pinned in place: connections and sleeps are boxed.
impl<S: RetryStrategy, K: Connect, P, T: Timer, O: OptionalObserver> Unpin for ReconnectingStream<S, K, P, T, O> {}

/// A connection that has lasted long enough is a success, also if the stream is dropped meanwhile.
impl<S: RetryStrategy, K: Connect, P, T: Timer, O: OptionalObserver> Drop for ReconnectingStream<S, K, P, T, O> {
    fn drop(&mut self) {
        if let Stage::Driven(Driven { operation, attempt: Some(attempt), .. }) = &mut self.stage
            && attempt.is_healthy(self.limits.reset_after, &self.timer, false)
        {
            operation.settle(RetryDirective::succeed());
        }
    }
}

/// An attempt: a connection, from opening it to its end.
struct Attempt<K: Connect, Z> {
    running: Running,
    connection: Connection<K>,
    /// When the connection was opened.
    opened: Option<Timestamp>,
    /// Whether an item has come.
    has_answered: bool,
    /// The first time that nothing was ready since the beginning, since the connection was opened, or since the last item.
    quiet_since: Option<Timestamp>,
    /// A time limit that began when the connection became quiet, or became quiet at an earlier time.
    limit: Option<(Timestamp, Pin<Box<Z>>)>,
}

enum Connection<K: Connect> {
    New,
    Connecting(Pin<Box<K::Connecting>>),
    Open(Pin<Box<K::Stream>>),
}

impl<K: Connect, Z: Future<Output = ()>> Attempt<K, Z> {
    const fn new(running: Running) -> Self {
        Self { running, connection: Connection::New, opened: None, has_answered: false, quiet_since: None, limit: None }
    }

    /// Opens the connection, if that is not done yet, and polls it. Returns an item, and how the connection ended.
    #[expect(clippy::type_complexity, reason = "an item and an end")]
    fn poll(
        &mut self,
        sent: impl FnOnce(),
        connect: &mut K,
        timer: &impl Timer,
        context: &mut Context<'_>,
    ) -> (Option<K::Item>, Poll<End<K::Item, K::Error>>) {
        let Self { running, connection, opened, has_answered, quiet_since, limit } = self;
        let (mut item, mut is_closed) = (None, false);
        let polled = running.poll(|| {
            if let Connection::New = connection {
                sent();
                *connection = Connection::Connecting(Box::pin(connect.connect()));
            }
            if let Connection::Connecting(connecting) = connection {
                let stream = ready!(connecting.as_mut().poll(context))?;
                *connection = Connection::Open(Box::pin(stream));
                *opened = Some(timer.now());
                (*quiet_since, *limit) = (None, None);
            }
            let Connection::Open(stream) = connection else { return Poll::Pending };
            match ready!(stream.as_mut().poll_next(context)) {
                Some(Err(error)) => return Poll::Ready(Err(error)),
                Some(Ok(next)) => {
                    connect.note(&next);
                    (*has_answered, *quiet_since) = (true, None);
                    item = Some(next);
                }
                None => is_closed = true,
            }
            Poll::Pending
        });
        let end = match polled {
            Poll::Ready(outcome) => Poll::Ready(End::Failed(outcome)),
            Poll::Pending if is_closed => Poll::Ready(End::Closed),
            Poll::Pending => Poll::Pending,
        };
        (item, end)
    }

    /// Returns whether the time for opening the connection or for its next item is over. Called when nothing is ready.
    fn is_out_of_time(&mut self, timer: &impl Timer<Sleep = Z>, limits: &Limits, context: &mut Context<'_>) -> bool {
        let time = if self.opened.is_none() { limits.connect_timeout } else { limits.idle_timeout };
        let Some(time) = time else { return false };
        let quiet_since = *self.quiet_since.get_or_insert_with(|| timer.now());
        loop {
            if let Some((since, sleep)) = &mut self.limit {
                if sleep.as_mut().poll(context).is_pending() {
                    return false;
                }
                // Items have come since the sleep began, unless this is the same time.
                if *since == quiet_since {
                    return true;
                }
            }
            let left = time.saturating_sub(timer.now().saturating_since(quiet_since));
            if left.is_zero() {
                return true;
            }
            self.limit = Some((quiet_since, Box::pin(timer.sleep(left))));
        }
    }
}

impl<K: Connect, Z> Attempt<K, Z> {
    /// Returns whether the connection has lasted this long. The time for which it was silent until it was cut is not counted.
    fn is_healthy(&self, reset_after: Duration, timer: &impl Timer, is_silent: bool) -> bool {
        let Some(opened) = self.opened else { return false };
        let until = self.quiet_since.filter(|_| is_silent).unwrap_or_else(|| timer.now());
        until.saturating_since(opened) >= reset_after
    }
}

impl<S: RetryStrategy, K: Connect, P, T: Timer, O: OptionalObserver> fmt::Debug for ReconnectingStream<S, K, P, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconnectingStream").finish_non_exhaustive()
    }
}
