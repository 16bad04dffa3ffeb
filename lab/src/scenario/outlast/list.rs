//! The worlds.

use super::super::faults::Fault;
use super::world::{Answer, Jobs, Spell, World};

/// Returns all worlds.
pub fn worlds() -> Vec<World> {
    let kinds = [
        ("outages", outages()),
        ("round trips", round_trips()),
        ("no timeout", without_timeout()),
        ("stalls", stalls()),
        ("returns", returns()),
        ("restarts", restarts()),
        ("replicas", replicas()),
        ("few", few()),
        ("batches", batches()),
        ("programs", programs()),
    ];
    let of_kind = |(kind, worlds): (&str, Vec<World>)| {
        let kind = kind.to_owned();
        worlds.into_iter().map(move |world| World { kind: kind.clone(), ..world })
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Returns a world with a fault.
fn world(name: impl Into<String>, load: f64, fault_s: u32, fault: Fault) -> World {
    World { name: name.into(), load, fault_s, faults: vec![fault.into()], ..World::default() }
}

/// How long operations may take where that matters. A limit cuts the last attempt, too.
fn lives() -> Vec<Option<f64>> {
    vec![None, Some(15.0), Some(30.0)]
}

/// Outages of some seconds. The server has spare capacity for what they leave.
fn outages() -> Vec<World> {
    let worlds = [
        (Fault::Down, 3, 0.5),
        (Fault::Down, 10, 0.3),
        (Fault::Down, 10, 0.5),
        (Fault::Down, 10, 0.8),
        (Fault::Down, 30, 0.5),
        (Fault::Stall, 10, 0.5),
    ];
    let worlds = worlds.map(|(fault, fault_s, load)| {
        let what = if fault == Fault::Down { "down" } else { "stall" };
        World { live_s: lives(), ..world(format!("{what} {fault_s} s, load {load}"), load, fault_s, fault) }
    });
    worlds.into()
}

/// The outages with longer round trips: a fast answer takes a larger part of the timeout.
fn round_trips() -> Vec<World> {
    let worlds = [200, 300].into_iter().flat_map(|millis: u32| {
        outages().into_iter().map(move |world| World {
            name: format!("{}, {millis} ms", world.name),
            round_trip_ms: millis.into(),
            ..world
        })
    });
    worlds.collect()
}

/// The outages without a timeout of attempts: what hangs is cut by the time of the operation.
fn without_timeout() -> Vec<World> {
    let worlds = outages().into_iter();
    worlds.map(|world| World { name: format!("{}, no timeout", world.name), timeout_s: None, ..world }).collect()
}

/// Stalls from which a server recovers late.
fn stalls() -> Vec<World> {
    let mut worlds = vec![
        world("stall 10 s, load 0.8", 0.8, 10, Fault::Stall),
        world("stall 10 s, load 0.93", 0.93, 10, Fault::Stall),
        World { lives_s: Some(2.0), ..world("stall 10 s, lives of 2 s", 0.8, 10, Fault::Stall) },
        // 250 operations in a second, so one in a minute of each process.
        World { processes: vec![15_000], rate: 500.0, ..world("stall 10 s, 15,000 processes", 0.5, 10, Fault::Stall) },
        // A retry of each timeout is as much as the server has to spare.
        World { is_lone: true, rate: 500.0, ..world("stall 10 s, lone processes", 0.5, 10, Fault::Stall) },
    ];
    worlds.extend([5.0, 10.0, 20.0].map(|rate| World {
        rate,
        processes: vec![100],
        after_s: 1_000,
        ..world(format!("stall 10 s, server of {rate}/s"), 0.93, 10, Fault::Stall)
    }));
    worlds
}

/// Servers that do not return as they were.
fn returns() -> Vec<World> {
    let then = |name: &str, fault, from_s, to_s| World {
        faults: vec![Fault::Down.into(), Spell { from_s, to_s: Some(to_s), ..fault }],
        live_s: lives(),
        ..world(name, 0.5, 10, Fault::Down)
    };
    let down = Spell { to_s: Some(10.0), ..Fault::Down.into() };
    let twice = |name: &str, fault: Fault| {
        let second = Spell { from_s: 13.0, to_s: Some(23.0), ..fault.into() };
        World { faults: vec![down, second], live_s: lives(), ..world(name, 0.5, 23, fault) }
    };
    vec![
        then("down 10 s, then half", Fault::Slow(2.0).into(), 10.0, 1_000.0),
        then("down 10 s, then half for 60 s", Fault::Slow(2.0).into(), 10.0, 70.0),
        then("down 10 s, then half for 5 s", Fault::Slow(2.0).into(), 10.0, 15.0),
        twice("down 10 s, up 3 s, down 10 s", Fault::Down),
        twice("down 10 s, up 3 s, stall 10 s", Fault::Stall),
    ]
}

/// A restart as users meet it, and deployments that restart one replica after the other.
fn restarts() -> Vec<World> {
    let rarely = |name: &str, per_s: f64, runs| World {
        processes: vec![1],
        begins_s: 300,
        after_s: 100,
        runs,
        ..world(name, per_s / 300.0, 3, Fault::Down)
    };
    let deploy = |pods: u32| {
        let down = |pod: u32| {
            let from_s = f64::from(3 * pod);
            Spell { from_s, to_s: Some(from_s + 3.0), replica: Some(pod), ..Fault::Down.into() }
        };
        World {
            rate: 300.0 / f64::from(pods),
            replicas: pods,
            faults: (0..pods).map(down).collect(),
            ..world(format!("rolling deploy of {pods} pods"), 0.5 * f64::from(pods), 3 * pods, Fault::Down)
        }
    };
    vec![rarely("restart 3 s, 10/s", 10.0, 10), rarely("restart 3 s, 1/s", 1.0, 40), deploy(3), deploy(10)]
}

/// Faults of a part of the requests, for two minutes.
fn replicas() -> Vec<World> {
    let one_of_three = |name: &str, fault: Fault| World {
        replicas: 3,
        faults: vec![Spell { replica: Some(0), ..fault.into() }],
        ..world(name, 0.8, 120, fault)
    };
    vec![
        one_of_three("one of three replicas hangs", Fault::Hang(1.0)),
        one_of_three("one of three replicas refuses", Fault::Down),
        world("20 % of answers lost", 0.8, 120, Fault::Hang(0.2)),
    ]
}

/// Operations so rare that a process knows little.
fn few() -> Vec<World> {
    let per_minute = |name: &str, fault| World {
        processes: vec![1],
        begins_s: 600,
        after_s: 100,
        ..world(name, 1.0 / 60.0 / 300.0, 60_000, fault)
    };
    vec![
        per_minute("1 call per minute, 20 % hang", Fault::Hang(0.2)),
        per_minute("1 call per minute, 50 % refused", Fault::Random { part: 0.5, is_served: true }),
    ]
}

/// Returns a world of processes that make calls.
fn jobs(name: impl Into<String>, jobs: Jobs, fault: Option<Fault>) -> World {
    World {
        name: name.into(),
        jobs: Some(jobs),
        processes: vec![1],
        // The fault is there all the time.
        begins_s: 0,
        fault_s: 1_000_000,
        faults: fault.map(Spell::from).into_iter().collect(),
        ..World::default()
    }
}

/// Many calls of one process.
fn batches() -> Vec<World> {
    let batch = Jobs { workers: 8, calls: 2_000, ..Jobs::default() };
    let down = |fault_s, live_s: &[f64]| World {
        rate: 3_000.0,
        begins_s: 2,
        fault_s,
        live_s: live_s.iter().copied().map(Some).collect(),
        ..jobs(format!("batch, down {fault_s} s"), batch, Some(Fault::Down))
    };
    // Nothing but these calls tells that the service is back.
    let at_once = |fault_s| World {
        rate: 3_000.0,
        fault_s,
        ..jobs(
            format!("300 calls at once, down {fault_s} s"),
            Jobs { workers: 300, calls: 300, ..Jobs::default() },
            Some(Fault::Down),
        )
    };
    let mut worlds = vec![
        down(3, &[15.0]),
        down(10, &[15.0, 30.0]),
        at_once(3),
        at_once(10),
        World { begins_s: 2, fault_s: 10, ..jobs("batch, stall 10 s", batch, Some(Fault::Stall)) },
        jobs("batch, 20 % hang", batch, Some(Fault::Hang(0.2))),
        World {
            rate: 3_000.0,
            first_attempts: vec![Answer::Failed],
            ..jobs("300 calls at once, each reset once", Jobs { workers: 300, calls: 300, ..Jobs::default() }, None)
        },
    ];
    worlds.extend([20, 30, 40].map(|percent: u32| {
        let fault = Fault::Random { part: f64::from(percent) / 100.0, is_served: false };
        jobs(
            format!("6,000 calls, {percent} % fail"),
            Jobs { workers: 8, calls: 6_000, ..Jobs::default() },
            Some(fault),
        )
    }));
    worlds
}

/// Processes of few calls, and calls of processes that are idle otherwise.
fn programs() -> Vec<World> {
    let over = Jobs { over_s: 600.0, ..Jobs::default() };
    let (cli, cron) = (Jobs { processes: 4_000, ..over }, Jobs { processes: 400, calls: 10, ..over });
    let (hang, refused) = (Some(Fault::Hang(0.2)), Some(Fault::Random { part: 0.5, is_served: true }));
    let first = |name: &str, before, first_attempts: &[Answer]| World {
        first_attempts: first_attempts.to_vec(),
        ..jobs(name, Jobs { processes: 200, before, idle_s: 60.0, ..over }, None)
    };
    let (failed, none) = (Answer::Failed, Answer::None);
    let down = |fault_s: u32| World {
        rate: 3_000.0,
        fault_s,
        ..jobs(
            format!("a program of 1 call, down {fault_s} s"),
            Jobs { processes: 400, over_s: f64::from(fault_s), ..Jobs::default() },
            Some(Fault::Down),
        )
    };
    // The probes of such a process take the place of its calls.
    let in_sequence = |fault_s: u32, pause_s: u32| World {
        rate: 3_000.0,
        begins_s: 100,
        fault_s,
        live_s: vec![None],
        ..jobs(
            format!("one call after the other, each {pause_s} s, down {fault_s} s"),
            Jobs { processes: 300, over_s: pause_s.into(), calls: 120 / pause_s + 8, pause_s: pause_s.into(), ..over },
            Some(Fault::Down),
        )
    };
    vec![
        down(3),
        down(10),
        in_sequence(3, 2),
        in_sequence(3, 5),
        in_sequence(10, 2),
        in_sequence(10, 5),
        in_sequence(10, 20),
        jobs("a program of 1 call, 20 % hang", cli, hang),
        jobs("a program of 10 calls, 20 % hang", cron, hang),
        jobs("a program of 1 call, 50 % refused", cli, refused),
        jobs("a program of 10 calls, 50 % refused", cron, refused),
        first("first call: failure, timeout", 0, &[failed, none]),
        first("warm and idle: three failures", 20, &[failed, failed, failed]),
        first("warm and idle: two timeouts", 20, &[none, none]),
    ]
}
