//! Statuses and error codes, as constants and in fields.

use super::says;
use crate::support::{millis, secs};
use http::StatusCode;
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetryInfo;
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::classify::{Classification, aws, http as statuses};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

// Rule M16.
#[test]
fn a_constant_status_is_classified_as_in_the_table() {
    macro_rules! constant {
        ($($status:literal)+) => {$({
            #[derive(RetryInfo)]
            #[retry(http_status = $status)]
            struct OfStruct;

            #[derive(RetryInfo)]
            enum OfVariant {
                #[retry(http_status = $status)]
                Variant,
            }

            #[derive(RetryInfo)]
            #[retry(http_status = $status)]
            enum OfEnum {
                Variant,
            }

            let by_table = says(&statuses::status($status));
            assert_eq!(says(&OfStruct), by_table, "{}", $status);
            assert_eq!(says(&OfVariant::Variant), by_table, "{}", $status);
            assert_eq!(says(&OfEnum::Variant), by_table, "{}", $status);
        })+};
    }

    // A status below 400 is refused.
    constant!(400 401 403 404 408 409 425 429 499 500 501 502 503 504 505 509 529 599 600 999);
}

// Rule M16.
#[test]
fn a_status_in_a_field_is_classified_as_in_the_table() {
    #[derive(RetryInfo)]
    struct Answered(#[retry(http_status)] u16);

    for status in 0..=u16::MAX {
        assert_eq!(says(&Answered(status)), says(&statuses::status(status)), "{status}");
    }
}

#[test]
fn a_status_may_be_in_fields_of_many_types() {
    #[derive(RetryInfo)]
    enum Failure<'a, S> {
        Number(#[retry(http_status)] u16),
        Perhaps(#[retry(http_status)] Option<u16>),
        Lent(#[retry(http_status)] &'a u16),
        PerhapsLent(#[retry(http_status)] Option<&'a u16>),
        Typed {
            #[retry(http_status)]
            status: StatusCode,
        },
        PerhapsTyped(#[retry(http_status)] Option<StatusCode>),
        TypedLent(#[retry(http_status)] &'a Option<StatusCode>),
        Generic(#[retry(http_status)] S),
    }

    let busy = StatusCode::TOO_MANY_REQUESTS;
    let perhaps_busy = Some(busy);
    let all = [
        Failure::Number(429),
        Failure::Perhaps(Some(429)),
        Failure::Lent(&429),
        Failure::PerhapsLent(Some(&429)),
        Failure::Typed { status: busy },
        Failure::PerhapsTyped(perhaps_busy),
        Failure::TypedLent(&perhaps_busy),
        Failure::Generic(busy),
    ];
    for (index, error) in all.iter().enumerate() {
        assert_eq!(says(error), (Client, Yes, true, false, None), "case {index}");
    }
    for nothing in [Failure::<u16>::Perhaps(None), Failure::PerhapsLent(None), Failure::PerhapsTyped(None)] {
        assert_eq!(says(&nothing), (Other, No, false, false, None));
    }
}

#[test]
fn a_status_is_classified_together_with_the_wait() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(http_status = 503)]
        Alone,
        #[retry(http_status = 503, retry_after = "2s")]
        Constants,
        #[retry(http_status = 503)]
        ConstantAndField(#[retry(retry_after)] Option<Duration>),
        #[retry(retry_after = "0s")]
        FieldAndConstant(#[retry(http_status)] u16),
        Fields {
            #[retry(retry_after(millis))]
            wait: Option<u32>,
            #[retry(http_status)]
            status: u16,
        },
        #[retry(retry_after = "9s")]
        All(#[retry(http_status)] u16, #[retry(retry_after(secs))] Option<u8>),
    }

    let throttled = |wait| (Server, Yes, true, false, Some(wait));
    let broken = (Server, Maybe, false, false, None);
    assert_eq!(says(&Failure::Alone), broken);
    assert_eq!(says(&Failure::Constants), throttled(secs(2)));
    assert_eq!(says(&Failure::ConstantAndField(Some(secs(3)))), throttled(secs(3)));
    assert_eq!(says(&Failure::ConstantAndField(None)), broken);
    assert_eq!(says(&Failure::FieldAndConstant(503)), throttled(secs(0)), "a wait of zero is treated as a wait");
    assert_eq!(says(&Failure::FieldAndConstant(500)), (Server, Maybe, false, false, Some(secs(0))));
    assert_eq!(says(&Failure::Fields { wait: Some(250), status: 503 }), throttled(millis(250)));
    assert_eq!(says(&Failure::Fields { wait: None, status: 503 }), broken);
    assert_eq!(says(&Failure::All(503, None)), throttled(secs(9)));
    assert_eq!(says(&Failure::All(503, Some(4))), throttled(secs(4)));
}

// Rule M16.
#[test]
fn a_403_is_judged_together_with_the_wait_as_a_503_is() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(http_status = 403)]
        Alone,
        #[retry(http_status = 403, retry_after = "2s")]
        Constants,
        #[retry(http_status = 403)]
        ConstantAndField(#[retry(retry_after)] Option<Duration>),
        #[retry(retry_after = "0s")]
        FieldAndConstant(#[retry(http_status)] StatusCode),
        Fields {
            #[retry(http_status)]
            status: u16,
            #[retry(retry_after(millis))]
            wait: Option<u32>,
            #[retry(error_code)]
            code: Option<&'static str>,
        },
    }

    #[derive(RetryInfo)]
    #[retry(http_status = 403, retry_after = "1s")]
    enum Limited {
        Plain,
    }

    let throttled = |wait| (Client, Yes, true, false, Some(wait));
    let forbidden = (Client, No, false, false, None);
    assert_eq!(says(&Failure::Alone), forbidden);
    assert_eq!(says(&Failure::Constants), throttled(secs(2)));
    assert_eq!(says(&Failure::ConstantAndField(Some(secs(3)))), throttled(secs(3)));
    assert_eq!(says(&Failure::ConstantAndField(None)), forbidden);
    assert_eq!(says(&Failure::FieldAndConstant(StatusCode::FORBIDDEN)), throttled(secs(0)));
    let fields = |wait, code| Failure::Fields { status: 403, wait, code };
    assert_eq!(says(&fields(Some(250), None)), throttled(millis(250)));
    assert_eq!(says(&fields(Some(250), Some("NoSuchKey"))), throttled(millis(250)), "an unknown code is ignored");
    assert_eq!(says(&fields(Some(250), Some("AuthFailure"))), (Client, No, false, false, Some(millis(250))));
    assert_eq!(says(&fields(None, None)), forbidden);
    assert_eq!(says(&Limited::Plain), throttled(secs(1)));
}

#[test]
fn a_default_status_is_classified_together_with_the_wait_of_the_variant() {
    #[derive(RetryInfo)]
    #[retry(http_status = 503)]
    enum Unavailable {
        Plain,
        #[retry(retry_after = "1s")]
        Constant,
        Field(#[retry(retry_after)] Option<Duration>),
        #[retry(http_status = 404)]
        Missing,
        #[retry(never)]
        Never,
    }

    let throttled = |wait| (Server, Yes, true, false, Some(wait));
    let broken = (Server, Maybe, false, false, None);
    assert_eq!(says(&Unavailable::Plain), broken);
    assert_eq!(says(&Unavailable::Constant), throttled(secs(1)));
    assert_eq!(says(&Unavailable::Field(Some(secs(2)))), throttled(secs(2)));
    assert_eq!(says(&Unavailable::Field(None)), broken);
    assert_eq!(says(&Unavailable::Missing), (Client, No, false, false, None));
    assert_eq!(says(&Unavailable::Never), (Server, No, false, false, None));
}

#[test]
fn a_default_wait_does_not_change_the_classification_of_a_variants_status() {
    #[derive(RetryInfo)]
    #[retry(retry_after = "1s")]
    enum Failure {
        #[retry(http_status = 503)]
        Unavailable,
        Answered(#[retry(http_status)] u16),
    }

    assert_eq!(says(&Failure::Unavailable), (Server, Maybe, false, false, Some(secs(1))));
    assert_eq!(says(&Failure::Answered(503)), (Server, Maybe, false, false, Some(secs(1))));

    #[derive(RetryInfo)]
    #[retry(http_status = 503, retry_after = "1s")]
    enum Busy {
        Plain,
    }

    assert_eq!(
        says(&Busy::Plain),
        (Server, Yes, true, false, Some(secs(1))),
        "the status and the wait are options of the same enum"
    );
}

#[test]
fn a_code_may_be_in_fields_of_many_types() {
    #[derive(RetryInfo)]
    enum Failure<'a, C> {
        Str(#[retry(error_code)] &'a str),
        String(#[retry(error_code)] String),
        Perhaps(#[retry(error_code)] Option<String>),
        PerhapsStr(#[retry(error_code)] Option<&'static str>),
        Cow(#[retry(error_code)] Cow<'a, str>),
        Boxed(#[retry(error_code)] Box<str>),
        Shared(#[retry(error_code)] Arc<str>),
        PerhapsCounted(#[retry(error_code)] Option<Rc<String>>),
        Generic {
            #[retry(error_code)]
            code: C,
        },
    }

    let all = [
        Failure::Str("SlowDown"),
        Failure::String("SlowDown".into()),
        Failure::Perhaps(Some("SlowDown".into())),
        Failure::PerhapsStr(Some("SlowDown")),
        Failure::Cow("SlowDown".into()),
        Failure::Boxed("SlowDown".into()),
        Failure::Shared("SlowDown".into()),
        Failure::PerhapsCounted(Some(Rc::new("SlowDown".into()))),
        Failure::Generic { code: "SlowDown" },
    ];
    for (index, error) in all.iter().enumerate() {
        assert_eq!(says(error), (Client, Yes, true, false, None), "case {index}");
    }
    for nothing in [Failure::<&str>::Perhaps(None), Failure::PerhapsCounted(None), Failure::Str("")] {
        assert_eq!(says(&nothing), (Other, No, false, false, None));
    }
}

// Rule M16.
#[test]
fn a_known_code_beats_the_status_and_an_unknown_one_is_ignored() {
    #[derive(RetryInfo)]
    struct Answered {
        #[retry(http_status)]
        status: Option<StatusCode>,
        #[retry(error_code)]
        code: Option<&'static str>,
        #[retry(retry_after)]
        wait: Option<Duration>,
    }

    let codes = ["SlowDown", "RequestTimeout", "RequestExpired", "NoSuchKey", "slowdown", ""];
    let waits = [None, Some(secs(1))];
    for status in [None, Some(200), Some(403), Some(404), Some(429), Some(500), Some(503), Some(504)] {
        for (code, wait) in codes.iter().flat_map(|code| waits.map(|wait| (*code, wait))) {
            let status_code = status.map(|status| StatusCode::from_u16(status).unwrap());
            let error = Answered { status: status_code, code: Some(code), wait };
            let expected = match (aws::known_code(code), status) {
                (Some(_), status) => aws::error_code(code, status),
                (None, Some(status)) => statuses::status_with(status, wait),
                (None, None) => Classification::new(No),
            };
            assert_eq!(says(&error), says(&expected.with_retry_after(wait)), "{status:?} {code} {wait:?}");

            let without = Answered { status: status_code, code: None, wait };
            if aws::known_code(code).is_none() {
                assert_eq!(says(&error), says(&without), "an unknown code is ignored");
            }
        }
    }
}
