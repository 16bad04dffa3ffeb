//! The worlds.

use super::World;
use super::server::{Hint, Kind, Server};

/// The load of most worlds: 4,000 operations, 64 workers, a round trip of 20 ms.
fn world(name: &str, server: Server, ideal_s: f64) -> World {
    let (operations, workers, round_trip_ms) = (4_000, 64, 20.0);
    World {
        name: name.to_owned(),
        kind: String::new(),
        operations,
        workers,
        round_trip_ms,
        before: None,
        server,
        ideal_s,
        max_retry_after_s: None,
        server_errors: false,
    }
}

const fn bucket(rate: f64, burst: f64) -> Server {
    Server::new(Kind::Bucket { rate, burst })
}

/// A limit of 100 per second, with a burst of one second.
const HUNDRED: Server = bucket(100.0, 100.0);

/// Returns all worlds.
pub fn worlds() -> Vec<World> {
    let kinds = [
        ("rejections at random", noise()),
        ("waits that the server asks for", hints()),
        ("times in which everything is rejected", closed()),
        ("short jobs and high limits", starts()),
        ("limits that change, and others", limits()),
        ("overload reported as 503", unavailable(false)),
        ("the same, server errors being rejections", unavailable(true)),
    ];
    let of_kind = |(kind, worlds): (&str, Vec<World>)| {
        let kind = kind.to_owned();
        worlds.into_iter().map(move |world| World { kind: kind.clone(), ..world })
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Rejections that are not evidence of a limit.
fn noise() -> Vec<World> {
    let free = 64.0 / 0.02;
    let mut worlds = Vec::new();
    for (name, noise) in [("0.1 %", 0.001), ("1 %", 0.01), ("5 %", 0.05)] {
        let server = Server { noise, ..Server::new(Kind::Open) };
        worlds.push(world(&format!("noise {name}"), server.clone(), 4_000.0 / free));
        worlds.push(World { operations: 40_000, ..world(&format!("noise {name}, long"), server, 40_000.0 / free) });
        worlds.push(world(&format!("noise {name}, 100/s"), Server { noise, ..HUNDRED }, 39.0));
        let server = Server { noise, ..bucket(1_000.0, 1_000.0) };
        worlds.push(World { operations: 40_000, ..world(&format!("noise {name}, 1,000/s"), server, 39.0) });
    }
    let sick = Server { sick: 20, ..Server::new(Kind::Open) };
    worlds.push(world("1 of 20 is sick", sick.clone(), 4_000.0 / free));
    worlds.push(World { operations: 40_000, ..world("1 of 20 is sick, long", sick, 40_000.0 / free) });
    worlds
}

/// Waits that the server asks for.
fn hints() -> Vec<World> {
    let mut worlds: Vec<World> = [2, 5, 30]
        .map(|wait| world(&format!("always {wait} s"), Server { hint: Hint::Always(wait), ..HUNDRED }, 39.0))
        .into();
    let hourly = Server { hint: Hint::Honest, ..Server::new(Kind::Window { requests: 5_000, length_s: 3_600.0 }) };
    worlds.push(World { operations: 12_000, ..world("5,000 per hour", hourly.clone(), 7_200.0) });
    let waits = World { operations: 12_000, max_retry_after_s: Some(7_200), ..world("", hourly, 7_200.0) };
    worlds.push(World { name: "5,000 per hour, 2 h".to_owned(), ..waits });
    let minute = Server { hint: Hint::Honest, ..Server::new(Kind::Window { requests: 600, length_s: 60.0 }) };
    worlds.push(World { operations: 3_000, ..world("600 per minute, hints", minute, 240.0) });
    let sliding =
        |requests, length_s| Server { hint: Hint::Honest, ..Server::new(Kind::Sliding { requests, length_s }) };
    worlds.push(world("100 in any second, hints", sliding(100, 1.0), 39.0));
    worlds.push(world("1,000 in any 10 s, hints", sliding(1_000, 10.0), 30.0));
    worlds.push(World { operations: 3_000, ..world("600 in any minute, hints", sliding(600, 60.0), 240.0) });
    worlds
}

/// Times in which everything is rejected.
fn closed() -> Vec<World> {
    let mut worlds: Vec<World> = [(1, "1 worker"), (2, "2 workers"), (8, "8 workers")]
        .map(|(workers, named)| {
            let server = Server::new(Kind::Window { requests: 600, length_s: 60.0 });
            let name = format!("600 per minute, {named}");
            World { operations: 3_000, workers, ..world(&name, server, 240.0) }
        })
        .into();
    for closed in [10.0, 30.0, 60.0, 120.0] {
        let server = Server { closed_s: Some((10.0, 10.0 + closed)), ..HUNDRED };
        // A bucket fills up while it rejects everything.
        worlds.push(world(&format!("closed for {closed} s"), server, 38.0 + closed));
    }
    worlds
}

/// Short jobs, jobs after a pause, and high limits.
fn starts() -> Vec<World> {
    let high = bucket(3_500.0, 3_500.0);
    let mut worlds = Vec::new();
    for (workers, named) in [(64, "64"), (256, "256"), (1_024, "1,024")] {
        let name = format!("4,003 at 3,500/s, {named} workers");
        let ideal = (4_003.0 * 0.02 / f64::from(workers)).max(503.0 / 3_500.0);
        worlds.push(World { operations: 4_003, workers, ..world(&name, high.clone(), ideal) });
    }
    let idle = world("1,000 after idling", bucket(100.0, 1_000.0), 1_000.0 * 0.02 / 64.0);
    worlds.push(World { operations: 1_000, before: Some((200, 600.0)), ..idle });
    let fast = World { operations: 500_000, workers: 2_048, ..world("50,000/s", bucket(50_000.0, 50_000.0), 9.0) };
    worlds.push(fast);
    worlds
}

/// Servers that tell overload as 503, with and without the setting for them.
fn unavailable(server_errors: bool) -> Vec<World> {
    let world = |name: &str, kind: Kind, ideal_s: f64| {
        let server = Server { unavailable: true, ..Server::new(kind) };
        let name = if server_errors { format!("{name} (set)") } else { name.to_owned() };
        World { server_errors, ..world(&name, server, ideal_s) }
    };
    let leaky = |burst: f64, delays| Kind::Leaky { rate: 100.0, burst, delays };
    vec![
        world("20 slots of 200 ms", Kind::Slots { slots: 20, service_ms: 200.0 }, 40.0),
        world("limit_req, no burst", leaky(0.0, false), 40.0),
        world("limit_req, burst 20", leaky(20.0, true), 40.0),
        world("limit_req, burst 20, nodelay", leaky(20.0, false), 39.8),
    ]
}

/// Limits that it followed from the beginning.
fn limits() -> Vec<World> {
    let mut worlds: Vec<World> = [16, 64, 256]
        .map(|workers| World { workers, ..world(&format!("copy, {workers} workers"), HUNDRED, 39.0) })
        .into();
    worlds.push(World { operations: 500, ..world("no burst", bucket(100.0, 1.0), 5.0) });
    for burst in [50.0, 10.0] {
        let server = Server::new(Kind::Buckets { servers: 20, rate: 50.0, burst });
        let name = format!("20 servers, burst {burst}");
        worlds.push(World { operations: 40_000, ..world(&name, server, 40.0 - burst / 50.0) });
    }
    let steps = Kind::Steps { rates: vec![(0.0, 100.0), (60.0, 40.0), (120.0, 160.0)], burst: 100.0 };
    worlds.push(World { operations: 18_000, ..world("steps", Server::new(steps), 120.0 + 9_500.0 / 160.0) });
    for burst in [6_000.0, 30_000.0] {
        let name = format!("burst of {} s", burst / 100.0);
        worlds.push(World { operations: 40_000, ..world(&name, bucket(100.0, burst), (40_000.0 - burst) / 100.0) });
    }
    let tide = Kind::Tide { rate: 100.0, burst: 100.0, period_s: 120.0 };
    worlds.push(World { operations: 24_000, ..world("tide", Server::new(tide), 239.0) });
    worlds.push(World { operations: 200, workers: 16, ..world("1/s", bucket(1.0, 1.0), 199.0) });
    worlds.push(World { operations: 1_000, workers: 16, ..world("5/s", bucket(5.0, 5.0), 199.0) });
    for round_trip_ms in [200.0, 1_000.0, 2_000.0] {
        let name = format!("round trip {round_trip_ms} ms");
        worlds.push(World { workers: 400, round_trip_ms, ..world(&name, HUNDRED, 39.0) });
    }
    let second = Server::new(Kind::Window { requests: 1_000, length_s: 1.0 });
    worlds.push(World { operations: 40_000, ..world("1,000 per second", second, 39.0) });
    let falls = Kind::Steps { rates: vec![(0.0, 1_000.0), (10.0, 5.0)], burst: 1_000.0 };
    worlds.push(World { operations: 12_000, ..world("falls from 1,000 to 5/s", Server::new(falls), 210.0) });
    worlds
}
