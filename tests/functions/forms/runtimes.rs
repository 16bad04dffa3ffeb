//! Functions that start their own runtime.

use super::STRATEGY;
use crate::support::{Failed, Flaky};
use retry_core::retryable;
use std::process::{ExitCode, Termination};

static FLAKY: Flaky = Flaky::new(2, Failed::SAFE);

#[derive(Debug, PartialEq)]
struct Calls(u32);

impl Termination for Calls {
    fn report(self) -> ExitCode {
        assert_eq!(self.0, 3);
        ExitCode::SUCCESS
    }
}

/// This test fails if it is not retried.
#[retryable(strategy = STRATEGY)]
#[tokio::test(start_paused = true)]
async fn a_tokio_test_below_the_attribute_is_retried() -> Result<Calls, Failed> {
    FLAKY.call().map(Calls)
}

#[test]
fn a_tokio_main_below_the_attribute_is_retried() {
    static FLAKY: Flaky = Flaky::new(2, Failed::SAFE);

    #[retryable(strategy = STRATEGY)]
    #[tokio::main(flavor = "current_thread")]
    async fn main() -> Result<Calls, Failed> {
        FLAKY.call().map(Calls)
    }

    assert_eq!(main(), Ok(Calls(3)));
}
