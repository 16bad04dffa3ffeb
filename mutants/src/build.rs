//! Builds the tests in the copy.

use crate::edit::{blamed, original};
use crate::rewrite::{Kind, Rewritten};
use crate::sources::Source;
use crate::tree::Tree;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The tests that know the mutated files, and need no servers, by the package whose files they are about. All of them also have the
/// tests in the package itself, which are called `lib`.
const TESTS: [(&str, &[&str]); 2] = [
    ("retry-core", &["calls", "errors", "functions", "limits", LOOM, "models", "observing", "settings", "strategies"]),
    ("retry-fleet", &["fleet"]),
];

/// The models of threads, which are built in another way.
const LOOM: &str = "loom";

/// A program with tests.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    /// Its package and its name, as in `tests/calls`.
    pub(crate) name: String,
    /// As it is chosen: `calls`, or `retry-core lib`.
    pub(crate) test: String,
    pub(crate) program: PathBuf,
    /// Where its tests run.
    pub(crate) folder: PathBuf,
}

/// What a build has come to.
pub(crate) enum Built {
    Binaries(Vec<Binary>),
    /// The mutants that do not compile, and what the compiler says.
    Errors(BTreeSet<u32>, String),
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    target: Option<Target>,
    #[serde(default, rename = "message")]
    diagnostic: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    #[serde(default)]
    rendered: Option<String>,
    spans: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
    #[serde(default)]
    label: Option<String>,
}

/// Returns the names of the tests that should notice the mutants of a package.
pub(crate) fn tests_of(package: &str) -> Vec<String> {
    let (_, names) = TESTS.iter().find(|(name, _)| *name == package).expect("a package that is mutated");
    let names = names.iter().map(|name| (*name).to_string());
    names.chain([format!("{package} lib")]).collect()
}

/// Builds these tests.
pub(crate) fn build(
    tree: &Tree,
    sources: &[Source],
    rewritten: &[Rewritten],
    tests: &BTreeSet<String>,
) -> Result<Built, String> {
    let mut binaries = Vec::new();
    if tests.iter().any(|test| test != LOOM) {
        let mut command = Command::new("cargo");
        command.args(["test", "-p", "retry-core", "-p", "retry-fleet", "-p", "tests", "--all-features"]);
        // Cargo takes `--lib` once, for all packages.
        if tests.iter().any(|test| test.ends_with(" lib")) {
            command.arg("--lib");
        }
        for test in tests.iter().filter(|test| *test != LOOM && !test.ends_with(" lib")) {
            command.args(["--test", test]);
        }
        match run(command, tree, sources, rewritten)? {
            Built::Binaries(built) => binaries.extend(built),
            errors @ Built::Errors(..) => return Ok(errors),
        }
    }
    if tests.contains(LOOM) {
        let mut command = Command::new("cargo");
        command.args(["test", "-p", "retry-core", "--no-default-features", "--features", "config,macros", "--release"]);
        command.args(["--test", LOOM, "--target-dir", "target/loom"]).env("RUSTFLAGS", "--cfg loom");
        match run(command, tree, sources, rewritten)? {
            Built::Binaries(built) => binaries.extend(built),
            errors @ Built::Errors(..) => return Ok(errors),
        }
    }
    binaries.retain(|binary: &Binary| tests.contains(&binary.test));
    Ok(Built::Binaries(binaries))
}

/// Runs cargo, and returns the binaries of all tests that it has built.
fn run(mut cargo: Command, tree: &Tree, sources: &[Source], rewritten: &[Rewritten]) -> Result<Built, String> {
    cargo.current_dir(&tree.root).args(["--no-run", "--quiet", "--message-format=json"]);
    // The switch asks at compile time whether it is evaluated at compile time, which is not stable.
    cargo.env("RUSTC_BOOTSTRAP", "mutants_switch").env_remove("CARGO_TARGET_DIR");
    let output = cargo.stderr(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
    let messages: Vec<Message> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if output.status.success() {
        return Ok(Built::Binaries(messages.into_iter().filter_map(binary).collect()));
    }
    let mut left_out = BTreeSet::new();
    let mut errors = Vec::new();
    for error in
        messages.iter().filter_map(|message| message.diagnostic.as_ref()).filter(|error| error.level == "error")
    {
        let about = mutants_of(error, sources, rewritten);
        // The summary at the end has no place.
        if !error.spans.is_empty() {
            errors.push(error.rendered.clone().unwrap_or_default());
        }
        left_out.extend(about);
    }
    if left_out.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the copy in {} does not build:\n{}{stderr}", tree.root.display(), errors.concat()));
    }
    Ok(Built::Errors(left_out, errors.concat()))
}

fn binary(message: Message) -> Option<Binary> {
    let (program, target) = (message.executable?, message.target?);
    let folder = message.manifest_path.parent()?.to_path_buf();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let is_library = target.kind.iter().any(|kind| kind == "lib");
    let test = if is_library { format!("{package} lib") } else { target.name.clone() };
    let name = format!("{package}/{}", target.name);
    (message.reason == "compiler-artifact").then_some(Binary { name, test, program, folder })
}

/// Returns the mutants that an error is about: at its place, or otherwise those that drop a statement of the same function about
/// the same variable, or otherwise those that drop any of its statements, or all of the function.
fn mutants_of(error: &Diagnostic, sources: &[Source], rewritten: &[Rewritten]) -> Vec<u32> {
    let in_files = |place: &Place| sources.iter().position(|source| place.file_name.ends_with(&source.path));
    let mut places: Vec<_> = error.spans.iter().filter_map(|place| Some((place, in_files(place)?))).collect();
    places.sort_by_key(|(place, _)| !place.is_primary);
    for (place, file) in &places {
        let found = blamed(&rewritten[*file].chunks, &(place.byte_start..place.byte_end));
        if !found.is_empty() {
            return found;
        }
    }
    let Some((place, file)) = places.first() else { return Vec::new() };
    let first: usize = rewritten[..*file].iter().map(|file| file.mutants.len()).sum();
    let file = &rewritten[*file];
    let at = original(&file.chunks, place.byte_start);
    let around = file.functions.iter().filter(|function| function.range.contains(&at));
    let Some(function) = around.min_by_key(|function| function.range.len()) else { return Vec::new() };
    let of_function = |kind: Option<Kind>| -> Vec<u32> {
        let mutants =
            file.mutants.iter().enumerate().filter(|(_, mutant)| mutant.function == function.name && mutant.is_built);
        let chosen = mutants.filter(|(_, mutant)| kind.is_none_or(|kind| mutant.kind == kind));
        chosen.map(|(index, _)| u32::try_from(first + index).expect("few mutants")).collect()
    };
    let statements = of_function(Some(Kind::Statement));
    let mutant = |number: &u32| &file.mutants[*number as usize - first];
    // What is moved before a `return` is moved for what follows, too, if there is no `return`.
    let is_move = |place: &&Place| place.label.as_ref().is_some_and(|label| label.contains("moved"));
    let moved = error.spans.iter().filter(is_move).map(|place| original(&file.chunks, place.byte_end));
    let leaving: Vec<_> = moved
        .filter_map(|moved| {
            let leaving = statements.iter().filter(|number| {
                let words = ["return", "break", "continue"];
                mutant(number).range.end >= moved && words.iter().any(|word| mutant(number).change.starts_with(word))
            });
            leaving.min_by_key(|number| mutant(number).range.start).copied()
        })
        .collect();
    // A variable without a value, or that was moved: it is named in quotes.
    let named: Vec<_> = error.message.split('`').skip(1).step_by(2).collect();
    let words = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(Into::into).collect()
    };
    let named: Vec<_> = named.into_iter().flat_map(words).filter(|word| !word.is_empty() && word != "self").collect();
    let about = |number: &u32| words(&mutant(number).change).iter().any(|word| named.contains(word));
    let about: Vec<_> = statements.iter().copied().filter(about).collect();
    [leaving, about, statements, of_function(None)].into_iter().find(|mutants| !mutants.is_empty()).unwrap_or_default()
}
