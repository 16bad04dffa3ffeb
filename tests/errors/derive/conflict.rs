//! Conflicts, and the answers that they imply.

use super::{Says, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::classify::Classification;
use retry_core::{RetryErrorType, RetryInfo};

/// Returns whether an error is a conflict, and its other answers.
fn with_conflict(error: &dyn RetryInfo) -> (bool, Says) {
    (error.is_conflict(), says(error))
}

#[test]
fn a_conflict_is_safe_to_retry_unless_the_variant_overrides_that() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(conflict)]
        Lost,
        #[retry(conflict, never)]
        Final,
        #[retry(conflict, safe = "maybe", fault = "client", retry_after = "1s")]
        Said,
        #[retry(conflict, timeout)]
        Late,
        #[retry(conflict, throttling)]
        Throttled,
        Silent,
    }

    assert_eq!(with_conflict(&Failure::Lost), (true, (Other, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Final), (true, (Other, No, false, false, None)));
    assert_eq!(with_conflict(&Failure::Said), (true, (Client, Maybe, false, false, Some(secs(1)))));
    assert_eq!(
        with_conflict(&Failure::Late),
        (true, (Other, Yes, false, true, None)),
        "the same as the default of the trait"
    );
    assert_eq!(with_conflict(&Failure::Throttled), (true, (Other, Yes, true, false, None)));
    assert_eq!(with_conflict(&Failure::Silent), (false, (Other, No, false, false, None)));

    let types = [&Failure::Lost, &Failure::Late, &Failure::Throttled].map(RetryErrorType::of);
    assert_eq!(types, [RetryErrorType::Conflict, RetryErrorType::Timeout, RetryErrorType::Throttling]);
}

#[test]
fn structs_and_enums_accept_the_option_conflict() {
    #[derive(RetryInfo)]
    #[retry(conflict)]
    struct Lost;

    #[derive(RetryInfo)]
    #[retry(conflict, fault = "server")]
    enum Failure {
        Default,
        #[retry(never)]
        Never,
        #[retry(timeout)]
        Timeout,
    }

    assert_eq!(with_conflict(&Lost), (true, (Other, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Default), (true, (Server, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Never), (true, (Server, No, false, false, None)));
    assert_eq!(with_conflict(&Failure::Timeout), (true, (Server, Maybe, false, true, None)));
}

#[test]
fn a_conflict_can_come_from_every_source_of_answers() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(transparent)]
        Transparent(Failed),
        Source(#[retry(source)] Option<Failed>),
        With(#[retry(with = judge)] u8),
        Code(#[retry(error_code)] &'static str),
        #[retry(http_status = 409)]
        Status,
    }

    fn judge(number: &u8) -> Option<Classification> {
        (*number > 0).then(|| Classification::new(Yes).with_conflict())
    }

    assert_eq!(with_conflict(&Failure::Transparent(Failed::CONFLICT)), (true, (Other, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Source(Some(Failed::CONFLICT))), (true, (Other, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Source(None)), (false, (Other, No, false, false, None)));
    assert_eq!(with_conflict(&Failure::With(1)), (true, (Other, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::With(0)), (false, (Other, No, false, false, None)));
    let code = Failure::Code("TransactionConflictException");
    assert_eq!(with_conflict(&code), (true, (Other, Yes, false, false, None)));
    assert_eq!(
        with_conflict(&Failure::Status),
        (false, (Client, No, false, false, None)),
        "a bare 409 is not a conflict"
    );
}

#[test]
fn an_option_beside_a_constant_status_sets_its_flag_and_the_safety() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(throttling, http_status = 400)]
        DynamoDb,
        #[retry(throttling, http_status = 403, retry_after = "60s")]
        GitHub,
        #[retry(timeout, http_status = 502)]
        Gateway,
        #[retry(conflict, http_status = 412)]
        Changed,
        #[retry(throttling, never, http_status = 429)]
        Quota,
        #[retry(timeout, http_status = 429)]
        LateAndThrottled,
    }

    assert_eq!(with_conflict(&Failure::DynamoDb), (false, (Client, Yes, true, false, None)));
    assert_eq!(with_conflict(&Failure::GitHub), (false, (Client, Yes, true, false, Some(secs(60)))));
    assert_eq!(with_conflict(&Failure::Gateway), (false, (Server, Maybe, false, true, None)));
    assert_eq!(with_conflict(&Failure::Changed), (true, (Client, Yes, false, false, None)));
    assert_eq!(with_conflict(&Failure::Quota), (false, (Client, No, true, false, None)));
    assert_eq!(with_conflict(&Failure::LateAndThrottled), (false, (Client, Maybe, true, true, None)));
}

#[test]
fn an_option_beside_a_default_status_sets_its_flag_and_the_safety() {
    #[derive(RetryInfo)]
    #[retry(throttling, http_status = 400)]
    enum Failure {
        Default,
        #[retry(http_status = 404)]
        Missing,
    }

    #[derive(RetryInfo)]
    #[retry(conflict, http_status = 409)]
    struct Changed;

    assert_eq!(with_conflict(&Failure::Default), (false, (Client, Yes, true, false, None)));
    assert_eq!(with_conflict(&Failure::Missing), (false, (Client, No, false, false, None)));
    assert_eq!(with_conflict(&Changed), (true, (Client, Yes, false, false, None)));
}
