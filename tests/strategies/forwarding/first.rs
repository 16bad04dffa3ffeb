//! Wrappers of strategies forward that the token of a first attempt holds nothing, so that it is made only if it is needed.

use super::{Probe, ProbeToken, Trace, token_says};
use crate::support::{ByHand, secs};
use retry_core::strategy::Weighted;
use retry_core::{ErasedStrategy, RetryStrategy, ScopedRetryStrategy, Success};
use retry_tower::IntoHandle;
use std::sync::{Arc, LazyLock};

/// Calls each method for a first attempt whose token holds nothing, which is made when it is needed.
fn first_trace<S: RetryStrategy + ?Sized>(strategy: &S, probe: &Probe) -> Trace {
    let clock = ByHand::at(secs(5));
    let mut answers = vec![format!("{:?}", strategy.starts_empty())];
    answers.push(format!("{:?}", strategy.empty_token(&clock).map(|token| token_says(&token))));
    strategy.record_first_success(&Success::default(), &clock);
    let mut trace = std::mem::take(&mut *probe.calls.lock().unwrap());
    trace.extend(answers);
    trace
}

// Rule R16.
#[test]
fn a_wrapper_of_a_strategy_forwards_that_first_tokens_are_empty() {
    static LAZY: LazyLock<Probe> = LazyLock::new(Probe::default);
    static SCOPES: ScopedRetryStrategy<u8, Probe> = ScopedRetryStrategy::new(Probe::default);

    let (probe, scope) = (Probe::default(), SCOPES.scope(&1));
    let expected =
        ["empty 5", "first_success (Success { rate_limit: None }, 5)", "true", "Ok((3, 33, 103s, RetryAfter, 203s))"];
    assert_eq!(first_trace(&probe, &probe), expected);
    let shared = Arc::new(probe.clone());
    let erased = ErasedStrategy::new(probe.clone());
    let dynamic: Box<dyn RetryStrategy<Token = ProbeToken>> = Box::new(probe.clone());
    let wrappers = [
        ("&S", first_trace(&&probe, &probe)),
        ("Box<S>", first_trace(&Box::new(probe.clone()), &probe)),
        ("dyn", first_trace(&*dynamic, &probe)),
        ("Box<dyn>", first_trace(&dynamic, &probe)),
        ("Arc<S>", first_trace(&shared, &probe)),
        ("LazyLock<S>", first_trace(&LAZY, &LAZY)),
        ("Scope", first_trace(&scope, &scope)),
        ("Static<S>", first_trace(&IntoHandle::into_handle(&LAZY), &LAZY)),
        ("ErasedStrategy", first_trace(&erased, &probe)),
        ("ErasedStrategy twice", first_trace(&ErasedStrategy::new(erased.clone()), &probe)),
    ];
    for (wrapper, trace) in wrappers {
        assert_eq!(trace, expected, "{wrapper}");
    }
}

// Rules R16, R22.
#[test]
fn no_first_token_is_empty_if_operations_have_a_weight() {
    let probe = Probe::default();
    let begun = ["initial 5", "weigh (7, 30)"].map(str::to_owned);
    let succeeded = "success (7, Success { rate_limit: None }, 5)".to_owned();
    let told = ["false", "Ok((7, 37, 107s, RetryAfter, 207s))"].map(str::to_owned);
    let expected = [&begun, &begun, &*vec![succeeded], &told].concat();
    assert_eq!(first_trace(&Weighted::new(&probe, 30), &probe), expected);
}
