//! Every misuse is a compile error at the user's token.
//!
//! After a change of a message, `TRYBUILD=overwrite cargo test -p tests --test ui` writes the expected texts anew; read
//! the difference.

use std::process::Command;

/// The words are ours, so any compiler prints them.
#[test]
fn misuse_is_explained_in_our_words() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/derive/*.rs");
    cases.compile_fail("ui/retryable/*.rs");
    // What can't stand in a crate that forbids unsafe code.
    cases.pass("ui/pass/*.rs");
}

/// The words are rustc's, in part or altogether, and differ from version to version.
#[test]
fn misuse_that_types_reveal_is_explained() {
    const VERSION: &str = "rustc 1.95.";

    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    let found = String::from_utf8_lossy(&output.stdout);
    if found.starts_with(VERSION) {
        trybuild::TestCases::new().compile_fail("ui/rustc/*.rs");
    } else {
        eprintln!("not compared: the expected texts are those of {VERSION}x, and this is {found}");
    }
}
