//! Snapshots of expansions of `#[retryable]`.
//!
//! After a change, `UPDATE_EXPECT=1 cargo test -p retry-macros` updates the expected code. Read the difference.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod half_typed;

use crate::retryable;
use expect_test::{Expect, expect};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

pub(crate) fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is well formed"))
}

/// Expands the macro that asks for the feature of hedges, as the library does if it is enabled. Code in a macro is not formatted.
fn with_features(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter();
    let mut expanded = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) if name == "hedge_feature" => {
                let path = quote!(::retry_core::__private::).into_iter().count();
                expanded.truncate(expanded.len() - path);
                assert_eq!(tokens.next().expect("a macro call").to_string(), "!");
                let Some(TokenTree::Group(body)) = tokens.next() else { panic!("a macro call has a body") };
                expanded.extend(body.stream());
            }
            TokenTree::Group(group) => {
                let inner = with_features(group.stream());
                expanded.push(proc_macro2::Group::new(group.delimiter(), inner).into());
            }
            token => expanded.push(token),
        }
    }
    expanded.into_iter().collect()
}

#[expect(clippy::needless_pass_by_value, reason = "made for this call")]
fn retried(options: TokenStream, item: TokenStream, expected: &Expect) -> String {
    let code = pretty(with_features(retryable::attribute(options, &item)));
    expected.assert_eq(&code);
    code
}

#[test]
fn a_function() {
    let code = retried(
        quote!(strategy = STORE),
        quote! {
            /// Gets an object.
            pub async fn get(client: &Client, key: &str) -> Result<Object, StoreError> {
                client.send(key).await
            }
        },
        &expect![[r#"
            /// Gets an object.
            pub async fn get(client: &Client, key: &str) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < Object, StoreError >
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run(async {
                            if false {
                                return ::retry_core::__private::unreached::<
                                    Result<Object, StoreError>,
                                >();
                            }
                            client.send(key).await
                        })
                        .await;
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
    let body = code.lines().filter(|line| line.contains("client.send")).count();
    assert_eq!(body, 1);
    assert!(code.lines().count() - body <= 44, "a plain function expands to at most 44 lines besides its body");
}

#[test]
fn a_method_with_all_options() {
    retried(
        quote!(strategy = &self.retry, idempotent = false, clone(body), crate = my::retry),
        quote! {
            async fn put(&mut self, key: &mut String, mut body: Vec<u8>, mut tries: u32) -> io::Result<impl Sized> {
                tries += 1;
                self.send(key, body, tries).await
            }
        },
        &expect![[r#"
            async fn put(
                &mut self,
                key: &mut String,
                mut body: Vec<u8>,
                mut tries: u32,
            ) -> io::Result<impl Sized> {
                my::retry::__private::function_name!(__RETRYABLE_NAME = "put");
                let mut __operation = my::retry::__private::begin(
                    my::retry::__private::call_with(&__RETRYABLE_NAME, &self.retry),
                );
                let mut __last = my::retry::__private::last(
                    &__operation,
                    my::retry::__private::NO_TEXT,
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = my::retry::__private::wait(
                            my::retry::__private::call_with(&__RETRYABLE_NAME, &self.retry),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = my::retry::__private::unrecovered(
                        my::retry::__private::call_with(&__RETRYABLE_NAME, &self.retry),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = my::retry::__private::place(&__operation)
                        .run(async {
                            if false {
                                let _ = &mut body;
                                let _ = &mut tries;
                                return my::retry::__private::unreached::<io::Result<_>>();
                            }
                            #[allow(
                                clippy::shadow_reuse,
                                clippy::shadow_same,
                                reason = "the body knows the argument by its name"
                            )]
                            let key = &mut *key;
                            #[allow(
                                clippy::shadow_reuse,
                                clippy::shadow_same,
                                reason = "the body knows the argument by its name"
                            )]
                            let mut body = ::core::clone::Clone::clone(&body);
                            #[allow(
                                clippy::shadow_reuse,
                                clippy::shadow_same,
                                reason = "the body knows the argument by its name"
                            )]
                            let mut tries = my::retry::__private::anew(&tries);
                            tries += 1;
                            self.send(key, body, tries).await
                        })
                        .await;
                    if let ::core::option::Option::Some(__outcome) = my::retry::__private::settle(
                        my::retry::__private::call_with(&__RETRYABLE_NAME, &self.retry),
                        my::retry::__private::evaluate_idempotent(&__outcome, false),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_function_with_a_strategy_of_its_own() {
    retried(
        quote!(strategy = "standard"),
        quote! {
            async fn ping() -> Result<(), StoreError> {
                Ok(())
            }
        },
        &expect![[r#"
            async fn ping() -> Result<(), StoreError> {
                static __RETRYABLE_STRATEGY: ::retry_core::StandardRetryStrategy = ::retry_core::StandardRetryStrategy::new();
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "ping");
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &__RETRYABLE_STRATEGY),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < (), StoreError >
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &__RETRYABLE_STRATEGY),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &__RETRYABLE_STRATEGY),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run(async {
                            if false {
                                return ::retry_core::__private::unreached::<
                                    Result<(), StoreError>,
                                >();
                            }
                            Ok(())
                        })
                        .await;
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &__RETRYABLE_STRATEGY),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_strategy_from_a_call() {
    retried(
        quote!(strategy = pool.strategy()),
        quote! {
            async fn ping(pool: &Pool) -> Result<(), StoreError> {
                Ok(())
            }
        },
        &expect![[r#"
            async fn ping(pool: &Pool) -> Result<(), StoreError> {
                let __strategy = ::retry_core::__private::shared(pool.strategy());
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "ping");
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__strategy),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < (), StoreError >
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__strategy),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__strategy),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run(async {
                            if false {
                                return ::retry_core::__private::unreached::<
                                    Result<(), StoreError>,
                                >();
                            }
                            Ok(())
                        })
                        .await;
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__strategy),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the expansion")]
fn limits_an_observer_and_a_context() {
    retried(
        quote!(
            strategy = STORE,
            max_time = "30s",
            attempt_timeout = self.timeout,
            observer = METRICS,
            context = context,
            policy = |outcome| evaluate(outcome)
        ),
        quote! {
            async fn get(&self) -> Result<Object, StoreError> {
                self.send(context.attempt()).await
            }
        },
        &expect![[r#"
            async fn get(&self) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                        .with_observer(::retry_core::__private::static_observer(&METRICS)),
                    ::retry_core::__private::attempt_timeout(
                        ::retry_core::__private::max_time(
                            ::retry_core::__private::limited(),
                            ::core::time::Duration::new(30u64, 0u32),
                        ),
                        self.timeout,
                    ),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, StoreError >);
                let mut __context = ::retry_core::__private::context(&__operation);
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                                .with_observer(::retry_core::__private::static_observer(&METRICS)),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_observer(::retry_core::__private::static_observer(&METRICS)),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let (__deadline, __sleep) = ::retry_core::__private::deadline(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_observer(::retry_core::__private::static_observer(&METRICS)),
                        &mut __operation,
                    );
                    let context = ::retry_core::__private::attempt_context(&__context, &__operation);
                    let __outcome = {
                        let __attempted = ::retry_core::__private::attempt(
                                __deadline,
                                ::core::pin::pin!(__sleep),
                                ::core::pin::pin!(
                                    ::retry_core::__private::place(& __operation).run(async { if
                                    false { return ::retry_core::__private::unreached:: < Result <
                                    Object, StoreError > > (); } self.send(context.attempt()). await
                                    })
                                ),
                            )
                            .await;
                        match __attempted {
                            ::core::result::Result::Ok(__outcome) => __outcome,
                            ::core::result::Result::Err(__cut) => {
                                match ::retry_core::__private::cut(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                                        .with_observer(
                                            ::retry_core::__private::static_observer(&METRICS),
                                        ),
                                    &mut __operation,
                                    __cut,
                                    &mut __last,
                                    ::retry_core::__private::out_of_time,
                                ) {
                                    ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                    ::core::ops::ControlFlow::Break(__outcome) => return __outcome,
                                }
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_observer(::retry_core::__private::static_observer(&METRICS)),
                        __context
                            .remember(
                                ::retry_core::__private::evaluate_by(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                                        .with_observer(
                                            ::retry_core::__private::static_observer(&METRICS),
                                        ),
                                    &mut __operation,
                                    &__outcome,
                                    |outcome| evaluate(outcome),
                                ),
                            ),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_weight_and_what_was_used() {
    retried(
        quote!(strategy = LLM, weight = prompt.tokens(), used = |outcome| tokens(outcome)),
        quote! {
            async fn complete(prompt: &Prompt) -> Result<Text, StoreError> {
                complete_once(prompt).await
            }
        },
        &expect![[r#"
            async fn complete(prompt: &Prompt) -> Result<Text, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "complete");
                let __weight: u32 = prompt.tokens();
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < Text, StoreError >
                );
                ::retry_core::__private::weigh(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                    &mut __operation,
                    __weight,
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run(async {
                            if false {
                                return ::retry_core::__private::unreached::<
                                    Result<Text, StoreError>,
                                >();
                            }
                            complete_once(prompt).await
                        })
                        .await;
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                        ::retry_core::__private::used_by(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &LLM),
                            ::retry_core::__private::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            |__outcome| ::retry_core::__private::used(
                                __outcome,
                                |outcome| tokens(outcome),
                            ),
                        ),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_function_that_blocks() {
    retried(
        quote!(strategy = STORE, timer = self.clock(), max_time = "30s", blocking),
        quote! {
            fn get(&mut self) -> Result<impl Display, StoreError> {
                self.send()
            }
        },
        &expect![[r#"
            fn get(&mut self) -> Result<impl Display, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let __blocking_timer = self.clock();
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                        .with_blocking_timer(
                            ::retry_core::__private::blocking_timer(&__blocking_timer),
                        ),
                    ::retry_core::__private::max_time(
                        ::retry_core::__private::limited(),
                        ::core::time::Duration::new(30u64, 0u32),
                    ),
                );
                let mut __last = ::core::option::Option::None;
                loop {
                    if let ::core::option::Option::Some(__cut) = ::retry_core::__private::block(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_blocking_timer(
                                ::retry_core::__private::blocking_timer(&__blocking_timer),
                            ),
                        &mut __operation,
                    ) {
                        return ::retry_core::__private::over(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                                .with_blocking_timer(
                                    ::retry_core::__private::blocking_timer(&__blocking_timer),
                                ),
                            &mut __operation,
                            __cut,
                            &mut __last,
                            ::retry_core::__private::out_of_time,
                        );
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_blocking_timer(
                                ::retry_core::__private::blocking_timer(&__blocking_timer),
                            ),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run_blocking(|| -> Result<_, StoreError> { self.send() });
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                            .with_blocking_timer(
                                ::retry_core::__private::blocking_timer(&__blocking_timer),
                            ),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_function_for_failures_with_limits() {
    retried(
        quote!(strategy = STORE, max_time = LIMIT, on_retry = log),
        quote!(
            async fn get(client: &Client) -> Result<Object, StoreError> {
                client.send().await
            }
        ),
        &expect![[r#"
            async fn get(client: &Client) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    ::retry_core::__private::max_time(::retry_core::__private::limited(), LIMIT),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, StoreError >);
                let __beginning = ::retry_core::__private::beginning(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    &__operation,
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    let (__deadline, __sleep) = ::retry_core::__private::deadline(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                    );
                    let mut __is_over = false;
                    let __outcome = if ::retry_core::__private::is_unrecovered(
                        &__operation,
                        &mut __last,
                    ) {
                        let __outcome = ::retry_core::__private::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        {
                            let __attempted = ::retry_core::__private::attempt(
                                    __deadline,
                                    ::core::pin::pin!(__sleep),
                                    ::core::pin::pin!(
                                        ::retry_core::__private::place(& __operation).run(async { if
                                        false { return ::retry_core::__private::unreached:: < Result
                                        < Object, StoreError > > (); } client.send(). await })
                                    ),
                                )
                                .await;
                            match __attempted {
                                ::core::result::Result::Ok(__outcome) => __outcome,
                                ::core::result::Result::Err(__cut) => {
                                    match ::retry_core::__private::cut_unsettled(
                                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                                        &mut __operation,
                                        __cut,
                                        &mut __last,
                                        ::retry_core::__private::out_of_time,
                                    ) {
                                        ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                        ::core::ops::ControlFlow::Break(__outcome) => {
                                            __is_over = true;
                                            __outcome
                                        }
                                    }
                                }
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__end) = ::retry_core::__private::settle_and_tell(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(
                                ::retry_core::__private::evaluate(&__outcome),
                            )
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                        __beginning,
                        |__outcome, __event| ::retry_core::__private::tell_failure(
                            &*__outcome,
                            |__error| ::retry_core::__private::on_retry(__error, __event, log),
                        ),
                    ) {
                        return ::retry_core::__private::outcome(__end);
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_closure_for_the_end() {
    retried(
        quote!(strategy = STORE, on_end = |report| *ended = report.reason),
        quote! {
            async fn get(client: &Client, ended: &mut Option<RetryError>) -> Result<Object, StoreError> {
                client.send().await
            }
        },
        &expect![[r#"
            async fn get(
                client: &Client,
                ended: &mut Option<RetryError>,
            ) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let __started = ::retry_core::__private::started(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                );
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < Object, StoreError >
                );
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    let mut __is_over = false;
                    let __outcome = if ::retry_core::__private::is_unrecovered(
                        &__operation,
                        &mut __last,
                    ) {
                        let __outcome = ::retry_core::__private::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        ::retry_core::__private::place(&__operation)
                            .run(async {
                                if false {
                                    return ::retry_core::__private::unreached::<
                                        Result<Object, StoreError>,
                                    >();
                                }
                                client.send().await
                            })
                            .await
                    };
                    if let ::core::option::Option::Some(__end) = ::retry_core::__private::settle_to_end(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(
                                ::retry_core::__private::evaluate(&__outcome),
                            )
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return ::retry_core::__private::tell_end(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            __end,
                            __started,
                            |__report| ::retry_core::__private::on_end(
                                __report,
                                |report| *ended = report.reason,
                            ),
                        );
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_closure_for_failures_of_a_function_that_blocks() {
    retried(
        quote!(strategy = STORE, deadline = deadline, blocking, on_retry = |error, _| failures.push(error.clone())),
        quote! {
            fn get(deadline: Instant, mut failures: Vec<StoreError>) -> Result<Object, StoreError> {
                send()
            }
        },
        &expect![[r#"
            fn get(deadline: Instant, mut failures: Vec<StoreError>) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                    ::retry_core::__private::until(::retry_core::__private::limited(), deadline),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, StoreError >);
                let __beginning = ::retry_core::__private::beginning(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                    &__operation,
                );
                loop {
                    let __cut = ::retry_core::__private::block(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                        &mut __operation,
                    );
                    let mut __is_over = false;
                    let __outcome = if ::retry_core::__private::is_unrecovered(
                        &__operation,
                        &mut __last,
                    ) {
                        let __outcome = ::retry_core::__private::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        match __cut {
                            ::core::option::Option::Some(__cut) => {
                                match ::retry_core::__private::cut_unsettled(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE)
                                        .blocking(),
                                    &mut __operation,
                                    __cut,
                                    &mut __last,
                                    ::retry_core::__private::out_of_time,
                                ) {
                                    ::core::ops::ControlFlow::Continue(__outcome)
                                    | ::core::ops::ControlFlow::Break(__outcome) => {
                                        __is_over = true;
                                        __outcome
                                    }
                                }
                            }
                            ::core::option::Option::None => {
                                ::retry_core::__private::place(&__operation)
                                    .run_blocking(|| -> Result<Object, StoreError> { send() })
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__end) = ::retry_core::__private::settle_and_tell(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(
                                ::retry_core::__private::evaluate(&__outcome),
                            )
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                        __beginning,
                        |__outcome, __event| ::retry_core::__private::tell_failure(
                            &*__outcome,
                            |__error| ::retry_core::__private::on_retry(
                                __error,
                                __event,
                                |error, _| failures.push(error.clone()),
                            ),
                        ),
                    ) {
                        return ::retry_core::__private::outcome(__end);
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_method_that_async_trait_has_changed() {
    retried(
        quote!(strategy = self.retry),
        quote! {
            fn put<'life0, 'async_trait>(
                &'life0 mut self,
                key: String,
            ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'async_trait>> {
                Box::pin(async move {
                    if let Some(__ret) = None::<Result<(), StoreError>> {
                        return __ret;
                    }
                    let mut __self = self;
                    let key = key;
                    let __ret: Result<(), StoreError> = { __self.send(&key).await };
                    __ret
                })
            }
        },
        &expect![[r#"
            fn put<'life0, 'async_trait>(
                &'life0 mut self,
                key: String,
            ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'async_trait>> {
                Box::pin(async move {
                    let __self = self;
                    let mut key = key;
                    ::retry_core::__private::function_name!(__RETRYABLE_NAME = "put");
                    let mut __operation = ::retry_core::__private::begin(
                        ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__self.retry),
                    );
                    let mut __last = ::retry_core::__private::last_of!(
                        & __operation, Result < (), StoreError >
                    );
                    loop {
                        loop {
                            let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                                ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__self.retry),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                            ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__self.retry),
                            &mut __operation,
                            &mut __last,
                        ) {
                            return __outcome;
                        }
                        let __outcome = ::retry_core::__private::place(&__operation)
                            .run(async {
                                if false {
                                    let _ = &mut key;
                                    return ::retry_core::__private::unreached::<
                                        Result<(), StoreError>,
                                    >();
                                }
                                #[allow(
                                    clippy::shadow_reuse,
                                    clippy::shadow_same,
                                    reason = "the body knows the argument by its name"
                                )]
                                let mut __self = &mut *__self;
                                if let Some(__ret) = None::<Result<(), StoreError>> {
                                    return __ret;
                                }
                                let __ret: Result<(), StoreError> = { __self.send(&key).await };
                                __ret
                            })
                            .await;
                        if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                            ::retry_core::__private::call_with(&__RETRYABLE_NAME, &__self.retry),
                            ::retry_core::__private::evaluate(&__outcome),
                            &mut __operation,
                            &mut __last,
                            __outcome,
                        ) {
                            return __outcome;
                        }
                    }
                })
            }
        "#]],
    );
}

#[test]
fn a_function_that_names_its_block() {
    retried(
        quote!(strategy = STORE),
        quote! {
            fn get(key: String) -> BoxFuture<'static, Result<Object, StoreError>> {
                let span = info_span!("get");
                let future = async move { send(&key).await };
                future.instrument(span).boxed()
            }
        },
        &expect![[r#"
            fn get(mut key: String) -> BoxFuture<'static, Result<Object, StoreError>> {
                let span = info_span!("get");
                let future = async move {
                    ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                    let mut __operation = ::retry_core::__private::begin(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    );
                    let mut __last = ::retry_core::__private::last_of!(
                        & __operation, Result < Object, StoreError >
                    );
                    loop {
                        loop {
                            let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                                ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                            &mut __last,
                        ) {
                            return __outcome;
                        }
                        let __outcome = ::retry_core::__private::place(&__operation)
                            .run(async {
                                if false {
                                    let _ = &mut key;
                                    return ::retry_core::__private::unreached::<
                                        Result<Object, StoreError>,
                                    >();
                                }
                                send(&key).await
                            })
                            .await;
                        if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            ::retry_core::__private::evaluate(&__outcome),
                            &mut __operation,
                            &mut __last,
                            __outcome,
                        ) {
                            return __outcome;
                        }
                    }
                };
                future.instrument(span).boxed()
            }
        "#]],
    );
}

#[test]
fn only_a_function_with_a_hedge_asks_for_the_feature() {
    let function = quote!(
        async fn get() -> Result<Object, StoreError> {
            Err(StoreError)
        }
    );
    let asks = |options| retryable::attribute(options, &function).to_string().contains("hedge_feature ! {");
    assert!(asks(quote!(strategy = STORE, idempotent, hedge = "p95")));
    assert!(!asks(quote!(strategy = STORE, idempotent)));
}

#[test]
fn a_hedge() {
    let code = retried(
        quote!(strategy = STORE, idempotent, hedge = "p95"),
        quote! {
            async fn get(client: &Client, key: &str) -> Result<Object, StoreError> {
                client.send(key).await
            }
        },
        &expect![[r#"
            async fn get(client: &Client, key: &str) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let mut __operation = ::retry_core::__private::begin(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < Object, StoreError >
                );
                static __RETRYABLE_HEDGE: ::retry_core::Hedge = ::retry_core::Hedge::p95();
                let __first = ::core::pin::pin!(::core::option::Option::None);
                let __second = ::core::pin::pin!(::core::option::Option::None);
                let __first_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __second_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __due = ::core::pin::pin!(::core::option::Option::None);
                let mut __race = ::retry_core::__private::race(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    &__operation,
                    ::retry_core::__private::static_hedge(&__RETRYABLE_HEDGE),
                    [__first, __second],
                    [__first_sleep, __second_sleep],
                    __due,
                );
                loop {
                    if ::retry_core::__private::Race::is_attempt_due(&__race) {
                        if !::retry_core::__private::Race::is_hedge(&__race) {
                            loop {
                                let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                                    &mut __operation,
                                ) else { break };
                                __wait.await;
                            }
                        }
                        ::retry_core::__private::begin_attempt(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                            &mut __race,
                            &mut __last,
                        );
                        ::retry_core::__private::start(
                            &mut __race,
                            async {
                                if false {
                                    return ::retry_core::__private::unreached::<
                                        Result<Object, StoreError>,
                                    >();
                                }
                                client.send(key).await
                            },
                        );
                    }
                    let __raced = (&mut __race).await;
                    if let ::core::option::Option::Some(__end) = ::retry_core::__private::proceed(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                        (&mut __race, __raced),
                        &mut __last,
                        |__operation, __outcome| ::retry_core::__private::evaluate_idempotent(
                            __outcome,
                            true,
                        ),
                        (::core::option::Option::None, ::core::option::Option::None),
                        |_, _| ::core::ops::ControlFlow::Continue(()),
                        ::retry_core::__private::never_cut,
                    ) {
                        return ::retry_core::__private::outcome(__end);
                    }
                }
            }
        "#]],
    );
    assert_eq!(code.lines().filter(|line| line.contains("client.send")).count(), 1);
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the expansion")]
fn a_hedge_with_limits_a_context_and_closures() {
    let code = retried(
        quote!(
            strategy = STORE,
            idempotent,
            hedge = GET,
            context = context,
            max_time = "30s",
            on_retry = warn,
            on_end = count
        ),
        quote! {
            async fn get((mut left, right): (u32, u32), key: String) -> Result<Object, StoreError> {
                left += 1;
                send(&key, left, right, context.attempt()).await
            }
        },
        &expect![[r#"
            async fn get((mut left, right): (u32, u32), key: String) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let _ = &mut left;
                let __started = ::retry_core::__private::started(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                );
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    ::retry_core::__private::max_time(
                        ::retry_core::__private::limited(),
                        ::core::time::Duration::new(30u64, 0u32),
                    ),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, StoreError >);
                let mut __context = ::retry_core::__private::context(&__operation);
                let __beginning = ::retry_core::__private::beginning(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    &__context,
                );
                let __first = ::core::pin::pin!(::core::option::Option::None);
                let __second = ::core::pin::pin!(::core::option::Option::None);
                let __first_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __second_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __due = ::core::pin::pin!(::core::option::Option::None);
                let mut __race = ::retry_core::__private::race(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    &__operation,
                    ::retry_core::__private::static_hedge(&GET),
                    [__first, __second],
                    [__first_sleep, __second_sleep],
                    __due,
                );
                loop {
                    if ::retry_core::__private::Race::is_attempt_due(&__race) {
                        if !::retry_core::__private::Race::is_hedge(&__race) {
                            loop {
                                let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                                    &mut __operation,
                                ) else { break };
                                __wait.await;
                            }
                        }
                        ::retry_core::__private::begin_attempt(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                            &mut __race,
                            &mut __last,
                        );
                        let __next = ::retry_core::__private::next_context(&__context, &__operation);
                        ::retry_core::__private::start(
                            &mut __race,
                            async {
                                if false {
                                    return ::retry_core::__private::unreached::<
                                        Result<Object, StoreError>,
                                    >();
                                }
                                let context = ::retry_core::__private::NextContext::take(__next);
                                #[allow(
                                    clippy::shadow_reuse,
                                    clippy::shadow_same,
                                    reason = "the body knows the argument by its name"
                                )]
                                let mut left = ::retry_core::__private::anew(&left);
                                left += 1;
                                send(&key, left, right, context.attempt()).await
                            },
                        );
                    }
                    let __raced = (&mut __race).await;
                    if let ::core::option::Option::Some(__end) = ::retry_core::__private::proceed(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                        (&mut __race, __raced),
                        &mut __last,
                        |__operation, __outcome| ::retry_core::__private::evaluate_idempotent(
                            __outcome,
                            true,
                        ),
                        (
                            ::core::option::Option::Some(&mut __context),
                            ::core::option::Option::Some(__beginning),
                        ),
                        |__outcome, __event| ::retry_core::__private::tell_failure(
                            &*__outcome,
                            |__error| ::retry_core::__private::on_retry(__error, __event, warn),
                        ),
                        ::retry_core::__private::out_of_time,
                    ) {
                        return ::retry_core::__private::tell_end(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            __end,
                            __started,
                            |__report| ::retry_core::__private::on_end(__report, count),
                        );
                    }
                }
            }
        "#]],
    );
    assert_eq!(code.lines().filter(|line| line.contains("send(")).count(), 1);
}

#[test]
fn a_mistake_keeps_the_item() {
    retried(
        quote!(strateggy = STORE),
        quote! {
            async fn ping() -> Result<(), StoreError> {
                Ok(())
            }
        },
        &expect![[r#"
            async fn ping() -> Result<(), StoreError> {
                ::core::compile_error! {
                    "unknown option `strateggy`; did you mean `strategy`? `#[retryable]` takes `strategy`, `policy`, `idempotent`, `hedge`, `weight`, `used`, `max_time`, `deadline`, `attempt_timeout`, `timed_out`, `max_attempts`, `unlimited_attempts`, `stop`, `stop_when`, `cut_on_stop`, `name`, `context`, `clone`, `observer`, `on_retry`, `on_end`, `timer`, `blocking` or `crate`"
                }
                Ok(())
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the expansion")]
fn a_future_is_polled_beside_each_step() {
    retried(
        quote!(strategy = STORE, stop = STOP, stop_when = token.cancelled(), cut_on_stop),
        quote! {
            async fn get(key: &str, token: &Token) -> Result<Object, StoreError> {
                fetch(key).await
            }
        },
        &expect![[r#"
            async fn get(key: &str, token: &Token) -> Result<Object, StoreError> {
                ::retry_core::__private::function_name!(__RETRYABLE_NAME = "get");
                let __stop = &STOP;
                let __own_stop = ::retry_core::__private::own_stop();
                let mut __when = ::core::pin::pin!(
                    ::retry_core::__private::stop_when(token.cancelled())
                );
                ::retry_core::__private::beside(
                        ::core::pin::Pin::as_mut(&mut __when),
                        &__own_stop,
                        ::core::future::ready(()),
                    )
                    .await;
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                    ::retry_core::__private::cut_on_stop(
                        ::retry_core::__private::stopped_by(
                            ::retry_core::__private::stop(
                                ::retry_core::__private::limited(),
                                __stop,
                            ),
                            &__own_stop,
                        ),
                    ),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, StoreError >);
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                            &mut __operation,
                        ) else { break };
                        ::retry_core::__private::beside(
                                ::core::pin::Pin::as_mut(&mut __when),
                                &__own_stop,
                                __wait,
                            )
                            .await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let (__deadline, __sleep) = ::retry_core::__private::deadline(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        &mut __operation,
                    );
                    let __outcome = {
                        let __attempted = ::retry_core::__private::beside(
                                ::core::pin::Pin::as_mut(&mut __when),
                                &__own_stop,
                                ::retry_core::__private::attempt(
                                    __deadline,
                                    ::core::pin::pin!(__sleep),
                                    ::core::pin::pin!(
                                        ::retry_core::__private::place(& __operation).run(async { if
                                        false { return ::retry_core::__private::unreached:: < Result
                                        < Object, StoreError > > (); } fetch(key). await })
                                    ),
                                ),
                            )
                            .await;
                        match __attempted {
                            ::core::result::Result::Ok(__outcome) => __outcome,
                            ::core::result::Result::Err(__cut) => {
                                match ::retry_core::__private::cut(
                                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                                    &mut __operation,
                                    __cut,
                                    &mut __last,
                                    ::retry_core::__private::out_of_time,
                                ) {
                                    ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                    ::core::ops::ControlFlow::Break(__outcome) => return __outcome,
                                }
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn options_of_one_call() {
    retried(
        quote!(
            strategy = STORE,
            timed_out = Status::of,
            max_attempts = attempts,
            max_time = limit,
            name = format!("get {shard}")
        ),
        quote! {
            async fn get(shard: u32, attempts: NonZeroU32, limit: Option<Duration>) -> Result<Object, Status> {
                send().await
            }
        },
        &expect![[r#"
            async fn get(
                shard: u32,
                attempts: NonZeroU32,
                limit: Option<Duration>,
            ) -> Result<Object, Status> {
                let __name = ::retry_core::__private::given_name(format!("get {shard}"));
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__name, &STORE),
                    ::retry_core::__private::max_attempts(
                        ::retry_core::__private::max_time(::retry_core::__private::limited(), limit),
                        ::retry_core::__private::accept_attempts(attempts),
                    ),
                );
                let mut __last = ::retry_core::__private::last_of!(Result < Object, Status >);
                loop {
                    loop {
                        let ::core::option::Option::Some(__wait) = ::retry_core::__private::wait(
                            ::retry_core::__private::call(&__name, &STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__name, &STORE),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let (__deadline, __sleep) = ::retry_core::__private::deadline(
                        ::retry_core::__private::call(&__name, &STORE),
                        &mut __operation,
                    );
                    let __outcome = {
                        let __attempted = ::retry_core::__private::attempt(
                                __deadline,
                                ::core::pin::pin!(__sleep),
                                ::core::pin::pin!(
                                    ::retry_core::__private::place(& __operation).run(async { if
                                    false { return ::retry_core::__private::unreached:: < Result <
                                    Object, Status > > (); } send(). await })
                                ),
                            )
                            .await;
                        match __attempted {
                            ::core::result::Result::Ok(__outcome) => __outcome,
                            ::core::result::Result::Err(__cut) => {
                                match ::retry_core::__private::cut(
                                    ::retry_core::__private::call(&__name, &STORE),
                                    &mut __operation,
                                    __cut,
                                    &mut __last,
                                    |__timed_out| ::retry_core::__private::timed_out::<
                                        Result<Object, Status>,
                                    >(__timed_out, Status::of),
                                ) {
                                    ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                    ::core::ops::ControlFlow::Break(__outcome) => return __outcome,
                                }
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__name, &STORE),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn a_name_and_a_number_of_attempts_that_are_literals() {
    retried(
        quote!(strategy = STORE, max_attempts = 2, name = "get", blocking),
        quote! {
            fn get() -> Result<Object, StoreError> {
                send()
            }
        },
        &expect![[r#"
            fn get() -> Result<Object, StoreError> {
                static __RETRYABLE_NAME: ::retry_core::__private::Name = ::retry_core::__private::Name::Given(
                    "get",
                );
                let mut __operation = ::retry_core::__private::begin_within(
                    ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                    ::retry_core::__private::at_most(::retry_core::__private::attempts(2u32)),
                );
                let mut __last = ::retry_core::__private::last_of!(
                    & __operation, Result < Object, StoreError >
                );
                loop {
                    ::retry_core::__private::block(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                        &mut __operation,
                    );
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::unrecovered(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                        &mut __operation,
                        &mut __last,
                    ) {
                        return __outcome;
                    }
                    let __outcome = ::retry_core::__private::place(&__operation)
                        .run_blocking(|| -> Result<Object, StoreError> { send() });
                    if let ::core::option::Option::Some(__outcome) = ::retry_core::__private::settle(
                        ::retry_core::__private::call(&__RETRYABLE_NAME, &STORE).blocking(),
                        ::retry_core::__private::evaluate(&__outcome),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __outcome;
                    }
                }
            }
        "#]],
    );
}
