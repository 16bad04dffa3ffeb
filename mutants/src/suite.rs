//! The tests, and which mutants each of them reaches.

use crate::build::Binary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// How many tests run at the same time.
pub(crate) const WORKERS: usize = 2;

/// How long a test may take without a mutant.
const LONGEST: Duration = Duration::from_mins(2);

/// A test, and what it reaches.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) binary: Arc<Binary>,
    pub(crate) name: String,
    pub(crate) millis: u64,
    /// How many mutants it reaches. A test that reaches few is about these.
    pub(crate) reaches: usize,
}

/// All tests.
pub(crate) struct Suite {
    pub(crate) tests: Vec<Test>,
    /// By the number of the mutant: the tests that reach it, the most specific ones first.
    pub(crate) reaching: BTreeMap<u32, Vec<usize>>,
    /// Tests that fail without a mutant, so that they say nothing.
    pub(crate) failing: Vec<String>,
}

/// What was recorded of one binary, for as long as it is not built again.
#[derive(Serialize, Deserialize)]
struct Recorded {
    built: u128,
    tests: Vec<RecordedTest>,
}

#[derive(Serialize, Deserialize, Clone)]
struct RecordedTest {
    name: String,
    millis: u64,
    passes: bool,
    reached: Vec<u32>,
}

/// Runs each test alone, without a mutant, and records what it reaches. What was recorded before is used again, unless the binary
/// has been built again since.
pub(crate) fn record(binaries: &[Binary], folder: &Path, progress: &dyn Fn(&str)) -> Result<Suite, String> {
    let mut suite = Suite { tests: Vec::new(), reaching: BTreeMap::new(), failing: Vec::new() };
    for binary in binaries {
        let file = folder.join(format!("{}.json", binary.name.replace('/', "+")));
        let built = built(&binary.program)?;
        let known = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Recorded>(&text).ok());
        let recorded = if let Some(known) = known.filter(|known| known.built == built) {
            known
        } else {
            let recorded = Recorded { built, tests: record_binary(binary, folder, progress)? };
            let text = serde_json::to_vec(&recorded).map_err(|error| error.to_string())?;
            fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
            recorded
        };
        let binary = Arc::new(binary.clone());
        for test in recorded.tests {
            if !test.passes {
                suite.failing.push(format!("{}: {}", binary.name, test.name));
                continue;
            }
            for number in &test.reached {
                suite.reaching.entry(*number).or_default().push(suite.tests.len());
            }
            let (name, millis, reaches) = (test.name, test.millis, test.reached.len());
            suite.tests.push(Test { binary: Arc::clone(&binary), name, millis, reaches });
        }
    }
    for tests in suite.reaching.values_mut() {
        // A long test comes after all short ones.
        tests.sort_by_key(|test| (suite.tests[*test].millis / 500, suite.tests[*test].reaches));
    }
    Ok(suite)
}

fn built(program: &Path) -> Result<u128, String> {
    let modified = fs::metadata(program).and_then(|metadata| metadata.modified());
    let modified = modified.map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
}

fn record_binary(binary: &Binary, folder: &Path, progress: &dyn Fn(&str)) -> Result<Vec<RecordedTest>, String> {
    let list = command(binary).args(["--list", "--format", "terse"]).output();
    let list = list.map_err(|error| format!("{}: {error}", binary.program.display()))?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let names: Vec<_> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let next = AtomicUsize::new(0);
    let recorded = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (next, recorded, names) = (&next, &recorded, &names);
            let file = folder.join(format!("reached-{worker}"));
            scope.spawn(move || {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let test = record_test(binary, name, &file);
                    recorded.lock().expect("no panic").push(test);
                }
            });
        }
        while recorded.lock().expect("no panic").len() < names.len() {
            let done = recorded.lock().expect("no panic").len();
            progress(&format!("{}: what its tests reach: {done} of {}", binary.name, names.len()));
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut recorded = recorded.into_inner().expect("no panic");
    recorded.sort_by(|one: &RecordedTest, other| one.name.cmp(&other.name));
    Ok(recorded)
}

fn record_test(binary: &Binary, name: &str, file: &PathBuf) -> RecordedTest {
    _ = fs::remove_file(file);
    let mut command = command(binary);
    command.env("MUTANTS_REACHED", file).args(["--exact", name]);
    let started = Instant::now();
    let passes = matches!(run(command, LONGEST), Ended::Passed);
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let reached = fs::read(file).unwrap_or_default();
    let reached =
        reached.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect();
    RecordedTest { name: name.to_string(), millis, passes, reached }
}

/// How a run of tests has ended.
pub(crate) enum Ended {
    Passed,
    /// With the name of the test that failed first, if it is known.
    Failed(Option<String>),
    TimedOut,
    /// The program could not be run, so nothing is known.
    NotRun,
}

/// Returns a command that runs tests of this binary.
pub(crate) fn command(binary: &Binary) -> Command {
    let mut command = Command::new("nice");
    command
        .args(["-n", "3"])
        .arg(&binary.program)
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder);
    // Properties are tested with the same few cases each time, and models of threads as `.ci/loom` does.
    command
        .env("LOOM_MAX_PREEMPTIONS", "2")
        .env("PROPTEST_CASES", "48")
        .env("PROPTEST_RNG_SEED", "1")
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    command
}

/// Runs a command, and kills it after this time.
pub(crate) fn run(mut command: Command, longest: Duration) -> Ended {
    let started = Instant::now();
    let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return Ended::NotRun;
    };
    let mut stdout = child.stdout.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        _ = stdout.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ended::Passed,
            // The program is gone.
            Ok(Some(status)) if matches!(status.code(), Some(126 | 127)) => return Ended::NotRun,
            Ok(Some(_)) => {
                let text = reader.join().unwrap_or_default();
                let failed = text.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
                return Ended::Failed(failed.map(Into::into));
            }
            _ if started.elapsed() > longest => {
                _ = child.kill();
                _ = child.wait();
                return Ended::TimedOut;
            }
            _ => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
