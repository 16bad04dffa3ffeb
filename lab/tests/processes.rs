//! Real processes that call a real server.

use lab::report::Report;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

#[test]
fn operations_of_real_processes_outlast_a_server_that_is_down() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    let output = command.args(["processes", "--short", "--json"]).arg(&directory).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = fs::read_to_string(directory.join("processes.json")).unwrap();
    let report: Report = serde_json::from_str(&report).unwrap();
    let bridged = |strategy| {
        let keys = ["down 3 s, load 0.5", strategy, "real"];
        report.table("processes").unwrap().value(&keys, "bridged, %").unwrap().mid.unwrap()
    };
    assert!(bridged("patient") >= 95.0, "{report:?}");
    assert!(bridged("no retries") < 20.0, "{report:?}");
}

#[test]
fn a_client_process_ends_when_its_standard_input_is_closed() {
    let client = r#"{
        "chosen": "Patient", "seed": 1, "begin": { "secs_since_epoch": 4000000000, "nanos_since_epoch": 0 }, "rate": 1.0,
        "attempt_timeout": { "secs": 1, "nanos": 0 }, "max_time": { "secs": 1, "nanos": 0 }, "replicas": []
    }"#;
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    let mut client = command.args(["client", client]).stdin(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    assert_eq!(client.try_wait().unwrap(), None, "it waits for its beginning");
    drop(client.stdin.take());
    let ended = (0..100).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        client.try_wait().unwrap()
    });
    let _ = client.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
}
