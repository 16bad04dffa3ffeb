//! The command `retry-fleet`: shows the fleets in a store, turns their retries off and on, and resets their limits.

mod arguments;
mod output;
mod time;

use arguments::{Arguments, Verb};
use redis::{Client, RedisError};
use retry_fleet::StoreError;
use retry_fleet::redis1::{FleetState, RedisStore};
use std::error::Error;
use std::process::ExitCode;

/// The exit code if the store does not answer or answers with an error.
const STORE_FAILED: u8 = 1;
/// The exit code for wrong arguments, also that of clap.
const WRONG_ARGUMENTS: u8 = 2;
/// The exit code for a fleet that the store does not know, or that has no limit.
const NO_SUCH_FLEET: u8 = 3;

/// Why the command did nothing, or may have done nothing.
enum Failure {
    Certificates(RedisError),
    Store(StoreError),
    NoSuchFleet { fleet: String, known: Vec<String> },
    NoLimit { fleet: String },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    // Without the choice, rustls would panic in a build in which another package adds a second provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(STORE_FAILED, &format!("can't start: {error}")),
    };
    match runtime.block_on(run(&arguments)) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(Failure::Store(error)) if is_timeout(&error) => {
            let waited = arguments.timeout;
            fail(STORE_FAILED, &format!("{error}; the command waited for {waited:?}: `--timeout` sets another time"))
        }
        Err(Failure::Store(error)) => fail(STORE_FAILED, &error.to_string()),
        Err(Failure::Certificates(error)) => fail(WRONG_ARGUMENTS, &format!("the certificates can't be used: {error}")),
        Err(Failure::NoSuchFleet { fleet, known }) => fail(NO_SUCH_FLEET, &output::no_such_fleet(&fleet, &known)),
        Err(Failure::NoLimit { fleet }) => fail(NO_SUCH_FLEET, &output::no_limit(&fleet)),
    }
}

/// Returns whether the store was slower than `--timeout`.
fn is_timeout(error: &StoreError) -> bool {
    error.source().and_then(|source| source.downcast_ref()).is_some_and(RedisError::is_timeout)
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

/// Does what the arguments say, and returns what to print.
async fn run(arguments: &Arguments) -> Result<String, Failure> {
    let mut store = open(arguments)?;
    let is_json = arguments.json;
    match &arguments.verb {
        Verb::List => {
            let mut fleets = Vec::new();
            for (fleet, versions) in store.fleets().await? {
                // An error belongs to this fleet alone, for example if one of its keys has another type.
                let state = store.state(&fleet).await;
                fleets.push(output::Listed { fleet, versions, state });
            }
            Ok(output::list(&fleets, is_json))
        }
        Verb::Show { fleet } => {
            let state = existing(&mut store, fleet).await?;
            Ok(output::show(fleet, &state, is_json))
        }
        Verb::Off { fleet, off_for, by, reason, absent } => {
            if !absent {
                existing(&mut store, fleet).await?;
            }
            store.turn_retries_off(fleet, *off_for, by, reason).await?;
            let state = existing(&mut store, fleet).await?;
            Ok(output::switch(fleet, &state, is_json))
        }
        Verb::On { fleet, by } => {
            existing(&mut store, fleet).await?;
            store.turn_retries_on(fleet, by).await?;
            let state = existing(&mut store, fleet).await?;
            Ok(output::switch(fleet, &state, is_json))
        }
        Verb::ResetLimit { fleet, to } => {
            existing(&mut store, fleet).await?;
            if !store.reset_limit(fleet, *to).await? {
                return Err(Failure::NoLimit { fleet: fleet.clone() });
            }
            let state = existing(&mut store, fleet).await?;
            Ok(output::show(fleet, &state, is_json))
        }
    }
}

fn open(arguments: &Arguments) -> Result<RedisStore, Failure> {
    // Its error contains no password, and with a valid URL, neither do those of certificates.
    let store = RedisStore::open(&arguments.url)?;
    let store = match arguments.certificates() {
        None => store,
        Some(certificates) => Client::build_with_tls(arguments.url.as_str(), certificates)
            .map(RedisStore::from)
            .map_err(Failure::Certificates)?,
    };
    Ok(store.timeout(arguments.timeout))
}

/// Returns the state of a fleet. A name that the store does not know is probably misspelled.
async fn existing(store: &mut RedisStore, fleet: &str) -> Result<FleetState, Failure> {
    if let Some(state) = store.state(fleet).await? {
        return Ok(state);
    }
    // The permission to list them may be missing.
    let known = store.fleets().await.unwrap_or_default().into_keys().collect();
    Err(Failure::NoSuchFleet { fleet: fleet.to_owned(), known })
}
