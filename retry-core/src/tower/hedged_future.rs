//! The future of one request with a hedge, which drives its operation.

use super::future::Sent;
use super::{ChangeRequest, CloneRequest, Settings};
use crate::hedge::Hedge;
use crate::observe::NoHedge;
use crate::operation::{LimitsOn, OperationOf, OptionalObserver, Race, Step, TimeLimits, permit};
use crate::policy::RetryPolicy;
use crate::strategy::RetryStrategy;
use crate::time::{Clock, Timer};
use std::future::{pending, poll_fn};
use std::mem;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tower_service::Service;

/// An operation, which releases its token if it is dropped before the attempt of that token is sent.
struct Held<S: RetryStrategy, P, C, A, T: Clock, O: OptionalObserver, L: TimeLimits> {
    settings: Settings<S, P, C, A, T, O, L>,
    operation: OperationOf<S, L, O>,
    /// Whether the service took the request of the attempt whose token the operation holds. Only one task uses it. It is
    /// atomic so that an attempt with a reference to it is `Send`.
    is_sent: AtomicBool,
}

impl<S: RetryStrategy, P, C, A, T: Clock, O: OptionalObserver, L: TimeLimits> Drop for Held<S, P, C, A, T, O, L> {
    fn drop(&mut self) {
        if !*self.is_sent.get_mut() {
            self.operation.release(self.settings.call());
        }
    }
}

/// A service, which may be ready already.
struct Prepared<Svc> {
    service: Svc,
    is_ready: bool,
}

/// Sends a request to a service as soon as it is ready.
async fn send<Svc: Service<Req>, Req>(
    prepared: Prepared<Svc>,
    request: Option<Req>,
    is_sent: &AtomicBool,
) -> Result<Svc::Response, Svc::Error> {
    let Prepared { mut service, is_ready } = prepared;
    // A request that can't be cloned is not retried.
    let Some(request) = request else { return pending().await };
    if !is_ready {
        poll_fn(|context| service.poll_ready(context)).await?;
        is_sent.store(true, Ordering::Relaxed);
    }
    service.call(request).await
}

/// Sends a request to a service that is ready, with a hedge and retries.
pub(super) async fn drive<Svc, Req, S, P, C, A, T, O, L>(
    service: Svc,
    request: Req,
    settings: Settings<S, P, C, A, T, O, L>,
    hedge: &'static Hedge,
) -> Result<Svc::Response, Svc::Error>
where
    Svc: Service<Req> + Clone,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    C: CloneRequest<Req>,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    let operation = settings.call().begin(settings.limits);
    let mut state = A::begin(&operation);
    let mut held = Held { settings, operation, is_sent: AtomicBool::new(false) };
    let (mut next, mut last) = (Some(request), None);
    // Only the service that was polled is ready.
    let (spare, mut prepared) = (service.clone(), Some(Prepared { service, is_ready: true }));
    let (bodies, sleeps, due) = ([pin!(None), pin!(None)], [pin!(None), pin!(None)], pin!(None));
    let mut race = Race::new(&held.operation, hedge, bodies, sleeps, due);
    loop {
        while !race.is_hedge() {
            let Some(wait) = held.settings.call().wait(&mut held.operation) else { break };
            wait.await;
        }
        let settled = if race.unrecovered(&held.operation, &mut last) {
            Some(None)
        } else {
            held.is_sent.store(false, Ordering::Relaxed);
            let clone = next.as_ref().and_then(|request| held.settings.clone.clone_request(request));
            let (deadline, sleep) = held.settings.call().deadline(&mut held.operation);
            let (number, time_left) = (held.operation.attempts(), held.operation.time_left());
            race.start(deadline, sleep, || {
                let mut request = mem::replace(&mut next, clone);
                if let Some(request) = &mut request {
                    held.settings.change.change(request, &state, number, time_left);
                }
                let prepared = prepared.take().unwrap_or_else(|| Prepared { service: spare.clone(), is_ready: false });
                // If the service is ready, it takes the request when the attempt is polled first, which is now.
                held.is_sent.store(prepared.is_ready, Ordering::Relaxed);
                send(prepared, request, &held.is_sent)
            });
            loop {
                let raced = (&mut race).await;
                let permit = match permit(&held.settings.policy) {
                    Ok(()) if raced.is_due() && next.is_none() => Err(NoHedge::NotRepeatable),
                    Ok(()) if raced.is_due() => prepare(spare.clone()).await.map(|ready| prepared = Some(ready)),
                    permit => permit,
                };
                let step = held.settings.call().step(&mut held.operation, &mut race, &mut last, raced, || permit);
                if step != Step::Hedge {
                    prepared = None;
                }
                match step {
                    Step::Wait => {}
                    Step::Hedge => break None,
                    Step::Over => break Some(None),
                    Step::Ended => {
                        let Some(outcome) = race.outcome() else { continue };
                        let directive =
                            held.settings.call().evaluate(&mut held.operation, &held.settings.policy, outcome);
                        let settled = held.settings.call().ended(&mut held.operation, &mut race, directive);
                        if settled.is_some() {
                            break Some(settled);
                        }
                    }
                }
            }
        };
        let (Some(directive), Some(outcome)) = (settled, race.take()) else { continue };
        let directive = directive.map(|directive| A::remember(&mut state, directive));
        let sent = Sent { was_sent: held.is_sent.load(Ordering::Relaxed), is_repeatable: next.is_some() };
        let decision = held.operation.settle_or_end(held.settings.call(), directive, sent);
        if let ControlFlow::Break(end) = held.operation.finish(held.settings.call(), decision, &mut last, outcome) {
            return end.outcome;
        }
    }
}

/// Prepares a service for a hedge.
///
/// # Errors
///
/// Returns an error if it is not ready immediately.
async fn prepare<Svc: Service<Req>, Req>(mut service: Svc) -> Result<Prepared<Svc>, NoHedge> {
    match poll_fn(|context| Poll::Ready(service.poll_ready(context))).await {
        Poll::Ready(Ok(())) => Ok(Prepared { service, is_ready: true }),
        _ => Err(NoHedge::NotReady),
    }
}
