//! Each misuse of the macros is a compile error at the user's token.
//!
//! After a change of a message, run `TRYBUILD=overwrite cargo test -p ui` to rewrite the expected texts,
//! and read the difference.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

/// The kinds of mistakes that the macros report themselves. Each kind has its own folder.
const KINDS: [&str; 6] = ["option_name", "option_value", "contradiction", "missing", "item", "several"];

/// The mistakes of a crate without a feature of the library. The folder is a package, because a package has the same features for all
/// its cases.
const FEATURE: &str = "feature";

/// The messages come from the macros, so they are the same with every compiler version.
#[test]
fn misuse_is_reported_by_the_macros() {
    let cases = trybuild::TestCases::new();
    for kind in KINDS {
        cases.compile_fail(format!("{kind}/*.rs"));
    }
}

/// The messages come in whole or in part from rustc, and differ between versions.
#[test]
fn misuse_is_reported_by_the_type_checker() {
    const VERSION: &str = "rustc 1.95.";

    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    let found = String::from_utf8_lossy(&output.stdout);
    if found.starts_with(VERSION) {
        trybuild::TestCases::new().compile_fail("rustc/*.rs");
    } else {
        eprintln!("not compared: the expected texts are those of {VERSION}x, and this is {found}");
    }
}

/// The page of messages and the ui cases agree.
#[test]
fn every_message_is_documented_and_every_documented_message_has_a_case() {
    let page = include_str!("../../docs/diagnostics.md");
    let explained: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let (ours, rustcs) = (messages(&[&KINDS[..], &[FEATURE]].concat()), messages(&["rustc"]));
    let mut shown = HashSet::new();
    let mut unexplained = Vec::new();
    for message in &ours {
        // If several templates fit, the longest is the most specific.
        match explained.iter().filter(|template| fits(message, template)).max_by_key(|template| template.len()) {
            Some(template) => _ = shown.insert(*template),
            None => unexplained.push(message),
        }
    }
    // Rustc's own messages need no entry in the page.
    shown.extend(explained.iter().filter(|template| rustcs.iter().any(|message| fits(message, template))));
    assert!(unexplained.is_empty(), "not in docs/diagnostics.md: {unexplained:#?}");
    let never: Vec<_> = explained.iter().filter(|template| !shown.contains(*template)).collect();
    assert!(never.is_empty(), "in docs/diagnostics.md, but in no case: {never:#?}");

    // Rustc's messages about the traits of the library are set by attributes.
    for words in on_unimplemented("../../retry-core/src") {
        let template = words.replace("{Self}", "…").replace("{S}", "…").replace("{R}", "…").replace("{T}", "…");
        assert!(explained.contains(&template.as_str()), "not in docs/diagnostics.md: {template}");
    }
}

/// Returns the messages of the cases in these folders, without error codes.
fn messages(folders: &[&str]) -> Vec<String> {
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let texts = files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "stderr"));
    let lines = texts.flat_map(|path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    lines
        .filter(|line| line.starts_with("error"))
        .filter_map(|line| line.split_once(": ").map(|(_, message)| message.to_owned()))
        .collect()
}

/// Returns true if a message fits a template: the same text, with any text in place of `…`.
fn fits(message: &str, template: &str) -> bool {
    let mut parts = template.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = message.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    // The text after the last placeholder must end the message.
    last.map_or(rest.is_empty(), |part| part.is_empty() || message.ends_with(part))
}

/// Returns the texts of `#[diagnostic::on_unimplemented(message = "...")]`.
fn on_unimplemented(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(on_unimplemented(path.to_str().unwrap()));
        } else {
            let text = fs::read_to_string(path).unwrap();
            let words = text.lines().filter_map(|line| line.trim().strip_prefix("message = \"")?.strip_suffix("\","));
            found.extend(words.map(str::to_owned));
        }
    }
    found
}
