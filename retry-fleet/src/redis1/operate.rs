//! The methods of the store for operators, who need no process of the fleet.

use super::RedisStore;
use super::connection::with_timeout;
use super::wire::{Keys, fleet_of};
use crate::names::is_name;
use crate::random::unique_name;
use crate::store::{Store, StoreError};
use crate::switch::{SwitchedOff, cut, reason_of, time_off};
use crate::{Member, protocol::Turn};
use redis::{Cmd, Value};
use retry_core::{Clock, TokioTimer};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Reads the state of a fleet, as one atomic step.
const STATE: &str = include_str!("state.lua");
/// Replaces what is known of the limit of a fleet, as one atomic step.
const LIMIT: &str = include_str!("limit.lua");
/// The number of fields in its reply.
const FIELDS: usize = 18;
/// The number of keys that one `SCAN` looks at.
const KEYS_PER_SCAN: u32 = 1_000;
/// The largest estimate that an operator can give, in sends per second.
const MOST_SENDS: f64 = 1e9;

/// What the store knows about a fleet.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetState {
    /// The name of the state. After a loss of the state, it has another name. `None` if there is only a switch.
    pub epoch: Option<String>,
    /// The number of processes.
    pub members: u32,
    /// The amount that all processes have spent on retries without a refund, in retries. 0 if successes have refunded more.
    pub missing: f64,
    /// The capacity: the largest amount that all processes can spend without a refund, in retries.
    pub capacity: f64,
    /// The time since an attempt of any process last timed out.
    pub timeout_age: Option<Duration>,
    /// What is known of the limit, if the fleet has one and has measured it.
    pub limit: Option<LimitState>,
    /// The names of the programs whose processes have called in the last minute, at most two of them. Two programs probably share
    /// the name of their fleet by mistake.
    pub programs: Vec<String>,
    /// How the retries were turned off, unless they are on.
    pub switched_off: Option<SwitchedOff>,
}

/// What the store knows of the limit of a fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LimitState {
    /// The rate of the whole fleet, in sends per second.
    pub rate: f64,
    /// The estimate of the rate that the server accepts, in sends per second.
    pub estimate: f64,
    /// The total rate of the processes that do not wait for sends, in sends per second.
    pub satisfied: f64,
    /// The number of processes that wait for sends.
    pub waiting: u32,
}

/// For operators. The command `retry-fleet` of the crate `retry-fleet-cli` calls these methods.
impl RedisStore {
    /// Returns the names of the fleets in this store, with the versions of the protocol that have a state. A fleet without a
    /// version has a switch only.
    ///
    /// It reads the names of all keys (`SCAN`), which needs the permission `+scan`. With many other keys, this takes a while,
    /// but blocks the store for no more than a moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does not answer, and for a cluster, whose nodes have to be listed one by one.
    pub async fn fleets(&mut self) -> Result<BTreeMap<String, BTreeSet<u32>>, StoreError> {
        #[cfg(feature = "redis1-cluster")]
        if matches!(self.link.source(), super::Source::Cluster(_)) {
            return Err(StoreError::new("can't list the fleets of a cluster: list those of each node"));
        }
        let mut fleets = BTreeMap::<_, BTreeSet<_>>::new();
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg("retry-fleet:*").arg("COUNT").arg(KEYS_PER_SCAN);
            let value = self.ask("list the fleets", &scan).await?;
            let (next, keys): (String, Vec<Vec<u8>>) = redis::from_redis_value(value).map_err(|error| {
                StoreError::new("can't list the fleets: SCAN has an unknown answer").caused_by(error)
            })?;
            for (fleet, version) in keys.iter().filter_map(|key| fleet_of(str::from_utf8(key).ok()?)) {
                if is_name(fleet) {
                    fleets.entry(fleet.to_owned()).or_default().extend(version);
                }
            }
            if next == "0" {
                return Ok(fleets);
            }
            cursor = next;
        }
    }

    /// Returns what the store knows about a fleet, or `None` if it knows neither a state nor a switch.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not one of a fleet, if the store does not answer, or if a key of the fleet has another
    /// type.
    pub async fn state(&mut self, fleet: &str) -> Result<Option<FleetState>, StoreError> {
        let keys = keys(fleet)?;
        let mut command = redis::cmd("EVAL");
        command.arg(STATE).arg(3).arg(&keys.hash).arg(&keys.switch).arg(&keys.members);
        let value = self.operate(&keys, &command).await?;
        let fields: Vec<String> = redis::from_redis_value(value)
            .map_err(|error| StoreError::new("the state of the fleet has an unknown form").caused_by(error))?;
        let fields = <[String; FIELDS]>::try_from(fields)
            .map_err(|fields| StoreError::new(format!("the state of the fleet has {} fields", fields.len())))?;
        Ok(read(fields))
    }

    /// Turns the retries of a fleet off for this time, as [`Membership::turn_retries_off`](crate::Membership::turn_retries_off)
    /// does. Fleets without a process can be turned off, too.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not one of a fleet, or if the store does not answer. Then it is unknown whether the
    /// switch was turned.
    pub async fn turn_retries_off(
        &mut self,
        fleet: &str,
        off_for: Duration,
        by: &str,
        reason: &str,
    ) -> Result<(), StoreError> {
        self.turn(fleet, time_off(off_for), reason_of(by, reason)).await
    }

    /// Turns the retries of a fleet on again, as [`Membership::turn_retries_on`](crate::Membership::turn_retries_on) does.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not one of a fleet, or if the store does not answer. Then it is unknown whether the
    /// switch was turned.
    pub async fn turn_retries_on(&mut self, fleet: &str, by: &str) -> Result<(), StoreError> {
        self.turn(fleet, Duration::ZERO, cut(by).to_owned()).await
    }

    /// Replaces the estimate of the limit of a fleet, in sends per second, from which its rate continues. With `None`, the fleet forgets it
    /// and measures the limit again, as after its start. Its processes follow with their next calls.
    ///
    /// Use it after the service has raised or lowered the limit, if you don't want to wait until the fleet has measured the new one.
    ///
    /// Returns whether the store knows a limit of the fleet. Otherwise nothing is changed: there is no state, or its processes have no
    /// limit, or they have just started.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not one of a fleet, if the estimate is not above 0 and at most a billion, if the store does not
    /// answer, or if a key of the fleet has another type.
    pub async fn reset_limit(&mut self, fleet: &str, estimate: Option<f64>) -> Result<bool, StoreError> {
        let keys = keys(fleet)?;
        if let Some(estimate) = estimate
            && !(estimate > 0.0 && estimate <= MOST_SENDS)
        {
            let message =
                format!("invalid estimate {estimate}: expected sends per second, above 0 and at most {MOST_SENDS}");
            return Err(StoreError::new(message));
        }
        let mut command = redis::cmd("EVAL");
        command
            .arg(LIMIT)
            .arg(1)
            .arg(&keys.hash)
            .arg(estimate.map(|estimate| estimate.to_string()).unwrap_or_default());
        let value = self.operate(&keys, &command).await?;
        redis::from_redis_value(value)
            .map_err(|error| StoreError::new("the reset of the limit has an unknown answer").caused_by(error))
    }

    /// Runs a script on the keys of a fleet.
    async fn operate(&mut self, keys: &Keys, command: &Cmd) -> Result<Value, StoreError> {
        let mut connection = self.link.connection().await?;
        let outcome = connection.send(command).await;
        self.link.answered(&outcome);
        outcome.map_err(|error| self.refused(keys, error))
    }

    /// Makes the call of a process that turns the switch and leaves, so that the state has the turn before any other process
    /// has called.
    async fn turn(&mut self, fleet: &str, off_for: Duration, reason: String) -> Result<(), StoreError> {
        keys(fleet)?;
        let now = TokioTimer.now();
        let mut operator = Member::new(fleet, unique_name(), now);
        operator.turn_retries_off(off_for, reason, now);
        self.call(fleet, &operator.call(now, true)).await.map(drop)
    }

    /// Sends a command that belongs to no fleet.
    async fn ask(&mut self, what: &str, command: &Cmd) -> Result<Value, StoreError> {
        let mut connection = self.link.connection().await?;
        let outcome = connection.send(command).await;
        self.link.answered(&outcome);
        outcome.map_err(|error| {
            with_timeout(StoreError::new(format!("can't {what} of {}: {error}", self.link.source())), error)
        })
    }
}

fn keys(fleet: &str) -> Result<Keys, StoreError> {
    if is_name(fleet) {
        Ok(Keys::new(fleet))
    } else {
        Err(StoreError::new(format!("invalid name of a fleet {fleet:?}: expected 1 to 128 bytes without braces")))
    }
}

/// Reads the reply of the script. Numbers that can't be read are treated as missing, as the calls of processes treat them.
fn read(fields: [String; FIELDS]) -> Option<FleetState> {
    let [
        epoch,
        missing,
        capacity,
        timed_out,
        rate,
        estimate,
        satisfied,
        waiting,
        turned,
        off_until,
        reason,
        members,
        has_switch,
        switch,
        left,
        now,
        program,
        second_program,
    ] = fields;
    let epoch = Some(epoch).filter(|epoch| !epoch.is_empty());
    let has_switch = !has_switch.is_empty();
    if epoch.is_none() && !has_switch {
        return None;
    }
    let real = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let positive = |text: &str| real(text).filter(|number| *number >= 0.0);
    let whole = |text: &str| text.parse::<u64>().unwrap_or(0);
    let now = whole(&now);
    // While its key exists, the key decides.
    let turn = if has_switch {
        let off_for =
            if switch == "on" { Duration::ZERO } else { left.parse().map_or(Duration::MAX, Duration::from_millis) };
        Turn { number: 1, off_for, reason: switch.strip_prefix("off ").unwrap_or_default().to_owned() }
    } else {
        let off_for = Duration::from_millis(whole(&off_until).saturating_sub(now));
        Turn { number: whole(&turned), off_for, reason }
    };
    let timed_out = whole(&timed_out);
    Some(FleetState {
        epoch,
        members: u32::try_from(whole(&members)).unwrap_or(u32::MAX),
        missing: positive(&missing).unwrap_or(0.0) / 1e3,
        capacity: positive(&capacity).unwrap_or(0.0) / 1e3,
        timeout_age: (1..=now).contains(&timed_out).then(|| Duration::from_millis(now - timed_out)),
        limit: positive(&rate).zip(positive(&estimate)).map(|(rate, estimate)| LimitState {
            rate,
            estimate,
            satisfied: positive(&satisfied).unwrap_or(0.0) / 1e3,
            waiting: u32::try_from(whole(&waiting)).unwrap_or(u32::MAX),
        }),
        programs: [program, second_program].iter().filter_map(|entry| program_of(entry, now)).collect(),
        switched_off: (turn.number > 0 && !turn.off_for.is_zero())
            .then_some(SwitchedOff { reason: turn.reason, off_for: turn.off_for }),
    })
}

/// Returns the name of a program from the entry in the store, unless its time is over.
fn program_of(entry: &str, now: u64) -> Option<String> {
    let (ends, name) = entry.split_once(' ')?;
    ends.parse::<u64>().is_ok_and(|ends| ends > now).then(|| name.to_owned())
}
