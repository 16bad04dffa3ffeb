//! Those who wait for a slot: their order, and how they are woken.

use super::{Outcome, RECHECK, at_start, begin, fill, in_flight, limited_to, succeed};
use crate::script::Error;
use crate::support::{Wakes, millis, poll_once, secs};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::{Event, EventKind, Observer, RetryStrategy, retry, retryable};
use retry_limits::ConcurrencyRetryStrategy;
use std::cell::RefCell;
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

// Rule I7.
#[test]
fn a_slot_that_comes_back_wakes_the_first_waiter_and_only_that_one() {
    let (strategy, clock) = (limited_to(2), at_start());
    let tasks: Vec<_> = (0..4).map(|_| Arc::new(Wakes::default())).collect();
    let wakers: Vec<_> = tasks.iter().map(|task| Waker::from(Arc::clone(task))).collect();
    let counts = || tasks.iter().map(|task| task.count()).collect::<Vec<_>>();
    let mut sent = fill(&strategy, &clock);
    let mut waiting: Vec<_> = (0..4).map(|_| begin(&strategy, &clock)).collect();
    for (token, waker) in waiting.iter_mut().zip(&wakers) {
        assert_eq!(strategy.ready(token, &clock, Some(&LazyWaker::from(waker))), Ready::After(RECHECK));
    }
    succeed(&strategy, sent.remove(0), &clock);
    assert_eq!(counts(), [1, 0, 0, 0]);
    // It is for the first one, and not for others.
    assert_ne!(strategy.ready(&mut waiting[1], &clock, Some(&LazyWaker::from(&wakers[1]))), Ready::Now);
    assert_ne!(strategy.ready(&mut begin(&strategy, &clock), &clock, None), Ready::Now);
    // The second slot is for the second one, whose waker is the one of its last question.
    drop(sent.remove(0));
    assert_eq!(counts(), [1, 1, 0, 0]);
    // The first one goes away without asking, and its slot is for the third one.
    strategy.release(waiting.remove(0));
    assert_eq!(counts(), [1, 1, 1, 0]);
    assert_eq!(strategy.ready(&mut waiting[1], &clock, None), Ready::Now);
    assert_eq!(strategy.ready(&mut waiting[0], &clock, None), Ready::Now);
    assert_ne!(strategy.ready(&mut waiting[2], &clock, None), Ready::Now);
    assert_eq!(in_flight(&strategy), 2);
}

// Rules I7, A12.
#[test]
fn a_slot_that_is_kept_for_a_late_waiter_is_only_its_own() {
    let (strategy, clock) = (limited_to(1), at_start());
    let sent = fill(&strategy, &clock);
    let task = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&task));
    let ask = |token: &mut _| strategy.ready(token, &clock, Some(&LazyWaker::from(&waker)));
    let [mut late, mut next] = [(); 2].map(|()| begin(&strategy, &clock));
    assert_eq!(ask(&mut late), Ready::After(RECHECK));
    clock.advance(RECHECK + millis(1));
    drop(sent);
    assert_eq!(ask(&mut next), Ready::After(RECHECK));
    assert_eq!(in_flight(&strategy), 1, "the slot is kept");
    assert_eq!(ask(&mut late), Ready::Now);
}

// Rule I7.
#[tokio::test(start_paused = true)]
async fn waiters_continue_in_order_as_soon_as_a_request_is_answered() {
    let (strategy, started) = (limited_to(2), Instant::now());
    let order = RefCell::new(Vec::new());
    let request = |name| {
        let order = &order;
        move || async move {
            order.borrow_mut().push(name);
            tokio::task::yield_now().await;
            Ok::<u32, Error>(name)
        }
    };
    let mut operations: Vec<_> = (1..=9).map(|name| Some(Box::pin(retry(&strategy, request(name)).run()))).collect();
    std::future::poll_fn(|context| {
        for operation in &mut operations {
            if operation.as_mut().is_some_and(|operation| operation.as_mut().poll(context).is_ready()) {
                *operation = None;
            }
        }
        if operations.iter().all(Option::is_none) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    assert_eq!(order.take(), (1..=9).collect::<Vec<_>>());
    assert_eq!(started.elapsed(), Duration::ZERO, "a wake was lost");
}

// Rule I7.
#[tokio::test(start_paused = true)]
async fn operations_in_separate_tasks_wake_each_other() {
    let (strategy, started) = (Arc::new(limited_to(1)), Instant::now());
    let tasks: Vec<_> = (1..=9)
        .map(|name| {
            let request = move || async move {
                tokio::task::yield_now().await;
                Ok::<_, Error>(name)
            };
            tokio::spawn(retry(Arc::clone(&strategy), request).run())
        })
        .collect();
    for (name, task) in (1..).zip(tasks) {
        assert_eq!(task.await.unwrap(), Ok(name));
    }
    assert_eq!(started.elapsed(), Duration::ZERO, "a wake was lost");
}

// Rule I7.
#[tokio::test(start_paused = true)]
async fn a_waiter_that_is_not_polled_holds_the_others_up_once_and_keeps_its_place() {
    let strategy = limited_to(1);
    let holding = retry(&strategy, std::future::pending::<Outcome>);
    let mut holding = Box::pin(holding.run());
    poll_once(holding.as_mut());
    let mut unpolled = Box::pin(retry(&strategy, async || Ok::<u32, Error>(1)).run());
    poll_once(unpolled.as_mut());
    drop(holding);
    for longest in [millis(250), Duration::ZERO, Duration::ZERO] {
        let started = Instant::now();
        assert_eq!(retry(&strategy, async || Ok::<u32, Error>(2)).run().await, Ok(2));
        assert!(started.elapsed() <= longest, "{:?}", started.elapsed());
    }
    let started = Instant::now();
    assert_eq!(unpolled.await, Ok(1));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

// Rules I7, T4.
#[tokio::test(start_paused = true)]
async fn a_waiter_whose_time_is_over_gives_up_its_place() {
    let strategy = limited_to(1);
    let mut holding = Box::pin(retry(&strategy, std::future::pending::<Outcome>).run());
    poll_once(holding.as_mut());
    let started = Instant::now();
    let impatient = retry(&strategy, async || Ok::<u32, Error>(1)).max_time(secs(3)).run().await;
    assert!(impatient.is_err());
    assert_eq!(started.elapsed(), secs(3), "it waited for as long as it could");
    let mut next = Box::pin(retry(&strategy, async || Ok::<u32, Error>(2)).run());
    poll_once(next.as_mut());
    drop(holding);
    assert_eq!(next.await, Ok(2));
    assert_eq!(started.elapsed(), secs(3), "nobody was ahead");
}

/// The maximum time of a thread before the test fails.
const PATIENCE: Duration = secs(60);

/// An observer that reports when an operation waits for the limiter.
struct Waiting(mpsc::Sender<()>);

impl Observer for Waiting {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::Limited { .. }) {
            let _ = self.0.send(());
        }
    }
}

#[retryable(strategy = strategy, blocking)]
fn hold(strategy: &ConcurrencyRetryStrategy, begun: &mpsc::Sender<()>, until: &mpsc::Receiver<()>) -> Outcome {
    begun.send(()).unwrap();
    until.recv_timeout(PATIENCE).unwrap();
    Ok(1)
}

#[retryable(strategy = strategy, observer = held_back, blocking)]
fn wait(strategy: &ConcurrencyRetryStrategy, held_back: Waiting) -> Outcome {
    Ok(2)
}

// Rule I7.
#[test]
fn a_thread_is_unparked_when_the_request_of_another_thread_is_answered() {
    const ROUNDS: u32 = 50;

    let strategy = Arc::new(limited_to(1));
    let started = std::time::Instant::now();
    for _ in 0..ROUNDS {
        let ((begun, has_begun), (held_back, is_held_back)) = (mpsc::channel(), mpsc::channel());
        let holder = Arc::clone(&strategy);
        let holding = std::thread::spawn(move || hold(&holder, &begun, &is_held_back));
        has_begun.recv_timeout(PATIENCE).unwrap();
        assert_eq!(wait(&strategy, Waiting(held_back)), Ok(2));
        assert_eq!(holding.join().unwrap(), Ok(1));
    }
    // Without the wake, each round would take the longest single wait.
    assert!(started.elapsed() < RECHECK * ROUNDS, "{:?}", started.elapsed());
    assert_eq!(in_flight(&strategy), 0);
}
