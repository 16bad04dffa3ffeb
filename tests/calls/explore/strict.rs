//! What an exploration says about what it did not try, and about errors that are swallowed.

use super::{Failed, STORE, answered, block_on, kinds, panic_of, sent};
use retry_core::test::{FindingKind, Findings, explore, may_fail};
use retry_core::{RetryInfo, retry, retry_blocking};
use std::cell::RefCell;
use std::rc::Rc;
use tower::{Layer, ServiceExt, service_fn};

/// Explores a fake that fails before its effect only.
fn before_the_effect(accept: bool) -> Findings {
    let exploration = if accept { explore().accept_unchecked() } else { explore() };
    exploration.run(|| {
        let effects = RefCell::new(0);
        let call = || {
            sent()?;
            *effects.borrow_mut() += 1;
            Ok::<_, Failed>(())
        };
        retry_blocking(&STORE, call).name("call").run().unwrap();
        assert_eq!(*effects.borrow(), 1);
    })
}

// Rule G13.
#[test]
fn a_fake_that_loses_no_answer_after_its_effect_fails_the_assertion() {
    let found = before_the_effect(false);
    assert!(found.findings.is_empty() && found.unchecked.is_empty(), "{found}");
    let message = panic_of(|| found.assert_none());
    assert!(message.contains("unchecked: no case lost an answer after an effect; write `may_fail("), "{message}");
    before_the_effect(true).assert_none();
}

// Rule G13.
#[test]
fn an_unchecked_attempt_fails_the_assertion() {
    #[derive(Debug, RetryInfo)]
    #[retry(timeout)]
    struct Other;

    let test = || {
        retry_blocking(&STORE, answered).name("seen").run().unwrap();
        retry_blocking(&STORE, || Ok::<_, Other>(())).name("unseen").run().unwrap();
    };
    let message = panic_of(|| explore().run(test).assert_none());
    assert!(
        message.contains("`unseen` without an answer: there is no error to return; `explore().no_answer("),
        "{message}"
    );
    explore().accept_unchecked().run(test).assert_none();
    explore().no_answer(|| Other).run(test).assert_none();
}

/// A program that reports success although its operation gave up.
fn save(swallows: bool) -> Result<(), Failed> {
    let saved = block_on(retry(&STORE, async || answered()).name("save").run());
    if swallows { Ok(()) } else { saved }
}

// Rule G14.
#[test]
fn an_error_that_is_swallowed_after_giving_up_is_found() {
    let found = explore().run(|| save(true).unwrap());
    assert_eq!(kinds(&found), [FindingKind::Swallowed]);
    assert!(found.findings[0].case.ends_with("from then on"), "{found}");
    assert!(
        found.to_string().contains("`save` gave up (max_attempts), and the test passes with the same result"),
        "{found}"
    );
    explore().run(|| save(false).unwrap()).assert_none();
    // What the caller is told is the result of the test.
    explore().run(|| save(false).is_ok()).assert_none();
}

// Rule G14.
#[test]
fn work_that_another_operation_does_instead_is_not_swallowed() {
    let found = explore().run(|| {
        let first = retry_blocking(&STORE, answered).name("first").run();
        first.or_else(|_| retry_blocking(&STORE, || may_fail(|| Failed::NoAnswer)).name("second").run()).unwrap();
    });
    assert_eq!(kinds(&found), []);
}

// Rule G13.
#[test]
fn one_line_around_a_service_sets_its_points() {
    fn charge(idempotent: bool) -> Findings {
        explore().run(move || {
            let charged = Rc::new(RefCell::new(0));
            let server = Rc::clone(&charged);
            let service = service_fn(move |()| {
                *server.borrow_mut() += 1;
                std::future::ready(Ok::<_, Failed>(()))
            });
            let service = service.map_result(|answer| may_fail(|| Failed::NoAnswer).and(answer));
            let policy = retry_core::StandardRetryPolicy::new().idempotent(idempotent);
            let layer = retry_tower::RetryLayer::with_handle(&STORE).policy(policy);
            block_on(layer.layer(service).oneshot(())).unwrap();
            assert_eq!(*charged.borrow(), 1);
        })
    }

    assert_eq!(kinds(&charge(true))[0], FindingKind::Breaks);
    charge(false).assert_none();
}
