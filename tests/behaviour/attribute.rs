//! What `#[retryable]` takes, and that each attempt starts from what was passed.

use crate::support::{Failed, Flaky, assert_send, secs};
use retry_core::{Jitter, RetryQuota, StandardRetryStrategy, retryable};
use std::fmt::Display;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(100_000);

type Outcome<T> = Result<T, Failed>;

/// Fails as often as it is told; for futures that must be `Send`.
struct Counter {
    failures: u32,
    calls: AtomicU32,
}

impl Counter {
    const fn new(failures: u32) -> Self {
        Self { failures, calls: AtomicU32::new(0) }
    }

    fn call(&self) -> Result<u32, Failed> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call > self.failures { Ok(call) } else { Err(Failed::SAFE) }
    }
}

#[tokio::test(start_paused = true)]
async fn mut_arguments_start_anew_in_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn append(flaky: &Flaky, mut n: u32, mut seen: &[u32]) -> Outcome<u32> {
        n += 1;
        seen = &seen[1..];
        flaky.call()?;
        Ok(n * 10 + seen[0])
    }

    let flaky = Flaky::new(3, Failed::SAFE);
    assert_eq!(append(&flaky, 5, &[1, 2]).await, Ok(62));
    assert_eq!(flaky.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn owned_arguments_that_the_body_uses_up_are_cloned_on_request() {
    #[retryable(strategy = STRATEGY, clone(text, mut_text))]
    async fn consume(flaky: &Flaky, text: String, mut mut_text: String) -> Outcome<usize> {
        mut_text.push('!');
        let used_up = [text, mut_text].concat();
        flaky.call()?;
        Ok(used_up.len())
    }

    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(consume(&flaky, "abc".to_owned(), "de".to_owned()).await, Ok(6));
    assert_eq!(flaky.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn mutable_references_are_lent_to_each_attempt() {
    fn by_value<T: Extend<u32>>(mut target: T, item: u32) {
        target.extend([item]);
    }

    struct Sink<'a>(&'a mut Vec<u32>);
    impl Extend<u32> for Sink<'_> {
        fn extend<I: IntoIterator<Item = u32>>(&mut self, items: I) {
            self.0.extend(items);
        }
    }

    #[retryable(strategy = STRATEGY)]
    async fn record(flaky: &Flaky, calls: &mut Vec<u32>, mut again: &mut u32) -> Outcome<()> {
        by_value(Sink(calls), flaky.calls());
        *again += 1;
        let mut other = 0;
        again = &mut other;
        *again += 1;
        flaky.call().map(drop)
    }

    let (mut calls, mut again) = (Vec::new(), 0);
    let flaky = Flaky::new(2, Failed::SAFE);
    record(&flaky, &mut calls, &mut again).await.unwrap();
    assert_eq!((calls, again), (vec![0, 1, 2], 3));
}

struct Client {
    retry: StandardRetryStrategy,
    shared: Arc<StandardRetryStrategy>,
    counter: Counter,
    log: Vec<u32>,
}

impl Client {
    fn new(failures: u32) -> Self {
        let strategy = || StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
        Self { retry: strategy(), shared: Arc::new(strategy()), counter: Counter::new(failures), log: Vec::new() }
    }

    #[retryable(strategy = STRATEGY)]
    async fn shared(&self) -> Outcome<u32> {
        self.counter.call()
    }

    #[retryable(strategy = self.retry)]
    async fn exclusive(&mut self, step: u32) -> Outcome<usize> {
        self.log.push(step);
        tokio::task::yield_now().await;
        let call = self.counter.call()?;
        self.log.push(call);
        Ok(self.log.len())
    }

    #[retryable(strategy = &self.shared)]
    async fn by_reference(&mut self) -> Outcome<u32> {
        self.log.clear();
        self.counter.call()
    }

    #[retryable(strategy = Arc::clone(&self.shared))]
    async fn by_handle(&mut self) -> Outcome<u32> {
        self.log.clear();
        self.counter.call()
    }

    #[retryable(strategy = retry)]
    async fn by_argument(&self, retry: &StandardRetryStrategy) -> Outcome<u32> {
        self.counter.call()
    }

    #[retryable(strategy = self.retry)]
    async fn borrowed<'a>(&'a self, key: &'a str) -> Result<(&'a str, &'a Self), Failed> {
        self.counter.call()?;
        Ok((key, self))
    }

    #[retryable(strategy = self.retry)]
    async fn elided(&self, _key: &str, sink: &mut Vec<u32>) -> Outcome<&[u32]> {
        sink.push(self.counter.call()?);
        Ok(&self.log)
    }

    #[retryable(strategy = STRATEGY)]
    async fn by_value(self) -> Outcome<u32> {
        self.counter.call()
    }
}

#[tokio::test(start_paused = true)]
async fn methods_are_retried_with_the_strategy_of_their_own_value() {
    assert_eq!(Client::new(2).shared().await, Ok(3));
    assert_eq!(assert_send(Client::new(2).exclusive(7)).await, Ok(4));
    assert_eq!(Client::new(2).by_value().await, Ok(3));

    let mut client = Client::new(2);
    assert_eq!(client.by_reference().await, Ok(3));
    assert_eq!(client.shared.quota().available(), 491, "two retries were paid from it, one success gave back");
    client.counter = Counter::new(1);
    assert_eq!(client.by_handle().await, Ok(2));
    assert_eq!(client.shared.quota().available(), 487);

    let client = Client::new(1);
    assert_eq!(client.by_argument(&client.retry).await, Ok(2));
    assert_eq!(client.retry.quota().available(), 496);
    assert_eq!(client.borrowed("key").await.unwrap().0, "key");
    assert_eq!(client.elided("key", &mut Vec::new()).await, Ok(&[][..]));
}

trait Store {
    async fn get(&mut self, key: &str) -> Result<String, Failed>;
}

impl Store for Client {
    #[retryable(strategy = self.retry)]
    async fn get(&mut self, key: &str) -> Result<String, Failed> {
        self.counter.call().map(|call| format!("{key}{call}"))
    }
}

#[tokio::test(start_paused = true)]
async fn methods_of_trait_impls_are_retried() {
    assert_eq!(Client::new(1).get("a").await, Ok("a2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn generics_lifetimes_const_generics_and_impl_trait_are_taken() {
    #[retryable(strategy = STRATEGY)]
    async fn all<'a, T, const N: usize>(
        flaky: &Flaky,
        items: [&'a T; N],
        (left, mut right): (u32, u32),
        display: impl Display + Copy,
        Wrapper { inner, .. }: Wrapper,
        _: u8,
    ) -> Result<impl Iterator<Item = &'a T>, Failed>
    where
        T: Clone,
    {
        right += left;
        flaky.call()?;
        assert_eq!(right, 3, "{display}");
        assert!(inner);
        Ok(items.into_iter())
    }

    #[derive(Clone, Copy)]
    struct Wrapper {
        inner: bool,
        #[expect(dead_code)]
        other: bool,
    }

    let wrapper = Wrapper { inner: true, other: false };
    let flaky = Flaky::new(2, Failed::SAFE);
    let items = all(&flaky, [&1, &2], (1, 2), "sum", wrapper, 0).await.unwrap();
    assert_eq!(items.copied().collect::<Vec<i32>>(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn question_mark_and_return_end_the_attempt_at_any_depth() {
    #[derive(Debug, PartialEq)]
    enum Any {
        Failed(Failed),
        Parse,
    }
    impl From<Failed> for Any {
        fn from(fault: Failed) -> Self {
            Self::Failed(fault)
        }
    }
    impl retry_core::ErrorInfo for Any {}
    impl retry_core::RetryInfo for Any {
        fn is_retry_safe(&self) -> retry_core::RetrySafety {
            retry_core::RetrySafety::Yes
        }
    }

    #[retryable(strategy = STRATEGY)]
    async fn deep(flaky: &Flaky, text: &str) -> Result<Box<dyn Display>, Any> {
        for _ in 0..3 {
            if flaky.calls() == 2 {
                return Ok(Box::new(text.len()));
            }
            match text.parse::<u32>() {
                Ok(_) => {
                    flaky.call()?;
                }
                Err(_) => return Err(Any::Parse),
            }
        }
        Ok(Box::new(0))
    }

    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(deep(&flaky, "123").await.unwrap().to_string(), "3");
    assert_eq!(deep(&Flaky::new(0, Failed::SAFE), "x").await.map(drop), Err(Any::Parse));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_send_leaves_the_future_send() {
    #[derive(Debug)]
    struct Local(#[expect(dead_code)] Rc<u32>);
    impl retry_core::ErrorInfo for Local {}
    impl retry_core::RetryInfo for Local {
        fn is_retry_safe(&self) -> retry_core::RetrySafety {
            retry_core::RetrySafety::Yes
        }
    }

    static JITTERY: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));

    #[retryable(strategy = JITTERY)]
    async fn local(counter: &Counter) -> Result<u32, Local> {
        counter.call().map_err(|_| Local(Rc::new(1)))
    }

    assert_eq!(assert_send(local(&Counter::new(1))).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_strategy_of_the_functions_own_is_shared_by_its_calls() {
    #[retryable(strategy = "standard")]
    async fn own<T>(flaky: &Flaky, _: T) -> Outcome<u32> {
        flaky.call()
    }

    // 500 pay for 100 retries, whatever the type parameter is.
    let (mut granted, mut text) = (0, true);
    loop {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        let _ = if text { own(&flaky, "").await } else { own(&flaky, 1).await };
        text = !text;
        granted += flaky.calls() - 1;
        if flaky.calls() == 1 {
            break;
        }
    }
    assert_eq!(granted, 100);
}

#[tokio::test(start_paused = true)]
async fn idempotence_decides_what_maybe_means() {
    #[retryable(strategy = STRATEGY, idempotent)]
    async fn yes(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY, idempotent = false)]
    async fn no(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY)]
    async fn unsaid(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    use retry_core::{ErrorFault, RetrySafety};
    let maybe = Failed { safety: RetrySafety::Maybe, ..Failed::SAFE };
    let server = Failed { fault: ErrorFault::Server, ..maybe };
    for (error, expected) in [(maybe, [2, 1, 1]), (server, [2, 1, 2]), (Failed::TIMEOUT, [2, 1, 2])] {
        let flaky = [(); 3].map(|()| Flaky::new(1, error));
        let _ = yes(&flaky[0]).await;
        let _ = no(&flaky[1]).await;
        let _ = unsaid(&flaky[2]).await;
        assert_eq!(flaky.map(|flaky| flaky.calls()), expected, "{error:?}");
    }
}

impl Client {
    #[retryable(strategy = self.retry)]
    async fn shared_receiver(self: Arc<Self>) -> Outcome<u32> {
        self.counter.call()
    }

    #[retryable(strategy = self.retry)]
    #[expect(clippy::needless_arbitrary_self_type, reason = "it is the spelling that is tested")]
    async fn typed_receiver(self: &mut Self, step: u32) -> Outcome<usize> {
        self.log.push(step);
        self.counter.call()?;
        Ok(self.log.len())
    }

    #[retryable(strategy = *retry)]
    async fn by_mutable_argument(&self, retry: &mut StandardRetryStrategy) -> Outcome<u32> {
        self.counter.call()
    }

    #[retryable(strategy = self.retry)]
    async fn returns_a_function(&mut self) -> Outcome<Box<dyn Fn(&str) -> usize + Send>> {
        self.counter.call()?;
        Ok(Box::new(str::len))
    }
}

#[tokio::test(start_paused = true)]
async fn receivers_of_every_kind_are_taken() {
    assert_eq!(Arc::new(Client::new(1)).shared_receiver().await, Ok(2));
    assert_eq!(Client::new(1).typed_receiver(7).await, Ok(2));
    let mut strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
    assert_eq!(Client::new(1).by_mutable_argument(&mut strategy).await, Ok(2));
    assert_eq!(Client::new(1).returns_a_function().await.map(|length| length("four")), Ok(4));
}

#[tokio::test(start_paused = true)]
async fn macro_rules_may_make_the_function() {
    macro_rules! function {
        ($name:ident, $strategy:expr, $ty:ty, $pat:pat, $sum:expr) => {
            #[retryable(strategy = $strategy)]
            async fn $name(flaky: &Flaky, log: $ty, $pat: (u32, u32)) -> Outcome<u32> {
                log.push($sum);
                flaky.call()
            }
        };
    }

    function!(in_pattern, STRATEGY, &mut Vec<u32>, (a, b), a + b);
    let mut log = Vec::new();
    assert_eq!(in_pattern(&Flaky::new(1, Failed::SAFE), &mut log, (1, 2)).await, Ok(2));
    assert_eq!(log, [3, 3]);
}

#[tokio::test(start_paused = true)]
async fn arguments_may_be_there_on_a_condition() {
    #[retryable(strategy = STRATEGY, clone(text))]
    async fn conditional(
        flaky: &Flaky,
        #[cfg(test)] mut n: u32,
        #[cfg(not(test))] mut n: String,
        #[cfg(not(test))] text: u8,
    ) -> Outcome<u32> {
        n += 1;
        flaky.call()?;
        Ok(n)
    }

    assert_eq!(conditional(&Flaky::new(2, Failed::SAFE), 1).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn nested_mut_and_ref_patterns_start_anew_too() {
    #[retryable(strategy = STRATEGY)]
    #[expect(clippy::toplevel_ref_arg, reason = "it is taken as well")]
    async fn nested(flaky: &Flaky, (mut a, ref b): (u32, u32), ref mut c: u32, [_, mut d]: [u32; 2]) -> Outcome<u32> {
        a += b;
        *c += 1;
        d += 1;
        flaky.call()?;
        Ok(a * 100 + *c * 10 + d)
    }

    assert_eq!(nested(&Flaky::new(2, Failed::SAFE), (1, 2), 0, [0, 4]).await, Ok(335));
}

#[tokio::test(start_paused = true)]
async fn the_attribute_works_under_another_name() {
    use retry_core as renamed;

    #[renamed::retryable(strategy = "standard", crate = renamed)]
    async fn call() -> Outcome<u32> {
        Ok(1)
    }

    assert_eq!(call().await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_place_in_a_static_is_named_like_the_static() {
    static STRATEGIES: [StandardRetryStrategy; 2] = [const { StandardRetryStrategy::new().max_attempts(2) }; 2];
    static LAZY: LazyLock<(u32, StandardRetryStrategy)> =
        LazyLock::new(|| (1, StandardRetryStrategy::new().max_attempts(3)));

    #[retryable(strategy = STRATEGIES[1])]
    async fn element(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = LAZY.1)]
    async fn field(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    let flaky = [(); 2].map(|()| Flaky::new(u32::MAX, Failed::SAFE));
    let _ = element(&flaky[0]).await;
    let _ = field(&flaky[1]).await;
    assert_eq!(flaky.map(|flaky| flaky.calls()), [2, 3]);
    assert_eq!((STRATEGIES[0].quota().available(), STRATEGIES[1].quota().available()), (500, 495));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_place_is_evaluated_once_in_each_call() {
    static STRATEGIES: [StandardRetryStrategy; 2] = [const { StandardRetryStrategy::new().max_attempts(3) }; 2];
    fn next(evaluated: &AtomicU32) -> usize {
        evaluated.fetch_add(1, Ordering::Relaxed) as usize % 2
    }

    #[retryable(strategy = &STRATEGIES[next(evaluated)])]
    async fn chosen(flaky: &Flaky, evaluated: &AtomicU32) -> Outcome<u32> {
        flaky.call()
    }

    let (flaky, evaluated) = (Flaky::new(u32::MAX, Failed::SAFE), AtomicU32::new(0));
    let _ = chosen(&flaky, &evaluated).await;
    assert_eq!((flaky.calls(), evaluated.into_inner()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn the_body_sees_no_names_of_the_expansion() {
    #[retryable(strategy = STRATEGY)]
    async fn names(__operation: &Flaky, __wait: u32, __outcome: u32, __sleep: u32) -> Outcome<u32> {
        let _ = __operation.call()?;
        Ok(__wait + __outcome + __sleep)
    }

    assert_eq!(names(&Flaky::new(1, Failed::SAFE), 1, 2, 3).await, Ok(6));
}

#[tokio::test(start_paused = true)]
async fn attributes_and_documentation_stay_in_place() {
    /// Documented.
    #[retryable(strategy = STRATEGY)]
    #[must_use = "it is"]
    #[allow(clippy::unused_async)]
    #[allow(clippy::mixed_attributes_style, reason = "both kinds are to be kept")]
    async fn documented() -> Outcome<u32> {
        #![allow(unused_variables)]
        let unused = 1;
        Ok(1)
    }

    let started = tokio::time::Instant::now();
    assert_eq!(documented().await, Ok(1));
    assert!(started.elapsed() < secs(1));
}
