//! The option `hedge` of the attribute.

use super::*;
use crate::support::scales::Scales;
use crate::support::{poll_once, secs};
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{RetryDirective, RetryErrorType, StandardRetryPolicy, retryable};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};

static AFTER: Hedge = Hedge::after(millis(100));

/// The report of a call, without its time.
type Told = Cell<Option<(u32, Option<RetryError>)>>;

#[retryable(strategy = strategy, idempotent, hedge = AFTER, on_end = |report| told.set(Some((report.attempts, report.reason))))]
async fn told(strategy: &StandardRetryStrategy, service: &Service, told: &Told) -> Outcome {
    service.call().await
}

/// Makes a call of the attribute, as `ended` makes one of a closure.
async fn attribute_ended(plan: impl IntoIterator<Item = (u64, Outcome)>) -> Ended {
    let (strategy, service, end) = (standard(), Service::new(plan), Cell::new(None));
    assert!(strategy.quota().try_acquire(100, &TokioTimer));
    let began = Instant::now();
    let outcome = told(&strategy, &service, &end).await;
    assert_eq!(service.running.get(), 0, "no attempt is left");
    let (attempts, reason) = end.get().unwrap();
    Ended {
        outcome,
        attempts,
        reason,
        calls: service.calls.get(),
        quota: strategy.quota().available(),
        millis: began.elapsed().as_millis(),
    }
}

// Rules V1, V3, V4, V6, V7, V11.
#[tokio::test(start_paused = true)]
async fn the_attribute_does_what_the_closure_form_does() {
    let outcomes = [Ok(1), Err(Failed::SAFE), Err(Failed::THROTTLED), Err(Failed::FATAL), Err(Failed::CONFLICT)];
    for first in outcomes {
        for second in outcomes {
            for times in [[50, 50], [150, 20], [150, 100], [300, 200]] {
                let plan = [(times[0], first), (times[1], second), (120, Err(Failed::SAFE)), (120, Ok(4))];
                assert_eq!(attribute_ended(plan).await, ended(plan).await, "{plan:?}");
            }
        }
    }
    assert_eq!(attribute_ended([(1000, Ok(1)), (30, Ok(2))]).await, ends(Ok(2), 2, None, 400 - 5 + 1, 130));
}

// Rule V1.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_sent_after_a_fixed_delay_or_one_that_follows_the_calls() {
    #[retryable(strategy = "standard", idempotent, hedge = "70ms")]
    async fn fixed(service: &Service) -> Outcome {
        service.call().await
    }
    #[retryable(strategy = "standard", idempotent, hedge = "p95")]
    async fn steered<T: Send>(service: &Service, _: T) -> Outcome {
        service.call().await
    }
    let millis_of = async |call: &mut dyn FnMut() -> std::pin::Pin<Box<dyn Future<Output = Outcome>>>| {
        let began = Instant::now();
        assert_eq!(call().await, Ok(2));
        began.elapsed().as_micros()
    };
    let slow = || Service::new([(1000, Ok(1)), (10, Ok(2))]);
    assert_eq!(millis_of(&mut || Box::pin(async { fixed(&slow()).await })).await, 80_000);
    for _ in 0..20 {
        steered(&Service::new([(5, Ok(1)), (5, Ok(2))]), 1).await.unwrap();
    }
    // A fifth below 50 ms.
    let start = millis_of(&mut || Box::pin(async { steered(&slow(), 1).await })).await;
    assert!((49_000..=52_000).contains(&start), "{start}");
    for _ in 0..250 {
        steered(&Service::new([(5, Ok(1)), (5, Ok(2))]), 'a').await.unwrap();
    }
    // All instances of a generic function have one delay.
    let learned = millis_of(&mut || Box::pin(async { steered(&slow(), "b").await })).await;
    assert!(learned < 20_000, "{learned}");
}

#[retryable(strategy = "standard", idempotent, hedge = AFTER, context = context, clone(owned))]
async fn arguments(
    seen: &RefCell<Vec<String>>,
    mut number: u32,
    owned: String,
    (mut left, _right): (u32, u32),
) -> Result<u32, Failed> {
    number += 1;
    left *= 2;
    seen.borrow_mut().push(format!("{} {number} {left} {owned}", context.attempt()));
    drop(owned);
    sleep(millis(if context.attempt() == 1 { 1000 } else { 10 })).await;
    Ok(context.attempt())
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn each_attempt_starts_from_the_arguments_as_they_were_passed() {
    let seen = RefCell::default();
    assert_eq!(arguments(&seen, 4, "mine".to_owned(), (3, 0)).await, Ok(2));
    assert_eq!(*seen.borrow(), ["1 5 6 mine", "2 5 6 mine"]);
}

// Rules V3, V8.
#[tokio::test(start_paused = true)]
async fn limits_and_on_retry_apply_to_both_attempts() {
    #[retryable(
        strategy = strategy, idempotent, hedge = AFTER, attempt_timeout = "300ms", max_time = "10s",
        on_retry = |_, event| retries.set(retries.get() * 10 + event.attempt)
    )]
    async fn limited(strategy: &StandardRetryStrategy, service: &Service, retries: &Cell<u32>) -> Outcome {
        service.call().await
    }
    let (strategy, retries) = (standard(), Cell::new(0));
    let began = Instant::now();
    let service = Service::new([(1000, Ok(1)), (1000, Ok(2)), (0, Ok(3))]);
    assert_eq!(limited(&strategy, &service, &retries).await, Ok(3));
    assert_eq!((began.elapsed(), retries.get()), (millis(2400), 2));

    #[retryable(strategy = strategy, idempotent, hedge = AFTER, max_time = "300ms")]
    async fn cut(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
        service.call().await
    }
    for (plan, outcome) in
        [([(1000, Ok(1)), (1000, Ok(2))], Failed::TIMEOUT), ([(200, Err(Failed::SAFE)), (1000, Ok(2))], Failed::SAFE)]
    {
        let (strategy, began, service) = (standard(), Instant::now(), Service::new(plan));
        assert_eq!(cut(&strategy, &service).await, Err(outcome));
        assert_eq!((began.elapsed(), service.running.get()), (millis(300), 0));
        assert_eq!(strategy.quota().available(), 495);
    }
}

// Rule V11.
#[tokio::test(start_paused = true)]
async fn a_delay_that_is_just_shorter_than_the_limits_sends_a_hedge() {
    #[retryable(strategy = "standard", idempotent, hedge = "99ms", attempt_timeout = "100ms", max_time = "100ms")]
    async fn shorter(service: &Service) -> Outcome {
        service.call().await
    }
    let service = Service::new([(1000, Ok(1)), (1, Ok(2))]);
    assert_eq!(shorter(&service).await, Ok(2));

    // What is known only at run time is accepted.
    #[retryable(strategy = "standard", idempotent, hedge = "99ms", max_time = limit)]
    async fn computed(service: &Service, limit: Duration) -> Outcome {
        service.call().await
    }
    let service = Service::new([(1000, Ok(1))]);
    assert_eq!(computed(&service, millis(99)).await, Err(Failed::TIMEOUT));
}

struct Client {
    retry: StandardRetryStrategy,
    service: Service,
    sum: AtomicU32,
}

#[async_trait::async_trait(?Send)]
trait Fetch {
    async fn fetch(&self, number: u32) -> Outcome;
}

#[async_trait::async_trait(?Send)]
impl Fetch for Client {
    #[retryable(strategy = self.retry, idempotent, hedge = AFTER)]
    async fn fetch(&self, number: u32) -> Outcome {
        self.sum.fetch_add(number, Ordering::Relaxed);
        self.service.call().await
    }
}

impl Client {
    #[retryable(strategy = self.retry, idempotent, hedge = AFTER)]
    async fn method(&self, number: u32) -> Outcome {
        self.sum.fetch_add(number, Ordering::Relaxed);
        self.service.call().await
    }

    #[retryable(strategy = self.retry, idempotent, hedge = AFTER)]
    fn boxed(&self, number: u32) -> std::pin::Pin<Box<dyn Future<Output = Outcome> + '_>> {
        Box::pin(async move {
            self.sum.fetch_add(number, Ordering::Relaxed);
            self.service.call().await
        })
    }
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn methods_trait_methods_and_functions_that_return_a_future_have_hedges() {
    for form in 0..3 {
        let service = Service::new([(1000, Ok(1)), (10, Ok(2))]);
        let client = Client { retry: standard(), service, sum: AtomicU32::new(0) };
        let outcome = match form {
            0 => client.method(3).await,
            1 => client.fetch(3).await,
            _ => client.boxed(3).await,
        };
        assert_eq!((outcome, client.sum.load(Ordering::Relaxed)), (Ok(2), 6));
        assert_eq!(client.retry.quota().available(), 496);
    }
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn a_policy_classifies_both_outcomes() {
    #[retryable(strategy = "standard", idempotent, hedge = AFTER, policy = |status| match status {
        0 => RetryDirective::retry(RetryErrorType::Other),
        _ => RetryDirective::succeed(),
    })]
    async fn closure(calls: &Cell<u32>) -> u32 {
        calls.set(calls.get() + 1);
        let answer = calls.get() - 1;
        sleep(millis(150)).await;
        answer
    }
    let calls = Cell::new(0);
    assert_eq!((closure(&calls).await, calls.get()), (1, 2), "the failure of the first one waits for the hedge");

    #[retryable(strategy = "standard", idempotent, hedge = AFTER, policy = StandardRetryPolicy::new().idempotent(false))]
    async fn value(service: &Service) -> Outcome {
        service.call().await
    }
    let service = Service::new([(150, Err(Failed::TIMEOUT)), (300, Ok(2))]);
    assert_eq!(value(&service).await, Err(Failed::TIMEOUT), "the policy decides about failures");
}

#[test]
fn a_function_with_a_hedge_is_send() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    #[retryable(
        strategy = STORE, idempotent, hedge = "p95", attempt_timeout = "1s", context = context, on_retry = |_, _| (),
        on_end = |_| ()
    )]
    async fn shared(owned: String, mut number: u32, text: &str) -> Outcome {
        number += context.attempt();
        sleep(secs(1)).await;
        if text.is_empty() { Ok(number) } else { Err(Failed::SAFE.after(secs(u64::from(owned.is_empty())))) }
    }
    drop(assert_send(shared(String::new(), 1, "")));
}

// Rule D4.
#[tokio::test(start_paused = true)]
async fn a_hedged_function_polls_its_body_once_in_a_poll() {
    let polls = Cell::new(0);
    #[retryable(strategy = "standard", idempotent, hedge = AFTER)]
    async fn polled(polls: &Cell<u32>) -> Outcome {
        std::future::poll_fn(|_| {
            polls.set(polls.get() + 1);
            std::task::Poll::Pending
        })
        .await
    }
    let mut call = pin!(polled(&polls));
    assert_eq!(polls.get(), 0);
    poll_once(call.as_mut());
    assert_eq!(polls.get(), 1);
    poll_once(call.as_mut());
    assert_eq!(polls.get(), 2);
}

// Rules R22, V3.
#[tokio::test(start_paused = true)]
async fn a_hedge_has_the_weight_of_its_operation() {
    static SCALES: LimitedRetryStrategy<Scales> = Scales::strategy();

    #[retryable(strategy = SCALES, idempotent, hedge = AFTER, weight = 9)]
    async fn weighed(service: &Service) -> Outcome {
        service.call().await
    }

    let slow = || Service::new([(1000, Ok(1)), (30, Ok(2))]);
    assert_eq!(weighed(&slow()).await, Ok(2));
    assert_eq!(SCALES.limiter().take(), ["weighs 9", "weighs 9", "succeeded"]);
    let service = slow();
    assert_eq!(retry(&SCALES, || service.call()).weight(9).idempotent(true).hedge(&AFTER).run().await, Ok(2));
    assert_eq!(SCALES.limiter().take(), ["weighs 9", "weighs 9", "succeeded"]);
}
