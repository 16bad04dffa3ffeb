//! Snapshots of expansions of `#[derive(RetryInfo)]`.
//!
//! After a change, `UPDATE_EXPECT=1 cargo test -p retry-macros` updates the expected code. Read the difference.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]
#![allow(clippy::too_many_lines, reason = "expanded code is long")]

use crate::snapshots::pretty;
use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;

fn derived(input: TokenStream, expected: &Expect) {
    expected.assert_eq(&pretty(super::derive(&syn::parse2(input).expect("the input is well formed"))));
}

#[test]
fn an_enum() {
    derived(
        quote! {
            enum StoreError {
                #[retry(throttling, fault = "client")]
                SlowDown { #[retry(retry_after)] wait: Option<Duration> },
                #[retry(timeout)]
                Timeout,
                #[retry(fault = "client")]
                NoSuchKey(String),
                #[retry(transparent)]
                Transport(#[from] TransportError),
            }
        },
        &expect![[r#"
            #[automatically_derived]
            impl ::retry_core::ErrorInfo for StoreError {
                fn fault(&self) -> ::retry_core::ErrorFault {
                    match self {
                        Self::SlowDown { .. } | Self::NoSuchKey { .. } => {
                            ::retry_core::ErrorFault::Client
                        }
                        Self::Timeout { .. } => ::retry_core::ErrorFault::Other,
                        Self::Transport { .. } => {
                            ::retry_core::ErrorInfo::fault(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
            }
            #[automatically_derived]
            impl ::retry_core::RetryInfo for StoreError {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    match self {
                        Self::SlowDown { .. } => ::retry_core::RetrySafety::Yes,
                        Self::Timeout { .. } => ::retry_core::RetrySafety::Maybe,
                        Self::NoSuchKey { .. } => ::retry_core::RetrySafety::No,
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::is_retry_safe(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } => true,
                        Self::Timeout { .. } | Self::NoSuchKey { .. } => false,
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::is_throttle(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } | Self::NoSuchKey { .. } => false,
                        Self::Timeout { .. } => true,
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::is_timeout(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } | Self::Timeout { .. } | Self::NoSuchKey { .. } => {
                            false
                        }
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::is_conflict(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn is_unknown(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } | Self::Timeout { .. } | Self::NoSuchKey { .. } => {
                            false
                        }
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::is_unknown(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self::SlowDown { .. } => ::retry_core::__private::Say::say(self).wait(),
                        Self::Timeout { .. } | Self::NoSuchKey { .. } => ::core::option::Option::None,
                        Self::Transport { .. } => {
                            ::retry_core::RetryInfo::retry_after(
                                ::retry_core::__private::Say::say(self).inner(),
                            )
                        }
                    }
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use ::retry_core::__private::NoError as _;
                    (&::retry_core::__private::MaybeError(self)).__as_error()
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl ::retry_core::__private::Say for StoreError {
                fn say(&self) -> ::retry_core::__private::Said<'_> {
                    match self {
                        Self::SlowDown { wait: __field0, .. } => {
                            ::retry_core::__private::said()
                                .set_wait(
                                    <Option<
                                        Duration,
                                    > as ::retry_core::__private::RetryAfterField>::wait(__field0),
                                )
                        }
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::__private::said()
                                .set_source(
                                    ::core::option::Option::Some(
                                        ::retry_core::__private::inner::<TransportError>(__field0),
                                    ),
                                )
                        }
                        _ => ::retry_core::__private::said(),
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_generic_struct() {
    derived(
        quote! {
            #[retry(transparent)]
            struct Wrapper<'a, E: Error>(&'a E);
        },
        &expect![[r#"
            #[automatically_derived]
            impl<'a, E: Error> ::retry_core::ErrorInfo for Wrapper<'a, E>
            where
                &'a E: ::retry_core::RetryInfo,
            {
                fn fault(&self) -> ::retry_core::ErrorFault {
                    ::retry_core::ErrorInfo::fault(::retry_core::__private::Say::say(self).inner())
                }
            }
            #[automatically_derived]
            impl<'a, E: Error> ::retry_core::RetryInfo for Wrapper<'a, E>
            where
                &'a E: ::retry_core::RetryInfo,
            {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    ::retry_core::RetryInfo::is_retry_safe(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    ::retry_core::RetryInfo::is_throttle(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    ::retry_core::RetryInfo::is_timeout(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    ::retry_core::RetryInfo::is_conflict(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn is_unknown(&self) -> ::core::primitive::bool {
                    ::retry_core::RetryInfo::is_unknown(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    ::retry_core::RetryInfo::retry_after(
                        ::retry_core::__private::Say::say(self).inner(),
                    )
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use ::retry_core::__private::NoError as _;
                    (&::retry_core::__private::MaybeError(self)).__as_error()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl<'a, E: Error> ::retry_core::__private::Say for Wrapper<'a, E>
            where
                &'a E: ::retry_core::RetryInfo,
            {
                fn say(&self) -> ::retry_core::__private::Said<'_> {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::__private::said()
                                .set_source(
                                    ::core::option::Option::Some(
                                        ::retry_core::__private::inner::<&'a E>(__field0),
                                    ),
                                )
                        }
                    }
                }
            }
        "#]],
    );
}

#[test]
fn constant_statuses() {
    derived(
        quote! {
            enum ApiError {
                #[retry(http_status = 429)]
                TooMany,
                #[retry(throttling, http_status = 503)]
                Busy(#[retry(retry_after(secs))] Option<u64>),
            }
        },
        &expect![[r#"
            #[automatically_derived]
            impl ::retry_core::ErrorInfo for ApiError {
                fn fault(&self) -> ::retry_core::ErrorFault {
                    match self {
                        Self::TooMany { .. } => {
                            const { ::retry_core::classify::http::status(429u16).fault() }
                        }
                        Self::Busy { .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    ::retry_core::__private::Say::say(self).wait(),
                                )
                                .fault()
                        }
                    }
                }
            }
            #[automatically_derived]
            impl ::retry_core::RetryInfo for ApiError {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    match self {
                        Self::TooMany { .. } => {
                            const { ::retry_core::classify::http::status(429u16).is_retry_safe() }
                        }
                        Self::Busy { .. } => ::retry_core::RetrySafety::Yes,
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self::TooMany { .. } => {
                            const { ::retry_core::classify::http::status(429u16).is_throttle() }
                        }
                        Self::Busy { .. } => true,
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self::TooMany { .. } => {
                            const { ::retry_core::classify::http::status(429u16).is_timeout() }
                        }
                        Self::Busy { .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    ::retry_core::__private::Say::say(self).wait(),
                                )
                                .is_timeout()
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self::TooMany { .. } => {
                            const { ::retry_core::classify::http::status(429u16).is_conflict() }
                        }
                        Self::Busy { .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    ::retry_core::__private::Say::say(self).wait(),
                                )
                                .is_conflict()
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self::TooMany { .. } => ::core::option::Option::None,
                        Self::Busy { .. } => ::retry_core::__private::Say::say(self).wait(),
                    }
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use ::retry_core::__private::NoError as _;
                    (&::retry_core::__private::MaybeError(self)).__as_error()
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl ::retry_core::__private::Say for ApiError {
                fn say(&self) -> ::retry_core::__private::Said<'_> {
                    match self {
                        Self::Busy { 0: __field0, .. } => {
                            ::retry_core::__private::said()
                                .set_wait(
                                    <Option<
                                        u64,
                                    > as ::retry_core::__private::RetryAfterNumber>::number(__field0)
                                        .map(::core::time::Duration::from_secs),
                                )
                        }
                        _ => ::retry_core::__private::said(),
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_status_and_a_code() {
    derived(
        quote! {
            #[retry(timeout)]
            struct Answered {
                #[retry(http_status)]
                status: StatusCode,
                #[retry(error_code)]
                code: String,
            }
        },
        &expect![[r#"
            #[automatically_derived]
            impl ::retry_core::ErrorInfo for Answered {
                fn fault(&self) -> ::retry_core::ErrorFault {
                    ::retry_core::__private::Say::say(self)
                        .response()
                        .fault()
                        .unwrap_or(::retry_core::ErrorFault::Other)
                }
            }
            #[automatically_derived]
            impl ::retry_core::RetryInfo for Answered {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    ::retry_core::__private::Say::say(self)
                        .response()
                        .is_retry_safe()
                        .unwrap_or(::retry_core::RetrySafety::Maybe)
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    ::retry_core::__private::Say::say(self).response().is_throttle().unwrap_or(false)
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    true
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    ::retry_core::__private::Say::say(self).response().is_conflict().unwrap_or(false)
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use ::retry_core::__private::NoError as _;
                    (&::retry_core::__private::MaybeError(self)).__as_error()
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl ::retry_core::__private::Say for Answered {
                fn say(&self) -> ::retry_core::__private::Said<'_> {
                    match self {
                        Self { status: __field0, code: __field1, .. } => {
                            ::retry_core::__private::said()
                                .set_response(
                                    ::retry_core::__private::response(
                                        <String as ::retry_core::__private::ErrorCodeField>::code(
                                            __field1,
                                        ),
                                        <StatusCode as ::retry_core::__private::HttpStatusField>::status(
                                            __field0,
                                        ),
                                        ::core::option::Option::None,
                                    ),
                                )
                        }
                    }
                }
            }
        "#]],
    );
}

#[test]
fn verdicts_and_a_source() {
    derived(
        quote! {
            #[retry(throttling, fault = "server", with = Self::evaluate, crate = my::retry)]
            struct JobError<E> {
                #[retry(safe)]
                r#final: Option<bool>,
                #[retry(source)]
                cause: Box<E>,
            }
        },
        &expect![[r#"
            #[automatically_derived]
            impl<E> my::retry::ErrorInfo for JobError<E>
            where
                Box<E>: my::retry::RetryInfo,
            {
                fn fault(&self) -> my::retry::ErrorFault {
                    my::retry::ErrorFault::Server
                }
            }
            #[automatically_derived]
            impl<E> my::retry::RetryInfo for JobError<E>
            where
                Box<E>: my::retry::RetryInfo,
            {
                fn is_retry_safe(&self) -> my::retry::RetrySafety {
                    {
                        let __said = my::retry::__private::Say::say(self);
                        __said
                            .with()
                            .is_retry_safe()
                            .or_else(|| __said.safe())
                            .unwrap_or(my::retry::RetrySafety::Yes)
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    true
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    {
                        let __said = my::retry::__private::Say::say(self);
                        __said
                            .with()
                            .is_timeout()
                            .or_else(|| __said.source().map(my::retry::RetryInfo::is_timeout))
                            .unwrap_or(false)
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    {
                        let __said = my::retry::__private::Say::say(self);
                        __said
                            .with()
                            .is_conflict()
                            .or_else(|| __said.source().map(my::retry::RetryInfo::is_conflict))
                            .unwrap_or(false)
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    {
                        let __said = my::retry::__private::Say::say(self);
                        __said
                            .with()
                            .retry_after()
                            .or_else(|| __said.source().and_then(my::retry::RetryInfo::retry_after))
                    }
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use my::retry::__private::NoError as _;
                    (&my::retry::__private::MaybeError(self)).__as_error()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl<E> my::retry::__private::Say for JobError<E>
            where
                Box<E>: my::retry::RetryInfo,
            {
                fn say(&self) -> my::retry::__private::Said<'_> {
                    match self {
                        Self { r#final: __field0, cause: __field1, .. } => {
                            my::retry::__private::said()
                                .set_with(
                                    my::retry::__private::classification(
                                        &Self::evaluate(__field0, __field1),
                                    ),
                                )
                                .set_safe(
                                    <Option<
                                        bool,
                                    > as my::retry::__private::SafeField>::safety(__field0),
                                )
                                .set_source(my::retry::__private::source::<Box<E>>(__field1))
                        }
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_half_typed_derive() {
    derived(
        quote! {
            #[retry(fault =, crate = ::my::retry)]
            enum StoreError<T: Send = ()> {
                #[retry(throttl)]
                SlowDown(T),
            }
        },
        &expect![[r##"
            #[automatically_derived]
            impl<T: Send> ::my::retry::ErrorInfo for StoreError<T> {}
            #[automatically_derived]
            impl<T: Send> ::my::retry::RetryInfo for StoreError<T> {
                fn is_throttle(&self) -> ::core::primitive::bool {
                    ::core::compile_error! {
                        "expected an expression after `=`"
                    }
                    ::core::compile_error! {
                        "unknown option `throttl`; did you mean `throttling`? A variant takes `throttling`, `timeout`, `conflict`, `safe`, `never`, `fault`, `retry_after`, `http_status`, `with` or `transparent`"
                    }
                    false
                }
            }
        "##]],
    );
}

/// rustc reports a wrong type at each use, so each field is used once.
#[test]
fn each_field_is_read_in_one_method() {
    let expanded = super::derive(&syn::parse_quote! {
        enum Failure {
            #[retry(with = classify)]
            Classified(Inner),
            Answered {
                #[retry(error_code)]
                code: String,
                #[retry(http_status)]
                status: u16,
                #[retry(retry_after)]
                wait: Duration,
                #[retry(safe)]
                is_safe: bool,
                #[retry(source)]
                source: Inner,
            },
            #[retry(http_status = 429)]
            Limited { #[retry(retry_after(secs))] secs: u64 },
            #[retry(transparent)]
            Other(Inner),
        }
    });
    let expanded = expanded.to_string();
    for reads in [
        "& classify (",
        "ErrorCodeField >",
        "HttpStatusField >",
        "RetryAfterField >",
        "RetryAfterNumber >",
        "SafeField >",
        "__private :: source ::",
        "__private :: inner ::",
    ] {
        assert_eq!(expanded.matches(reads).count(), 1, "{reads}");
    }
}

#[test]
fn inner_errors_without_a_label() {
    derived(
        quote! {
            #[warn(deprecated)]
            enum StoreError {
                Client(#[from] ClientError),
                #[allow(deprecated)]
                #[error(transparent)]
                Quiet(Box<dyn Error>),
                #[error("no such key")]
                NoSuchKey(String),
                With {
                    #[retry(with = known)]
                    status: u16,
                    #[retry(source)]
                    cause: Inner,
                },
            }
        },
        &expect![[r##"
            #[automatically_derived]
            impl ::retry_core::ErrorInfo for StoreError {
                fn fault(&self) -> ::retry_core::ErrorFault {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => {
                            ::retry_core::ErrorFault::Other
                        }
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .fault()
                                .or_else(|| __said.source().map(::retry_core::ErrorInfo::fault))
                                .unwrap_or(::retry_core::ErrorFault::Other)
                        }
                    }
                }
            }
            #[automatically_derived]
            impl ::retry_core::RetryInfo for StoreError {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => {
                            ::retry_core::RetrySafety::No
                        }
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .is_retry_safe()
                                .or_else(|| {
                                    __said.source().map(::retry_core::RetryInfo::is_retry_safe)
                                })
                                .unwrap_or(::retry_core::RetrySafety::No)
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => false,
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .is_throttle()
                                .or_else(|| {
                                    __said.source().map(::retry_core::RetryInfo::is_throttle)
                                })
                                .unwrap_or(false)
                        }
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => false,
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .is_timeout()
                                .or_else(|| __said.source().map(::retry_core::RetryInfo::is_timeout))
                                .unwrap_or(false)
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => false,
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .is_conflict()
                                .or_else(|| {
                                    __said.source().map(::retry_core::RetryInfo::is_conflict)
                                })
                                .unwrap_or(false)
                        }
                    }
                }
                fn is_unknown(&self) -> ::core::primitive::bool {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } => true,
                        Self::NoSuchKey { .. } => false,
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said.with().is_retry_safe().is_none()
                                && __said.source().is_some_and(::retry_core::RetryInfo::is_unknown)
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self::Client { .. } | Self::Quiet { .. } | Self::NoSuchKey { .. } => {
                            ::core::option::Option::None
                        }
                        Self::With { .. } => {
                            let __said = ::retry_core::__private::Say::say(self);
                            __said
                                .with()
                                .retry_after()
                                .or_else(|| {
                                    __said.source().and_then(::retry_core::RetryInfo::retry_after)
                                })
                        }
                    }
                }
                fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
                    use ::retry_core::__private::NoError as _;
                    (&::retry_core::__private::MaybeError(self)).__as_error()
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
                }
            }
            #[automatically_derived]
            #[doc(hidden)]
            impl ::retry_core::__private::Say for StoreError {
                fn say(&self) -> ::retry_core::__private::Said<'_> {
                    match self {
                        Self::With { status: __field0, cause: __field1, .. } => {
                            ::retry_core::__private::said()
                                .set_with(::retry_core::__private::classification(&known(__field0)))
                                .set_source(::retry_core::__private::source::<Inner>(__field1))
                        }
                        _ => ::retry_core::__private::said(),
                    }
                }
            }
            #[warn(deprecated)]
            const _: () = {
                #[deprecated(
                    note = "`Client` holds an inner error and has no `#[retry(...)]`, so nothing says what the error means, and it is not retried; mark the field `#[retry(transparent)]` or `#[retry(source)]` if its type implements `RetryInfo`, or `#[retry(with = path::of::classify)]` if not; write `#[retry(never)]` on `Client` if it must not be retried"
                )]
                const NO_RETRY_LABEL: () = ();
                NO_RETRY_LABEL
            };
            #[warn(deprecated)]
            #[allow(deprecated)]
            const _: () = {
                #[deprecated(
                    note = "`Quiet` holds an inner error and has no `#[retry(...)]`, so nothing says what the error means, and it is not retried; mark the field `#[retry(transparent)]` or `#[retry(source)]` if its type implements `RetryInfo`, or `#[retry(with = path::of::classify)]` if not; write `#[retry(never)]` on `Quiet` if it must not be retried"
                )]
                const NO_RETRY_LABEL: () = ();
                NO_RETRY_LABEL
            };
        "##]],
    );
}
