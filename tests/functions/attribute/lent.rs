//! Arguments that contain a `&mut` are lent to one attempt after the other, as a plain `&mut` is.

use super::{Outcome, STRATEGY};
use crate::support::{Failed, Flaky, assert_send};
use async_trait::async_trait;
use retry_core::{StandardRetryStrategy, retryable};
use std::cell::Cell;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// A future that counts its polls. It can't be copied.
struct Polled(Cell<u32>);

impl Future for Polled {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        self.0.set(self.0.get() + 1);
        Poll::Ready(self.0.get())
    }
}

fn push(log: &mut Vec<u32>, call: u32) {
    log.push(call);
}

// Rule M2.
#[tokio::test(start_paused = true)]
async fn a_pinned_reference_is_lent_to_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn once(flaky: &Flaky, polled: Pin<&mut Polled>) -> Outcome<u32> {
        let polls = polled.await;
        flaky.call().map(|call| call * 10 + polls)
    }

    #[retryable(strategy = STRATEGY)]
    async fn twice(flaky: &Flaky, mut polled: Pin<&mut Polled>) -> Outcome<u32> {
        polled.as_mut().await;
        let polls = polled.await;
        flaky.call().map(|call| call * 10 + polls)
    }

    #[retryable(strategy = STRATEGY, max_time = "9s")]
    async fn dynamic(flaky: &Flaky, polled: Pin<&mut (dyn Future<Output = u32> + Send)>) -> Outcome<u32> {
        let polls = polled.await;
        flaky.call().map(|call| call * 10 + polls)
    }

    let flaky = || Flaky::new(2, Failed::SAFE);
    assert_eq!(assert_send(once(&flaky(), pin!(Polled(Cell::new(0))))).await, Ok(33));
    assert_eq!(assert_send(twice(&flaky(), pin!(Polled(Cell::new(0))))).await, Ok(36));
    assert_eq!(assert_send(dynamic(&flaky(), pin!(Polled(Cell::new(0))))).await, Ok(33));
}

// Rule M2.
#[tokio::test(start_paused = true)]
async fn an_optional_reference_is_lent_to_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn plain(flaky: &Flaky, log: Option<&mut Vec<u32>>) -> Outcome<u32> {
        if let Some(log) = log {
            push(log, flaky.calls());
        }
        flaky.call()
    }

    #[retryable(strategy = STRATEGY)]
    async fn changed(flaky: &Flaky, mut log: Option<&mut Vec<u32>>) -> Outcome<bool> {
        if let Some(log) = log.take() {
            push(log, flaky.calls());
        }
        flaky.call().map(|_| log.is_none())
    }

    #[retryable(strategy = STRATEGY)]
    async fn pinned(flaky: &Flaky, polled: Option<Pin<&mut Polled>>) -> Outcome<u32> {
        let polls = match polled {
            Some(polled) => polled.await,
            None => 0,
        };
        flaky.call().map(|call| call * 10 + polls)
    }

    let flaky = || Flaky::new(2, Failed::SAFE);
    let mut log = Vec::new();
    assert_eq!(assert_send(plain(&flaky(), Some(&mut log))).await, Ok(3));
    assert_eq!(changed(&flaky(), Some(&mut log)).await, Ok(true));
    assert_eq!(log, [0, 1, 2, 0, 1, 2]);
    assert_eq!(plain(&flaky(), None).await, Ok(3));
    assert_eq!(pinned(&flaky(), Some(pin!(Polled(Cell::new(0))))).await, Ok(33));
    assert_eq!(pinned(&flaky(), None).await, Ok(30));
}

#[tokio::test(start_paused = true)]
async fn references_in_a_tuple_are_lent_to_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn call(flaky: &Flaky, (log, polled): (&mut Vec<u32>, Pin<&mut Polled>)) -> Outcome<u32> {
        push(log, polled.await);
        flaky.call()
    }

    let mut log = Vec::new();
    let outcome = call(&Flaky::new(2, Failed::SAFE), (&mut log, pin!(Polled(Cell::new(0))))).await;
    assert_eq!((outcome, log), (Ok(3), vec![1, 2, 3]));
}

#[async_trait]
trait Reads {
    async fn read(
        &self,
        log: Option<&mut Vec<u32>>,
        polled: Pin<&mut (dyn Future<Output = u32> + Send)>,
    ) -> Outcome<u32>;
}

#[async_trait]
impl Reads for Flaky {
    #[retryable(strategy = STRATEGY)]
    async fn read(
        &self,
        log: Option<&mut Vec<u32>>,
        mut polled: Pin<&mut (dyn Future<Output = u32> + Send)>,
    ) -> Outcome<u32> {
        let polls = polled.as_mut().await;
        if let Some(log) = log {
            push(log, polls);
        }
        self.call()
    }
}

#[tokio::test(start_paused = true)]
async fn references_are_lent_in_each_form_of_function() {
    #[retryable(strategy = strategy)]
    fn tail<'a>(
        strategy: &'a StandardRetryStrategy,
        flaky: &'a Flaky,
        polled: Pin<&'a mut Polled>,
    ) -> impl Future<Output = Outcome<u32>> + 'a {
        async move {
            let polls = polled.await;
            flaky.call().map(|call| call * 10 + polls)
        }
    }

    #[retryable(strategy = STRATEGY, blocking)]
    fn blocks(flaky: &Flaky, log: Option<&mut Vec<u32>>) -> Outcome<u32> {
        if let Some(log) = log {
            push(log, flaky.calls());
        }
        flaky.call()
    }

    let flaky = || Flaky::new(1, Failed::SAFE);
    let mut log = Vec::new();
    assert_eq!(tail(&STRATEGY, &flaky(), pin!(Polled(Cell::new(0)))).await, Ok(22));
    assert_eq!(blocks(&flaky(), Some(&mut log)), Ok(2));
    assert_eq!(flaky().read(Some(&mut log), pin!(Polled(Cell::new(4)))).await, Ok(2));
    assert_eq!(log, [0, 1, 5, 6]);
}

#[tokio::test(start_paused = true)]
async fn a_reference_behind_a_type_alias_is_lent_to_each_attempt() {
    type Lent<'a> = &'a mut Vec<u32>;

    #[retryable(strategy = STRATEGY)]
    async fn call(flaky: &Flaky, log: Lent<'_>) -> Outcome<u32> {
        log.push(flaky.calls());
        flaky.call()
    }

    let mut log = Vec::new();
    assert_eq!(call(&Flaky::new(1, Failed::SAFE), &mut log).await, Ok(2));
    assert_eq!(log, [0, 1]);
}
