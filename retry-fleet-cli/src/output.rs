//! What the command prints, for people and as JSON.

use retry_fleet::redis1::FleetState;
use retry_fleet::{StoreError, SwitchedOff};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// A fleet in a list.
pub(crate) struct Listed {
    pub(crate) fleet: String,
    pub(crate) versions: BTreeSet<u32>,
    /// `None` if only other versions of the protocol have a state, or if the fleet has ended meanwhile.
    pub(crate) state: Result<Option<FleetState>, StoreError>,
}

/// Returns a line for each fleet.
pub(crate) fn list(fleets: &[Listed], is_json: bool) -> String {
    if is_json {
        let fleets = fleets.iter().map(|listed| {
            let mut value = match &listed.state {
                Ok(Some(state)) => state_json(&listed.fleet, state),
                Ok(None) => json!({ "fleet": listed.fleet }),
                Err(error) => json!({ "fleet": listed.fleet, "error": error.to_string() }),
            };
            value["versions"] = json!(listed.versions);
            value
        });
        return fleets.collect::<Value>().to_string();
    }
    if fleets.is_empty() {
        return "the store has no fleets".into();
    }
    let width = fleets.iter().map(|listed| shown(&listed.fleet).chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!("{:width$}  protocol  processes  retries", "fleet");
    for Listed { fleet, versions, state } in fleets {
        let versions: Vec<_> = versions.iter().map(u32::to_string).collect();
        let versions = if versions.is_empty() { "-".into() } else { versions.join(",") };
        let (members, retries) = match state {
            Ok(Some(state)) => (state.members.to_string(), retries(state.switched_off.as_ref())),
            Ok(None) => ("-".into(), "-".into()),
            Err(error) => ("?".into(), format!("error: {error}")),
        };
        let _ = write!(text, "\n{:width$}  {versions:>8}  {members:>9}  {retries}", shown(fleet));
    }
    text
}

/// Returns what is known about a fleet, a line for each subject.
pub(crate) fn show(fleet: &str, state: &FleetState, is_json: bool) -> String {
    if is_json {
        return state_json(fleet, state).to_string();
    }
    let mut text = format!("fleet      {}", shown(fleet));
    let epoch = state.epoch.as_ref().map_or_else(|| "none: the store has a switch only".into(), |epoch| shown(epoch));
    let _ = write!(text, "\nepoch      {epoch}\nprocesses  {}", state.members);
    match &state.programs[..] {
        [] => {}
        [program] => {
            let _ = write!(text, "\nprogram    {}", shown(program));
        }
        several => {
            let names: Vec<_> = several.iter().map(|name| shown(name)).collect();
            let _ = write!(text, "\nprograms   {}: warning: two programs use one fleet", names.join(", "));
        }
    }
    let _ = write!(text, "\nretries    {}", retries(state.switched_off.as_ref()));
    let _ = write!(text, "\nquota      {:.1} of {:.1} retries missing", state.missing, state.capacity);
    if let Some(age) = state.timeout_age {
        let _ = write!(text, "; the last timeout was {} ago", time(age));
    }
    match &state.limit {
        None => text.push_str("\nlimit      none measured"),
        Some(limit) => {
            let _ = write!(
                text,
                "\nlimit      {:.1} sends per second (estimate {:.1}); {} processes wait, the others send {:.1}",
                limit.rate, limit.estimate, limit.waiting, limit.satisfied
            );
        }
    }
    text
}

/// Returns whether the retries of a fleet are on.
pub(crate) fn switch(fleet: &str, state: &FleetState, is_json: bool) -> String {
    if is_json {
        return state_json(fleet, state).to_string();
    }
    format!("the retries of {} are {}", shown(fleet), retries(state.switched_off.as_ref()))
}

pub(crate) fn no_such_fleet(fleet: &str, known: &[String]) -> String {
    let known: Vec<_> = known.iter().map(|fleet| shown(fleet)).collect();
    let known =
        if known.is_empty() { "it can list no fleets".into() } else { format!("its fleets are {}", known.join(", ")) };
    format!("the store knows no fleet {}; {known}", shown(fleet))
}

pub(crate) fn no_limit(fleet: &str) -> String {
    format!("the store knows no limit of the fleet {}", shown(fleet))
}

fn retries(off: Option<&SwitchedOff>) -> String {
    match off {
        None => "on".into(),
        Some(off) => {
            let reason = if off.reason.is_empty() { "no reason is given".into() } else { shown(&off.reason) };
            if off.off_for > FOREVER {
                format!("off without an end ({reason})")
            } else {
                format!("off for {} ({reason})", time(off.off_for))
            }
        }
    }
}

/// A longer time stands for no end.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns a time in the two largest units.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Anybody can write texts into the store, so control characters do not reach the terminal.
fn shown(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

fn state_json(fleet: &str, state: &FleetState) -> Value {
    json!({
        "fleet": fleet,
        "epoch": state.epoch,
        "processes": state.members,
        "programs": state.programs,
        "retries_enabled": state.switched_off.is_none(),
        "switched_off": state.switched_off.as_ref().map(|off| json!({
            "reason": off.reason,
            "seconds_left": (off.off_for <= FOREVER).then_some(off.off_for.as_secs_f64()),
        })),
        "quota": {
            "missing": state.missing,
            "capacity": state.capacity,
            "seconds_since_timeout": state.timeout_age.map(|age| age.as_secs_f64()),
        },
        "limit": state.limit.map(|limit| json!({
            "rate": limit.rate,
            "estimate": limit.estimate,
            "satisfied": limit.satisfied,
            "waiting": limit.waiting,
        })),
    })
}
