//! The worlds.

use super::{Fault, Goal, World};

/// What most worlds share: ten small servers at a low load, and ten processes.
fn usual() -> World {
    World {
        name: String::new(),
        servers: 10,
        slots: 1,
        load: 0.3,
        processes: 10,
        fault: Fault::None,
        attempt_timeout_s: 1.0,
        is_cold: false,
        calls: 40_000,
        fixed_ms: None,
        goal: Goal::P99(0.0),
    }
}

fn named(name: &str, fault: Fault, goal: Goal) -> World {
    World { name: name.to_owned(), fault, goal, ..usual() }
}

fn loaded(load: f64) -> World {
    World { load, ..named(&format!("load {load}"), Fault::None, Goal::MedianTimes(1.1)) }
}

fn counted(processes: u32) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") }
}

fn overloaded(processes: u32) -> World {
    let fault = Fault::Overload { load: 1.1 };
    let name = format!("overload of {}, {}", 1.1, counted(processes));
    World { load: 0.7, processes, calls: 11_000, ..named(&name, fault, Goal::FailedPoints(2.0)) }
}

fn cold(processes: u32) -> World {
    let name = format!("the first 300 calls, {}", counted(processes));
    World { processes, is_cold: true, calls: 300 * processes, ..named(&name, Fault::None, Goal::HedgedPercent(5.0)) }
}

/// Returns the worlds.
pub fn worlds() -> Vec<World> {
    vec![
        World { servers: 30, ..named("one of 30 hangs", Fault::Hang, Goal::P99(100.0)) },
        World {
            fixed_ms: Some(30.0),
            ..named("pauses of 1 s in 20", Fault::Pauses { pause_s: 1.0, every_s: 20.0 }, Goal::P99(150.0))
        },
        World {
            servers: 30,
            attempt_timeout_s: 0.1,
            ..named("one of 30 hangs, attempts of 0.1 s", Fault::Hang, Goal::P99(100.0))
        },
        World {
            slots: 4,
            ..named("3 % take 6 times as long", Fault::SomeSlow { share: 0.03, factor: 6.0 }, Goal::P99Times(0.7))
        },
        loaded(0.8),
        loaded(0.95),
        overloaded(1),
        overloaded(50),
        World { calls: 10_000, ..named("3x slower", Fault::Slower { factor: 3.0 }, Goal::P99Times(1.1)) },
        World {
            load: 0.02,
            fixed_ms: Some(30.0),
            ..named("one of 10 is slow", Fault::SlowServer { factor: 20.0 }, Goal::P99OfFixed(50.0))
        },
        cold(1),
        cold(50),
    ]
}
