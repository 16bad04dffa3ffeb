//! A crate without a feature of the library gets one error, at the option that needs it.

/// The cases are built by themselves, so the features of other packages don't count.
#[test]
fn a_hedge_without_its_feature_is_one_error_at_the_option() {
    trybuild::TestCases::new().compile_fail("hedge.rs");
}
