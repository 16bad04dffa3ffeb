//! A crate without a feature of the library gets one error, at the option that needs it.

use std::process::Command;

/// The cases are built by themselves, so the features of other packages don't count.
#[test]
fn a_hedge_without_its_feature_is_one_error_at_the_option() {
    trybuild::TestCases::new().compile_fail("hedge.rs");
}

#[test]
fn a_hedge_of_a_layer_without_its_feature_is_an_error_that_names_it() {
    if texts_are_of_this_compiler() {
        trybuild::TestCases::new().compile_fail("layer.rs");
    }
}

/// The page of messages has these texts, because rustc doesn't name the feature of a method.
#[test]
fn methods_without_their_feature_have_the_texts_of_the_page() {
    if texts_are_of_this_compiler() {
        trybuild::TestCases::new().compile_fail("methods.rs");
    }
}

/// Returns true if rustc has the version whose texts are in the expected output.
fn texts_are_of_this_compiler() -> bool {
    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    output.stdout.starts_with(b"rustc 1.95.")
}
