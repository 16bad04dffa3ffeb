//! The order of drops, with the attribute and without it.

use super::STRATEGY;
use crate::support::Failed;
use retry_core::retryable;
use std::cell::RefCell;

/// A value that records its name when it is dropped.
#[derive(Debug)]
struct Noisy<'a>(&'static str, &'a Log);

/// The names of dropped values, and the number of attempts.
#[derive(Debug, Default)]
struct Log(RefCell<Vec<&'static str>>, RefCell<u32>);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.1.0.borrow_mut().push(self.0);
    }
}

impl Clone for Noisy<'_> {
    fn clone(&self) -> Self {
        Self("clone", self.1)
    }
}

impl Noisy<'_> {
    fn outcome(&self, failures: u32) -> Result<u32, Failed> {
        self.1.0.borrow_mut().push("outcome");
        *self.1.1.borrow_mut() += 1;
        if *self.1.1.borrow() > failures { Ok(0) } else { Err(Failed::SAFE) }
    }
}

/// Defines the same function, with or without an attribute.
macro_rules! function {
    ($name:ident $(, $attribute:meta)?) => {
        $(#[$attribute])?
        async fn $name(
            log: &Log,
            failures: u32,
            first: Noisy<'_>,
            (left, _, right): (Noisy<'_>, Noisy<'_>, Noisy<'_>),
            _: Noisy<'_>,
            _unused: Noisy<'_>,
            last: &Noisy<'_>,
        ) -> Result<u32, Failed> {
            let _local = Noisy("local", log);
            let _ = Noisy("not bound", log);
            match Noisy("scrutinee", log).outcome(u32::MAX) {
                Ok(_) => return Ok(1),
                Err(_) => log.0.borrow_mut().push(right.0),
            }
            let _later = (Noisy("later", log), &first, &left, last);
            Noisy("tail", log).outcome(failures)
        }
    };
}

function!(plain);
function!(retried, retryable(strategy = STRATEGY));

/// Returns the log of one call. Each attempt makes two outcomes, that of the scrutinee and that of the tail.
macro_rules! dropped {
    ($function:ident, $failures:expr) => {{
        let log = Log::default();
        let last = Noisy("last", &log);
        let noisy = |name| Noisy(name, &log);
        let triple = (noisy("left"), noisy("middle"), noisy("right"));
        let _ = $function(&log, $failures, noisy("first"), triple, noisy("_"), noisy("_unused"), &last).await;
        log.0.borrow().clone()
    }};
}

// Rule D8.
#[tokio::test(start_paused = true)]
async fn arguments_locals_and_temporaries_are_dropped_in_the_order_of_a_plain_function() {
    assert_eq!(dropped!(retried, 0), dropped!(plain, 0));
}

// Rule D8.
#[tokio::test(start_paused = true)]
async fn locals_are_dropped_with_their_attempt_and_arguments_with_the_operation() {
    let once = dropped!(plain, 0);
    let arguments = once.iter().position(|name| *name == "later").expect("it is dropped") + 2;
    let (attempt, end) = once.split_at(arguments);
    assert_eq!(attempt.last(), Some(&"local"));

    let thrice = [attempt, attempt, attempt, end].concat();
    assert_eq!(dropped!(retried, 4), thrice);
}

#[tokio::test(start_paused = true)]
async fn a_clone_is_dropped_like_the_argument_that_it_replaces() {
    #[retryable(strategy = STRATEGY, clone(cloned))]
    async fn call(cloned: Noisy<'_>, other: Noisy<'_>, failures: u32) -> Result<u32, Failed> {
        let _local = Noisy("local", other.1);
        cloned.outcome(failures)
    }

    let log = Log::default();
    assert_eq!(call(Noisy("cloned", &log), Noisy("other", &log), 1).await, Ok(0));
    let attempt = ["outcome", "local", "clone"];
    assert_eq!(*log.0.borrow(), [&attempt[..], &attempt, &["other", "cloned"]].concat());
}
