//! A driver of operations by hand, on the timers of tokio.

use retry_core::drive::{Cut, Ended, Next, OperationBuilder, Outcome, Settled};
use retry_core::retry::OptionalObserver;
use retry_core::{Clock, Report, RetryPolicy, RetryStrategy, TimedOut, TokioTimer};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Sleep, sleep, timeout};

/// Drives an operation, and returns its report.
pub async fn by_hand<S, C, O, T, E>(
    builder: OperationBuilder<S, C, O>,
    policy: impl RetryPolicy<Result<T, E>>,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> Report<Result<T, E>>
where
    S: RetryStrategy,
    C: Clock,
    O: OptionalObserver,
    E: From<TimedOut>,
{
    let mut operation = builder.clock(TokioTimer).begin();
    let mut last = None;
    loop {
        let mut wait: Option<Pin<Box<Sleep>>> = None;
        let next = poll_fn(|context| match operation.next(context.waker()) {
            Next::Wait(time) => {
                // The first poll registers the timer.
                if wait.insert(Box::pin(sleep(time))).as_mut().poll(context).is_ready() {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
            next => Poll::Ready(next),
        });
        let time_left = match next.await {
            Next::Attempt { time_left, .. } => time_left,
            Next::Stop(ended) => return report(ended, last),
            Next::Wait(_) => unreachable!("it is waited for above"),
        };
        operation.sent();
        let outcome = Outcome::new(match timeout(time_left.unwrap_or(Duration::MAX), attempt()).await {
            Ok(outcome) => outcome,
            Err(_) => match operation.cut() {
                Cut::Attempt(timed_out) => Err(timed_out.into()),
                Cut::Operation(ended) => return report(ended, last),
            },
        });
        let directive = operation.evaluate(&policy, &outcome);
        match operation.settle(directive) {
            Settled::Retry => last = outcome.kept(),
            Settled::Done(ended) => return ended.report(outcome.last()),
        }
    }
}

fn report<T, E: From<TimedOut>>(ended: Ended, last: Option<Result<T, E>>) -> Report<Result<T, E>> {
    let outcome = ended.last_or(last, |timed_out| Some(Err(timed_out.into())));
    ended.report(outcome.expect("an operation without an outcome has a time limit"))
}
