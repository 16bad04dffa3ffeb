//! A call with a hedge, which is a second attempt beside the first one.

mod form;
mod purchase;
mod race;
mod reports;
mod runner;
mod tokens;

pub(crate) use form::{Form, Parts, permit};
pub(crate) use race::RaceOf;
pub use race::{Race, Raced, Racing};
pub(crate) use tokens::OtherToken;

use super::{End, OptionalObserver, RunningLimits};
use crate::hedge::Hedge;
use crate::strategy::RetryStrategy;
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::pin::pin;
use std::time::Duration;

/// Runs an operation with a hedge. `attempt` returns the future of the attempt with this number and this time limit.
///
/// The attribute writes the same loop into the function: a future that evaluates its outcomes would hold what its options name, and be
/// `Send` only if that is `Sync`.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
pub(crate) fn drive<S, T, L, O, F, H>(
    form: &mut H,
    last: &mut impl KeptOutcome<F::Output>,
    hedge: &'static Hedge,
    mut attempt: impl FnMut(&mut H, u32, Option<Duration>) -> F,
) -> impl Future<Output = End<F::Output>>
where
    S: RetryStrategy,
    T: Timer,
    L: RunningLimits,
    O: OptionalObserver,
    F: Future,
    H: Form<S, T, L, O, F::Output>,
{
    async move {
        let (bodies, sleeps, due) = ([pin!(None), pin!(None)], [pin!(None), pin!(None)], pin!(None));
        let mut race = Race::new(form.parts().1, hedge, bodies, sleeps, due);
        loop {
            if race.is_attempt_due() {
                while !race.is_hedge() {
                    let (call, operation) = form.parts();
                    // Mostly, nothing is needed, and the path of waits is long.
                    if call.begin_if_due(operation) {
                        break;
                    }
                    let Some(wait) = call.wait(operation) else { break };
                    wait.await;
                }
                let (call, operation) = form.parts();
                if !race.unrecovered(call, operation, last) {
                    form.prepare();
                    let (call, operation) = form.parts();
                    race.begin(call.deadline(operation));
                }
                let (_, operation) = form.parts();
                let (number, time_left) = (operation.attempts(), operation.time_left());
                race.start(|| attempt(form, number, time_left));
            }
            let raced = (&mut race).await;
            if let Some(end) = race.proceed(form, last, raced) {
                return end;
            }
        }
    }
}
