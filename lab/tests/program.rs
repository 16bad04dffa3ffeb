//! The program, run as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns an empty directory for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

const SMALL: [&str; 6] = ["contention", "--short", "--seeds", "2", "--set", "clients=[10]"];

#[test]
fn a_check_notices_a_result_that_differs() {
    let directory = directory("check");
    let path = directory.to_str().unwrap();
    let run = lab(&[&["run"], &SMALL[..], &["--json", path]].concat());
    assert!(run.status.success() && text(&run.stdout).contains("| full jitter "), "{run:?}");
    assert!(text(&run.stderr).contains("contention: "), "progress is on stderr");

    let check = |arguments: &[&str]| lab(&[&["check"], &SMALL[..], &["--expected", path], arguments].concat());
    assert_eq!(check(&["--threads", "1"]).status.code(), Some(0));
    let differs = check(&["--set", "cap_s=0.05"]);
    assert_eq!(differs.status.code(), Some(1));
    assert!(text(&differs.stderr).contains("contention.json: "), "{differs:?}");

    fs::remove_file(directory.join("contention.json")).unwrap();
    assert_eq!(check(&[]).status.code(), Some(2), "there is nothing to compare with");
}

#[test]
fn settings_come_from_a_section_of_a_file_and_from_the_command_line() {
    let file = directory("settings").join("retry.toml");
    fs::write(&file, "[store]\nmax_attempts = 3\nbackoff = { base = \"100ms\" }\n").unwrap();
    let in_section = |section, arguments: &[&str]| {
        let file = ["settings", "--no-run", "--section", section, "--file", file.to_str().unwrap()];
        lab(&[&file[..], arguments].concat())
    };
    let settings = |arguments| in_section("store", arguments);
    // The rows of the second retry: there are 2 retries with 3 attempts.
    let output = settings(&["--key", "backoff.cap=150ms"]);
    assert!(text(&output.stdout).contains("| other      | 2     |"), "{output:?}");
    assert!(text(&output.stdout).contains("| 0.150 "), "{output:?}");
    assert!(!text(&output.stdout).contains("| other      | 3     |"), "{output:?}");

    let unknown = settings(&["--key", "backoff.bse=1s"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("backoff.bse"), "{unknown:?}");
    let missing = in_section("table", &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("retry.toml: there is no section table"), "{missing:?}");
}

#[test]
fn settings_run_short_scenarios_and_are_compared_with_the_default() {
    // Without `--short`, which is the default.
    let small: Vec<&str> = SMALL.into_iter().filter(|argument| *argument != "--short").collect();
    let output = lab(&[&["settings"], &small[..], &["--key", "max_attempts=9"]].concat());
    assert!(output.status.success(), "{output:?}");
    let (printed, progress) = (text(&output.stdout), text(&output.stderr));
    assert!(printed.contains("max_attempts = 9\n"), "the settings: {printed}");
    assert!(printed.contains("| yours ") && printed.contains("| default "), "{printed}");
    let judgement = printed.lines().position(|line| line.starts_with("With these settings, ")).expect("a judgement");
    let judgement: Vec<&str> = printed.lines().skip(judgement).collect();
    assert!(judgement.join(" ").contains("the default is better in "), "{judgement:?}");
    assert!(progress.starts_with("1 scenario to run, which takes less than 10 s\n"), "{progress}");
    assert!(progress.contains("scenario 1 of 1, contention: "), "{progress}");
    let full = lab(&["settings", "--full", "--short"]);
    assert_eq!(full.status.code(), Some(2), "one or the other");
}

#[test]
fn output_in_a_pipe_is_plain_and_has_at_most_100_columns() {
    let arguments = ["settings", "--key", "max_attempts=9", "copy", "restart", "--seeds", "1"];
    let output = lab(&arguments);
    assert!(output.status.success(), "{output:?}");
    let both = text(&output.stdout) + &text(&output.stderr);
    assert!(!both.contains('\u{1b}'), "{both}");
    let wide: Vec<&str> = both.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{wide:?}");
    assert!(both.contains("scenario 2 of 2, restart: "), "{both}");

    let coloured = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
        let output = command.args(arguments).env_remove("NO_COLOR").envs(variables.iter().copied()).output().unwrap();
        text(&output.stdout).contains("\u{1b}[36m| yours")
    };
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_page_has_the_settings_the_judgement_the_pictures_and_the_tables() {
    let file = directory("page").join("page.html");
    let arguments = ["settings", "--key", "max_attempts=3", "--html", file.to_str().unwrap()];
    let output = lab(&[&arguments[..], &SMALL[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(page.matches("<svg ").count(), 2, "the schedule and the scenario");
    assert!(page.contains("<pre>max_attempts = 3</pre>") && page.contains("<strong>With these settings, "));
    assert!(page.contains("<td>yours</td>") && page.contains("<td>default</td>"));
    assert!(!page.contains("href=") && !page.contains("src="), "the page needs no other file");
    assert!(!page.contains("have ended"), "all scenarios have ended");
    // Of ten clients with three attempts, most fail: their time is not drawn beside those that write until they succeed.
    assert!(!page.contains(">yours</text>") && page.contains("are left out where more than 5 % fail"));
}

#[test]
fn a_run_that_is_stopped_leaves_a_page_of_the_scenarios_before() {
    let file = directory("stopped").join("page.html");
    // The second scenario has no option of this name.
    let arguments = ["settings", "contention", "copy", "--set", "clients=[10]", "--html", file.to_str().unwrap()];
    let output = lab(&arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(page.matches("<svg ").count(), 2, "the schedule and the first scenario");
    assert!(page.contains("Scenarios that have ended: 1 of 2"), "{page}");
}

#[test]
fn a_picture_or_a_table_that_is_not_of_the_results_is_noticed() {
    let pictures = directory("pictures");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [results, peers, processes] = ["full", "peers", "processes.json"].map(|name| root.join("results").join(name));
    let [results, peers, processes, drawn] =
        [&results, &peers, &processes, &pictures].map(|path| path.to_str().unwrap());
    let page = pictures.join("page.md");
    fs::write(&page, "<!-- lab: copy -->\n<!-- lab end -->\n").unwrap();
    let reference = pictures.join("reference");
    let [page, reference] = [&page, &reference].map(|path| path.to_str().unwrap());
    let read = ["--results", results, "--peers", peers, "--processes", processes];
    let written = ["--pictures", drawn, "--pages", page, "--reference", reference];
    let charts = |arguments: &[&str]| lab(&[&["charts"], &read[..], &written, arguments].concat()).status.code();
    assert_eq!(charts(&["--check"]), Some(1), "there are none yet");
    assert_eq!((charts(&[]), charts(&["--check"])), (Some(0), Some(0)));
    for name in ["copy.svg", "timeline.svg", "page.md"] {
        let drawn = fs::read(pictures.join(name)).unwrap();
        let changed = if name == "page.md" { "<!-- lab: copy -->\n| a |\n<!-- lab end -->\n" } else { "<svg/>" };
        fs::write(pictures.join(name), changed).unwrap();
        assert_eq!(charts(&["--check"]), Some(1), "{name}");
        fs::write(pictures.join(name), drawn).unwrap();
        assert_eq!(charts(&["--check"]), Some(0), "{name}");
    }
}
