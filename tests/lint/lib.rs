//! Expansions of the macros trigger no lint that users may turn on.
//!
//! They are in a library and not in a test binary, because rustc checks for missing documentation and unreachable `pub`
//! only in libraries. The library has no other code, because `forbid` applies to the whole crate.

#![forbid(unsafe_code, unused, future_incompatible, nonstandard_style, rust_2018_idioms)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
// Lints of rustc that are in no group.
#![deny(
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    closure_returning_async_block,
    deprecated_in_future,
    deref_into_dyn_supertrait,
    explicit_outlives_requirements,
    ffi_unwind_calls,
    impl_trait_redundant_captures,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    tail_expr_drop_order,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unstable_features,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![allow(clippy::blanket_clippy_restriction_lints, reason = "new lints are checked, too")]
#![allow(clippy::implicit_return, reason = "contradicts `needless_return`")]
#![allow(
    clippy::arbitrary_source_item_ordering,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::impl_trait_in_params,
    clippy::question_mark_used,
    clippy::single_call_fn,
    reason = "these lints are about the annotated items, not about the expansions"
)]

pub mod derive;
pub mod retryable;
