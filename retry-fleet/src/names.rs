//! The names of fleets.

/// The longest name of a fleet, in bytes.
pub(crate) const LONGEST: usize = 128;

/// Returns whether a fleet can have this name. Braces mark the slot of the keys in a cluster.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && !name.contains(['{', '}'])
}
