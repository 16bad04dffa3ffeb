//! A crate without a feature of the library gets one error, at the option that needs it.

use std::process::Command;

/// The cases are built by themselves, so the features of other packages don't count.
#[test]
fn a_hedge_without_its_feature_is_one_error_at_the_option() {
    trybuild::TestCases::new().compile_fail("hedge.rs");
}

/// The text is in part rustc's.
#[test]
fn a_hedge_of_a_layer_without_its_feature_is_an_error_that_names_it() {
    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    if output.stdout.starts_with(b"rustc 1.95.") {
        trybuild::TestCases::new().compile_fail("layer.rs");
    }
}
