//! Numbers for the crate `metrics`. Without the feature, they are no-ops.

#[cfg(feature = "tokio")]
use {crate::status::FleetStatus, std::time::Duration};

/// Describes the numbers. Counters of calls begin at zero, so that the first failure is an increase.
#[cfg(all(feature = "metrics", feature = "tokio"))]
pub(crate) fn describe(fleet: &str) {
    use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
    describe_gauge!("retry_fleet_store_up", Unit::Count, "1 while the store answers, else 0.");
    describe_gauge!("retry_fleet_members", Unit::Count, "The number of processes.");
    describe_gauge!("retry_fleet_rate", Unit::CountPerSecond, "The limit of the fleet.");
    describe_gauge!("retry_fleet_share", Unit::CountPerSecond, "The share of this process.");
    describe_gauge!("retry_fleet_retries_enabled", Unit::Count, "1 while retries are on, else 0.");
    describe_counter!("retry_fleet_store_calls_total", Unit::Count, "Calls of this process to the store.");
    describe_histogram!("retry_fleet_store_call_seconds", Unit::Seconds, "The time until the store answered a call.");
    describe_counter!("retry_fleet_switches_total", Unit::Count, "Changes of the switch that this process saw.");
    for outcome in ["ok", "error", "timeout"] {
        counter!("retry_fleet_store_calls_total", "fleet" => fleet.to_owned(), "outcome" => outcome).increment(0);
    }
}

/// Publishes what the process knows about its fleet.
#[cfg(all(feature = "metrics", feature = "tokio"))]
pub(crate) fn known(fleet: &str, status: &FleetStatus) {
    let gauge = |name: &'static str, value: f64| metrics::gauge!(name, "fleet" => fleet.to_owned()).set(value);
    gauge("retry_fleet_store_up", if status.is_connected == Some(true) { 1.0 } else { 0.0 });
    gauge("retry_fleet_members", status.members.into());
    if let Some(rate) = status.rate {
        gauge("retry_fleet_rate", rate);
    }
    if let Some(share) = status.share {
        gauge("retry_fleet_share", share);
    }
    gauge("retry_fleet_retries_enabled", if status.retries_enabled { 1.0 } else { 0.0 });
}

/// Counts a call that the store answered after this time, or that ended otherwise.
#[cfg(all(feature = "metrics", feature = "tokio"))]
pub(crate) fn called(fleet: &str, outcome: Result<Duration, &'static str>) {
    if let Ok(time) = outcome {
        metrics::histogram!("retry_fleet_store_call_seconds", "fleet" => fleet.to_owned()).record(time);
    }
    let name = outcome.err().unwrap_or("ok");
    metrics::counter!("retry_fleet_store_calls_total", "fleet" => fleet.to_owned(), "outcome" => name).increment(1);
}

/// Counts a change of the switch, with the name of who turned it, if it is known.
#[cfg(feature = "metrics")]
pub(crate) fn switched(fleet: &str, is_on: bool, reason: &str) {
    let to = if is_on { "on" } else { "off" };
    let by = if is_on { reason } else { reason.split_once(": ").map_or("", |(by, _)| by) };
    metrics::counter!("retry_fleet_switches_total", "fleet" => fleet.to_owned(), "to" => to, "by" => by.to_owned())
        .increment(1);
}

#[cfg(all(not(feature = "metrics"), feature = "tokio"))]
#[inline]
pub(crate) const fn describe(_: &str) {}

#[cfg(all(not(feature = "metrics"), feature = "tokio"))]
#[inline]
pub(crate) const fn known(_: &str, _: &FleetStatus) {}

#[cfg(all(not(feature = "metrics"), feature = "tokio"))]
#[inline]
pub(crate) const fn called(_: &str, _: Result<Duration, &'static str>) {}

#[cfg(not(feature = "metrics"))]
#[inline]
pub(crate) const fn switched(_: &str, _: bool, _: &str) {}
