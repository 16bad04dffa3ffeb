//! What is to be run, what has come of it, and whether it is good enough.

use crate::build::{Built, build, tests_of};
use crate::equivalent::{self, Allowed, Key};
use crate::record::{Record, Result as FunctionResult, hash};
use crate::rewrite::{Kind, Mutant, Rewritten};
use crate::run::{Due, Outcome, run_all};
use crate::sources::{Sources, package};
use crate::suite::{Suite, record};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A mutant of all files, by its number.
struct Numbered<'a> {
    number: u32,
    file: &'a str,
    mutant: &'a Mutant,
}

/// The sources and what is known about their mutants.
struct Gate {
    workspace: PathBuf,
    sources: Sources,
    rewritten: Vec<Rewritten>,
    /// By file and function.
    hashes: BTreeMap<(String, String), u64>,
    record: Record,
    allowed: Allowed,
}

/// Runs what has no result, and what survived, in these places.
///
/// With the names of tests, only these tests run, and so only mutants that survived all tests before.
pub(crate) fn run(paths: &[String], again: bool, tests: &[String]) -> Result<bool, String> {
    let mut gate = Gate::read()?;
    gate.run(None, tests, |gate, file, mutant| {
        is_in(file, paths)
            && match gate.result(file, &mutant.function) {
                Some(result) if !again => {
                    result.survived.contains(&mutant.change) && !gate.allowed.equivalent.contains(&key(file, mutant))
                }
                _ => tests.is_empty(),
            }
    })?;
    Ok(gate.report(paths) == 0)
}

/// Runs what has no result, and checks all results.
pub(crate) fn check(longest: Option<Duration>) -> Result<bool, String> {
    let mut gate = Gate::read()?;
    gate.run(longest, &[], |gate, file, mutant| gate.result(file, &mutant.function).is_none())?;
    let unknown =
        gate.numbered().filter(|it| it.mutant.kind != Kind::Use && gate.result(it.file, &it.mutant.function).is_none());
    let unknown: BTreeSet<_> = unknown.map(|it| (it.file.to_string(), it.mutant.function.clone())).collect();
    for (file, function) in &unknown {
        println!("left undone: {file}: {function}");
    }
    let gone = gate.allowed.equivalent.iter().filter(|(file, function, change)| {
        let is_known = !unknown.contains(&(file.clone(), function.clone()));
        is_known && !gate.result(file, function).is_some_and(|result| result.survived.contains(change))
    });
    let mut is_gone = false;
    for (file, function, change) in gone {
        is_gone = true;
        println!("mutants/equivalent.toml: remove this entry, which is killed or gone: {file}: {function}: {change}");
    }
    let (survivors, allowed) = (gate.report(&[]), gate.allowed.unexplained);
    if survivors > allowed {
        println!(
            "{survivors} mutants survived that mutants/equivalent.toml does not explain: expected at most {allowed}"
        );
    } else if survivors < allowed && unknown.is_empty() {
        is_gone = true;
        println!(
            "mutants/equivalent.toml: write `unexplained = {survivors}` instead of {allowed}: there are fewer now"
        );
    }
    Ok(survivors <= allowed && !is_gone)
}

/// Lists the survivors.
pub(crate) fn list(paths: &[String]) -> Result<bool, String> {
    Ok(Gate::read()?.report(paths) == 0)
}

impl Gate {
    fn read() -> Result<Self, String> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a member").to_path_buf();
        let text = |name: &str| fs::read_to_string(workspace.join("mutants").join(name)).unwrap_or_default();
        let record = Record::parse(&text("results.txt")).map_err(|error| format!("mutants/results.txt: {error}"))?;
        let allowed = equivalent::parse(&text("equivalent.toml"))?;
        let sources = Sources::read(&workspace)?;
        let rewritten = sources.rewrite(&|_, _, _| false);
        let mut hashes = BTreeMap::new();
        for (source, file) in sources.files.iter().zip(&rewritten) {
            for function in &file.functions {
                hashes.insert((source.path.clone(), function.name.clone()), hash(function, &file.mutants));
            }
        }
        let mut gate = Self { workspace, sources, rewritten, hashes, record, allowed };
        gate.rewritten = gate.sources.rewrite(&|file, function, change| {
            gate.result(file, function).is_some_and(|result| result.uncompiled.contains(change))
        });
        Ok(gate)
    }

    fn numbered(&self) -> impl Iterator<Item = Numbered<'_>> {
        let files = self.sources.files.iter().zip(&self.rewritten);
        let all = files.flat_map(|(source, file)| file.mutants.iter().map(|mutant| (&*source.path, mutant)));
        all.zip(0..).map(|((file, mutant), number)| Numbered { number, file, mutant })
    }

    /// Returns the result of a function, if it has not changed since.
    fn result(&self, file: &str, function: &str) -> Option<&FunctionResult> {
        let hash = self.hash(file, function);
        self.record.of(file, function).filter(|result| result.hash == hash)
    }

    /// Imports have no hash.
    fn hash(&self, file: &str, function: &str) -> u64 {
        self.hashes.get(&(file.to_string(), function.to_string())).copied().unwrap_or(0)
    }

    /// Builds the tests, without the mutants that do not compile.
    fn build(&mut self, folder: &Path, tests: &BTreeSet<String>) -> Result<Suite, String> {
        // Those that the record does not know yet, from a run before this one.
        let memory = folder.join("uncompiled.json");
        let mut left_out: BTreeSet<(u64, Key)> =
            fs::read(&memory).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        left_out.retain(|(hash, (file, function, _))| *hash == self.hash(file, function));
        for it in self.numbered().filter(|it| !it.mutant.is_built) {
            left_out.insert((self.hash(it.file, &it.mutant.function), key(it.file, it.mutant)));
        }
        let tree = Tree { root: folder.join("tree") };
        loop {
            let names: BTreeSet<_> = left_out.iter().map(|(_, key)| key.clone()).collect();
            self.rewritten = self.sources.rewrite(&|file, function, change| {
                names.contains(&(file.to_string(), function.to_string(), change.to_string()))
            });
            tree.write(&self.workspace, &self.sources.files, &self.rewritten)?;
            let mutants = self.numbered().filter(|it| it.mutant.kind != Kind::Use).count();
            eprintln!("building the tests with {mutants} mutants, without {} that do not compile", left_out.len());
            match build(&tree, &self.sources.files, &self.rewritten, tests)? {
                Built::Binaries(binaries) => return record(&binaries, folder, &progress),
                Built::Errors(numbers, errors) => {
                    let known = left_out.len();
                    for it in self.numbered().filter(|it| numbers.contains(&it.number)) {
                        left_out.insert((self.hash(it.file, &it.mutant.function), key(it.file, it.mutant)));
                    }
                    if left_out.len() == known {
                        return Err(format!("the copy does not build, even without these mutants:\n{errors}"));
                    }
                    let log = folder.join("errors.txt");
                    fs::write(&log, errors).map_err(|error| format!("{}: {error}", log.display()))?;
                    let text = serde_json::to_vec(&left_out).map_err(|error| error.to_string())?;
                    fs::write(&memory, text).map_err(|error| format!("{}: {error}", memory.display()))?;
                }
            }
        }
    }

    /// Runs those mutants that are due, and keeps the results of each function when it is done.
    fn run(
        &mut self,
        longest: Option<Duration>,
        tests: &[String],
        is_due: impl Fn(&Self, &str, &Mutant) -> bool,
    ) -> Result<(), String> {
        let end = longest.map(|longest| Instant::now() + longest);
        let is_run = |it: &Numbered<'_>| it.mutant.kind != Kind::Use;
        let due: BTreeSet<Key> = self
            .numbered()
            .filter(is_run)
            .filter(|it| is_due(self, it.file, it.mutant))
            .map(|it| key(it.file, it.mutant))
            .collect();
        if due.is_empty() {
            return Ok(());
        }
        let folder = self.workspace.join("target/mutants");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock = folder.join("lock");
        let locked = fs::File::create(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
        locked.try_lock().map_err(|_| "another run of the mutants is in progress".to_string())?;
        let packages: BTreeSet<_> = due.iter().map(|(file, ..)| package(file)).collect();
        let mut chosen: BTreeSet<_> = packages.into_iter().flat_map(tests_of).collect();
        let is_chosen = |known: &String| tests.is_empty() || tests.iter().any(|test| known.ends_with(&**test));
        chosen.retain(is_chosen);
        if chosen.is_empty() {
            return Err(format!("there are no tests {} for these files", tests.join(", ")));
        }
        let mut suite = self.build(&folder, &chosen)?;
        // The tests of one package also reach the other one, but they are not about it, and slow.
        for it in self.numbered() {
            let own = tests_of(package(it.file));
            if let Some(reaching) = suite.reaching.get_mut(&it.number) {
                reaching.retain(|test| own.contains(&suite.tests[*test].binary.test));
            }
        }
        for test in &suite.failing {
            eprintln!("left out, because it fails without a mutant: {test}");
        }
        let mut pending = BTreeSet::new();
        let mut list = Vec::new();
        for it in self.numbered().filter(|it| due.contains(&key(it.file, it.mutant))) {
            pending.insert((it.file.to_string(), it.mutant.function.clone()));
            if it.mutant.is_built {
                list.push(Due { number: it.number, function: format!("{} {}", it.file, it.mutant.function) });
            }
        }
        // What has survived before comes last.
        list.sort_by_key(|due| {
            let it = self.numbered().nth(due.number as usize).expect("a number");
            self.result(it.file, &it.mutant.function).is_some()
        });
        let by_number: BTreeMap<u32, Key> = self.numbered().map(|it| (it.number, key(it.file, it.mutant))).collect();
        let (started, total) = (Instant::now(), list.len());
        let mut killed = BTreeMap::<Key, bool>::new();
        let mut left = BTreeMap::<_, usize>::new();
        for due in &list {
            let (file, function, _) = &by_number[&due.number];
            *left.entry((file.clone(), function.clone())).or_default() += 1;
        }
        // Functions none of whose mutants compile are done.
        for function in pending.iter().filter(|function| !left.contains_key(function)) {
            self.keep(function, &killed);
        }
        self.save()?;
        let mut saved = Ok(());
        let mut unsure = BTreeSet::new();
        run_all(list, &suite, end, |due, outcome| {
            let key = by_number[&due.number].clone();
            let function = (key.0.clone(), key.1.clone());
            if outcome == Outcome::SurvivedSome {
                unsure.insert(due.number);
            } else {
                unsure.remove(&due.number);
            }
            let is_new = killed.insert(key, outcome == Outcome::Killed).is_none();
            let (done, unsure) = (killed.len(), unsure.len());
            let survivors = killed.values().filter(|is_killed| !**is_killed).count();
            let each = started.elapsed() / u32::try_from(done).unwrap_or(u32::MAX);
            let rest = each * u32::try_from(total - done).unwrap_or(u32::MAX);
            progress(&format!(
                "{done} of {total} done, {survivors} survived ({unsure} of them so far), about {} min left",
                rest.as_secs() / 60 + 1
            ));
            let number = left.get_mut(&function).expect("counted");
            // With a limited time, a mutant has no result before all tests have run.
            if if longest.is_some() { outcome != Outcome::SurvivedSome } else { is_new } {
                *number -= 1;
            }
            if *number == 0 {
                self.keep(&function, &killed);
                saved = self.save();
            }
        });
        saved?;
        let survivors: Vec<_> = by_number.iter().filter(|(_, key)| killed.get(*key) == Some(&false)).collect();
        self.describe(&survivors.iter().map(|(number, _)| **number).collect(), &suite);
        Ok(())
    }

    /// Keeps the results of a function: those of its mutants that were run, and what was known before about the others.
    fn keep(&mut self, (file, function): &(String, String), killed: &BTreeMap<Key, bool>) {
        let before = self.result(file, function).cloned().unwrap_or_default();
        let mut result = FunctionResult { hash: self.hash(file, function), ..FunctionResult::default() };
        for it in self.numbered().filter(|it| it.file == file && it.mutant.function == *function) {
            let change = it.mutant.change.clone();
            if !it.mutant.is_built {
                result.uncompiled.insert(change);
            } else if it.mutant.kind != Kind::Use {
                let is_killed = killed.get(&key(it.file, it.mutant)).copied();
                if is_killed.unwrap_or(!before.survived.contains(&change)) {
                    result.killed += 1;
                } else {
                    result.survived.insert(change);
                }
            }
        }
        self.record.0.entry(file.clone()).or_default().insert(function.clone(), result);
    }

    /// Writes the record, without functions that are gone.
    fn save(&mut self) -> Result<(), String> {
        let hashes = &self.hashes;
        for (file, functions) in &mut self.record.0 {
            functions.retain(|function, _| function == "use" || hashes.contains_key(&(file.clone(), function.clone())));
        }
        self.record.0.retain(|_, functions| !functions.is_empty());
        let path = self.workspace.join("mutants/results.txt");
        fs::write(&path, self.record.text()).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Prints survivors with the tests that reach them.
    fn describe(&self, numbers: &BTreeSet<u32>, suite: &Suite) {
        for it in self.numbered().filter(|it| numbers.contains(&it.number)) {
            let tests = suite.reaching.get(&it.number).map_or(&[][..], |tests| tests);
            println!("{}:{}: {}\n    {}", it.file, it.mutant.line, it.mutant.function, it.mutant.change);
            if tests.is_empty() {
                println!("    no test reaches it");
            } else {
                let names = tests.iter().take(3).map(|test| &suite.tests[*test]);
                let names: Vec<_> = names.map(|test| format!("{} {}", test.binary.name, test.name)).collect();
                println!("    MUTANT={}, reached by {} tests, such as {}", it.number, tests.len(), names.join(", "));
            }
        }
    }

    /// Prints the survivors in these places, and returns how many are not equivalent.
    fn report(&self, paths: &[String]) -> usize {
        let (mut killed, mut equivalent, mut uncompiled, mut survivors) = (0, 0, 0, 0);
        let functions: BTreeSet<_> =
            self.numbered().filter(|it| is_in(it.file, paths)).map(|it| (it.file, &*it.mutant.function)).collect();
        for (file, function) in functions {
            let Some(result) = self.result(file, function) else { continue };
            killed += result.killed;
            uncompiled += result.uncompiled.len();
            for change in &result.survived {
                if self.allowed.equivalent.contains(&(file.to_string(), function.to_string(), change.clone())) {
                    equivalent += 1;
                    continue;
                }
                survivors += 1;
                let line = self
                    .numbered()
                    .find(|it| it.file == file && it.mutant.function == function && it.mutant.change == *change)
                    .map_or(0, |it| it.mutant.line);
                println!("survived: {file}:{line}: {function}: {change}");
            }
        }
        println!("{killed} killed, {survivors} survived, {equivalent} equivalent, {uncompiled} do not compile");
        survivors
    }
}

fn key(file: &str, mutant: &Mutant) -> Key {
    (file.to_string(), mutant.function.clone(), mutant.change.clone())
}

/// Returns whether a file is in one of these places. No places are all of them.
fn is_in(file: &str, paths: &[String]) -> bool {
    paths.is_empty() || paths.iter().any(|path| Path::new(file).starts_with(path.trim_start_matches("./")))
}

/// Shows what is done, on one line of a terminal, or every ten seconds on a line of its own.
fn progress(line: &str) {
    static SHOWN: Mutex<Option<Instant>> = Mutex::new(None);
    let every = if std::io::stderr().is_terminal() { Duration::from_millis(200) } else { Duration::from_secs(10) };
    let mut shown = SHOWN.lock().expect("no panic");
    if shown.is_none_or(|shown| shown.elapsed() >= every) {
        *shown = Some(Instant::now());
        if std::io::stderr().is_terminal() {
            eprint!("\r{line}   ");
        } else {
            eprintln!("{line}");
        }
    }
}
