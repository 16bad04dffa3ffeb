//! What a process knows about its fleet.

/// What a process knows about its fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetStatus {
    /// Whether the store answers. `None` before the first answer.
    pub is_connected: Option<bool>,
    /// The number of processes, as far as is known.
    pub members: u32,
    /// The limit on sends of the whole fleet, in sends per second, if it has one.
    pub rate: Option<f64>,
    /// The share of this process, in sends per second, if its sends are limited.
    pub share: Option<f64>,
    /// Whether the retries of the fleet are on.
    pub retries_enabled: bool,
}
