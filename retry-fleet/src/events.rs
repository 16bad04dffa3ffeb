//! Events for the crate `tracing`, with the target `retry_fleet`. Without the feature, they are no-ops.

/// Defines a function for each event.
macro_rules! events {
    ($($(#[$doc:meta])* $level:ident $event:ident($($field:ident: $type:ty),*): $message:literal;)+) => {$(
        $(#[$doc])*
        #[cfg(feature = "tracing")]
        #[cold]
        pub(crate) fn $event($($field: $type),*) {
            tracing::$level!(name: stringify!($event), target: "retry_fleet", $($field,)* $message);
        }

        $(#[$doc])*
        #[cfg(not(feature = "tracing"))]
        #[inline]
        pub(crate) fn $event($(_: $type),*) {}
    )+};
}

events! {
    /// Once, until the store answers again.
    warn store_lost(fleet: &str, error: &str): "the store of the fleet does not answer, so the process continues alone";
    /// Once after `store_lost`.
    warn store_back(fleet: &str): "the store of the fleet answers again";
    /// Once for each new epoch after the first.
    warn store_emptied(fleet: &str): "the store of the fleet has lost its data";
    /// For each membership that is dropped within a second.
    #[cfg(feature = "tokio")]
    warn membership_dropped(fleet: &str): "the membership was dropped, so the process left the fleet: keep it, as in `let membership = ..`";
    /// Once.
    warn stays_alone(fleet: &str): "no other process was seen in this fleet: is its name right?";
    /// Once for each other program.
    warn other_program(fleet: &str, program: &str, other: &str): "two programs use this fleet: give each its own, or give both the same name by `Fleet::program`";
    /// When the value changes.
    warn switched(fleet: &str, is_on: bool, reason: &str): "the retries of the fleet were switched";
}
