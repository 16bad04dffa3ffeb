//! The worlds.

use super::super::worlds::{Hint, Kind, Server};
use super::World;
use super::server::{Ban, Site};

/// A job of 4,000 operations by 64 workers, over a round trip of 20 ms.
fn world(name: &str, site: Site, ideal_s: f64) -> World {
    World {
        name: name.to_owned(),
        operations: 4_000,
        processes: 1,
        workers: 64,
        per_second: None,
        round_trip_ms: 20.0,
        bad_every: 0,
        max_time_s: None,
        site,
        ideal_s,
        told: None,
    }
}

const fn bucket(rate: f64, burst: f64) -> Server {
    Server::new(Kind::Bucket { rate, burst })
}

const fn window(requests: u64, length_s: f64) -> Server {
    Server::new(Kind::Window { requests, length_s })
}

/// A limit of 100 per second, with a burst of one second.
const HUNDRED: Site = Site::of(bucket(100.0, 100.0));

/// Returns all worlds.
pub fn worlds() -> Vec<World> {
    [bad_keys(), low_rates(), bans(), others(), known(), overload()].into_iter().flatten().collect()
}

/// Operations whose key rejects everything, and rejections at random.
fn bad_keys() -> Vec<World> {
    let noisy = |noise, server| Site::of(Server { noise, ..server });
    let open = |noise| World {
        operations: 2_400,
        per_second: Some(20.0),
        ..world(&format!("20/s arrive, noise {} %", 100.0 * noise), noisy(noise, Server::new(Kind::Open)), 120.0)
    };
    vec![
        World { bad_every: 1_000, ..world("0.1 % to a bad key", HUNDRED, 38.96) },
        World { bad_every: 100, ..world("1 % to a bad key", HUNDRED, 38.6) },
        World {
            operations: 40_000,
            workers: 256,
            bad_every: 300,
            ..world("0.3 % to a bad key, 1,000/s", Site::of(bucket(1_000.0, 1_000.0)), 38.87)
        },
        open(0.0),
        open(0.01),
        open(0.05),
        world("noise 1 %, 100/s", noisy(0.01, bucket(100.0, 100.0)), 39.0),
        world("noise 5 %, 100/s", noisy(0.05, bucket(100.0, 100.0)), 39.0),
    ]
}

/// Limits of a few requests in a minute or an hour.
fn low_rates() -> Vec<World> {
    let hourly = Site::of(Server { hint: Hint::Honest, ..window(10, 3_600.0) });
    vec![
        World {
            operations: 30,
            workers: 8,
            told: Some((0.1, 1)),
            ..world("1 in 10 s", Site::of(bucket(0.1, 1.0)), 290.0)
        },
        World {
            operations: 100,
            workers: 4,
            told: Some((0.5, 3)),
            ..world("1 in 2 s, burst 3", Site::of(bucket(0.5, 3.0)), 194.0)
        },
        World {
            operations: 14,
            workers: 2,
            told: Some((10.0 / 3_600.0, 1)),
            ..world("10 per hour, hints", hourly, 3_600.0)
        },
    ]
}

/// Servers that ban clients which send too much.
fn bans() -> Vec<World> {
    let twice = |hints| Site { ban: Some(Ban { requests: 200, within_s: 1.0, lasts_s: 30.0, hints }), ..HUNDRED };
    let firewall = |hints| {
        let ban = Ban { requests: 100, within_s: 10.0, lasts_s: 60.0, hints };
        Site { ban: Some(ban), ..Site::of(Server::new(Kind::Open)) }
    };
    let (told, fire) = (Some((100.0, 100)), Some((9.9, 1)));
    vec![
        World { told, ..world("ban at twice the limit, hints", twice(true), 39.0) },
        World { told, ..world("ban at twice the limit", twice(false), 39.0) },
        World { operations: 1_000, told: fire, ..world("firewall: 100 in 10 s", firewall(false), 90.0) },
        World { operations: 1_000, told: fire, ..world("firewall: 100 in 10 s, hints", firewall(true), 90.0) },
    ]
}

/// Limits that others share, and cells.
fn others() -> Vec<World> {
    let rates = (0..2_000).map(|turn| (3.0 * f64::from(turn), if turn % 2 == 0 { 100.0 } else { 10.0 })).collect();
    let others = Site::of(Server::new(Kind::Steps { rates, burst: 10.0 }));
    let cells = |server| Site { cells: 8, ..Site::of(server) };
    vec![
        world("others take 90 % every other 3 s", others, 72.0),
        World {
            processes: 1_000,
            workers: 2,
            operations: 10,
            ..world("1,000 processes start at once", Site::of(bucket(500.0, 500.0)), 19.0)
        },
        World { processes: 20, workers: 4, operations: 200, ..world("20 processes start at once", HUNDRED, 39.0) },
        World { told: Some((100.0, 8)), ..world("8 cells, windows of 1 s", cells(window(13, 1.0)), 39.0) },
        World { told: Some((100.0, 5)), ..world("8 cells, burst 5", cells(bucket(12.5, 5.0)), 39.6) },
    ]
}

/// Limits that are known, without a burst and with one, and short jobs.
fn known() -> Vec<World> {
    let high = Site::of(bucket(3_500.0, 3_500.0));
    vec![
        World { operations: 500, told: Some((100.0, 1)), ..world("no burst", Site::of(bucket(100.0, 1.0)), 5.0) },
        World { operations: 500, told: Some((100.0, 100)), ..world("500 at 100/s, burst 100", HUNDRED, 4.0) },
        World {
            operations: 500,
            told: Some((50.0, 200)),
            ..world("500 at 50/s, burst 200", Site::of(bucket(50.0, 200.0)), 6.0)
        },
        World {
            operations: 4_003,
            workers: 256,
            told: Some((3_500.0, 3_500)),
            ..world("4,003 at 3,500/s, 256 workers", high, 0.3128)
        },
    ]
}

/// An open load above the limit, of operations that may take 2 s.
fn overload() -> Vec<World> {
    let overload = |times: f64| World {
        operations: 6_000,
        per_second: Some(100.0 * times),
        max_time_s: Some(2.0),
        told: Some((100.0, 100)),
        ..world(&format!("{times}x of the limit arrives, 2 s each"), HUNDRED, 60.0 / times)
    };
    [1.5, 3.0].map(overload).into()
}
