//! The arguments of the command.

use crate::time;
use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use redis::{ClientTlsConfig, TlsCertificates};
use std::time::Duration;

/// Shows the fleets in a store of retry-fleet, turns their retries off and on, and resets their limits.
///
/// Exit codes: 0 if it was done, 1 if the store failed, 2 for wrong arguments, 3 if the store knows no such fleet or limit.
#[derive(Parser)]
#[command(name = "retry-fleet", version)]
pub(crate) struct Arguments {
    /// The store, as in `redis://user:password@host:6379/0`. Other programs can see arguments: give a password by the variable
    #[arg(long, env = "RETRY_FLEET_URL", hide_env_values = true, default_value = "redis://127.0.0.1", global = true)]
    pub(crate) url: String,
    /// For `rediss://`: a file with the certificates of the authorities to trust, in PEM, instead of those of the system
    #[arg(long, value_name = "FILE", env = "RETRY_FLEET_CA", value_parser = Pem::read, global = true)]
    ca: Option<Pem>,
    /// For a store that asks for it: a file with your certificate, in PEM
    #[arg(long, value_name = "FILE", env = "RETRY_FLEET_CERT", value_parser = Pem::read, global = true)]
    cert: Option<Pem>,
    /// A file with the key of your certificate, in PEM
    #[arg(long, value_name = "FILE", env = "RETRY_FLEET_KEY", value_parser = Pem::read, global = true)]
    key: Option<Pem>,
    /// The longest wait for a connection, and for each answer of the store, as in 500ms or 30s
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time::timeout, global = true)]
    pub(crate) timeout: Duration,
    /// Print JSON, for other programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The content of a file, which may be a secret.
#[derive(Clone)]
struct Pem(Vec<u8>);

impl Pem {
    fn read(path: &str) -> Result<Self, std::io::Error> {
        std::fs::read(path).map(Self)
    }
}

impl Arguments {
    /// Reads the arguments of the program. If they are wrong, it ends the program.
    pub(crate) fn read() -> Self {
        let arguments = Self::parse();
        // `requires` of clap would not see the arguments before the verb, nor variables.
        let missing = match (&arguments.cert, &arguments.key) {
            (Some(_), None) => "the certificate needs its key: add --key FILE",
            (None, Some(_)) => "the key needs its certificate: add --cert FILE",
            _ => return arguments,
        };
        Self::command().error(ErrorKind::MissingRequiredArgument, missing).exit()
    }

    /// Returns the certificates, if any are given.
    pub(crate) fn certificates(&self) -> Option<TlsCertificates> {
        let bytes = |pem: &Pem| pem.0.clone();
        let client_tls = self.cert.as_ref().zip(self.key.as_ref());
        let client_tls =
            client_tls.map(|(cert, key)| ClientTlsConfig { client_cert: bytes(cert), client_key: bytes(key) });
        let root_cert = self.ca.as_ref().map(bytes);
        (client_tls.is_some() || root_cert.is_some()).then_some(TlsCertificates { client_tls, root_cert })
    }
}

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// List the fleets in the store
    List,
    /// Show what the store knows about a fleet
    Show {
        /// The name of the fleet
        fleet: String,
    },
    /// Turn the retries of a fleet off for a time
    ///
    /// The processes learn of it within 1.5 s, if there are up to 2,000 and they have a switch. They turn their retries on
    /// again by themselves when the time is over.
    Off {
        /// The name of the fleet
        fleet: String,
        /// For how long, as in 90s, 10m, 2h or 1d
        #[arg(long = "for", value_name = "TIME", value_parser = time::off_for)]
        off_for: Duration,
        /// Why, for those who read the logs: at most 128 bytes
        #[arg(long)]
        reason: String,
        /// Who turns them off: at most 128 bytes
        #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
        by: String,
        /// Also if the store does not know the fleet, for example before its first process starts
        #[arg(long)]
        absent: bool,
    },
    /// Turn the retries of a fleet on again
    On {
        /// The name of the fleet
        fleet: String,
        /// Who turns them on: at most 128 bytes
        #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
        by: String,
    },
    /// Forget the limit that a fleet has measured, or replace it
    ///
    /// For a limit that its service has changed. If operations wait, the fleet finds a higher limit by itself within seconds.
    ResetLimit {
        /// The name of the fleet
        fleet: String,
        /// The limit of the service in sends per second, from which the fleet continues. Without it, the fleet forgets what it measured
        #[arg(long, value_name = "RATE", value_parser = rate, allow_negative_numbers = true)]
        to: Option<f64>,
    },
}

/// The largest estimate that `RedisStore::reset_limit` accepts, in sends per second.
const MOST_SENDS: f64 = 1e9;

/// Reads a rate in sends per second.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| *rate > 0.0 && *rate <= MOST_SENDS);
    rate.ok_or_else(|| {
        format!("invalid rate {text:?}: expected sends per second, above 0 and at most {MOST_SENDS}, as in 250 or 0.5")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
