//! Hygiene: expansions do not interfere with the code around them, and that code does not interfere with them.

mod drop_order;
mod hostile;

use crate::support::{Failed, Flaky};
use retry_core::{Jitter, RetryInfo, StandardRetryStrategy, retryable};

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(100_000);

type Outcome<T> = Result<T, Failed>;

/// Defines a function whose arguments are named by the macro.
macro_rules! made {
    ($name:ident, $field:ident) => {
        #[retryable(strategy = strategy.$field, clone(operation), max_time = limit, attempt_timeout = limit)]
        async fn $name(
            strategy: &Strategies,
            flaky: &Flaky,
            operation: Vec<u32>,
            mut timer: u32,
            limit: std::time::Duration,
        ) -> Outcome<u32> {
            let mut used_up = operation;
            used_up.push(timer);
            timer += 1;
            flaky.call()?;
            Ok(timer * 10 + used_up.iter().sum::<u32>())
        }
    };
}

struct Strategies {
    first: StandardRetryStrategy,
}

made!(made_by_a_macro, first);

// Rule M10.
#[tokio::test(start_paused = true)]
async fn the_arguments_may_be_named_by_macro_rules() {
    let strategies = Strategies { first: StandardRetryStrategy::new() };
    let limit = crate::support::secs(9);
    let flaky = Flaky::new(1, Failed::SAFE);
    assert_eq!(made_by_a_macro(&strategies, &flaky, vec![1], 2, limit).await, Ok(33));
    assert_eq!(flaky.calls(), 2);
}

// Rule M10.
#[tokio::test(start_paused = true)]
async fn arguments_and_locals_may_have_any_name() {
    #[retryable(strategy = __strategy, observer = __observer, timer = __timer, max_time = "9s", clone(__field))]
    #[expect(clippy::too_many_arguments, reason = "many names are tested")]
    async fn clashing(
        __strategy: &StandardRetryStrategy,
        __operation: &Flaky,
        __observer: &Silent,
        __timer: retry_core::TokioTimer,
        mut __outcome: u32,
        __last: &mut u32,
        __field: Vec<u32>,
        (operation, timer, around, self_): (u32, u32, u32, u32),
        (__wait, __cut, __deadline, __sleep): (u32, u32, u32, u32),
    ) -> Outcome<u32> {
        let __limits = [operation, timer, around, self_, __wait, __cut, __deadline, __sleep];
        __outcome += 1;
        *__last += 1;
        __operation.call()?;
        Ok(__outcome + __field.iter().chain(&__limits).sum::<u32>())
    }

    struct Silent;
    impl retry_core::Observer for Silent {
        fn observe(&self, _: &retry_core::Event) {}
    }

    let (flaky, mut attempts) = (Flaky::new(1, Failed::SAFE), 0);
    let four = (1, 1, 1, 1);
    let timer = retry_core::TokioTimer;
    let outcome = clashing(&STRATEGY, &flaky, &Silent, timer, 1, &mut attempts, vec![1], four, four).await;
    assert_eq!((outcome, attempts), (Ok(11), 2));
}

/// Items with the names that expansions use.
mod items_with_names_of_the_expansion {
    use super::{Failed, Flaky, Outcome, STRATEGY, retryable};

    pub(super) const __RETRIED: u32 = 1;
    pub(super) static __RETRYABLE_STRATEGY: u32 = 1;

    pub(super) fn operation() -> u32 {
        __RETRIED + __RETRYABLE_STRATEGY
    }

    #[retryable(strategy = STRATEGY)]
    pub(super) async fn call(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()?;
        Ok(operation())
    }

    #[retryable(strategy = "standard")]
    pub(super) async fn call_with_its_own(flaky: &Flaky) -> Outcome<u32> {
        const __RETRIED: u32 = 3;
        static __RETRYABLE_STRATEGY: u32 = 4;
        flaky.call()?;
        Ok(__RETRIED + __RETRYABLE_STRATEGY)
    }

    pub(super) const SAFE: Failed = Failed::SAFE;
}

// Rule M10.
#[tokio::test(start_paused = true)]
async fn items_may_have_the_names_of_items_in_the_expansion() {
    use items_with_names_of_the_expansion::{SAFE, call, call_with_its_own};

    assert_eq!(call(&Flaky::new(1, SAFE)).await, Ok(2));
    assert_eq!(call_with_its_own(&Flaky::new(1, SAFE)).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn a_retried_function_may_contain_another() {
    #[retryable(strategy = "standard")]
    async fn outer(flaky: &Flaky) -> Outcome<u32> {
        #[derive(Debug, RetryInfo)]
        #[retry(safe)]
        struct Inner;

        struct Client<'a>(&'a StandardRetryStrategy);

        impl Client<'_> {
            #[retryable(strategy = *self.0)]
            async fn inner(&self, calls: &mut u32) -> Result<u32, Inner> {
                *calls += 1;
                if *calls < 3 { Err(Inner) } else { Ok(*calls) }
            }
        }

        let calls = Client(&STRATEGY).inner(&mut 0).await.unwrap_or_default();
        flaky.call()?;
        Ok(calls)
    }

    let flaky = Flaky::new(1, Failed::SAFE);
    assert_eq!(outer(&flaky).await, Ok(3));
    assert_eq!(flaky.calls(), 2);
}

// Rule M10.
#[tokio::test(start_paused = true)]
async fn the_library_may_have_another_name() {
    let mut left = 6;
    assert_eq!(renamed::dependency::take(&mut left, 1).await.unwrap(), 0);
    assert_eq!(renamed::through_the_facade::count(&mut 0).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_library_may_be_re_exported_by_a_facade() {
    #[renamed::facade::retries::retryable(strategy = STRATEGY, crate = ::renamed::facade::retries)]
    async fn call(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    assert_eq!(call(&Flaky::new(1, Failed::SAFE)).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn names_of_the_prelude_may_be_shadowed() {
    let mut calls = 0;
    assert!(matches!(hostile::call(&STRATEGY, &mut calls, 1).await, Ok(2)));
    assert!(matches!(hostile::limited(&mut calls).await, Ok(2)));
    assert!(matches!(hostile::hedged(5).await, Ok(7)));
    assert_eq!(hostile::answers(), (true, false, Some(crate::support::secs(1))));
}
