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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let mut __operation = __retry::begin(__RETRIED.__call(&STORE));
                if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    let mut __last = {
                        let __outcome = __retry::place(&__operation)
                            .run(async {
                                if false {
                                    return __retry::unreached::<Result<Object, StoreError>>();
                                }
                                client.send(key).await
                            })
                            .await;
                        if __retry::settle(
                            __RETRIED.__call(&STORE),
                            __retry::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __RETRIED.__call(&STORE).kept(&mut __operation, __retry::moved!(__outcome))
                    };
                    if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                    }
                }
            }
        "#]],
    );
    let body = code.lines().filter(|line| line.contains("client.send")).count();
    assert_eq!(body, 1);
    assert!(code.lines().count() - body <= 53, "a plain function expands to at most 53 lines besides its body");
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
                use my::retry::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("put");
                let mut __operation = __retry::begin(__RETRIED.__call_with(&self.retry));
                if !__retry::begin_if_due(__RETRIED.__call_with(&self.retry), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call_with(&self.retry),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    let mut __last = {
                        let __outcome = __retry::place(&__operation)
                            .run(async {
                                if false {
                                    let _ = &mut body;
                                    let _ = &mut tries;
                                    return __retry::unreached::<io::Result<_>>();
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
                                let mut tries = __retry::anew(&tries);
                                tries += 1;
                                self.send(key, body, tries).await
                            })
                            .await;
                        if __retry::settle(
                            __RETRIED.__call_with(&self.retry),
                            __retry::evaluate_idempotent(&__outcome, false),
                            &mut __operation,
                            &__outcome,
                            __retry::NO_TEXT,
                        ) {
                            return __retry::final_outcome(__outcome);
                        }
                        __RETRIED.__call_with(&self.retry).kept(&mut __operation, __outcome)
                    };
                    if !__retry::begin_if_due(__RETRIED.__call_with(&self.retry), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call_with(&self.retry),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call_with(&self.retry),
                            &mut __operation,
                            &mut __last,
                            __retry::NO_TEXT,
                        ) {
                            return __retry::final_outcome(__outcome);
                        }
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
                use ::retry_core::__private as __retry;
                static __RETRYABLE_STRATEGY: __retry::StandardRetryStrategy = __retry::StandardRetryStrategy::new();
                static __RETRIED: __retry::Name = __retry::function_name!("ping");
                let mut __operation = __retry::begin(__RETRIED.__call(&__RETRYABLE_STRATEGY));
                if !__retry::begin_if_due(
                    __RETRIED.__call(&__RETRYABLE_STRATEGY),
                    &mut __operation,
                ) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call(&__RETRYABLE_STRATEGY),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    let mut __last = {
                        let __outcome = __retry::place(&__operation)
                            .run(async {
                                if false {
                                    return __retry::unreached::<Result<(), StoreError>>();
                                }
                                Ok(())
                            })
                            .await;
                        if __retry::settle(
                            __RETRIED.__call(&__RETRYABLE_STRATEGY),
                            __retry::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < (), StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __RETRIED
                            .__call(&__RETRYABLE_STRATEGY)
                            .kept(&mut __operation, __retry::moved!(__outcome))
                    };
                    if !__retry::begin_if_due(
                        __RETRIED.__call(&__RETRYABLE_STRATEGY),
                        &mut __operation,
                    ) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&__RETRYABLE_STRATEGY),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call(&__RETRYABLE_STRATEGY),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < (), StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
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
                use ::retry_core::__private as __retry;
                let __strategy = __retry::shared(pool.strategy());
                static __RETRIED: __retry::Name = __retry::function_name!("ping");
                let mut __operation = __retry::begin(__RETRIED.__call_with(&__strategy));
                if !__retry::begin_if_due(__RETRIED.__call_with(&__strategy), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call_with(&__strategy),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    let mut __last = {
                        let __outcome = __retry::place(&__operation)
                            .run(async {
                                if false {
                                    return __retry::unreached::<Result<(), StoreError>>();
                                }
                                Ok(())
                            })
                            .await;
                        if __retry::settle(
                            __RETRIED.__call_with(&__strategy),
                            __retry::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < (), StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __RETRIED
                            .__call_with(&__strategy)
                            .kept(&mut __operation, __retry::moved!(__outcome))
                    };
                    if !__retry::begin_if_due(__RETRIED.__call_with(&__strategy), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call_with(&__strategy),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call_with(&__strategy),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < (), StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE).with_observer(__retry::static_observer(&METRICS)),
                    __retry::attempt_timeout(
                        __retry::max_time(
                            __retry::limited(),
                            ::core::time::Duration::new(30u64, 0u32),
                        ),
                        self.timeout,
                    ),
                );
                let mut __context = __retry::context(&__operation);
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, StoreError >),
                };
                if !__retry::begin_if_due(
                    __RETRIED.__call(&STORE).with_observer(__retry::static_observer(&METRICS)),
                    &mut __operation,
                ) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED
                                .__call(&STORE)
                                .with_observer(__retry::static_observer(&METRICS)),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    {
                        let (__deadline, __sleep) = __retry::deadline(
                            __RETRIED
                                .__call(&STORE)
                                .with_observer(__retry::static_observer(&METRICS)),
                            &mut __operation,
                        );
                        let context = __retry::attempt_context(&__context, &__operation);
                        let __outcome = {
                            let __attempted = __retry::attempt(
                                    __deadline,
                                    ::core::pin::pin!(__sleep),
                                    ::core::pin::pin!(
                                        __retry::place(& __operation).run(async { if false { return
                                        __retry::unreached:: < Result < Object, StoreError > > (); }
                                        self.send(context.attempt()). await })
                                    ),
                                )
                                .await;
                            match __attempted {
                                ::core::result::Result::Ok(__outcome) => __outcome,
                                ::core::result::Result::Err(__cut) => {
                                    match __retry::cut(
                                        __RETRIED
                                            .__call(&STORE)
                                            .with_observer(__retry::static_observer(&METRICS)),
                                        &mut __operation,
                                        __cut,
                                        &mut __last,
                                        __retry::out_of_time,
                                    ) {
                                        ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                        ::core::ops::ControlFlow::Break(__outcome) => {
                                            return __outcome;
                                        }
                                    }
                                }
                            }
                        };
                        if __retry::settle(
                            __RETRIED
                                .__call(&STORE)
                                .with_observer(__retry::static_observer(&METRICS)),
                            __context
                                .__remember(
                                    __retry::evaluate_by(
                                        __RETRIED
                                            .__call(&STORE)
                                            .with_observer(__retry::static_observer(&METRICS)),
                                        &mut __operation,
                                        &__outcome,
                                        |outcome| evaluate(outcome),
                                    ),
                                ),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __retry::keep(
                            __RETRIED
                                .__call(&STORE)
                                .with_observer(__retry::static_observer(&METRICS)),
                            &mut __operation,
                            &mut __last,
                            __retry::moved!(__outcome),
                        );
                    }
                    if !__retry::begin_if_due(
                        __RETRIED.__call(&STORE).with_observer(__retry::static_observer(&METRICS)),
                        &mut __operation,
                    ) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED
                                    .__call(&STORE)
                                    .with_observer(__retry::static_observer(&METRICS)),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED
                                .__call(&STORE)
                                .with_observer(__retry::static_observer(&METRICS)),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("complete");
                let __weight: u32 = prompt.tokens();
                let mut __operation = __retry::begin(__RETRIED.__call(&LLM));
                __retry::weigh(__RETRIED.__call(&LLM), &mut __operation, __weight);
                if !__retry::begin_if_due(__RETRIED.__call(&LLM), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call(&LLM),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    let mut __last = {
                        let __outcome = __retry::place(&__operation)
                            .run(async {
                                if false {
                                    return __retry::unreached::<Result<Text, StoreError>>();
                                }
                                complete_once(prompt).await
                            })
                            .await;
                        if __retry::settle(
                            __RETRIED.__call(&LLM),
                            __retry::used_by(
                                __RETRIED.__call(&LLM),
                                __retry::evaluate(&__outcome),
                                &mut __operation,
                                &__outcome,
                                |__outcome| __retry::used(__outcome, |outcome| tokens(outcome)),
                            ),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < Text, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __RETRIED.__call(&LLM).kept(&mut __operation, __retry::moved!(__outcome))
                    };
                    if !__retry::begin_if_due(__RETRIED.__call(&LLM), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&LLM),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call(&LLM),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < Text, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let __blocking_timer = self.clock();
                let mut __operation = __retry::begin_within(
                    __RETRIED
                        .__call(&STORE)
                        .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                    __retry::max_time(__retry::limited(), ::core::time::Duration::new(30u64, 0u32)),
                );
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::NO_TEXT,
                };
                loop {
                    if let ::core::option::Option::Some(__cut) = __retry::block(
                        __RETRIED
                            .__call(&STORE)
                            .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                        &mut __operation,
                    ) {
                        return __retry::over(
                            __RETRIED
                                .__call(&STORE)
                                .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                            &mut __operation,
                            __cut,
                            &mut __last,
                            __retry::out_of_time,
                        );
                    }
                    if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                        __RETRIED
                            .__call(&STORE)
                            .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                        &mut __operation,
                        &mut __last,
                        __retry::NO_TEXT,
                    ) {
                        return __retry::final_outcome(__outcome);
                    }
                    let __outcome = __retry::place(&__operation)
                        .run_blocking(|| -> Result<_, StoreError> { self.send() });
                    if __retry::settle(
                        __RETRIED
                            .__call(&STORE)
                            .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                        __retry::evaluate(&__outcome),
                        &mut __operation,
                        &__outcome,
                        __retry::NO_TEXT,
                    ) {
                        return __retry::final_outcome(__outcome);
                    }
                    __retry::keep(
                        __RETRIED
                            .__call(&STORE)
                            .with_blocking_timer(__retry::blocking_timer(&__blocking_timer)),
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    );
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE),
                    __retry::max_time(__retry::limited(), LIMIT),
                );
                let __beginning = __retry::beginning(__RETRIED.__call(&STORE), &__operation);
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, StoreError >),
                };
                loop {
                    if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                    }
                    let (__deadline, __sleep) = __retry::deadline(
                        __RETRIED.__call(&STORE),
                        &mut __operation,
                    );
                    let mut __is_over = false;
                    let __outcome = if __retry::is_unrecovered(
                        __RETRIED.__call(&STORE),
                        &mut __operation,
                        &mut __last,
                    ) {
                        let __outcome = __retry::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        {
                            let __attempted = __retry::attempt(
                                    __deadline,
                                    ::core::pin::pin!(__sleep),
                                    ::core::pin::pin!(
                                        __retry::place(& __operation).run(async { if false { return
                                        __retry::unreached:: < Result < Object, StoreError > > (); }
                                        client.send(). await })
                                    ),
                                )
                                .await;
                            match __attempted {
                                ::core::result::Result::Ok(__outcome) => __outcome,
                                ::core::result::Result::Err(__cut) => {
                                    match __retry::cut_unsettled(
                                        __RETRIED.__call(&STORE),
                                        &mut __operation,
                                        __cut,
                                        &mut __last,
                                        __retry::out_of_time,
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
                    if let ::core::option::Option::Some(__end) = __retry::settle_and_tell(
                        __RETRIED.__call(&STORE),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(__retry::evaluate(&__outcome))
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                        __beginning,
                        |__outcome, __event| __retry::tell_failure(
                            &*__outcome,
                            |__error| __retry::on_retry(__error, __event, log),
                        ),
                    ) {
                        return __retry::moved!(__retry::outcome(__end));
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let __started = __retry::started(__RETRIED.__call(&STORE));
                let mut __operation = __retry::begin(__RETRIED.__call(&STORE));
                let mut __last = __retry::last(
                    &__operation,
                    __retry::text_of!(Result < Object, StoreError >),
                );
                loop {
                    if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                    }
                    let mut __is_over = false;
                    let __outcome = if __retry::is_unrecovered(
                        __RETRIED.__call(&STORE),
                        &mut __operation,
                        &mut __last,
                    ) {
                        let __outcome = __retry::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        __retry::place(&__operation)
                            .run(async {
                                if false {
                                    return __retry::unreached::<Result<Object, StoreError>>();
                                }
                                client.send().await
                            })
                            .await
                    };
                    if let ::core::option::Option::Some(__end) = __retry::settle_to_end(
                        __RETRIED.__call(&STORE),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(__retry::evaluate(&__outcome))
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                    ) {
                        return __retry::tell_end(
                            __RETRIED.__call(&STORE),
                            __end,
                            __started,
                            |__report| __retry::on_end(__report, |report| *ended = report.reason),
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE).blocking(),
                    __retry::until(__retry::limited(), deadline),
                );
                let __beginning = __retry::beginning(
                    __RETRIED.__call(&STORE).blocking(),
                    &__operation,
                );
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, StoreError >),
                };
                loop {
                    let __cut = __retry::block(
                        __RETRIED.__call(&STORE).blocking(),
                        &mut __operation,
                    );
                    let mut __is_over = false;
                    let __outcome = if __retry::is_unrecovered(
                        __RETRIED.__call(&STORE).blocking(),
                        &mut __operation,
                        &mut __last,
                    ) {
                        let __outcome = __retry::last_outcome(&mut __last);
                        {
                            __is_over = true;
                            __outcome
                        }
                    } else {
                        match __cut {
                            ::core::option::Option::Some(__cut) => {
                                match __retry::cut_unsettled(
                                    __RETRIED.__call(&STORE).blocking(),
                                    &mut __operation,
                                    __cut,
                                    &mut __last,
                                    __retry::out_of_time,
                                ) {
                                    ::core::ops::ControlFlow::Continue(__outcome)
                                    | ::core::ops::ControlFlow::Break(__outcome) => {
                                        __is_over = true;
                                        __outcome
                                    }
                                }
                            }
                            ::core::option::Option::None => {
                                __retry::place(&__operation)
                                    .run_blocking(|| -> Result<Object, StoreError> { send() })
                            }
                        }
                    };
                    if let ::core::option::Option::Some(__end) = __retry::settle_and_tell(
                        __RETRIED.__call(&STORE).blocking(),
                        if __is_over {
                            ::core::option::Option::None
                        } else {
                            ::core::option::Option::Some(__retry::evaluate(&__outcome))
                        },
                        &mut __operation,
                        &mut __last,
                        __outcome,
                        __beginning,
                        |__outcome, __event| __retry::tell_failure(
                            &*__outcome,
                            |__error| __retry::on_retry(
                                __error,
                                __event,
                                |error, _| failures.push(error.clone()),
                            ),
                        ),
                    ) {
                        return __retry::moved!(__retry::outcome(__end));
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
                    use ::retry_core::__private as __retry;
                    static __RETRIED: __retry::Name = __retry::function_name!("put");
                    let mut __operation = __retry::begin(__RETRIED.__call_with(&__self.retry));
                    if !__retry::begin_if_due(
                        __RETRIED.__call_with(&__self.retry),
                        &mut __operation,
                    ) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call_with(&__self.retry),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                    }
                    loop {
                        let mut __last = {
                            let __outcome = __retry::place(&__operation)
                                .run(async {
                                    if false {
                                        let _ = &mut key;
                                        return __retry::unreached::<Result<(), StoreError>>();
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
                            if __retry::settle(
                                __RETRIED.__call_with(&__self.retry),
                                __retry::evaluate(&__outcome),
                                &mut __operation,
                                &__outcome,
                                __retry::text_of!(Result < (), StoreError >),
                            ) {
                                return __retry::final_outcome(__retry::moved!(__outcome));
                            }
                            __RETRIED
                                .__call_with(&__self.retry)
                                .kept(&mut __operation, __retry::moved!(__outcome))
                        };
                        if !__retry::begin_if_due(
                            __RETRIED.__call_with(&__self.retry),
                            &mut __operation,
                        ) {
                            loop {
                                let ::core::option::Option::Some(__wait) = __retry::wait(
                                    __RETRIED.__call_with(&__self.retry),
                                    &mut __operation,
                                ) else { break };
                                __wait.await;
                            }
                            if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                                __RETRIED.__call_with(&__self.retry),
                                &mut __operation,
                                &mut __last,
                                __retry::text_of!(Result < (), StoreError >),
                            ) {
                                return __retry::final_outcome(__retry::moved!(__outcome));
                            }
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
                    use ::retry_core::__private as __retry;
                    static __RETRIED: __retry::Name = __retry::function_name!("get");
                    let mut __operation = __retry::begin(__RETRIED.__call(&STORE));
                    if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                    }
                    loop {
                        let mut __last = {
                            let __outcome = __retry::place(&__operation)
                                .run(async {
                                    if false {
                                        let _ = &mut key;
                                        return __retry::unreached::<Result<Object, StoreError>>();
                                    }
                                    send(&key).await
                                })
                                .await;
                            if __retry::settle(
                                __RETRIED.__call(&STORE),
                                __retry::evaluate(&__outcome),
                                &mut __operation,
                                &__outcome,
                                __retry::text_of!(Result < Object, StoreError >),
                            ) {
                                return __retry::final_outcome(__retry::moved!(__outcome));
                            }
                            __RETRIED
                                .__call(&STORE)
                                .kept(&mut __operation, __retry::moved!(__outcome))
                        };
                        if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                            loop {
                                let ::core::option::Option::Some(__wait) = __retry::wait(
                                    __RETRIED.__call(&STORE),
                                    &mut __operation,
                                ) else { break };
                                __wait.await;
                            }
                            if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                                &mut __last,
                                __retry::text_of!(Result < Object, StoreError >),
                            ) {
                                return __retry::final_outcome(__retry::moved!(__outcome));
                            }
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
    // With a mistake.
    assert!(asks(quote!(strategy = STORE, hedge = "p95")));
    assert!(asks(quote!(strategy = STORE, hedge = "p95", crate = retry)));
    assert!(!asks(quote!(strategy = STORE, hedge = "p95", crate = "retry")));
    assert!(!asks(quote!(strategy = STORE, hedge = "p95", crate = )));
    assert!(!asks(quote!(strategy = STORE, hedge = "p95", crat = retry)));
    assert!(!asks(quote!(strategy = STORE, hedge = "p95", "crate = retry")));
    assert!(asks(quote!(strategy = STORE, hedge = "p95", rate = 5)));
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let mut __operation = __retry::begin(__RETRIED.__call(&STORE));
                static __RETRYABLE_HEDGE: ::retry_core::Hedge = ::retry_core::Hedge::p95();
                let __first = ::core::pin::pin!(::core::option::Option::None);
                let __second = ::core::pin::pin!(::core::option::Option::None);
                let __first_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __second_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __due = ::core::pin::pin!(::core::option::Option::None);
                let mut __race = __retry::race(
                    __RETRIED.__call(&STORE),
                    &__operation,
                    __retry::static_hedge(&__RETRYABLE_HEDGE),
                    [__first, __second],
                    [__first_sleep, __second_sleep],
                    __due,
                );
                let mut __last = __retry::last(
                    &__operation,
                    __retry::text_of!(Result < Object, StoreError >),
                );
                loop {
                    if __retry::Race::is_attempt_due(&__race) {
                        if !__retry::Race::is_hedge(&__race) {
                            if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                                loop {
                                    let ::core::option::Option::Some(__wait) = __retry::wait(
                                        __RETRIED.__call(&STORE),
                                        &mut __operation,
                                    ) else { break };
                                    __wait.await;
                                }
                            }
                        }
                        __retry::begin_attempt(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                            &mut __race,
                            &mut __last,
                        );
                        __retry::start(
                            &mut __race,
                            async {
                                if false {
                                    return __retry::unreached::<Result<Object, StoreError>>();
                                }
                                client.send(key).await
                            },
                        );
                    }
                    let __raced = (&mut __race).await;
                    if let ::core::option::Option::Some(__end) = __retry::proceed(
                        __RETRIED.__call(&STORE),
                        &mut __operation,
                        (&mut __race, __raced),
                        &mut __last,
                        |__operation, __outcome| __retry::evaluate_idempotent(__outcome, true),
                        (::core::option::Option::None, ::core::option::Option::None),
                        |_, _| ::core::ops::ControlFlow::Continue(()),
                        __retry::never_cut,
                    ) {
                        return __retry::moved!(__retry::outcome(__end));
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let _ = &mut left;
                let __started = __retry::started(__RETRIED.__call(&STORE));
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE),
                    __retry::max_time(__retry::limited(), ::core::time::Duration::new(30u64, 0u32)),
                );
                let mut __context = __retry::context(&__operation);
                let __beginning = __retry::beginning(__RETRIED.__call(&STORE), &__context);
                let __first = ::core::pin::pin!(::core::option::Option::None);
                let __second = ::core::pin::pin!(::core::option::Option::None);
                let __first_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __second_sleep = ::core::pin::pin!(::core::option::Option::None);
                let __due = ::core::pin::pin!(::core::option::Option::None);
                let mut __race = __retry::race(
                    __RETRIED.__call(&STORE),
                    &__operation,
                    __retry::static_hedge(&GET),
                    [__first, __second],
                    [__first_sleep, __second_sleep],
                    __due,
                );
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, StoreError >),
                };
                loop {
                    if __retry::Race::is_attempt_due(&__race) {
                        if !__retry::Race::is_hedge(&__race) {
                            if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                                loop {
                                    let ::core::option::Option::Some(__wait) = __retry::wait(
                                        __RETRIED.__call(&STORE),
                                        &mut __operation,
                                    ) else { break };
                                    __wait.await;
                                }
                            }
                        }
                        __retry::begin_attempt(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                            &mut __race,
                            &mut __last,
                        );
                        let __next = __retry::next_context(&__context, &__operation);
                        __retry::start(
                            &mut __race,
                            async {
                                if false {
                                    return __retry::unreached::<Result<Object, StoreError>>();
                                }
                                let context = __retry::NextContext::take(__next);
                                #[allow(
                                    clippy::shadow_reuse,
                                    clippy::shadow_same,
                                    reason = "the body knows the argument by its name"
                                )]
                                let mut left = __retry::anew(&left);
                                left += 1;
                                send(&key, left, right, context.attempt()).await
                            },
                        );
                    }
                    let __raced = (&mut __race).await;
                    if let ::core::option::Option::Some(__end) = __retry::proceed(
                        __RETRIED.__call(&STORE),
                        &mut __operation,
                        (&mut __race, __raced),
                        &mut __last,
                        |__operation, __outcome| __retry::evaluate_idempotent(__outcome, true),
                        (
                            ::core::option::Option::Some(&mut __context),
                            ::core::option::Option::Some(__beginning),
                        ),
                        |__outcome, __event| __retry::tell_failure(
                            &*__outcome,
                            |__error| __retry::on_retry(__error, __event, warn),
                        ),
                        __retry::out_of_time,
                    ) {
                        return __retry::tell_end(
                            __RETRIED.__call(&STORE),
                            __end,
                            __started,
                            |__report| __retry::on_end(__report, count),
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::function_name!("get");
                let __stop = &STOP;
                let __own_stop = __retry::own_stop();
                let mut __when = ::core::pin::pin!(__retry::stop_when(token.cancelled()));
                __retry::beside(
                        ::core::pin::Pin::as_mut(&mut __when),
                        &__own_stop,
                        ::core::future::ready(()),
                    )
                    .await;
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE),
                    __retry::cut_on_stop(
                        __retry::stopped_by(__retry::stop(__retry::limited(), __stop), &__own_stop),
                    ),
                );
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, StoreError >),
                };
                if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                        ) else { break };
                        __retry::beside(::core::pin::Pin::as_mut(&mut __when), &__own_stop, __wait)
                            .await;
                    }
                }
                loop {
                    {
                        let (__deadline, __sleep) = __retry::deadline(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                        );
                        let __outcome = {
                            let __attempted = __retry::beside(
                                    ::core::pin::Pin::as_mut(&mut __when),
                                    &__own_stop,
                                    __retry::attempt(
                                        __deadline,
                                        ::core::pin::pin!(__sleep),
                                        ::core::pin::pin!(
                                            __retry::place(& __operation).run(async { if false { return
                                            __retry::unreached:: < Result < Object, StoreError > > (); }
                                            fetch(key). await })
                                        ),
                                    ),
                                )
                                .await;
                            match __attempted {
                                ::core::result::Result::Ok(__outcome) => __outcome,
                                ::core::result::Result::Err(__cut) => {
                                    match __retry::cut(
                                        __RETRIED.__call(&STORE),
                                        &mut __operation,
                                        __cut,
                                        &mut __last,
                                        __retry::out_of_time,
                                    ) {
                                        ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                        ::core::ops::ControlFlow::Break(__outcome) => {
                                            return __outcome;
                                        }
                                    }
                                }
                            }
                        };
                        if __retry::settle(
                            __RETRIED.__call(&STORE),
                            __retry::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __retry::keep(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                            &mut __last,
                            __retry::moved!(__outcome),
                        );
                    }
                    if !__retry::begin_if_due(__RETRIED.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __RETRIED.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __retry::beside(
                                    ::core::pin::Pin::as_mut(&mut __when),
                                    &__own_stop,
                                    __wait,
                                )
                                .await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __RETRIED.__call(&STORE),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < Object, StoreError >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                    }
                }
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the expansion")]
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
                use ::retry_core::__private as __retry;
                let __name = __retry::given_name(format!("get {shard}"));
                let mut __operation = __retry::begin_within(
                    __name.__call(&STORE),
                    __retry::max_attempts(
                        __retry::max_time(__retry::limited(), limit),
                        __retry::accept_attempts(attempts),
                    ),
                );
                let mut __last = __retry::WithText {
                    place: ::core::option::Option::None,
                    text: __retry::text_of!(Result < Object, Status >),
                };
                if !__retry::begin_if_due(__name.__call(&STORE), &mut __operation) {
                    loop {
                        let ::core::option::Option::Some(__wait) = __retry::wait(
                            __name.__call(&STORE),
                            &mut __operation,
                        ) else { break };
                        __wait.await;
                    }
                }
                loop {
                    {
                        let (__deadline, __sleep) = __retry::deadline(
                            __name.__call(&STORE),
                            &mut __operation,
                        );
                        let __outcome = {
                            let __attempted = __retry::attempt(
                                    __deadline,
                                    ::core::pin::pin!(__sleep),
                                    ::core::pin::pin!(
                                        __retry::place(& __operation).run(async { if false { return
                                        __retry::unreached:: < Result < Object, Status > > (); }
                                        send(). await })
                                    ),
                                )
                                .await;
                            match __attempted {
                                ::core::result::Result::Ok(__outcome) => __outcome,
                                ::core::result::Result::Err(__cut) => {
                                    match __retry::cut(
                                        __name.__call(&STORE),
                                        &mut __operation,
                                        __cut,
                                        &mut __last,
                                        |__timed_out| __retry::timed_out::<
                                            Result<Object, Status>,
                                        >(__timed_out, Status::of),
                                    ) {
                                        ::core::ops::ControlFlow::Continue(__outcome) => __outcome,
                                        ::core::ops::ControlFlow::Break(__outcome) => {
                                            return __outcome;
                                        }
                                    }
                                }
                            }
                        };
                        if __retry::settle(
                            __name.__call(&STORE),
                            __retry::evaluate(&__outcome),
                            &mut __operation,
                            &__outcome,
                            __retry::text_of!(Result < Object, Status >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
                        __retry::keep(
                            __name.__call(&STORE),
                            &mut __operation,
                            &mut __last,
                            __retry::moved!(__outcome),
                        );
                    }
                    if !__retry::begin_if_due(__name.__call(&STORE), &mut __operation) {
                        loop {
                            let ::core::option::Option::Some(__wait) = __retry::wait(
                                __name.__call(&STORE),
                                &mut __operation,
                            ) else { break };
                            __wait.await;
                        }
                        if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                            __name.__call(&STORE),
                            &mut __operation,
                            &mut __last,
                            __retry::text_of!(Result < Object, Status >),
                        ) {
                            return __retry::final_outcome(__retry::moved!(__outcome));
                        }
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
                use ::retry_core::__private as __retry;
                static __RETRIED: __retry::Name = __retry::Name::Given("get");
                let mut __operation = __retry::begin_within(
                    __RETRIED.__call(&STORE).blocking(),
                    __retry::at_most(__retry::attempts(2u32)),
                );
                let mut __last = __retry::last(
                    &__operation,
                    __retry::text_of!(Result < Object, StoreError >),
                );
                loop {
                    __retry::block(__RETRIED.__call(&STORE).blocking(), &mut __operation);
                    if let ::core::option::Option::Some(__outcome) = __retry::unrecovered(
                        __RETRIED.__call(&STORE).blocking(),
                        &mut __operation,
                        &mut __last,
                        __retry::text_of!(Result < Object, StoreError >),
                    ) {
                        return __retry::final_outcome(__outcome);
                    }
                    let __outcome = __retry::place(&__operation)
                        .run_blocking(|| -> Result<Object, StoreError> { send() });
                    if __retry::settle(
                        __RETRIED.__call(&STORE).blocking(),
                        __retry::evaluate(&__outcome),
                        &mut __operation,
                        &__outcome,
                        __retry::text_of!(Result < Object, StoreError >),
                    ) {
                        return __retry::final_outcome(__retry::moved!(__outcome));
                    }
                    __retry::keep(
                        __RETRIED.__call(&STORE).blocking(),
                        &mut __operation,
                        &mut __last,
                        __retry::moved!(__outcome),
                    );
                }
            }
        "#]],
    );
}
