//! Operations that wait for the service: evidence, probes, and operations that go away, at the same time.

use super::ByHand;
use super::early_wake::{Endless, Task};
use loom::thread;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::{
    Clock, ErrorInfo, ExponentialBackoff, Failure, Jitter, PatientRetryStrategy, RetryError, RetryInfo, RetrySafety,
    RetryStrategy, StandardRetryStrategy, Stop, Success, TimedOut, TokenBucket, retry,
};
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

type Strategy = PatientRetryStrategy<ExponentialBackoff, TokenBucket>;
type Outcome = Result<u32, Failed>;

#[derive(Debug)]
struct Failed;

impl ErrorInfo for Failed {}

impl RetryInfo for Failed {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }

    fn is_timeout(&self) -> bool {
        true
    }
}

impl From<TimedOut> for Failed {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

/// Returns a strategy whose quota pays for nothing, so that each retry waits, and whose service has answered once: half a credit is
/// left. With two attempts, an operation is never sent as a probe.
fn strategy() -> Arc<Strategy> {
    let standard = StandardRetryStrategy::new().max_attempts(2).quota_capacity(0);
    let strategy = Arc::new(PatientRetryStrategy::over(standard.jitter(Jitter::Fixed(0.0))));
    let _ = format!("{strategy:?}");
    succeed(&*strategy);
    strategy
}

/// Returns a strategy whose operations are sent as probes. Its quota paid for one timeout, and pays for no other.
fn probing() -> Arc<PatientRetryStrategy> {
    let strategy = Arc::new(PatientRetryStrategy::new().seed(1));
    let _ = format!("{strategy:?}");
    succeed(&*strategy);
    let paid = refused(&*strategy, &at_start()).unwrap();
    assert_eq!(strategy.waiting_operations(), Some(0));
    drop(paid);
    strategy
}

/// Returns a clock that the model advances, at the time of the other one.
fn at_start() -> ByHand {
    ByHand::at(Endless.now().since_origin().as_secs())
}

/// Reports a success that took no time: half a credit.
fn succeed(strategy: &impl RetryStrategy) {
    let token = strategy.acquire_initial_token(&Endless).unwrap();
    strategy.record_success(token, &Success::default(), &Endless).unwrap();
}

/// Returns an operation whose first attempt fails, and whose second one succeeds. It waits in between.
fn waits(strategy: &Arc<Strategy>) -> Pin<Box<impl Future<Output = Outcome> + use<>>> {
    let mut attempts = 0;
    let attempt = move || {
        attempts += 1;
        ready(if attempts == 1 { Err(Failed) } else { Ok(attempts) })
    };
    let mut operation = Box::pin(retry(Arc::clone(strategy), attempt).timer(Endless).run());
    assert!(Task::new().poll(operation.as_mut()).is_pending());
    operation
}

/// Returns the token of an operation that is to wait, and has not asked yet.
fn refused<S: RetryStrategy>(strategy: &S, clock: &ByHand) -> Result<S::Token, RetryError> {
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed), clock)
}

fn ask<S: RetryStrategy>(strategy: &S, token: &mut S::Token, clock: &dyn Clock, task: &Arc<Task>) -> Ready {
    let waker = Waker::from(Arc::clone(task));
    strategy.ready(token, clock, Some(&LazyWaker::from(&waker)))
}

// Rules U8, U18.
#[test]
fn each_of_two_operations_is_woken_when_a_credit_sends_it() {
    loom::model(|| {
        let strategy = strategy();
        let [mut first, mut second] = [(); 2].map(|()| waits(&strategy));
        let other = Arc::clone(&strategy);
        // With the half that is left, these are two credits.
        let answered = thread::spawn(move || (0..3).for_each(|_| succeed(&*other)));
        let thread = thread::spawn(move || Task::new().run(first.as_mut()).is_ok());
        assert!(Task::new().run(second.as_mut()).is_ok());
        assert!(thread.join().unwrap());
        answered.join().unwrap();
        assert_eq!(strategy.waiting_operations(), Some(0));
    });
}

// Rules U7, U8, U18.
#[test]
fn an_operation_that_joins_beside_successes_is_sent_by_them_or_by_the_next_ones() {
    loom::model(|| {
        let (strategy, task) = (strategy(), Task::new());
        let other = Arc::clone(&strategy);
        let thread = thread::spawn(move || (0..2).for_each(|_| succeed(&*other)));
        let mut token = refused(&*strategy, &at_start()).unwrap();
        let before = ask(&*strategy, &mut token, &Endless, &task);
        thread.join().unwrap();
        if before != Ready::Now && task.wakes() == 0 {
            // The successes were early.
            assert_ne!(ask(&*strategy, &mut token, &Endless, &task), Ready::Now);
            (0..2).for_each(|_| succeed(&*strategy));
            assert_eq!(task.wakes(), 1);
        }
        assert_eq!(ask(&*strategy, &mut token, &Endless, &task), Ready::Now);
        assert_eq!(strategy.waiting_operations(), Some(0));
    });
}

// Rules U17, U18.
#[test]
fn instead_of_an_operation_that_is_dropped_beside_the_success_that_sends_it_the_next_one_is_sent() {
    loom::model(|| {
        let strategy = strategy();
        let [first, mut second] = [(); 2].map(|()| waits(&strategy));
        let other = Arc::clone(&strategy);
        let answered = thread::spawn(move || succeed(&*other));
        let left = thread::spawn(move || drop(first));
        let thread = thread::spawn(move || Task::new().run(second.as_mut()).is_ok());
        answered.join().unwrap();
        left.join().unwrap();
        succeed(&*strategy);
        assert!(thread.join().unwrap());
        assert_eq!(strategy.waiting_operations(), Some(0));
    });
}

// Rule U17.
#[test]
fn an_operation_that_is_stopped_beside_the_success_that_sends_it_frees_its_place() {
    loom::model(|| {
        let (strategy, stop) = (strategy(), Stop::new());
        let mut attempts = 0;
        let attempt = || {
            attempts += 1;
            ready(if attempts == 1 { Err(Failed) } else { Ok(attempts) })
        };
        let mut stopped = Box::pin(retry(Arc::clone(&strategy), attempt).timer(Endless).stop(&stop).run());
        assert!(Task::new().poll(stopped.as_mut()).is_pending());
        let other = Arc::clone(&strategy);
        let answered = thread::spawn(move || succeed(&*other));
        stop.stop();
        let is_sent = Task::new().run(stopped.as_mut()).is_ok();
        answered.join().unwrap();
        assert!(!is_sent, "it asks again only after it was stopped");
        assert_eq!(strategy.waiting_operations(), Some(0));
        drop(stopped);
        let mut next = waits(&strategy);
        (0..2).for_each(|_| succeed(&*strategy));
        assert!(Task::new().run(next.as_mut()).is_ok());
    });
}

// Rule U11.
#[test]
fn one_of_two_operations_that_ask_at_once_is_the_probe() {
    loom::model(|| {
        let (strategy, clock) = (probing(), Arc::new(at_start()));
        let [mut first, mut second] = [(); 2].map(|()| {
            let mut token = refused(&*strategy, &clock).unwrap();
            assert_ne!(ask(&*strategy, &mut token, &*clock, &Task::new()), Ready::Now);
            token
        });
        clock.advance(Duration::from_secs(2));
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || ask(&*other, &mut second, &*time, &Task::new()) == Ready::Now);
        let is_sent = ask(&*strategy, &mut first, &*clock, &Task::new()) == Ready::Now;
        assert!(is_sent, "it is the oldest one");
        assert!(!thread.join().unwrap());
        assert_eq!(strategy.waiting_operations(), Some(1));
    });
}

// Rules U8, U11.
#[test]
fn beside_a_success_that_sends_one_at_most_one_other_is_a_probe() {
    loom::model(|| {
        let (strategy, clock) = (probing(), Arc::new(at_start()));
        let tokens = [(); 2].map(|()| {
            let mut token = refused(&*strategy, &clock).unwrap();
            assert_ne!(ask(&*strategy, &mut token, &*clock, &Task::new()), Ready::Now);
            token
        });
        clock.advance(Duration::from_secs(2));
        let [first, second] = tokens.map(|mut token| {
            let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
            thread::spawn(move || (ask(&*other, &mut token, &*time, &Task::new()) == Ready::Now, token))
        });
        succeed(&*strategy);
        let [(first, mut oldest), (second, _)] = [first, second].map(|thread| thread.join().unwrap());
        // The first one was sent as the probe or for the credit. In the first case, the credit is for the second one.
        assert!(first || ask(&*strategy, &mut oldest, &*clock, &Task::new()) == Ready::Now);
        assert!(strategy.waiting_operations() <= Some(u32::from(!second)));
    });
}

// Rules U11, U17, U18.
#[test]
fn the_next_probe_knows_its_turn_when_the_one_before_it_leaves() {
    loom::model(|| {
        let (strategy, clock, task) = (probing(), at_start(), Task::new());
        let [mut first, mut second] = [(); 2].map(|()| refused(&*strategy, &clock).unwrap());
        assert_ne!(ask(&*strategy, &mut first, &clock, &Task::new()), Ready::Now);
        let other = Arc::clone(&strategy);
        let left = thread::spawn(move || other.release(first));
        let answer = ask(&*strategy, &mut second, &clock, &task);
        left.join().unwrap();
        let is_told = answer == Ready::After(Duration::from_secs(1));
        assert!(is_told || task.wakes() == 1, "{answer:?}");
        assert_eq!(strategy.waiting_operations(), Some(1));
    });
}

// Rule U5.
#[test]
fn no_more_wait_than_may() {
    loom::model(|| {
        let standard = StandardRetryStrategy::new().quota_capacity(0);
        let strategy = PatientRetryStrategy::over(standard.jitter(Jitter::Fixed(0.0))).max_waiting(1);
        let strategy = Arc::new(strategy);
        let _ = format!("{strategy:?}");
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&strategy);
            thread::spawn(move || refused(&*other, &at_start()).is_ok())
        });
        let waiting = threads.map(|thread| thread.join().unwrap());
        assert_ne!(waiting[0], waiting[1]);
        assert_eq!(strategy.waiting_operations(), Some(1));
    });
}
