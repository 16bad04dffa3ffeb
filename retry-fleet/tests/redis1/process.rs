//! A process of a fleet: this test binary again, in a separate operating-system process.
//!
//! Its attempts fail most of the time, and it writes what it does into a file, which survives a kill.

use crate::server::PATIENCE;
use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::Fleet;
use retry_fleet::redis1::RedisStore;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time between two attempts of a process.
const TICK: Duration = Duration::from_millis(10);
/// The name of this test.
const NAME: &str = "process::a_process_of_the_other_tests";

/// What a process has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The retries that were paid for.
    pub(crate) paid: u64,
    /// The attempts.
    pub(crate) ticks: u64,
    /// 0 before the first answer, 1 if the store answers, 2 if it is lost.
    pub(crate) connection: u64,
    /// How often the store was lost.
    pub(crate) losses: u64,
}

impl Record {
    const SIZE: usize = 32;

    fn write(self, file: &File) {
        let numbers = [self.paid, self.ticks, self.connection, self.losses];
        let mut bytes = [0; Self::SIZE];
        for (bytes, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        file.write_all_at(&bytes, 0).unwrap();
    }

    fn read(file: &File) -> Self {
        let mut bytes = [0; Self::SIZE];
        if file.read_exact_at(&mut bytes, 0).is_err() {
            return Self::default();
        }
        let mut numbers = bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        let mut next = || numbers.next().unwrap();
        Self { paid: next(), ticks: next(), connection: next(), losses: next() }
    }
}

#[test]
#[ignore = "it is a process of the other tests, which start it"]
fn a_process_of_the_other_tests() {
    let file = File::create(setting("FLEET_RECORD")).unwrap();
    let quota = Arc::new(EvidenceQuota::new());
    let store = RedisStore::open(&setting("FLEET_STORE")).unwrap();
    // With one thread, nothing happens between two lines without an `await`.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stopped = stopped();
        let membership = Fleet::new("orders", store).quota(Arc::clone(&quota)).join().unwrap();
        let mut record = Record::default();
        while stopped.try_recv().is_err() {
            tokio::time::sleep(TICK).await;
            if record.ticks % 3 == 0 {
                quota.first_succeeded(0);
            } else if quota.pay(14, Other, &TokioTimer).is_some() {
                record.paid += 1;
            }
            let connection = match membership.status().is_connected {
                None => 0,
                Some(true) => 1,
                Some(false) => 2,
            };
            record.losses += u64::from(connection == 2 && record.connection != 2);
            record.connection = connection;
            record.ticks += 1;
            record.write(&file);
        }
        membership.leave().await;
    });
}

/// A process of a fleet, and what it writes.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) running: Running,
    file: File,
}

impl Process {
    /// Starts a process. The clock that its timers use is ahead by this, if the machine lets it.
    pub(crate) fn start(store: &str, record: PathBuf, clock_ahead: Duration) -> Self {
        let file = File::create_new(&record).unwrap();
        drop(file);
        let settings = [("FLEET_STORE", store.into()), ("FLEET_RECORD", record.clone().into_os_string())];
        Self { running: Running::start(NAME, settings, clock_ahead), file: File::open(record).unwrap() }
    }

    pub(crate) fn record(&self) -> Record {
        Record::read(&self.file)
    }
}

/// This test binary again, in a process that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Running(Child);

impl Running {
    /// Starts the test of this name, with these settings. The clock that its timers use is ahead by this, if the machine lets it.
    pub(crate) fn start(
        name: &str,
        settings: impl IntoIterator<Item = (&'static str, OsString)>,
        clock_ahead: Duration,
    ) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = if clock_ahead.is_zero() {
            Command::new(program)
        } else {
            let mut command = Command::new("unshare");
            command.args(["--time", "--monotonic", &clock_ahead.as_secs().to_string()]).arg(program);
            command
        };
        command.args(["--ignored", "--exact", name, "--nocapture"]).envs(settings);
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Sends a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.0.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Lets the process leave the fleet and end.
    pub(crate) fn end(&mut self) {
        drop(self.0.stdin.take());
        let started = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                assert!(status.success(), "a process failed: {status}");
                return;
            }
            assert!(started.elapsed() < PATIENCE, "a process does not end");
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a future that ends when the program that started this process asks for it, or has ended itself.
pub(crate) fn stopped() -> tokio::sync::oneshot::Receiver<()> {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::read_to_string(std::io::stdin());
        let _ = stop.send(());
    });
    stopped
}

pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).expect("the other tests start this one")
}
