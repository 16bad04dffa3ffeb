//! How programs run: how many, with which seeds, and what a failure prints.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::any::Any;
use std::env;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns a configuration with this many random programs, or as many as `PROPTEST_CASES` says.
pub fn cases(programs: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if is_set { config.cases } else { programs }, ..config }
}

/// Runs this many random programs, or as many as `PROPTEST_CASES` says, and before them those of the seeds in
/// `proptest-regressions`.
///
/// # Panics
///
/// Panics if a program fails. The message contains the shortest program that fails, and the seed is added to the file.
pub fn check<P: Strategy>(file: &'static str, programs: u32, program: P, run: impl Fn(P::Value)) {
    let mut runner = TestRunner::new(ProptestConfig { source_file: Some(file), ..cases(programs) });
    let result = runner.run(&program, |program| {
        run(program);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}\n{runner}");
    }
}

/// Takes the steps of a program. A failure names the step.
pub fn each<S: Copy + Debug>(steps: Vec<S>, mut take: impl FnMut(S)) {
    for (number, step) in steps.into_iter().enumerate() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| take(step))) {
            resume_unwind(Box::new(format!("step {number}, {step:?}: {}", message(&*panic))));
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
