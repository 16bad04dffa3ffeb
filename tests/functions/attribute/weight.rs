//! The weight of an operation, and what its attempts used.

use crate::support::scales::Scales;
use crate::support::{Failed, Flaky, kept, millis};
use retry_core::policy::Usage;
use retry_core::strategy::{LimitedRetryStrategy, Weighted};
use retry_core::{
    Event, EventKind, Hedge, Observer, RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, retry,
    retry_blocking, retryable,
};
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use tokio::time::sleep;

type Outcome = Result<u32, Failed>;

// Rules L47, R22.
#[tokio::test]
async fn a_weight_is_evaluated_once_and_what_was_used_after_each_attempt() {
    static STRATEGY: LimitedRetryStrategy<Scales> = Scales::strategy();

    #[retryable(strategy = STRATEGY, weight = weigh(text), used = |outcome| used(*outcome))]
    async fn send(flaky: &Flaky, text: &Text) -> Outcome {
        flaky.call()?;
        Ok(9)
    }

    // A number does, too.
    #[retryable(strategy = STRATEGY, weight = weigh(text), used = |outcome| outcome.unwrap_or(3), blocking)]
    fn send_blocking(flaky: &Flaky, text: &Text) -> Outcome {
        flaky.call()?;
        Ok(9)
    }

    #[retryable(strategy = STRATEGY, weight = 4, policy = StandardRetryPolicy::new(), used = |outcome| used(*outcome), context = context)]
    async fn send_with_policy(flaky: &Flaky) -> Outcome {
        assert!(context.attempt() < 4);
        flaky.call()?;
        Ok(9)
    }

    #[retryable(strategy = STRATEGY, weight = 4, policy = Metered)]
    async fn send_metered(flaky: &Flaky) -> Outcome {
        flaky.call()?;
        Ok(9)
    }

    let text = Text { length: 4, weighed: Cell::new(0) };
    let expected = ["weighs 4", "used Some(3)", "failed", "used Some(3)", "failed", "used Some(9)", "succeeded"];
    send(&Flaky::new(2, Failed::SAFE), &text).await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);
    send_blocking(&Flaky::new(2, Failed::SAFE), &text).unwrap();
    assert_eq!((STRATEGY.limiter().take(), text.weighed.get()), (expected.map(str::to_owned).to_vec(), 2));
    send_with_policy(&Flaky::new(2, Failed::SAFE)).await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);

    let flaky = Flaky::new(2, Failed::SAFE);
    retry(&STRATEGY, async || flaky.call().and(Ok(9))).weight(4).used(|outcome| used(*outcome)).run().await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);
    let flaky = Flaky::new(2, Failed::SAFE);
    let call = retry_blocking(&STRATEGY, || flaky.call().and(Ok(9))).weight(4).used(|outcome| used(*outcome));
    call.run().unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);
    let flaky = Flaky::new(2, Failed::SAFE);
    let call = retry(&STRATEGY, async || flaky.call().and(Ok(9))).weight(4).policy(Metered);
    call.run().await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);
    send_metered(&Flaky::new(2, Failed::SAFE)).await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), expected);
    let flaky = Flaky::new(2, Failed::SAFE);
    retry(Weighted::new(&STRATEGY, 4), async || flaky.call().and(Ok(9))).run().await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), ["weighs 4", "failed", "failed", "succeeded"], "nobody says what was used");
}

// Rule R22.
#[tokio::test]
async fn without_a_weight_the_strategy_is_told_none() {
    static STRATEGY: LimitedRetryStrategy<Scales> = Scales::strategy();

    #[retryable(strategy = STRATEGY)]
    async fn send() -> Outcome {
        Ok(9)
    }

    send().await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), ["succeeded"]);
}

// Rule R22.
#[tokio::test]
async fn a_weight_that_panics_begins_no_operation() {
    static STRATEGY: LimitedRetryStrategy<Scales> = Scales::strategy();

    #[retryable(strategy = STRATEGY, weight = lengths[5])]
    async fn send(lengths: &[u32]) -> Outcome {
        Ok(lengths[0])
    }

    let panicked = tokio::spawn(send(&[1])).await;
    assert!(panicked.is_err_and(|error| error.is_panic()));
    assert!(STRATEGY.limiter().take().is_empty());
}

/// A policy that says what was used.
struct Metered;

impl RetryPolicy<Outcome> for Metered {
    fn evaluate(&self, outcome: &Outcome) -> RetryDirective {
        StandardRetryPolicy::new().evaluate(outcome)
    }

    fn usage(&self, outcome: &Outcome) -> Option<Usage> {
        used(*outcome).map(Usage::new)
    }
}

/// A text that counts how often it was weighed.
struct Text {
    length: u32,
    weighed: Cell<u32>,
}

fn weigh(text: &Text) -> u32 {
    text.weighed.set(text.weighed.get() + 1);
    text.length
}

#[expect(clippy::unnecessary_wraps, reason = "the form of the closure")]
fn used(outcome: Outcome) -> Option<u32> {
    Some(outcome.unwrap_or(3))
}

/// A policy that knows an unknown error and says that an operation may not be executed twice.
#[derive(Debug)]
struct Careful;

impl RetryPolicy<Outcome> for Careful {
    fn evaluate(&self, _: &Outcome) -> RetryDirective {
        RetryDirective::fail(Some(RetryErrorType::Unknown))
    }

    fn unknown_error<'o>(&self, outcome: &'o Outcome) -> Option<&'o (dyn Error + 'static)> {
        outcome.is_err().then_some(&fmt::Error)
    }

    fn is_idempotent(&self) -> Option<bool> {
        Some(false)
    }
}

/// Notes the errors that nothing classifies, and the reasons against hedges.
#[derive(Default)]
struct Notes(RefCell<Vec<String>>);

impl Observer for Notes {
    fn observe(&self, event: &Event) {
        match event.kind {
            EventKind::UnknownError { chain } => self.0.borrow_mut().push(format!("unknown: {chain:?}")),
            EventKind::HedgeNotSent { reason } => self.0.borrow_mut().push(reason.as_str().to_owned()),
            _ => {}
        }
    }
}

// Rules L47, O16, V5.
#[tokio::test(start_paused = true)]
async fn a_closure_that_says_what_was_used_leaves_the_rest_to_the_policy() {
    static STRATEGY: LimitedRetryStrategy<Scales> = Scales::strategy();

    let (notes, hedge) = (Notes::default(), kept(Hedge::after(millis(100))));
    let slow = || async {
        sleep(millis(200)).await;
        Err::<u32, _>(Failed::SAFE)
    };
    let call = retry(&STRATEGY, slow).weight(4).policy(Careful).used(|outcome| used(*outcome)).name("careful");
    call.observer(&notes).hedge(hedge).run().await.unwrap_err();
    assert_eq!(STRATEGY.limiter().take(), ["weighs 4", "used Some(3)", "failed"]);
    let unknown = format!("unknown: {:?}", Some(fmt::Error.to_string()));
    assert_eq!(notes.0.take(), ["not_idempotent", &*unknown]);
}
