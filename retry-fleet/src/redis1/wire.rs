//! The arguments and the reply of the script.

use crate::protocol::{Call, Knowledge, LimitCall, LimitReply, LineReply, Reply, Step, Turn};
use crate::store::StoreError;
use redis::{Cmd, Value};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

#[rustfmt::skip]
/// The names of the arguments, by subject. The script describes them.
const ARGUMENTS: [&str; 34] = [
    "member", "epoch", "fresh", "ttl", "leaving", "look_at",
    "has_quota", "missing", "capacity", "timeout_age",
    "has_line", "in_line", "longest_wait", "spare",
    "has_limit", "version", "accepted", "rejected", "demand", "known_rate", "known_estimate",
    "post_version", "post_accepted", "post_rejected", "post_rate", "post_estimate", "post_cut", "post_state",
    "turned", "known_off_for", "known_reason", "off_for", "reason", "program",
];
#[rustfmt::skip]
/// The names of the fields of a reply, in their order.
const FIELDS: [&str; 24] = [
    "epoch", "members",
    "missing", "capacity", "timeout_age",
    "granted", "is_waiting", "least_wait",
    "version", "cut", "rate", "estimate", "satisfied", "waiting",
    "step", "now", "elapsed", "accepted", "rejected", "state",
    "turned", "off_for", "reason", "other_program",
];
/// The longest time that the store can keep, in milliseconds.
const LONGEST: u64 = 1 << 52;

/// The keys of a fleet. The braces keep them in one slot of a cluster.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) hash: String,
    pub(super) switch: String,
    pub(super) members: String,
}

impl Keys {
    pub(super) fn new(fleet: &str) -> Self {
        let hash = format!("retry-fleet:1:{{{fleet}}}");
        Self { members: format!("{hash}:members"), hash, switch: format!("retry-fleet:{{{fleet}}}:switch") }
    }
}

/// The names of a fleet's keys, read from a key: its name, and the version of the protocol if the key is that of a state.
pub(super) fn fleet_of(key: &str) -> Option<(&str, Option<u32>)> {
    let (before, rest) = key.strip_prefix("retry-fleet:")?.split_once('{')?;
    let (fleet, after) = rest.split_once('}')?;
    match (before, after) {
        ("", ":switch") => Some((fleet, None)),
        (version, "") => Some((fleet, Some(version.strip_suffix(':')?.parse().ok()?))),
        _ => None,
    }
}

/// Creates a call of the script, by its text (`EVAL`) or its hash (`EVALSHA`).
pub(super) fn command(name: &str, script: &str, keys: &Keys, call: &Call) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(3).arg(&keys.hash).arg(&keys.switch).arg(&keys.members);
    for value in arguments(call) {
        command.arg(value);
    }
    command
}

/// Returns the arguments in the order of [`ARGUMENTS`].
fn arguments(call: &Call) -> [String; ARGUMENTS.len()] {
    let or_nothing = |value: Option<String>| value.unwrap_or_default();
    let is = |is: bool| u8::from(is).to_string();
    let quota = call.quota.unwrap_or_default();
    let line = call.line.unwrap_or_default();
    let no_limit = LimitCall::default();
    let limit = call.limit.as_ref().unwrap_or(&no_limit);
    let (post, known, turn) = (limit.posted.as_ref(), call.known_turn.as_ref(), call.turn.as_ref());
    [
        call.member.clone(),
        or_nothing(call.epoch.clone()),
        call.fresh.clone(),
        millis(call.ttl).to_string(),
        is(call.is_leaving),
        call.look_at.to_string(),
        is(call.quota.is_some()),
        quota.missing.to_string(),
        quota.capacity.to_string(),
        or_nothing(quota.timeout_age.map(|age| millis(age).to_string())),
        is(call.line.is_some()),
        line.waiting.to_string(),
        millis(line.longest_wait).to_string(),
        line.spare.to_string(),
        is(call.limit.is_some()),
        limit.version.to_string(),
        limit.accepted.to_string(),
        limit.rejected.to_string(),
        limit.demand.map_or(-1, i64::from).to_string(),
        or_nothing(limit.known.map(|(rate, _)| rate.to_string())),
        or_nothing(limit.known.map(|(_, estimate)| estimate.to_string())),
        or_nothing(post.map(|post| post.version.to_string())),
        or_nothing(post.map(|post| post.accepted.to_string())),
        or_nothing(post.map(|post| post.rejected.to_string())),
        or_nothing(post.map(|post| post.rate.to_string())),
        or_nothing(post.map(|post| post.estimate.to_string())),
        is(post.is_some_and(|post| post.is_cut)),
        or_nothing(post.map(|post| post.state.clone())),
        known.map_or(0, |turn| turn.number).to_string(),
        or_nothing(known.map(|turn| millis(turn.off_for).to_string())),
        or_nothing(known.map(|turn| turn.reason.clone())),
        or_nothing(turn.map(|turn| millis(turn.off_for).to_string())),
        or_nothing(turn.map(|turn| turn.reason.clone())),
        or_nothing(call.program.clone()),
    ]
}

/// Reads a reply of the script to this call.
pub(super) fn reply(call: &Call, key: &str, value: &Value) -> Result<Reply, StoreError> {
    let fields = Fields::new(key, value)?;
    let mut reply = Reply::new(fields.text("epoch")?, fields.number("members")?);
    let number = fields.number("turned")?;
    if number > 0 {
        let off_for = Duration::from_millis(fields.number("off_for")?);
        reply.turn = Some(Turn { number, off_for, reason: fields.text("reason")? });
    }
    reply.other_program = Some(fields.text("other_program")?).filter(|name| !name.is_empty());
    if call.quota.is_some() {
        let age = fields.optional_number("timeout_age")?;
        reply.quota = Some(Knowledge {
            missing: fields.number("missing")?,
            capacity: fields.number("capacity")?,
            timeout_age: age.map(Duration::from_millis),
        });
    }
    if call.line.is_some() {
        let is_waiting = fields.number::<u8>("is_waiting")? == 1;
        let least_wait = Duration::from_millis(fields.number("least_wait")?);
        reply.line = Some(LineReply { granted: fields.number("granted")?, is_waiting, least_wait });
    }
    if call.limit.is_some() {
        let step = match fields.optional_number("step")? {
            None => None,
            Some(version) => Some(Step {
                version,
                now: fields.number("now")?,
                elapsed: fields.number("elapsed")?,
                accepted: fields.number("accepted")?,
                rejected: fields.number("rejected")?,
                state: Some(fields.text("state")?).filter(|state| !state.is_empty()),
            }),
        };
        reply.limit = Some(LimitReply {
            version: fields.number("version")?,
            cut: fields.number("cut")?,
            rate: fields.optional_number("rate")?.zip(fields.optional_number("estimate")?),
            satisfied: fields.number("satisfied")?,
            waiting: fields.number("waiting")?,
            step,
        });
    }
    Ok(reply)
}

/// A reply, field by field.
struct Fields<'a> {
    key: &'a str,
    values: &'a [Value],
}

impl<'a> Fields<'a> {
    fn new(key: &'a str, value: &'a Value) -> Result<Self, StoreError> {
        match value {
            Value::Array(values) if values.len() == FIELDS.len() => Ok(Self { key, values }),
            _ => Err(unexpected(key, "the reply", &format!("a list of {} fields", FIELDS.len()), &shown(value))),
        }
    }

    fn text(&self, name: &str) -> Result<String, StoreError> {
        let value = FIELDS.iter().position(|field| *field == name).and_then(|index| self.values.get(index));
        match value {
            Some(Value::BulkString(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Some(Value::SimpleString(text)) => Ok(text.clone()),
            Some(Value::Int(number)) => Ok(number.to_string()),
            _ => {
                Err(unexpected(self.key, &format!("the field {name:?}"), "text", &shown(value.unwrap_or(&Value::Nil))))
            }
        }
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T, StoreError> {
        let text = self.text(name)?;
        text.parse().map_err(|_| {
            let expected = format!("a number of the type {}", std::any::type_name::<T>());
            unexpected(self.key, &format!("the field {name:?}"), &expected, &format!("{text:?}"))
        })
    }

    fn optional_number<T: FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        if self.text(name)?.is_empty() { Ok(None) } else { self.number(name).map(Some) }
    }
}

fn unexpected(key: &str, subject: &str, expected: &str, found: &dyn Display) -> StoreError {
    StoreError::new(format!(
        "invalid answer of the store for the key {key:?}: expected {subject} to be {expected}, found {found}"
    ))
}

/// Returns the beginning of a value, for a message.
fn shown(value: &Value) -> String {
    format!("{value:?}").chars().take(100).collect()
}

/// Returns whole milliseconds, rounded up, because 0 can have a special meaning.
fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names in a list of the script.
    fn names(list: &str) -> Vec<&'static str> {
        let (_, rest) = super::super::SCRIPT.split_once(list).unwrap();
        let (text, _) = rest.split_once("\n}").unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("--"));
        lines.flat_map(|line| line.split('\'').skip(1).step_by(2)).collect()
    }

    // Rule F11.
    #[test]
    fn the_script_names_the_same_arguments_and_fields_in_the_same_order() {
        assert_eq!(names("local arguments = {"), ARGUMENTS);
        assert_eq!(names("local fields = {"), FIELDS);
    }
}
