//! A settings file that changes while the program runs.
//!
//! `cargo run --example reload` writes its own file, changes it, and ends. With a path, it watches that file until the
//! program is stopped: `cargo run --example reload -- settings.toml`.

use retry_config::{ConfiguredStrategy, RetryConfig};
use retry_core::{RetryInfo, RetryQuota, TokioTimer, retryable};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

#[derive(Debug, RetryInfo)]
#[retry(throttling)]
struct SlowDown;

static STORE: LazyLock<ConfiguredStrategy> = LazyLock::new(ConfiguredStrategy::default);

#[retryable(strategy = STORE)]
async fn put(attempts: &mut u32) -> Result<(), SlowDown> {
    *attempts += 1;
    Err(SlowDown)
}

/// Watches a settings file by its content.
struct Watch {
    path: PathBuf,
    text: String,
    config: RetryConfig,
}

impl Watch {
    /// Reads the file. If it has changed, applies its settings and prints what is different. A mistake is printed, and the
    /// settings stay as they are.
    fn poll(&mut self) {
        match fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => {}
            Ok(text) => {
                self.text = text;
                match read(&self.path, &self.text).and_then(apply) {
                    Ok(config) => {
                        print_changes(&self.config, &config);
                        self.config = config;
                    }
                    Err(error) => println!("the old settings stay: {error}"),
                }
            }
            Err(error) => println!("the old settings stay: {}: {error}", self.path.display()),
        }
    }
}

fn read(path: &Path, text: &str) -> Result<RetryConfig, Box<dyn Error>> {
    let document = toml::Deserializer::parse(text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(RetryConfig::from_file_section(path, "store", document)?)
}

fn apply(config: RetryConfig) -> Result<RetryConfig, Box<dyn Error>> {
    STORE.apply(&config, &TokioTimer)?;
    Ok(config)
}

fn print_changes(before: &RetryConfig, after: &RetryConfig) {
    let value_in =
        |config: &RetryConfig, key| config.entries().find(|(known, _)| *known == key).map(|(_, value)| value);
    for (key, value) in after.entries() {
        match value_in(before, key) {
            Some(old) if old == value => {}
            Some(old) => println!("store.{key}: {old} -> {value}"),
            None => println!("store.{key}: default -> {value}"),
        }
    }
    for (key, old) in before.entries().filter(|(key, _)| value_in(after, key).is_none()) {
        println!("store.{key}: {old} -> default");
    }
}

async fn call() {
    let mut attempts = 0;
    let outcome = put(&mut attempts).await;
    let quota = STORE.quota();
    println!("{outcome:?} at attempt {attempts}, quota {} of {}\n", quota.available(), quota.capacity());
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let watch = |path| Watch { path, text: String::new(), config: RetryConfig::new() };
    if let Some(path) = std::env::args_os().nth(1) {
        let mut watch = watch(path.into());
        loop {
            watch.poll();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    let path = std::env::temp_dir().join(format!("retry-reload-{}.toml", std::process::id()));
    let mut watch = watch(path.clone());
    for text in [
        "[store]\nmax_attempts = 3\nbackoff = { base = \"5ms\", cap = \"50ms\", throttling_base = \"5ms\" }\n",
        "[store]\nmax_attempts = 5\nbackoff = { base = \"5ms\", cap = \"50ms\" }\nquota = { capacity = 100 }\n",
        "[store]\nmax_attempts = 5\nbackoff = { base = \"5\" }\n",
        "[store]\nmax_atempts = 5\n",
        "[store]\nmode = \"off\"\n",
    ] {
        fs::write(&path, text)?;
        watch.poll();
        call().await;
    }
    fs::remove_file(&path)?;
    Ok(())
}
