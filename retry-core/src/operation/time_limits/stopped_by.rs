//! What can stop an operation: a handle, and a future that is polled beside the operation.

use crate::operation::stop::first_stopped;
use crate::operation::{AttemptSleep, SharedStop, Stop, Stopped};
use crate::time::{TimeLimit, TimedOut};
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The handle that can stop an operation, or `()`.
pub trait StopHandle: Clone + fmt::Debug {
    /// Whether a driver of its own runs between the steps of the operation, which may take time.
    const IS_BY_HAND: bool = false;

    /// Returns the handles. Each one stops the operation.
    fn stops(&self) -> [Option<&Stop>; 2];

    /// Returns whether a stop cuts the attempt that runs.
    #[inline]
    fn cuts(&self) -> bool {
        false
    }

    /// The sleep until an attempt is cut.
    type Sleep<Z: Future<Output = ()>>: AttemptSleep<TimedOut>;

    /// Returns the sleep until an attempt is cut, from the sleep until its time is over. There is none if nothing cuts it.
    fn sleep<Z: Future<Output = ()>>(&self, sleep: Option<Z>) -> Option<Self::Sleep<Z>>;
}

/// Implements the trait for handles that cut no attempt.
macro_rules! cuts_nothing {
    () => {
        type Sleep<Z: Future<Output = ()>> = Z;

        #[inline]
        fn sleep<Z: Future<Output = ()>>(&self, sleep: Option<Z>) -> Option<Z> {
            sleep
        }
    };
}

impl StopHandle for () {
    #[inline]
    fn stops(&self) -> [Option<&Stop>; 2] {
        [None, None]
    }

    cuts_nothing! {}
}

/// The handle of an operation that a program [drives](crate::drive) by itself.
impl StopHandle for Option<SharedStop> {
    const IS_BY_HAND: bool = true;

    #[inline]
    fn stops(&self) -> [Option<&Stop>; 2] {
        [self.as_deref(), None]
    }

    cuts_nothing! {}
}

impl StopHandle for &Stop {
    #[inline]
    fn stops(&self) -> [Option<&Stop>; 2] {
        [Some(self), None]
    }

    cuts_nothing! {}
}

/// The handle of one operation, which its future stops, and perhaps another one beside it. `P` is a pointer to a [`Stop`].
#[derive(Clone, Copy, Debug)]
pub struct OwnStop<P, H> {
    own: P,
    other: H,
}

impl<P, H> OwnStop<P, H> {
    /// Creates the pair of two handles.
    #[inline]
    pub(super) const fn new(own: P, other: H) -> Self {
        Self { own, other }
    }
}

impl<P: Deref<Target = Stop> + Clone + fmt::Debug, H: StopHandle> StopHandle for OwnStop<P, H> {
    fn stops(&self) -> [Option<&Stop>; 2] {
        let [other, _] = self.other.stops();
        [Some(&self.own), other]
    }

    fn cuts(&self) -> bool {
        self.other.cuts()
    }

    cuts_nothing! {}
}

/// A handle that can cut the attempt that runs; see [`Retry::cut_on_stop`](crate::Retry::cut_on_stop).
#[derive(Clone, Copy, Debug)]
pub struct CutOnStop<H> {
    handle: H,
    cuts: bool,
}

impl<H> CutOnStop<H> {
    /// Creates a handle that cuts the attempt that runs, or not.
    pub(super) const fn new(handle: H, cuts: bool) -> Self {
        Self { handle, cuts }
    }
}

impl<H: StopHandle> StopHandle for CutOnStop<H> {
    fn stops(&self) -> [Option<&Stop>; 2] {
        self.handle.stops()
    }

    fn cuts(&self) -> bool {
        self.cuts || self.handle.cuts()
    }

    type Sleep<Z: Future<Output = ()>> = SleepOrStop<Z>;

    fn sleep<Z: Future<Output = ()>>(&self, sleep: Option<Z>) -> Option<SleepOrStop<Z>> {
        let stopped = self.cuts().then(|| first_stopped(self.stops().into_iter().flatten()));
        let is_ever_cut = sleep.is_some() || stopped.is_some();
        is_ever_cut.then(|| SleepOrStop { sleep: sleep.map(Box::pin), stopped })
    }
}

/// The sleep until an attempt is cut, or until the operation is stopped. The sleep is boxed, because the stop is polled beside it.
#[derive(Debug)]
pub struct SleepOrStop<Z> {
    sleep: Option<Pin<Box<Z>>>,
    stopped: Option<Stopped>,
}

impl<Z: Future<Output = ()>> AttemptSleep<TimedOut> for SleepOrStop<Z> {
    fn poll_cut(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TimedOut>> {
        let Self { sleep, stopped } = self.get_mut();
        if let Some(stopped) = stopped
            && Pin::new(stopped).poll(context).is_ready()
        {
            return Poll::Ready(Some(TimedOut::new(TimeLimit::Stop, Duration::ZERO)));
        }
        match sleep {
            Some(sleep) => sleep.as_mut().poll(context).map(|()| None),
            None => Poll::Pending,
        }
    }
}

/// Runs an operation, which `operation` makes for its own handle, and polls `when` beside it. Once it is ready, the handle is stopped.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
pub(crate) fn beside<W: Future, F: Future>(
    when: W,
    operation: impl FnOnce(Arc<Stop>) -> F,
) -> impl Future<Output = F::Output> {
    async move {
        let own = Arc::new(Stop::new());
        // The operation is made here, because it would be stored twice if it were moved in.
        let (mut when, mut operation) = (pin!(Some(when)), pin!(operation(Arc::clone(&own))));
        poll_fn(|context| {
            poll_when(when.as_mut(), &own, context);
            operation.as_mut().poll(context)
        })
        .await
    }
}

/// Polls the future, and stops the operation once it is ready.
fn poll_when(mut when: Pin<&mut Option<impl Future>>, own: &Stop, context: &mut Context<'_>) {
    if let Some(future) = when.as_mut().as_pin_mut()
        && future.poll(context).is_ready()
    {
        when.set(None);
        own.stop();
    }
}

/// A step of an operation, such as a wait or an attempt, with the future that is polled beside it. For the loop that the attribute writes.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Step<'a, W, F> {
    when: Pin<&'a mut Option<W>>,
    own: &'a Stop,
    future: F,
}

impl<'a, W: Future, F: Future + Unpin> Step<'a, W, F> {
    /// Creates a step.
    pub(crate) const fn new(when: Pin<&'a mut Option<W>>, own: &'a Stop, future: F) -> Self {
        Self { when, own, future }
    }
}

impl<W: Future, F: Future + Unpin> Future for Step<'_, W, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { when, own, future } = self.get_mut();
        poll_when(when.as_mut(), own, context);
        Pin::new(future).poll(context)
    }
}
