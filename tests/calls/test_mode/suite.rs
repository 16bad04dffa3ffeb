//! Many tests on one static, most of which retry: without guards they would drain its quota for each other.

use crate::support::{Failed, Flaky};
use retry_core::test::begin;
use retry_core::{RetryError, StandardRetryStrategy, retryable};

/// It pays for four retries.
static SMALL: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(20);

#[retryable(strategy = SMALL)]
async fn get(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

#[retryable(strategy = SMALL, blocking)]
fn get_blocking(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

macro_rules! suite {
    ($($name:ident: $failures:literal),+ $(,)?) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn a_call_succeeds_after_its_retries() {
                let test = begin();
                assert_eq!(get(&Flaky::new($failures, Failed::SAFE)).await, Ok($failures + 1));
                test.only().assert_ended($failures + 1, None);
            }

            #[test]
            fn a_blocking_call_drains_the_quota() {
                let test = begin();
                for _ in 0..2 {
                    let _ = get_blocking(&Flaky::new($failures + 2, Failed::SAFE));
                }
                let reasons: Vec<_> = test.operations().iter().map(|call| call.reason).collect();
                // The first call takes 5 for each retry, and a success gives 1 back.
                let retries = $failures + 2;
                let first = if retries > 4 { Some(RetryError::MaxAttempts) } else { None };
                let left = if retries > 4 { 0 } else { 20 - 5 * retries + 1 };
                let second = if left / 5 < retries { Some(RetryError::QuotaExhausted) } else { None };
                assert_eq!(reasons, [first, second]);
            }
        }
    )+};
}

suite! {
    no_failure: 0, one_failure: 1, two_failures: 2, three_failures: 3, four_failures: 4,
    again_no_failure: 0, again_one: 1, again_two: 2, again_three: 3, again_four: 4,
    third_no_failure: 0, third_one: 1, third_two: 2, third_three: 3, third_four: 4,
    fourth_no_failure: 0, fourth_one: 1, fourth_two: 2, fourth_three: 3, fourth_four: 4,
    fifth_no_failure: 0, fifth_one: 1, fifth_two: 2, fifth_three: 3, fifth_four: 4,
    sixth_no_failure: 0, sixth_one: 1, sixth_two: 2, sixth_three: 3, sixth_four: 4,
}
