//! Sources behind a pointer, and optional sources.
#![expect(clippy::option_option, reason = "nested options are accepted, too")]

use super::{INNER, Inner, Says, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetryInfo;
use retry_core::RetrySafety::{Maybe, No, Yes};
use std::borrow::Cow;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

type Optional<E> = Option<Box<E>>;

#[test]
fn an_optional_source_answers_if_it_is_present() {
    #[derive(RetryInfo)]
    #[retry(never, fault = "client", retry_after = "1s")]
    enum Failure<'a, E> {
        Plain(#[retry(source)] Option<Inner>),
        Boxed(#[retry(source)] Option<Box<Inner>>),
        Shared(#[retry(source)] Option<Arc<Inner>>),
        Counted(#[retry(source)] Option<Rc<Inner>>),
        Lent(#[retry(source)] Option<&'a Inner>),
        Twice(#[retry(source)] Option<Option<Inner>>),
        Any(#[retry(source)] Option<Box<dyn RetryInfo + Send + Sync + 'a>>),
        Generic(#[retry(source)] Option<E>),
        GenericBox {
            #[retry(source)]
            source: Option<Box<E>>,
        },
        Alias(#[retry(source)] Optional<Inner>),
        GenericAlias(#[retry(source)] Optional<E>),
    }

    let all: [(Failure<'_, Inner>, Failure<'_, Inner>); 11] = [
        (Failure::Plain(Some(Inner)), Failure::Plain(None)),
        (Failure::Boxed(Some(Box::new(Inner))), Failure::Boxed(None)),
        (Failure::Shared(Some(Arc::new(Inner))), Failure::Shared(None)),
        (Failure::Counted(Some(Rc::new(Inner))), Failure::Counted(None)),
        (Failure::Lent(Some(&Inner)), Failure::Lent(None)),
        (Failure::Twice(Some(Some(Inner))), Failure::Twice(Some(None))),
        (Failure::Any(Some(Box::new(Inner))), Failure::Any(None)),
        (Failure::Generic(Some(Inner)), Failure::Generic(None)),
        (Failure::GenericBox { source: Some(Box::new(Inner)) }, Failure::GenericBox { source: None }),
        (Failure::Alias(Some(Box::new(Inner))), Failure::Alias(None)),
        (Failure::GenericAlias(Some(Box::new(Inner))), Failure::GenericAlias(None)),
    ];
    for (index, (there, missing)) in all.iter().enumerate() {
        assert_eq!(says(there), INNER, "case {index}");
        assert_eq!(says(missing), (Client, No, false, false, Some(secs(1))), "case {index}");
    }
}

#[test]
fn a_missing_source_is_the_same_as_no_source() {
    /// Compares the same enum with a missing source and without a source field.
    macro_rules! with_and_without {
        ($(#[$of_enum:meta])? $(, #[$of_variant:meta])?) => {{
            #[derive(RetryInfo)]
            #[retry(crate = ::retry_core)]
            $(#[$of_enum])?
            enum With {
                $(#[$of_variant])?
                Case(#[retry(source)] Option<Failed>),
            }

            #[allow(deprecated, reason = "one pair has no label")]
            #[derive(RetryInfo)]
            #[retry(crate = ::retry_core)]
            $(#[$of_enum])?
            enum Without {
                $(#[$of_variant])?
                Case,
            }

            let says: (Says, Says) = (says(&With::Case(None)), says(&Without::Case));
            assert_eq!(says.0, says.1);
            says.0
        }};
    }

    assert_eq!(with_and_without!(), (Other, No, false, false, None));
    assert_eq!(with_and_without!(#[retry(fault = "server")]), (Server, Maybe, false, false, None));
    assert_eq!(with_and_without!(#[retry(safe, retry_after = "2s")]), (Other, Yes, false, false, Some(secs(2))));
    assert_eq!(with_and_without!(#[retry(http_status = 429)]), (Client, Yes, true, false, None));
    assert_eq!(
        with_and_without!(#[retry(http_status = 503)], #[retry(retry_after = "2s")]),
        (Server, Yes, true, false, Some(secs(2)))
    );
    assert_eq!(with_and_without!(#[retry(timeout)]), (Other, Maybe, false, true, None));
    assert_eq!(with_and_without!(#[retry(never)], #[retry(throttling)]), (Other, Yes, true, false, None));
    assert_eq!(with_and_without!(#[retry(never)], #[retry(fault = "server")]), (Server, No, false, false, None));
}

#[test]
fn the_target_of_a_standard_library_pointer_answers() {
    #[derive(RetryInfo)]
    enum Failure<'a> {
        Counted(#[retry(source)] Rc<Inner>),
        Cow(#[retry(source)] Cow<'a, Inner>),
        #[retry(transparent)]
        CountedAll(Rc<Inner>),
        #[retry(transparent)]
        CowAll(Cow<'a, Inner>),
        #[retry(transparent)]
        Nested(Box<Cow<'a, Inner>>),
        #[retry(transparent)]
        Any(Rc<dyn RetryInfo>),
        #[retry(fault = "client")]
        Never(#[retry(source)] Infallible),
        #[retry(transparent)]
        NeverAtAll(Infallible),
    }

    let all = [
        Failure::Counted(Rc::new(Inner)),
        Failure::Cow(Cow::Borrowed(&Inner)),
        Failure::Cow(Cow::Owned(Inner)),
        Failure::CountedAll(Rc::new(Inner)),
        Failure::CowAll(Cow::Owned(Inner)),
        Failure::Nested(Box::new(Cow::Borrowed(&Inner))),
        Failure::Any(Rc::new(Inner)),
    ];
    for (index, error) in all.iter().enumerate() {
        assert_eq!(says(error), INNER, "case {index}");
    }
}
