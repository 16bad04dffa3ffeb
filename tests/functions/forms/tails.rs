//! The ways in which a function that returns a future may end with an `async` block.

use super::STRATEGY;
use crate::support::{Failed, Flaky, assert_send};
use retry_core::{StandardRetryStrategy, retryable};
use std::cell::Cell;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tracing::Instrument;

type Outcome<T> = Result<T, Failed>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Methods with the names and signatures of those in other libraries.
trait FutureExt: Future + Sized {
    fn boxed<'a>(self) -> BoxFuture<'a, Self::Output>
    where
        Self: Send + 'a,
    {
        Box::pin(self)
    }

    fn boxed_local<'a>(self) -> LocalBoxFuture<'a, Self::Output>
    where
        Self: 'a,
    {
        Box::pin(self)
    }

    fn map<T>(self, map: impl FnOnce(Self::Output) -> T) -> impl Future<Output = T> {
        async move { map(self.await) }
    }
}

impl<F: Future> FutureExt for F {}

/// Polls a future that is ready immediately.
fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future must be ready immediately"),
    }
}

fn flaky() -> Flaky {
    Flaky::new(2, Failed::SAFE)
}

#[tokio::test(start_paused = true)]
async fn the_block_may_be_followed_by_a_method_that_boxes_it() {
    #[retryable(strategy = STRATEGY)]
    fn boxed<'a>(flaky: &'a Flaky, mut n: u32, cell: Cell<u32>) -> BoxFuture<'a, Outcome<u32>> {
        async move {
            n += 1;
            flaky.call().map(|call| call * 100 + n * 10 + cell.get())
        }
        .boxed()
    }

    #[retryable(strategy = STRATEGY, max_time = "30s", context = context)]
    fn boxed_local(flaky: &Flaky) -> LocalBoxFuture<'_, Outcome<u32>> {
        async move {
            assert_eq!(context.attempt(), flaky.calls() + 1);
            flaky.call()
        }
        .boxed_local()
    }

    assert_eq!(assert_send(boxed(&flaky(), 1, Cell::new(5))).await, Ok(325));
    assert_eq!(boxed_local(&flaky()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn the_block_may_follow_the_keyword_return() {
    #[retryable(strategy = STRATEGY)]
    fn plain(flaky: &Flaky) -> impl Future<Output = Outcome<u32>> {
        return async move { flaky.call() };
    }

    #[retryable(strategy = STRATEGY)]
    fn boxed(flaky: &Flaky) -> BoxFuture<'_, Outcome<u32>> {
        return Box::pin(async move { flaky.call() });
    }

    assert_eq!(plain(&flaky()).await, Ok(3));
    assert_eq!(boxed(&flaky()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn the_block_may_be_bound_to_a_name() {
    #[retryable(strategy = store)]
    fn plain<'a>(flaky: &'a Flaky, calls: &'a Cell<u32>) -> impl Future<Output = Outcome<u32>> + 'a {
        let store = &STRATEGY;
        let future = async move { flaky.call().map(|call| call + calls.get()) };
        calls.set(calls.get() + 1);
        future
    }

    #[retryable(strategy = STRATEGY)]
    fn boxed(flaky: &Flaky) -> BoxFuture<'_, Outcome<u32>> {
        let future = async { flaky.calls() };
        drop(future);
        let future = async move { flaky.call() };
        Box::pin(future)
    }

    #[retryable(strategy = STRATEGY)]
    fn typed(flaky: &Flaky) -> BoxFuture<'_, Outcome<u32>> {
        let future: BoxFuture<'_, Outcome<u32>> = Box::pin(async move { flaky.call() });
        future
    }

    #[retryable(strategy = STRATEGY)]
    fn cast(flaky: &Flaky) -> LocalBoxFuture<'_, Outcome<u32>> {
        (Box::pin(async move { flaky.call() })) as LocalBoxFuture<'_, Outcome<u32>>
    }

    let calls = Cell::new(0);
    assert_eq!(plain(&flaky(), &calls).await, Ok(4));
    assert_eq!(calls.get(), 1, "statements around the block run once");
    assert_eq!(boxed(&flaky()).await, Ok(3));
    assert_eq!(typed(&flaky()).await, Ok(3));
    assert_eq!(cast(&flaky()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn a_statement_before_the_block_may_shadow_an_argument() {
    #[retryable(strategy = STRATEGY, clone(text))]
    fn call<'a>(
        flaky: &'a Flaky,
        key: String,
        mut number: u32,
        log: Option<&'a mut Vec<u32>>,
        text: String,
    ) -> impl Future<Output = Outcome<usize>> + 'a {
        let key = key.len();
        number += 1;
        let number = number;
        let Some(log) = log else { panic!("the argument is present") };
        let text = text + "!";
        let log = &*log;
        async move {
            let text: String = text;
            flaky.call().map(|_| key + number as usize + log.len() + text.len())
        }
    }

    let mut log = vec![0; 100];
    assert_eq!(call(&flaky(), "abc".to_owned(), 10, Some(&mut log), "x".to_owned()).await, Ok(116));
}

#[tokio::test(start_paused = true)]
async fn a_span_may_be_around_all_attempts() {
    #[retryable(strategy = STRATEGY)]
    fn in_a_span(flaky: &Flaky, name: &'static str) -> impl Future<Output = Outcome<u32>> {
        let span = tracing::info_span!("call", name);
        async move { flaky.call() }.instrument(span)
    }

    #[retryable(strategy = STRATEGY)]
    fn in_the_current_span(flaky: &Flaky) -> impl Future<Output = Outcome<u32>> {
        async move { flaky.call() }.in_current_span()
    }

    #[retryable(strategy = STRATEGY)]
    fn boxed(flaky: &Flaky) -> BoxFuture<'_, Outcome<u32>> {
        Box::pin(async move { flaky.call() }.instrument(tracing::Span::current()))
    }

    #[retryable(strategy = STRATEGY)]
    fn chained(flaky: &Flaky) -> BoxFuture<'_, Outcome<u32>> {
        async move { flaky.call() }.instrument(tracing::Span::current()).boxed()
    }

    assert_eq!(in_a_span(&flaky(), "name").await, Ok(3));
    assert_eq!(in_the_current_span(&flaky()).await, Ok(3));
    assert_eq!(boxed(&flaky()).await, Ok(3));
    assert_eq!(chained(&flaky()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn a_method_may_change_the_outcome_of_the_block() {
    #[retryable(strategy = STRATEGY)]
    fn counted(flaky: &Flaky) -> impl Future<Output = Option<u32>> {
        async move {
            let call = flaky.call()?;
            Outcome::Ok(call)
        }
        .map(Result::ok)
    }

    assert_eq!(counted(&flaky()).await, Some(3));
}

#[test]
fn a_blocking_function_may_contain_an_async_block() {
    #[retryable(strategy = *strategy, blocking)]
    fn call(strategy: &StandardRetryStrategy, flaky: &Flaky) -> Outcome<u32> {
        block_on(async { flaky.call() })
    }

    #[retryable(strategy = *strategy, blocking)]
    fn named(strategy: &StandardRetryStrategy, flaky: &Flaky) -> Outcome<u32> {
        let future = async { flaky.call() };
        block_on(future)
    }

    assert_eq!(call(&super::strategy(), &flaky()), Ok(3));
    assert_eq!(named(&super::strategy(), &Flaky::new(0, Failed::SAFE)), Ok(1));
}
