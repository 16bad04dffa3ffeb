//! Snapshots of expansions of functions that are half typed.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use crate::retryable;
use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;

/// Compares the expansion of code that is half typed, which can't be formatted.
fn half_typed(options: TokenStream, item: &str, expected: &Expect) {
    expected.assert_eq(&retryable::attribute(options, &item.parse().expect("delimiters are balanced")).to_string());
}

#[test]
fn a_half_typed_body() {
    half_typed(
        quote!(strategy = STORE),
        "async fn f(&self) -> Result<(), E> { let x = ; self. }",
        &expect![[
            r#"async fn f (& self) -> Result < () , E > { use :: retry_core :: __private as __retry ; static __RETRIED : __retry :: Name = __retry :: function_name ! ("f") ; let mut __operation = __retry :: begin (__RETRIED . __call (& STORE)) ; if ! __retry :: begin_if_due (__RETRIED . __call (& STORE) , & mut __operation) { loop { let :: core :: option :: Option :: Some (__wait) = __retry :: wait (__RETRIED . __call (& STORE) , & mut __operation) else { break } ; __wait . await ; } } loop { let mut __last = { let __outcome = __retry :: place (& __operation) . run (async { if false { return __retry :: unreached :: < Result < () , E > > () ; } { let x = ; self . } }) . await ; if __retry :: settle (__RETRIED . __call (& STORE) , __retry :: evaluate (& __outcome) , & mut __operation , & __outcome , __retry :: text_of ! (Result < () , E >)) { return __retry :: final_outcome (__retry :: moved ! (__outcome)) ; } __RETRIED . __call (& STORE) . kept (& mut __operation , __retry :: moved ! (__outcome)) } ; if ! __retry :: begin_if_due (__RETRIED . __call (& STORE) , & mut __operation) { loop { let :: core :: option :: Option :: Some (__wait) = __retry :: wait (__RETRIED . __call (& STORE) , & mut __operation) else { break } ; __wait . await ; } if let :: core :: option :: Option :: Some (__outcome) = __retry :: unrecovered (__RETRIED . __call (& STORE) , & mut __operation , & mut __last , __retry :: text_of ! (Result < () , E >)) { return __retry :: final_outcome (__retry :: moved ! (__outcome)) ; } } } }"#
        ]],
    );
}

#[test]
fn a_half_typed_statement_at_the_end() {
    half_typed(
        quote!(strategy = STORE, clone(a)),
        "pub async fn f(a: Vec<u8>, b: &mut B) -> Result<(), E> { b. }",
        &expect![[
            r#"pub async fn f (a : Vec < u8 > , b : & mut B) -> Result < () , E > { use :: retry_core :: __private as __retry ; static __RETRIED : __retry :: Name = __retry :: function_name ! ("f") ; let mut __operation = __retry :: begin (__RETRIED . __call (& STORE)) ; if ! __retry :: begin_if_due (__RETRIED . __call (& STORE) , & mut __operation) { loop { let :: core :: option :: Option :: Some (__wait) = __retry :: wait (__RETRIED . __call (& STORE) , & mut __operation) else { break } ; __wait . await ; } } loop { let mut __last = { let __outcome = __retry :: place (& __operation) . run (async { if false { return __retry :: unreached :: < Result < () , E > > () ; } # [allow (clippy :: shadow_reuse , clippy :: shadow_same , reason = "the body knows the argument by its name")] let b = & mut * b ; { b . } }) . await ; if __retry :: settle (__RETRIED . __call (& STORE) , __retry :: evaluate (& __outcome) , & mut __operation , & __outcome , __retry :: text_of ! (Result < () , E >)) { return __retry :: final_outcome (__retry :: moved ! (__outcome)) ; } __RETRIED . __call (& STORE) . kept (& mut __operation , __retry :: moved ! (__outcome)) } ; if ! __retry :: begin_if_due (__RETRIED . __call (& STORE) , & mut __operation) { loop { let :: core :: option :: Option :: Some (__wait) = __retry :: wait (__RETRIED . __call (& STORE) , & mut __operation) else { break } ; __wait . await ; } if let :: core :: option :: Option :: Some (__outcome) = __retry :: unrecovered (__RETRIED . __call (& STORE) , & mut __operation , & mut __last , __retry :: text_of ! (Result < () , E >)) { return __retry :: final_outcome (__retry :: moved ! (__outcome)) ; } } } }"#
        ]],
    );
}

#[test]
fn a_list_in_place_of_a_body() {
    half_typed(
        quote!(strategy = STORE),
        "async fn f() [x]",
        &expect![[r#":: core :: compile_error ! { "expected curly braces" } async fn f () [x]"#]],
    );
}

#[test]
fn half_typed_options() {
    half_typed(
        quote!(strategy = STORE, max_),
        "async fn f() -> Result<(), E> { let x = ; }",
        &expect![[
            r#"async fn f () -> Result < () , E > { :: core :: compile_error ! { "unknown option `max_`; did you mean `max_time`? `#[retryable]` takes `strategy`, `policy`, `idempotent`, `hedge`, `weight`, `used`, `max_time`, `deadline`, `attempt_timeout`, `timed_out`, `max_attempts`, `unlimited_attempts`, `stop`, `stop_when`, `cut_on_stop`, `name`, `context`, `clone`, `observer`, `on_retry`, `on_end`, `timer`, `blocking` or `crate`" } if false { let _ = & (STORE) ; } let x = ; }"#
        ]],
    );
    half_typed(
        quote!(strategy =),
        "async fn f() -> Result<(), E> { Ok(()) }",
        &expect![[
            r#"async fn f () -> Result < () , E > { :: core :: compile_error ! { "expected an expression after `=`" } Ok (()) }"#
        ]],
    );
    half_typed(
        quote!(strategy = STORE, policy = |outcome| outcome.),
        "async fn f() -> Result<(), E> { Ok(()) }",
        &expect![[
            r#"async fn f () -> Result < () , E > { :: core :: compile_error ! { "expected an expression after `=`" } if false { let _ = & (STORE) ; } Ok (()) }"#
        ]],
    );
}

#[test]
fn a_half_typed_signature() {
    half_typed(
        quote!(strategy = STORE),
        "async fn f(a: ) -> Result<(), E> { Ok(()) }",
        &expect![[
            r#":: core :: compile_error ! { "unexpected end of input, expected one of: `for`, parentheses, `unsafe`, `fn`, `extern`, identifier, `::`, `<`, `dyn`, square brackets, `*`, `&`, `!`, `impl`, `_`, lifetime" } async fn f (a :) -> Result < () , E > { Ok (()) }"#
        ]],
    );
}
