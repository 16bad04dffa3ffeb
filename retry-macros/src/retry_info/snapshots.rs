//! Snapshots of expansions of `#[derive(RetryInfo)]`.
//!
//! After a change, `UPDATE_EXPECT=1 cargo test -p retry-macros` updates the expected code. Read the difference.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

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
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::ErrorInfo::fault(
                                ::retry_core::__private::inner::<TransportError>(__field0),
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
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_retry_safe(
                                ::retry_core::__private::inner::<TransportError>(__field0),
                            )
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } => true,
                        Self::Timeout { .. } | Self::NoSuchKey { .. } => false,
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_throttle(
                                ::retry_core::__private::inner::<TransportError>(__field0),
                            )
                        }
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } | Self::NoSuchKey { .. } => false,
                        Self::Timeout { .. } => true,
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_timeout(
                                ::retry_core::__private::inner::<TransportError>(__field0),
                            )
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self::SlowDown { .. } | Self::Timeout { .. } | Self::NoSuchKey { .. } => {
                            false
                        }
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_conflict(
                                ::retry_core::__private::inner::<TransportError>(__field0),
                            )
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self::Timeout { .. } | Self::NoSuchKey { .. } => ::core::option::Option::None,
                        Self::SlowDown { wait: __field0, .. } => {
                            <Option<
                                Duration,
                            > as ::retry_core::__private::RetryAfterField>::wait(__field0)
                        }
                        Self::Transport { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::retry_after(
                                ::retry_core::__private::inner::<TransportError>(__field0),
                            )
                        }
                    }
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
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
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::ErrorInfo::fault(
                                ::retry_core::__private::inner::<&'a E>(__field0),
                            )
                        }
                    }
                }
            }
            #[automatically_derived]
            impl<'a, E: Error> ::retry_core::RetryInfo for Wrapper<'a, E>
            where
                &'a E: ::retry_core::RetryInfo,
            {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_retry_safe(
                                ::retry_core::__private::inner::<&'a E>(__field0),
                            )
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_throttle(
                                ::retry_core::__private::inner::<&'a E>(__field0),
                            )
                        }
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_timeout(
                                ::retry_core::__private::inner::<&'a E>(__field0),
                            )
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::is_conflict(
                                ::retry_core::__private::inner::<&'a E>(__field0),
                            )
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self { 0: __field0, .. } => {
                            ::retry_core::RetryInfo::retry_after(
                                ::retry_core::__private::inner::<&'a E>(__field0),
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
                        Self::Busy { 0: __field0, .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    <Option<
                                        u64,
                                    > as ::retry_core::__private::RetryAfterNumber>::number(__field0)
                                        .map(::core::time::Duration::from_secs),
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
                        Self::Busy { 0: __field0, .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    <Option<
                                        u64,
                                    > as ::retry_core::__private::RetryAfterNumber>::number(__field0)
                                        .map(::core::time::Duration::from_secs),
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
                        Self::Busy { 0: __field0, .. } => {
                            ::retry_core::classify::http::status_with(
                                    503u16,
                                    <Option<
                                        u64,
                                    > as ::retry_core::__private::RetryAfterNumber>::number(__field0)
                                        .map(::core::time::Duration::from_secs),
                                )
                                .is_conflict()
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self::TooMany { .. } => ::core::option::Option::None,
                        Self::Busy { 0: __field0, .. } => {
                            <Option<
                                u64,
                            > as ::retry_core::__private::RetryAfterNumber>::number(__field0)
                                .map(::core::time::Duration::from_secs)
                        }
                    }
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
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
                    match self {
                        Self { status: __field0, code: __field1, .. } => {
                            ::retry_core::__private::response(
                                    <String as ::retry_core::__private::ErrorCodeField>::code(
                                        __field1,
                                    ),
                                    <StatusCode as ::retry_core::__private::HttpStatusField>::status(
                                        __field0,
                                    ),
                                    ::core::option::Option::None,
                                )
                                .fault()
                                .unwrap_or(::retry_core::ErrorFault::Other)
                        }
                    }
                }
            }
            #[automatically_derived]
            impl ::retry_core::RetryInfo for Answered {
                fn is_retry_safe(&self) -> ::retry_core::RetrySafety {
                    match self {
                        Self { status: __field0, code: __field1, .. } => {
                            ::retry_core::__private::response(
                                    <String as ::retry_core::__private::ErrorCodeField>::code(
                                        __field1,
                                    ),
                                    <StatusCode as ::retry_core::__private::HttpStatusField>::status(
                                        __field0,
                                    ),
                                    ::core::option::Option::None,
                                )
                                .is_retry_safe()
                                .unwrap_or(::retry_core::RetrySafety::Maybe)
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    match self {
                        Self { status: __field0, code: __field1, .. } => {
                            ::retry_core::__private::response(
                                    <String as ::retry_core::__private::ErrorCodeField>::code(
                                        __field1,
                                    ),
                                    <StatusCode as ::retry_core::__private::HttpStatusField>::status(
                                        __field0,
                                    ),
                                    ::core::option::Option::None,
                                )
                                .is_throttle()
                                .unwrap_or(false)
                        }
                    }
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    true
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self { status: __field0, code: __field1, .. } => {
                            ::retry_core::__private::response(
                                    <String as ::retry_core::__private::ErrorCodeField>::code(
                                        __field1,
                                    ),
                                    <StatusCode as ::retry_core::__private::HttpStatusField>::status(
                                        __field0,
                                    ),
                                    ::core::option::Option::None,
                                )
                                .is_conflict()
                                .unwrap_or(false)
                        }
                    }
                }
                fn __no_answer() -> ::core::option::Option<Self> {
                    ::retry_core::__private::no_answer()
                }
            }
        "#]],
    );
}

#[test]
fn verdicts_and_a_source() {
    derived(
        quote! {
            #[retry(throttling, fault = "server", with = Self::judge, crate = my::retry)]
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
                    match self {
                        Self { r#final: __field0, cause: __field1, .. } => {
                            my::retry::__private::verdict(&Self::judge(__field0, __field1))
                                .is_retry_safe()
                                .or_else(|| <Option<
                                    bool,
                                > as my::retry::__private::SafeField>::safety(__field0))
                                .unwrap_or(my::retry::RetrySafety::Yes)
                        }
                    }
                }
                fn is_throttle(&self) -> ::core::primitive::bool {
                    true
                }
                fn is_timeout(&self) -> ::core::primitive::bool {
                    match self {
                        Self { r#final: __field0, cause: __field1, .. } => {
                            my::retry::__private::verdict(&Self::judge(__field0, __field1))
                                .is_timeout()
                                .or_else(|| {
                                    my::retry::__private::source::<Box<E>>(__field1)
                                        .map(my::retry::RetryInfo::is_timeout)
                                })
                                .unwrap_or(false)
                        }
                    }
                }
                fn is_conflict(&self) -> ::core::primitive::bool {
                    match self {
                        Self { r#final: __field0, cause: __field1, .. } => {
                            my::retry::__private::verdict(&Self::judge(__field0, __field1))
                                .is_conflict()
                                .or_else(|| {
                                    my::retry::__private::source::<Box<E>>(__field1)
                                        .map(my::retry::RetryInfo::is_conflict)
                                })
                                .unwrap_or(false)
                        }
                    }
                }
                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    match self {
                        Self { r#final: __field0, cause: __field1, .. } => {
                            my::retry::__private::verdict(&Self::judge(__field0, __field1))
                                .retry_after()
                                .or_else(|| {
                                    my::retry::__private::source::<Box<E>>(__field1)
                                        .and_then(my::retry::RetryInfo::retry_after)
                                })
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
