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
fn scenarios_run_with_settings_of_your_own() {
    let output = lab(&[&["settings"], &SMALL[..], &["--key", "max_attempts=9"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("| yours "), "{output:?}");
}

#[test]
fn a_page_has_the_pictures_and_the_tables_of_the_settings() {
    let file = directory("page").join("page.html");
    let arguments = ["settings", "--key", "max_attempts=3", "--html", file.to_str().unwrap()];
    let output = lab(&[&arguments[..], &SMALL[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(page.matches("<svg ").count(), 2, "the schedule and the scenario");
    assert!(page.contains(">yours</text>") && page.contains("<td>yours</td>"));
    assert!(!page.contains("href=") && !page.contains("src="), "the page needs no other file");
}

#[test]
fn a_picture_or_a_table_that_is_not_of_the_results_is_noticed() {
    let pictures = directory("pictures");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (results, peers) = (root.join("results/full"), root.join("results/peers"));
    let [results, peers, drawn] = [&results, &peers, &pictures].map(|path| path.to_str().unwrap());
    let page = pictures.join("page.md");
    fs::write(&page, "<!-- lab: copy -->\n<!-- lab end -->\n").unwrap();
    let reference = pictures.join("reference");
    let [page, reference] = [&page, &reference].map(|path| path.to_str().unwrap());
    let paths =
        ["--results", results, "--peers", peers, "--pictures", drawn, "--pages", page, "--reference", reference];
    let charts = |arguments: &[&str]| lab(&[&["charts"], &paths[..], arguments].concat()).status.code();
    assert_eq!(charts(&["--check"]), Some(1), "there are none yet");
    assert_eq!((charts(&[]), charts(&["--check"])), (Some(0), Some(0)));
    for name in ["copy.svg", "peers.svg", "page.md"] {
        let drawn = fs::read(pictures.join(name)).unwrap();
        let changed = if name == "page.md" { "<!-- lab: copy -->\n| a |\n<!-- lab end -->\n" } else { "<svg/>" };
        fs::write(pictures.join(name), changed).unwrap();
        assert_eq!(charts(&["--check"]), Some(1), "{name}");
        fs::write(pictures.join(name), drawn).unwrap();
        assert_eq!(charts(&["--check"]), Some(0), "{name}");
    }
}
