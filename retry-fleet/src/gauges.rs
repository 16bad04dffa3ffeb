//! Gauges for the crate `metrics`. Without the feature, they are no-ops.

use crate::member::FleetStatus;

/// Publishes what the process knows about its fleet.
#[cfg(feature = "metrics")]
pub(crate) fn set(fleet: &str, status: &FleetStatus) {
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

#[cfg(not(feature = "metrics"))]
#[inline]
pub(crate) const fn set(_: &str, _: &FleetStatus) {}
