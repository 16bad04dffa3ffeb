//! The option `strategy` of `#[retryable]`: the places where a strategy may live, and the expressions for it.

use crate::support::{Failed, Flaky, assert_send};
use retry_core::strategy::{Operations, Share};
use retry_core::{ErasedStrategy, Jitter, RetryQuota, RetryStrategy, StandardRetryStrategy, retryable};
use retry_limits::PacedRetryStrategy;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(100_000);

type Outcome<T> = Result<T, Failed>;

struct Client {
    retry: StandardRetryStrategy,
    shared: Arc<StandardRetryStrategy>,
    counter: Flaky,
    log: Vec<u32>,
}

impl Client {
    fn new(failures: u32) -> Self {
        let strategy = || StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
        Self {
            retry: strategy(),
            shared: Arc::new(strategy()),
            counter: Flaky::new(failures, Failed::SAFE),
            log: Vec::new(),
        }
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

// Rule M6.
#[tokio::test(start_paused = true)]
async fn methods_are_retried_with_a_strategy_in_a_field_or_an_argument() {
    assert_eq!(Client::new(2).shared().await, Ok(3));
    assert_eq!(assert_send(Client::new(2).exclusive(7)).await, Ok(4));
    assert_eq!(Client::new(2).by_value().await, Ok(3));

    let mut client = Client::new(2);
    assert_eq!(client.by_reference().await, Ok(3));
    assert_eq!(client.shared.quota().available(), 491, "it paid for two retries and got one refund");
    client.counter = Flaky::new(1, Failed::SAFE);
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

// Rule M9.
#[tokio::test(start_paused = true)]
async fn methods_of_trait_impls_are_retried() {
    assert_eq!(Client::new(1).get("a").await, Ok("a2".to_owned()));
}

impl Client {
    #[retryable(strategy = self.retry)]
    async fn shared_receiver(self: Arc<Self>) -> Outcome<u32> {
        self.counter.call()
    }

    #[retryable(strategy = self.retry)]
    #[expect(clippy::needless_arbitrary_self_type, reason = "this form of the receiver is tested")]
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
async fn receivers_of_every_kind_are_accepted() {
    assert_eq!(Arc::new(Client::new(1)).shared_receiver().await, Ok(2));
    assert_eq!(Client::new(1).typed_receiver(7).await, Ok(2));
    let mut strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
    assert_eq!(Client::new(1).by_mutable_argument(&mut strategy).await, Ok(2));
    assert_eq!(Client::new(1).returns_a_function().await.map(|length| length("four")), Ok(4));
}

// Rules M8, Q6.
#[tokio::test(start_paused = true)]
async fn a_strategy_by_name_is_shared_by_all_calls_of_the_function() {
    #[retryable(strategy = "standard")]
    async fn own<T>(flaky: &Flaky, _: T) -> Outcome<u32> {
        flaky.call()
    }

    // The quota of 500 pays for 100 retries, which both type parameters share.
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

// Rules A3, M8.
#[tokio::test(start_paused = true)]
async fn the_adaptive_strategy_may_be_set_by_name() {
    #[retryable(strategy = "adaptive")]
    async fn own(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    // The throttled response limits sends to the minimum of half a send per second, because nothing was measured
    // before.
    assert_eq!(own(&Flaky::new(1, Failed::THROTTLED)).await, Ok(2));
    let started = tokio::time::Instant::now();
    assert_eq!(own(&Flaky::new(0, Failed::SAFE)).await, Ok(1));
    assert!(started.elapsed() > std::time::Duration::from_millis(500), "the limit applies to first attempts, too");
}

// Rules L7, M8.
#[tokio::test(start_paused = true)]
async fn a_strategy_with_a_limiter_of_another_crate_may_be_a_static_of_the_function() {
    static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();

    #[retryable(strategy = TABLE)]
    async fn own(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    // Throttled attempts do not count against the maximum of five.
    assert_eq!(own(&Flaky::new(6, Failed::THROTTLED)).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn an_element_or_a_field_of_a_static_needs_no_borrow() {
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

// Rule M6.
#[tokio::test(start_paused = true)]
async fn an_expression_that_is_not_a_place_is_evaluated_once_per_call() {
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
async fn strategies_that_calls_share_may_be_handed_over_by_value() {
    #[retryable(strategy = retry)]
    async fn pointer(flaky: &Flaky, retry: Arc<StandardRetryStrategy>) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = retry)]
    async fn generic<S: RetryStrategy>(flaky: &Flaky, retry: S) -> Outcome<u32>
    where
        Operations: Share<S>,
    {
        flaky.call()
    }
    #[retryable(strategy = ErasedStrategy::new(&STRATEGY))]
    async fn erased(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    let shared = Arc::new(StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)));
    assert_eq!(pointer(&Flaky::new(2, Failed::SAFE), Arc::clone(&shared)).await, Ok(3));
    assert_eq!(generic(&Flaky::new(1, Failed::SAFE), Arc::clone(&shared)).await, Ok(2));
    assert_eq!(generic(&Flaky::new(1, Failed::SAFE), &*shared).await, Ok(2));
    assert_eq!(shared.quota().available(), 483, "four retries were paid from it, three successes gave back");
    assert_eq!(erased(&Flaky::new(1, Failed::SAFE)).await, Ok(2));
}
