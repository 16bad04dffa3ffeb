//! Policies whose values look like a `bool`, and are directives.

use crate::support::{Failed, Flaky};
use retry_core::{RetryDirective, RetryErrorType, StandardRetryStrategy, retryable};
use std::ops::Not;

static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(100_000);

type Outcome = Result<u32, Failed>;

fn is_done(outcome: &Outcome) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::retry(RetryErrorType::Other),
    }
}

trait Done {
    fn is_done(&self) -> RetryDirective;
}

impl Done for Outcome {
    fn is_done(&self) -> RetryDirective {
        is_done(self)
    }
}

struct Negated(RetryDirective);

impl Not for Negated {
    type Output = RetryDirective;

    fn not(self) -> RetryDirective {
        self.0
    }
}

/// Hides the macro of the standard library.
macro_rules! matches {
    ($outcome:expr) => {
        is_done($outcome)
    };
}

macro_rules! retried_by {
    ($policy:expr) => {{
        #[retryable(strategy = STRATEGY, policy = $policy)]
        async fn retried(flaky: &Flaky) -> Outcome {
            flaky.call()
        }

        let flaky = Flaky::new(2, Failed::FATAL);
        retried(&flaky).await
    }};
}

#[tokio::test(start_paused = true)]
async fn functions_operators_and_macros_of_the_user_may_return_a_directive() {
    #[retryable(strategy = STRATEGY, policy = |outcome| is_done(outcome))]
    async fn by_function(flaky: &Flaky) -> Outcome {
        flaky.call()
    }

    #[retryable(strategy = STRATEGY, policy = |outcome| match outcome {
        Ok(_) => !Negated(is_done(outcome)),
        Err(error) if error.timeout => { matches!(outcome) }
        Err(_) => outcome.is_done(),
    })]
    async fn by_arms(flaky: &Flaky) -> Outcome {
        flaky.call()
    }

    #[retryable(strategy = STRATEGY, policy = |outcome| { matches!(outcome) })]
    async fn by_macro(flaky: &Flaky) -> Outcome {
        flaky.call()
    }

    let flaky = || Flaky::new(2, Failed::FATAL);
    assert_eq!(by_function(&flaky()).await, Ok(3));
    assert_eq!(by_arms(&flaky()).await, Ok(3));
    assert_eq!(by_macro(&flaky()).await, Ok(3));
    assert_eq!(retried_by!(|outcome| is_done(outcome)), Ok(3));
}

#[tokio::test(start_paused = true)]
async fn a_function_named_policy_fn_may_take_a_closure_that_returns_a_bool() {
    fn policy_fn(is_retried: impl Fn(&Outcome) -> bool) -> impl retry_core::RetryPolicy<Outcome> {
        retry_core::policy_fn(move |outcome| {
            if is_retried(outcome) { RetryDirective::retry(RetryErrorType::Other) } else { RetryDirective::succeed() }
        })
    }

    #[retryable(strategy = STRATEGY, policy = policy_fn(|outcome| *outcome != Ok(3)))]
    async fn retried(flaky: &Flaky) -> Outcome {
        flaky.call()
    }

    assert_eq!(retried(&Flaky::new(2, Failed::FATAL)).await, Ok(3));
}
