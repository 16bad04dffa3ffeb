//! The macros: for any item and any options, they return code or a compile error, and they keep the item.
//!
//! An input is the options and the item, separated by the byte 1. A byte below 128 is a character, any other byte is a
//! piece of code. Delimiters are balanced.
#![no_main]

#[path = "../../retry-macros/src/diagnostics.rs"]
mod diagnostics;
#[path = "../../retry-macros/src/option_table.rs"]
mod option_table;
#[path = "../../retry-macros/src/options.rs"]
mod options;
#[path = "../../retry-macros/src/other.rs"]
mod other;
#[path = "../../retry-macros/src/retry_info/mod.rs"]
mod retry_info;
#[path = "../../retry-macros/src/retryable/mod.rs"]
mod retryable;
#[path = "../../retry-macros/src/tokens.rs"]
mod tokens;
#[path = "../../retry-macros/src/unreadable.rs"]
mod unreadable;

use libfuzzer_sys::fuzz_target;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::{DeriveInput, File, Item, ItemFn, TypeImplTrait, TypeTraitObject, parse2};

/// Pieces of code, so that most inputs are almost valid.
const PIECES: [&str; 112] = [
    "strategy = STORE",
    "strategy = \"standard\"",
    "strategy = \"adaptive\"",
    "strategy = self.retry",
    "strategy = stores.scope(key)",
    "policy = |outcome| judge(outcome)",
    "policy = POLICY",
    "idempotent",
    "idempotent = false",
    "max_time = \"30s\"",
    "max_time = time",
    "attempt_timeout = \"5s\"",
    "clone(a, b)",
    "observer = OBSERVER",
    "timer = timer()",
    "crate = ::my::retry",
    "blocking",
    "context = context",
    "attempts = 3",
    "throttling",
    "timeout",
    "safe",
    "safe = \"maybe\"",
    "never",
    "fault = \"client\"",
    "fault = client",
    "retry_after",
    "retry_after = \"1500ms\"",
    "retry_after(secs)",
    "retry_after(millis)",
    "http_status = 429",
    "http_status",
    "error_code",
    "transparent",
    "source",
    "with = path",
    "exhaustive",
    "#[retry(",
    "#[retry(throttling)]",
    "#[retry(transparent)]",
    "#[retry(retry_after)]",
    "#[retry]",
    "#[cfg(test)]",
    "#![inner]",
    "/// documentation\n",
    "async fn f(",
    "pub(crate) async unsafe fn f<'a, T: Trait + ?Sized, const N: usize>(",
    "const fn f(",
    "fn f()",
    "async fn f() -> Result<(), E> { let x = ; self. }",
    "async fn f(&mut self, a: &mut A) -> Result<&'_ str, E> where T: Trait {",
    "enum E<T> {",
    "enum E",
    "struct S<'a, T>(",
    "struct S {",
    "struct S;",
    "union U {",
    "trait T {",
    "impl T for S {",
    "mod m {",
    "static S: T = 1;",
    "Variant,",
    "Variant(",
    "Variant {",
    "Variant = 3,",
    "r#type: Duration,",
    "field: Option<u64>,",
    "#[retry(retry_after)] wait: Duration,",
    "#[from] source: T,",
    "dyn Trait<T> + Send + 'a",
    "impl Fn(&T) -> &mut T",
    "for<'b> fn(&'b T) -> T",
    "[T; N]",
    "<T as Trait>::Item",
    "Box<Self>",
    "self",
    "mut self",
    "self: &mut Self",
    "&'a mut self",
    "a: &mut A",
    "mut b: B",
    "(mut c, ref mut d, _): (C, D, D)",
    "Wrapper { inner, mut other, .. }: Wrapper",
    "#[cfg(feature = \"f\")] e: E",
    "_: u8",
    "...",
    "-> Result<T, E>",
    "-> impl Trait",
    "-> !",
    "-> (&A, &mut B)",
    "where T: Trait",
    "{ body(a, b).await?; return Ok(c) }",
    "{ macro_call! { a b c } }",
    "{ if a {} else { loop { break 'l } } }",
    "{}",
    ";",
    "conflict",
    "http_status = 409, conflict",
    "async move { body(a).await }",
    "let future = async move { body(a).await };",
    "future",
    "Box::pin(",
    "return async { body().await };",
    ".instrument(span).boxed()",
    "-> impl Future<Output = Result<T, E>>",
    "-> BoxFuture<'a, Result<T, E>>",
    "a: Pin<&mut A>, b: Option<&'a mut B>",
    "((f, mut g), .., Wrapper(h)): ((F, Option<Pin<&mut G>>), u8, Wrapper<H>)",
    "self: Box<Self>",
    "println!(\"{a} {b:?}\")",
    "#[retry(source)] Option<Box<Other<T>>>,",
    "where T: Error + RetryInfo, Box<Other<T>>: RetryInfo",
];

/// The maximum nesting. Rustc itself refuses deeper code.
const DEPTH: usize = 40;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |byte| *byte == 1);
    let mut next = || tokens_of(parts.next().unwrap_or_default());
    let (Some(options), Some(item)) = (next(), next()) else { return };

    let expanded = retryable::attribute(options.clone(), &item);
    if is_refused(&expanded) {
        assert!(expanded.to_string().ends_with(&item.to_string()), "the item is missing: {expanded}");
    } else if let Ok(before) = parse2::<ItemFn>(item.clone()) {
        let after = parse2::<ItemFn>(expanded).expect("a function expands to a function");
        assert_eq!(before.vis, after.vis);
        assert_eq!(before.sig.ident, after.sig.ident);
        assert_eq!(before.sig.generics, after.sig.generics);
        assert_eq!(before.sig.inputs.len(), after.sig.inputs.len());
        assert_eq!(before.sig.output, after.sig.output);
    } else {
        // The errors of a refused function stand at the beginning of its body.
        let body = match item.clone().into_iter().last().expect("what is no function is refused") {
            TokenTree::Group(body) => body.stream().to_string(),
            other => other.to_string(),
        };
        assert!(expanded.to_string().contains(&body), "a half-typed body is gone: {expanded}");
    }

    for item in [quote!(#[retry(#options)] #item), item] {
        let Ok(item) = parse2::<DeriveInput>(item) else { continue };
        let mut open_ended = OpenEnded(false);
        open_ended.visit_derive_input(&item);
        if open_ended.0 {
            continue;
        }
        let expanded = retry_info::derive(&item);
        let file = parse2::<File>(expanded.clone()).unwrap_or_else(|error| panic!("{error}: {expanded}"));
        let traits: Vec<_> = file.items.iter().filter_map(implemented).collect();
        assert!(
            matches!(
                traits.iter().map(String::as_str).collect::<Vec<_>>()[..],
                ["ErrorInfo", "RetryInfo"] | ["ErrorInfo", "RetryInfo", "Say"]
            ),
            "both traits are implemented, with or without a compile error: {expanded}"
        );
        // A variant that may lack a label is a warning: a constant beside the impls. Where there is an error, it is alone.
        let others: Vec<_> = file.items.iter().filter(|item| implemented(item).is_none()).collect();
        assert!(others.iter().all(|item| is_unnamed_const(item)), "an item that nobody asked for: {expanded}");
        assert!(others.is_empty() || !has_error(&expanded), "a warning beside an error: {expanded}");
    }
});

/// Finds types like `dyn Trait +`. Syn accepts such a type alone, but not in `<dyn Trait + as Trait>`.
struct OpenEnded(bool);

impl<'ast> Visit<'ast> for OpenEnded {
    fn visit_type_trait_object(&mut self, object: &'ast TypeTraitObject) {
        self.0 |= object.bounds.trailing_punct();
        visit::visit_type_trait_object(self, object);
    }

    fn visit_type_impl_trait(&mut self, object: &'ast TypeImplTrait) {
        self.0 |= object.bounds.trailing_punct();
        visit::visit_type_impl_trait(self, object);
    }
}

/// The last name of the trait that an item implements.
fn implemented(item: &Item) -> Option<String> {
    let Item::Impl(item) = item else { return None };
    let (path, _) = item.trait_.as_ref()?;
    path.segments.last().map(|segment| segment.ident.to_string())
}

fn is_unnamed_const(item: &Item) -> bool {
    matches!(item, Item::Const(item) if item.ident == "_")
}

/// The beginning of the compile error that a macro writes for an item that it refuses, as text.
const ERROR: &str = ":: core :: compile_error !";

fn is_refused(expanded: &TokenStream) -> bool {
    expanded.to_string().starts_with(ERROR)
}

fn has_error(expanded: &TokenStream) -> bool {
    expanded.to_string().contains(ERROR)
}

/// Returns `None` if the input is not a valid sequence of tokens.
fn tokens_of(input: &[u8]) -> Option<TokenStream> {
    let mut text = String::new();
    let mut open = Vec::new();
    for byte in input {
        match byte.checked_sub(128) {
            None => push(char::from(*byte), &mut text, &mut open),
            Some(number) => {
                let piece = PIECES.get(usize::from(number)).copied().unwrap_or(",");
                text.push(' ');
                piece.chars().for_each(|char| push(char, &mut text, &mut open));
                text.push(' ');
            }
        }
    }
    text.extend(open.into_iter().rev());
    text.parse().ok()
}

fn push(char: char, text: &mut String, open: &mut Vec<char>) {
    match char {
        '(' | '[' | '{' if open.len() >= DEPTH => return,
        '(' => open.push(')'),
        '[' => open.push(']'),
        '{' => open.push('}'),
        ')' | ']' | '}' => return text.extend(open.pop()),
        _ => {}
    }
    text.push(char);
}
