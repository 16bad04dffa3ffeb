//! The context of an attempt.

use crate::script::{Error, FromStart};
use crate::support::{Failed, Flaky, Recorder, millis, secs};
use retry_core::{
    AttemptContext, Failure, Jitter, OperationId, RetryError, RetryErrorType, StandardRetryStrategy, retryable,
};
use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A shared strategy whose quota no test exhausts.
static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(u32::MAX);

#[retryable(strategy = STRATEGY, context = context)]
async fn plain(flaky: &Flaky, seen: &RefCell<Vec<AttemptContext>>) -> Result<u32, Failed> {
    seen.borrow_mut().push(context);
    flaky.call()
}

async fn contexts(flaky: &Flaky) -> Vec<AttemptContext> {
    let seen = RefCell::default();
    let _ = plain(flaky, &seen).await;
    seen.into_inner()
}

// Rule M11.
#[tokio::test(start_paused = true)]
async fn a_context_has_the_number_of_the_attempt_and_the_previous_failure() {
    #[retryable(strategy = STRATEGY, context = context)]
    async fn varied(errors: &[Failed], seen: &RefCell<Vec<AttemptContext>>) -> Result<(), Failed> {
        let attempt = seen.borrow().len();
        seen.borrow_mut().push(context);
        errors.get(attempt).map_or(Ok(()), |error| Err(*error))
    }

    let (errors, seen) = ([Failed::THROTTLED.after(secs(2)), Failed::TIMEOUT], RefCell::default());
    assert_eq!(varied(&errors, &seen).await, Ok(()));
    let seen = seen.into_inner();
    let numbers: Vec<_> = seen.iter().map(AttemptContext::attempt).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let previous: Vec<_> = seen.iter().map(AttemptContext::previous_failure).collect();
    assert_eq!(previous, [None, Some(Failure::of(&errors[0])), Some(Failure::of(&errors[1]))]);
    assert_eq!(previous[1].and_then(|failure| failure.error_type()), Some(RetryErrorType::Throttling));
    assert!(seen.iter().all(|context| context.time_left().is_none()));
}

// Rule M11.
#[tokio::test(start_paused = true)]
async fn the_id_is_the_same_for_all_attempts_and_different_for_each_operation() {
    let mut ids = HashSet::new();
    for _ in 0..100 {
        let seen = contexts(&Flaky::new(1, Failed::SAFE)).await;
        let of_operation: HashSet<_> = seen.iter().map(AttemptContext::operation_id).collect();
        assert_eq!((seen.len(), of_operation.len()), (2, 1));
        ids.extend(of_operation);
    }
    assert_eq!(ids.len(), 100);
}

// Rule M11.
#[tokio::test(start_paused = true)]
async fn the_id_is_displayed_as_a_random_uuid() {
    let ids: Vec<OperationId> = {
        let mut ids = Vec::new();
        for _ in 0..50 {
            ids.push(contexts(&Flaky::new(0, Failed::SAFE)).await[0].operation_id());
        }
        ids
    };
    for id in &ids {
        let text = id.to_string();
        let parts: Vec<_> = text.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(text.chars().all(|it| it == '-' || it.is_ascii_digit() || ('a'..='f').contains(&it)), "{text}");
        assert!(parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']), "{text}");
        assert_eq!(u128::from_str_radix(&text.replace('-', ""), 16), Ok(id.as_u128()));
        assert_eq!(format!("{id:?}"), format!("OperationId({text})"));
    }
    // Every random bit takes both values.
    let (all, any) = ids.iter().fold((u128::MAX, 0), |(all, any), id| (all & id.as_u128(), any | id.as_u128()));
    assert_eq!((all, any), (0x4 << 76 | 0x8 << 60, !(0xb << 76) & !(0x4 << 60)));
}

// Rule M11.
#[tokio::test(start_paused = true)]
async fn the_time_left_is_the_attempt_timeout_limited_by_max_time() {
    #[retryable(strategy = STRATEGY, context = context, max_time = "10s", attempt_timeout = "4s", timer = timer)]
    async fn limited(timer: &FromStart, seen: &RefCell<Vec<Option<Duration>>>) -> Result<u32, Error> {
        seen.borrow_mut().push(context.time_left());
        sleep(secs(3)).await;
        Err(Error::Failed(Failed::SAFE))
    }

    #[retryable(strategy = STRATEGY, context = context, attempt_timeout = "1500ms")]
    async fn each(seen: &RefCell<Vec<Option<Duration>>>) -> Result<u32, Error> {
        seen.borrow_mut().push(context.time_left());
        Ok(1)
    }

    let seen = RefCell::default();
    let _ = limited(&FromStart(Instant::now()), &seen).await;
    assert_eq!(seen.take(), [Some(secs(4)), Some(secs(4)), Some(secs(1))], "at 0, 3 + 1 and 7 + 2 seconds");
    assert_eq!(each(&seen).await, Ok(1));
    assert_eq!(seen.take(), [Some(millis(1500))]);
}

#[tokio::test(start_paused = true)]
async fn the_context_of_a_refused_operation_is_that_of_the_first_attempt() {
    #[retryable(strategy = strategy, context = it)]
    async fn call(strategy: &Recorder) -> Result<AttemptContext, Failed> {
        Ok(it)
    }

    let refusing = Recorder::new().refusing_initial_token(RetryError::Refused);
    let context = call(&refusing).await.unwrap();
    assert_eq!((context.attempt(), context.previous_failure()), (1, None));
}
