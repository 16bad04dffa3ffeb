//! Answers of functions named by `with`, and answers in fields.

use super::says;
use crate::support::secs;
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetryInfo;
use retry_core::RetrySafety::{self, Maybe, No, Yes};
use retry_core::classify::{Classification, chain, http, io};
use std::error::Error;
use std::fmt::Debug;
use std::io::ErrorKind;

#[test]
fn a_function_gets_a_reference_to_each_field_in_order() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(with = two)]
        Tuple(u8, String),
        #[retry(with = two)]
        Named { number: u8, text: String },
        #[retry(with = Failure::of_this_type)]
        Coerced(Box<u8>, Vec<u8>),
        #[retry(with = Self::of_this_type)]
        ByTheNameOfSelf(Box<u8>, Vec<u8>),
        #[retry(with = none)]
        Unit,
        #[retry(with = any::<u8>)]
        Generic(u8),
        #[retry(with = <u8 as Judge>::judge)]
        OfATrait(u8),
    }

    fn two(number: &u8, text: &str) -> bool {
        text.len() == usize::from(*number)
    }

    fn none() -> bool {
        true
    }

    fn any<T: Debug>(value: &T) -> bool {
        format!("{value:?}") == "1"
    }

    trait Judge {
        fn judge(&self) -> bool;
    }

    impl Judge for u8 {
        fn judge(&self) -> bool {
            *self == 1
        }
    }

    impl Failure {
        fn of_this_type(number: &u8, bytes: &[u8]) -> bool {
            bytes.contains(number)
        }
    }

    let text = || "text".to_owned();
    let cases = [
        (Failure::Tuple(4, text()), Yes),
        (Failure::Tuple(5, text()), No),
        (Failure::Named { number: 4, text: text() }, Yes),
        (Failure::Named { number: 5, text: text() }, No),
        (Failure::Coerced(Box::new(1), vec![1, 2]), Yes),
        (Failure::Coerced(Box::new(3), vec![1, 2]), No),
        (Failure::ByTheNameOfSelf(Box::new(3), vec![3]), Yes),
        (Failure::Unit, Yes),
        (Failure::Generic(1), Yes),
        (Failure::Generic(2), No),
        (Failure::OfATrait(1), Yes),
        (Failure::OfATrait(2), No),
    ];
    for (index, (error, safety)) in cases.iter().enumerate() {
        assert_eq!(says(error), (Other, *safety, false, false, None), "case {index}");
    }
}

#[test]
fn a_function_may_return_a_bool_a_safety_or_a_classification_or_an_option_of_one() {
    const BUSY: Classification =
        Classification::new(Yes).with_throttling().with_fault(Server).with_retry_after(Some(secs(7)));

    #[derive(RetryInfo)]
    #[retry(timeout, fault = "client")]
    enum Failure {
        #[retry(with = bool)]
        Bool(u8),
        #[retry(with = perhaps_bool)]
        PerhapsBool(u8),
        #[retry(with = safety)]
        Safety(u8),
        #[retry(with = perhaps_safety)]
        PerhapsSafety(u8),
        #[retry(with = all)]
        All(u8),
        #[retry(with = perhaps_all)]
        PerhapsAll(u8),
        #[retry(with = lent)]
        Lent(u8),
        #[retry(with = perhaps_lent)]
        PerhapsLent(Option<Classification>),
    }

    fn bool(number: &u8) -> bool {
        *number > 0
    }
    fn perhaps_bool(number: &u8) -> Option<bool> {
        (*number > 0).then_some(true)
    }
    fn safety(number: &u8) -> RetrySafety {
        if *number > 0 { Yes } else { No }
    }
    fn perhaps_safety(number: &u8) -> Option<RetrySafety> {
        (*number > 0).then_some(Yes)
    }
    fn all(number: &u8) -> Classification {
        if *number > 0 { BUSY } else { Classification::new(No) }
    }
    fn perhaps_all(number: &u8) -> Option<Classification> {
        (*number > 0).then_some(BUSY)
    }
    fn lent(_: &u8) -> &'static Classification {
        &BUSY
    }
    fn perhaps_lent(verdict: &Option<Classification>) -> Option<&Classification> {
        verdict.as_ref()
    }

    let safe = (Client, Yes, false, true, None);
    let never = (Client, No, false, true, None);
    let unsaid = (Client, Maybe, false, true, None);
    let busy = (Server, Yes, true, false, Some(secs(7)));
    let cases = [
        (Failure::Bool(1), safe),
        (Failure::Bool(0), never),
        (Failure::PerhapsBool(1), safe),
        (Failure::PerhapsBool(0), unsaid),
        (Failure::Safety(1), safe),
        (Failure::Safety(0), never),
        (Failure::PerhapsSafety(1), safe),
        (Failure::PerhapsSafety(0), unsaid),
        (Failure::All(1), busy),
        (Failure::All(0), (Other, No, false, false, None)),
        (Failure::PerhapsAll(1), busy),
        (Failure::PerhapsAll(0), unsaid),
        (Failure::Lent(0), busy),
        (Failure::PerhapsLent(Some(BUSY)), busy),
        (Failure::PerhapsLent(None), unsaid),
    ];
    for (index, (error, expected)) in cases.iter().enumerate() {
        assert_eq!(says(error), *expected, "case {index}");
    }
}

#[test]
fn a_function_of_classify_classifies_a_foreign_error() {
    /// A foreign error that keeps an I/O error as its source.
    #[derive(Debug, thiserror::Error)]
    #[error("foreign")]
    struct Foreign(#[from] std::io::Error);

    #[derive(Debug, thiserror::Error, RetryInfo)]
    enum Failure {
        #[error("while reading {path}")]
        Io {
            path: String,
            #[retry(with = io::known)]
            source: std::io::Error,
        },
        #[error("not readable")]
        #[retry(fault = "server")]
        Chain(
            #[retry(with = chain::known)]
            #[from]
            Foreign,
        ),
        #[error("of any kind")]
        Any(#[retry(with = chain::known)] Box<dyn Error + Send + Sync>),
        #[error("answered {0}")]
        Answered(#[retry(with = classify_status)] i32),
    }

    fn classify_status(status: &i32) -> Option<Classification> {
        u16::try_from(*status).ok().map(http::status)
    }

    let io = |kind: ErrorKind| std::io::Error::from(kind);
    let read = |kind| Failure::Io { path: String::new(), source: io(kind) };
    assert_eq!(says(&read(ErrorKind::ConnectionRefused)), (Other, Yes, false, false, None));
    assert_eq!(says(&read(ErrorKind::UnexpectedEof)), (Server, Maybe, false, false, None));
    assert_eq!(says(&read(ErrorKind::TimedOut)), (Other, Maybe, false, true, None));
    assert_eq!(says(&read(ErrorKind::NotFound)), (Other, No, false, false, None));
    assert!(Failure::Chain(Foreign(io(ErrorKind::TimedOut))).is_timeout());
    assert!(Failure::Any(Box::new(io(ErrorKind::TimedOut))).is_timeout());
    assert_eq!(says(&Failure::Any("no I/O error".into())), (Other, No, false, false, None));
    assert_eq!(says(&Failure::Answered(429)), (Client, Yes, true, false, None));
    assert_eq!(says(&Failure::Answered(-1)), (Other, No, false, false, None));
}

#[test]
fn a_field_may_hold_the_safety() {
    #[derive(RetryInfo)]
    #[retry(fault = "server")]
    enum Failure<'a, V> {
        Bool(#[retry(safe)] bool),
        Perhaps {
            #[retry(safe)]
            retryable: Option<bool>,
        },
        Safety(#[retry(safe)] RetrySafety),
        PerhapsSafety(#[retry(safe)] Option<RetrySafety>),
        Lent(#[retry(safe)] &'a bool),
        Generic(u8, #[retry(safe)] V),
        #[retry(throttling)]
        Throttling(#[retry(safe)] bool),
    }

    let cases: [(Failure<'_, bool>, RetrySafety); 12] = [
        (Failure::Bool(true), Yes),
        (Failure::Bool(false), No),
        (Failure::Perhaps { retryable: Some(true) }, Yes),
        (Failure::Perhaps { retryable: Some(false) }, No),
        (Failure::Perhaps { retryable: None }, Maybe),
        (Failure::Safety(No), No),
        (Failure::Safety(Maybe), Maybe),
        (Failure::PerhapsSafety(Some(Yes)), Yes),
        (Failure::PerhapsSafety(None), Maybe),
        (Failure::Lent(&false), No),
        (Failure::Generic(0, true), Yes),
        (Failure::Throttling(false), No),
    ];
    for (index, (error, safety)) in cases.iter().enumerate() {
        let throttling = matches!(error, Failure::Throttling(_));
        assert_eq!(says(error), (Server, *safety, throttling, false, None), "case {index}");
    }
}
