//! The future is `Send` if it is `Send` without the attribute. Arguments need not be `Sync`.

use super::{Outcome, STRATEGY};
use crate::support::{Failed, Flaky, assert_send};
use async_trait::async_trait;
use retry_core::{Jitter, StandardRetryStrategy, retryable};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::sync::Arc;

/// A source that attempts read from. It need not be `Sync`.
trait Source {
    fn calls(&self) -> u32;
}

struct Counting(Arc<Flaky>);

impl Source for Counting {
    fn calls(&self) -> u32 {
        self.0.calls()
    }
}

fn counting(failures: u32) -> Counting {
    Counting(Arc::new(Flaky::new(failures, Failed::SAFE)))
}

async fn pause() {
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn boxed_generic_and_plain_arguments_are_lent_to_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn boxed(flaky: &Flaky, source: Box<dyn Source + Send>) -> Outcome<u32> {
        pause().await;
        let calls = source.calls();
        flaky.call().map(|call| call + calls)
    }

    #[retryable(strategy = STRATEGY)]
    async fn generic<T: Send + Display>(flaky: &Flaky, value: T) -> Outcome<String> {
        let text = value.to_string();
        pause().await;
        flaky.call().map(|call| format!("{value} {text} {call}"))
    }

    #[retryable(strategy = STRATEGY)]
    async fn any(flaky: &Flaky, value: impl Send + Fn() -> u32) -> Outcome<u32> {
        pause().await;
        flaky.call().map(|call| call + value())
    }

    #[retryable(strategy = STRATEGY, max_time = "30s", attempt_timeout = "9s")]
    async fn cell(flaky: &Flaky, cell: Cell<u32>) -> Outcome<u32> {
        cell.set(cell.get() + 1);
        pause().await;
        flaky.call().map(|_| cell.get())
    }

    let flaky = || Flaky::new(2, Failed::SAFE);
    assert_eq!(assert_send(boxed(&flaky(), Box::new(counting(0)))).await, Ok(3));
    assert_eq!(assert_send(generic(&flaky(), 7)).await.as_deref(), Ok("7 7 3"));
    let seven = Cell::new(7);
    assert_eq!(assert_send(any(&flaky(), move || seven.get())).await, Ok(10));
    assert_eq!(assert_send(cell(&flaky(), Cell::new(0))).await, Ok(3), "all attempts use the same cell");
}

#[tokio::test(start_paused = true)]
async fn mut_cloned_and_destructured_arguments_are_lent_in_the_same_way() {
    #[derive(Clone)]
    struct Pair {
        left: Cell<u32>,
        right: Cell<u32>,
    }
    struct Wrapper<T>(T);

    #[retryable(strategy = STRATEGY, clone(cell, changed))]
    async fn cloned(flaky: &Flaky, cell: Cell<u32>, mut changed: Cell<u32>) -> Outcome<u32> {
        *changed.get_mut() += 1;
        pause().await;
        let used_up = (cell, changed);
        flaky.call().map(|_| used_up.0.get() + used_up.1.get())
    }

    #[retryable(strategy = STRATEGY)]
    async fn taken_apart(
        flaky: &Flaky,
        (first, _, (second, mut third)): (Cell<u32>, Cell<u32>, (Cell<u32>, u32)),
        Pair { left, right: other }: Pair,
        Wrapper(inner): Wrapper<Cell<u32>>,
        [a, .., b]: [Cell<u32>; 3],
    ) -> Outcome<u32> {
        pause().await;
        third += 1;
        flaky.call()?;
        Ok([&first, &second, &left, &other, &inner, &a, &b].map(Cell::get).iter().sum::<u32>() + third)
    }

    #[retryable(strategy = STRATEGY)]
    #[expect(clippy::toplevel_ref_arg, reason = "such arguments are accepted, too")]
    async fn borrowed(flaky: &Flaky, ref mut cell: Cell<u32>) -> Outcome<u32> {
        cell.set(cell.get() + 1);
        pause().await;
        flaky.call().map(|_| cell.get())
    }

    let flaky = || Flaky::new(2, Failed::SAFE);
    let cell = Cell::new;
    assert_eq!(assert_send(cloned(&flaky(), cell(1), cell(5))).await, Ok(7));
    let pair = Pair { left: cell(8), right: cell(16) };
    let array = [cell(64), cell(0), cell(128)];
    let flaky_parts = flaky();
    let sum = taken_apart(&flaky_parts, (cell(1), cell(0), (cell(2), 4)), pair, Wrapper(cell(32)), array);
    assert_eq!(assert_send(sum).await, Ok(1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 1));
    assert_eq!(assert_send(borrowed(&flaky(), cell(0))).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn an_argument_that_occurs_only_in_a_format_string_is_lent() {
    struct Shown(Cell<u32>);
    impl Display for Shown {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.set(self.0.get() + 1);
            self.0.get().fmt(formatter)
        }
    }

    #[retryable(strategy = STRATEGY)]
    async fn formatted(flaky: &Flaky, shown: Shown, r#type: Shown) -> Outcome<String> {
        pause().await;
        let text = format!("{shown:>2}, {type}");
        flaky.call().map(|_| text)
    }

    let shown = || Shown(Cell::new(0));
    let text = assert_send(formatted(&Flaky::new(2, Failed::SAFE), shown(), shown())).await;
    assert_eq!(text.as_deref(), Ok(" 3, 3"));
}

/// A client that is `Send` but not `Sync`.
struct Client {
    retry: StandardRetryStrategy,
    calls: Cell<u32>,
}

impl Client {
    fn new() -> Self {
        Self { retry: StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)), calls: Cell::new(0) }
    }

    fn call(&self) -> Outcome<u32> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() < 3 { Err(Failed::SAFE) } else { Ok(self.calls.get()) }
    }

    #[retryable(strategy = self.retry)]
    async fn by_value(self) -> Outcome<u32> {
        pause().await;
        self.call()
    }

    #[retryable(strategy = self.retry, max_time = "30s")]
    async fn boxed(self: Box<Self>) -> Outcome<u32> {
        pause().await;
        self.call()
    }

    #[retryable(strategy = client.retry)]
    async fn argument(client: Self) -> Outcome<u32> {
        pause().await;
        client.call()
    }

    #[retryable(strategy = self.retry)]
    fn tail(self, cell: Cell<u32>) -> impl Future<Output = Outcome<u32>> + Send {
        let started = cell.get();
        async move {
            pause().await;
            self.call().map(|calls| calls + cell.get() - started)
        }
    }
}

#[async_trait]
trait Sends {
    async fn send(self, source: Box<dyn Source + Send>, pair: (Cell<u32>, u32)) -> Outcome<u32>;
}

#[async_trait]
impl Sends for Client {
    #[retryable(strategy = self.retry)]
    async fn send(self, source: Box<dyn Source + Send>, (cell, mut number): (Cell<u32>, u32)) -> Outcome<u32> {
        pause().await;
        number += 1;
        self.call().map(|calls| calls + source.calls() + cell.get() + number)
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_by_value_is_lent_in_each_form_of_function() {
    assert_eq!(assert_send(Client::new().by_value()).await, Ok(3));
    assert_eq!(assert_send(Box::new(Client::new()).boxed()).await, Ok(3));
    assert_eq!(assert_send(Client::argument(Client::new())).await, Ok(3));
    assert_eq!(Client::new().tail(Cell::new(4)).await, Ok(3));
    assert_eq!(assert_send(Client::new().send(Box::new(counting(0)), (Cell::new(1), 2))).await, Ok(3 + 1 + 3));
}

#[tokio::test(start_paused = true)]
async fn a_provided_method_of_a_trait_may_take_its_receiver_by_value() {
    trait Close: Sized {
        fn call(&self) -> Outcome<u32>;

        #[retryable(strategy = STRATEGY)]
        async fn close(self) -> Outcome<u32> {
            pause().await;
            self.call()
        }
    }

    impl Close for Client {
        fn call(&self) -> Outcome<u32> {
            self.call()
        }
    }

    assert_eq!(assert_send(Client::new().close()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_may_borrow_what_an_owned_argument_borrows() {
    type Text<'a> = &'a str;

    #[retryable(strategy = STRATEGY, max_time = "9s")]
    async fn call<'a>(
        flaky: &Flaky,
        text: Text<'a>,
        cow: Cow<'a, str>,
        pair: (Cell<u32>, &'a str),
    ) -> Outcome<[&'a str; 3]> {
        flaky.call()?;
        let borrowed = match cow {
            Cow::Borrowed(text) => text,
            Cow::Owned(_) => "",
        };
        pair.0.set(1);
        Ok([&text[1..], borrowed, pair.1])
    }

    let pair = (Cell::new(0), "c");
    let texts = assert_send(call(&Flaky::new(2, Failed::SAFE), "xa", Cow::Borrowed("b"), pair)).await;
    assert_eq!(texts, Ok(["a", "b", "c"]));
}

#[tokio::test(start_paused = true)]
async fn an_argument_that_an_option_borrows_is_shared_with_the_attempts() {
    struct Stores(Vec<StandardRetryStrategy>);
    impl Stores {
        fn pick(&self) -> &StandardRetryStrategy {
            &self.0[0]
        }
    }

    #[retryable(strategy = stores.pick())]
    async fn call(stores: Stores, cell: Cell<u32>) -> Outcome<usize> {
        pause().await;
        cell.set(cell.get() + 1);
        if cell.get() < 3 { Err(Failed::SAFE) } else { Ok(stores.0.len()) }
    }

    let stores = Stores(vec![StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0))]);
    assert_eq!(assert_send(call(stores, Cell::new(0))).await, Ok(1));
}
