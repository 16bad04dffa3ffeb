//! Answers that a variant does not set come from its source.

use super::{INNER, Inner, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{Client, Server};
use retry_core::RetryInfo;
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::classify::Classification;
use std::sync::Arc;
use std::time::Duration;

// Rule M17.
#[test]
fn answers_that_a_variant_does_not_set_come_from_its_source() {
    #[derive(RetryInfo)]
    #[retry(never, fault = "client", retry_after = "1s")]
    enum Failure {
        Plain(#[retry(source)] Inner),
        #[retry(fault = "client")]
        Fault(#[retry(source)] Inner),
        #[retry(never)]
        Never {
            context: &'static str,
            #[retry(source)]
            cause: Inner,
        },
        #[retry(timeout)]
        Timeout(#[retry(source)] Inner),
        #[retry(retry_after = "2s")]
        After(#[retry(source)] Inner),
        Wait(#[retry(source)] Inner, #[retry(retry_after)] Option<Duration>),
        #[retry(http_status = 404)]
        Status(#[retry(source)] Inner),
    }

    assert_eq!(says(&Failure::Plain(Inner)), INNER, "the source beats the options of the enum");
    assert_eq!(says(&Failure::Fault(Inner)), (Client, Yes, true, false, Some(secs(7))));
    assert_eq!(says(&Failure::Never { context: "", cause: Inner }), (Server, No, true, false, Some(secs(7))));
    assert_eq!(says(&Failure::Timeout(Inner)), (Server, Maybe, true, true, Some(secs(7))));
    assert_eq!(says(&Failure::After(Inner)), (Server, Yes, true, false, Some(secs(2))));
    assert_eq!(says(&Failure::Wait(Inner, Some(secs(3)))), (Server, Yes, true, false, Some(secs(3))));
    assert_eq!(says(&Failure::Wait(Inner, None)), INNER);
    assert_eq!(says(&Failure::Status(Inner)), (Client, No, false, false, Some(secs(7))));
}

#[test]
fn the_wait_of_the_enum_applies_if_the_source_has_none() {
    #[derive(RetryInfo)]
    #[retry(retry_after = "1s")]
    enum Failure {
        Caused(#[retry(source)] Failed),
        #[retry(transparent)]
        Transparent(Failed),
    }

    assert_eq!(Failure::Caused(Failed::SAFE).retry_after(), Some(secs(1)));
    assert_eq!(Failure::Caused(Failed::SAFE.after(secs(2))).retry_after(), Some(secs(2)));
    assert_eq!(
        Failure::Transparent(Failed::SAFE).retry_after(),
        None,
        "a transparent variant takes every answer from its field"
    );
}

#[test]
fn a_source_may_be_boxed_shared_borrowed_generic_or_a_trait_object() {
    #[derive(RetryInfo)]
    enum Failure<'a, E, F: ?Sized> {
        Boxed(#[retry(source)] Box<Inner>),
        Shared(#[retry(source)] Arc<Inner>),
        Lent(#[retry(source)] &'a Inner),
        Generic(#[retry(source)] E),
        GenericBox {
            #[retry(source)]
            source: Box<E>,
        },
        Unsized(#[retry(source)] &'a F),
        Any(#[retry(source)] Box<dyn RetryInfo + Send + Sync + 'a>),
        Verdict(#[retry(source)] Classification),
    }

    type Concrete<'a> = Failure<'a, Inner, dyn RetryInfo>;
    let all = [
        Concrete::Boxed(Box::new(Inner)),
        Failure::Shared(Arc::new(Inner)),
        Failure::Lent(&Inner),
        Failure::Generic(Inner),
        Failure::GenericBox { source: Box::new(Inner) },
        Failure::Unsized(&Inner),
        Failure::Any(Box::new(Inner)),
        Failure::Verdict(Classification::of(&Inner)),
    ];
    for (index, error) in all.iter().enumerate() {
        assert_eq!(says(error), INNER, "case {index}");
    }
}

#[test]
fn answers_come_through_several_layers_of_sources() {
    #[derive(RetryInfo)]
    enum Transport {
        #[retry(http_status = 503)]
        Unavailable(#[retry(retry_after)] Duration),
    }

    #[derive(RetryInfo)]
    #[retry(never)]
    enum Session {
        #[retry(transparent)]
        Transport { attempt: u32, source: Arc<Transport> },
    }

    #[derive(RetryInfo)]
    enum Store {
        #[retry(fault = "client")]
        Session(String, #[retry(source)] Box<Session>),
    }

    let transport = Arc::new(Transport::Unavailable(secs(5)));
    let error = Store::Session(String::new(), Box::new(Session::Transport { attempt: 1, source: transport }));
    assert_eq!(says(&error), (Client, Yes, true, false, Some(secs(5))));
}
