//! The worlds.

use super::super::faults::Fault;
use super::world::{Answer, Jobs, Spell, World};

/// Returns all worlds.
pub fn worlds() -> Vec<World> {
    let kinds = [("outages", outages())];
    let of_kind = |(kind, worlds): (&str, Vec<World>)| {
        let kind = kind.to_owned();
        worlds.into_iter().map(move |world| World { kind: kind.clone(), ..world })
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Operations that live longer than an outage.
fn outages() -> Vec<World> {
    [
        (Fault::Down, 3, 0.5),
        (Fault::Down, 10, 0.3),
        (Fault::Down, 10, 0.5),
        (Fault::Down, 10, 0.8),
        (Fault::Down, 30, 0.5),
        (Fault::Stall, 10, 0.5),
    ]
    .map(|(fault, fault_s, load)| {
        let what = if fault == Fault::Down { "down" } else { "stall" };
        let name = format!("{what} {fault_s} s, load {load}");
        World {
            name,
            load,
            fault_s,
            faults: vec![fault.into()],
            live_s: vec![Some(15.0), Some(30.0)],
            ..World::default()
        }
    })
    .into()
}
