//! What goes to the script, and what comes back.

use crate::protocol::{Call, LimitReply, QuotaReply, Reply, Step};
use crate::store::StoreError;
use redis::{Cmd, Value};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// The names of the fields of a reply, in their order.
const FIELDS: [&str; 20] = [
    "epoch",
    "members",
    "off",
    "given",
    "balance",
    "room",
    "capacity",
    "rate",
    "satisfied",
    "waiting",
    "step",
    "now",
    "accepted",
    "rejected",
    "state",
    "version",
    "cut",
    "estimate",
    "elapsed",
    "entry",
];
/// The longest time that the store can keep, in milliseconds.
const LONGEST: u64 = 1 << 52;

/// The keys of a fleet. The braces keep both in one slot of a cluster.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) hash: String,
    pub(super) switch: String,
}

impl Keys {
    pub(super) fn new(fleet: &str) -> Self {
        Self { hash: format!("retry-fleet:1:{{{fleet}}}"), switch: format!("retry-fleet:{{{fleet}}}:off") }
    }
}

/// Creates a call of the script, by its text (`EVAL`) or its hash (`EVALSHA`).
pub(super) fn command(name: &str, script: &str, keys: &Keys, call: &Call) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(2).arg(&keys.hash).arg(&keys.switch);
    let quota = call.quota.unwrap_or_default();
    let limit = call.limit.clone().unwrap_or_default();
    command.arg(&call.member).arg(call.epoch.as_deref().unwrap_or("")).arg(&call.fresh);
    command.arg(millis(call.ttl)).arg(u8::from(call.is_leaving)).arg(call.look_at);
    command.arg(u8::from(call.quota.is_some())).arg(quota.capacity).arg(quota.cost);
    command.arg(quota.seen).arg(quota.back).arg(quota.want).arg(quota.held).arg(quota.hint);
    command.arg(u8::from(call.limit.is_some())).arg(limit.accepted).arg(limit.rejected);
    command.arg(limit.demand.map_or(-1, i64::from));
    match &limit.posted {
        Some(post) => command.arg(post.version).arg(post.accepted).arg(post.rejected).arg(post.rate).arg(&post.state),
        None => command.arg("").arg("").arg("").arg("").arg(""),
    };
    command.arg(call.off_for.map(|off_for| millis(off_for).to_string()).unwrap_or_default());
    let posted = limit.posted.as_ref();
    command.arg(limit.version).arg(posted.map_or(0.0, |post| post.estimate));
    command.arg(u8::from(posted.is_some_and(|post| post.is_cut))).arg(quota.entry);
    match limit.known {
        Some((rate, estimate)) => command.arg(rate).arg(estimate),
        None => command.arg("").arg(""),
    };
    command
}

/// Reads a reply of the script to this call.
pub(super) fn reply(call: &Call, key: &str, value: &Value) -> Result<Reply, StoreError> {
    let fields = Fields::new(key, value)?;
    let mut reply = Reply::new(fields.text("epoch")?, fields.number("members")?, fields.number::<u8>("off")? == 0);
    if call.quota.is_some() {
        reply.quota = Some(QuotaReply {
            entry: fields.number("entry")?,
            given: fields.number("given")?,
            balance: fields.number("balance")?,
            room: fields.number("room")?,
            capacity: fields.number("capacity")?,
        });
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

/// Returns whole milliseconds, rounded up, because 0 can have a meaning of its own.
fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX).min(LONGEST)
}
