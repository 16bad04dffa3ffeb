//! Every misuse is a compile error at the user's token.
//!
//! After a change of a message, `TRYBUILD=overwrite cargo test -p tests --test ui` writes the expected texts anew; read
//! the difference.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

/// Kinds of mistakes that we explain ourselves, each with a folder of its own.
const KINDS: [&str; 6] = ["option_name", "option_value", "contradiction", "missing", "item", "several"];

/// The words are ours, so any compiler prints them.
#[test]
fn misuse_is_explained_in_our_words() {
    let cases = trybuild::TestCases::new();
    for kind in KINDS {
        cases.compile_fail(format!("ui/{kind}/*.rs"));
    }
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

/// The page of messages and the cases that show them agree.
#[test]
fn every_message_is_explained_and_every_explanation_is_shown() {
    let page = include_str!("../docs/diagnostics.md");
    let explained: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let (ours, rustcs) = (messages(&KINDS), messages(&["rustc"]));
    let mut shown = HashSet::new();
    let mut unexplained = Vec::new();
    for message in &ours {
        // The one that says most, where several fit.
        match explained.iter().filter(|template| fits(message, template)).max_by_key(|template| template.len()) {
            Some(template) => _ = shown.insert(*template),
            None => unexplained.push(message),
        }
    }
    // Most of what rustc says there is its own.
    shown.extend(explained.iter().filter(|template| rustcs.iter().any(|message| fits(message, template))));
    assert!(unexplained.is_empty(), "not in docs/diagnostics.md: {unexplained:#?}");
    let never: Vec<_> = explained.iter().filter(|template| !shown.contains(*template)).collect();
    assert!(never.is_empty(), "in docs/diagnostics.md, but no case shows it: {never:#?}");

    // Rustc's words for our traits stand in attributes.
    for words in on_unimplemented("../retry-core/src") {
        let template = words.replace("{Self}", "…").replace("{S}", "…").replace("{R}", "…").replace("{T}", "…");
        assert!(explained.contains(&template.as_str()), "not in docs/diagnostics.md: {template}");
    }
}

/// What the cases in these folders show, without the code of the error.
fn messages(folders: &[&str]) -> Vec<String> {
    let files = folders.iter().flat_map(|folder| fs::read_dir(format!("ui/{folder}")).unwrap());
    let texts = files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "stderr"));
    let lines = texts.flat_map(|path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    lines
        .filter(|line| line.starts_with("error"))
        .filter_map(|line| line.split_once(": ").map(|(_, message)| message.to_owned()))
        .collect()
}

/// Whether a message is what a template stands for: the same text, with anything in place of `…`.
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
    // Behind the last placeholder, the text must be the end.
    last.map_or(rest.is_empty(), |part| part.is_empty() || message.ends_with(part))
}

/// The texts of `#[diagnostic::on_unimplemented(message = "...")]`.
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
