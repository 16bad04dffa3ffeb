//! What a fleet sends after a time in which its server accepted less than the processes want.

use crate::limit_world::{Counts, World};

/// A rate that no process reaches.
const UNLIMITED: f64 = 1e6;
/// The second in which the server begins to accept less.
const BEGIN: u64 = 20;

/// Returns what was accepted in each second.
fn accepted(counts: &Counts, seconds: usize) -> Vec<u32> {
    (0..seconds).map(|second| counts.of_each(second..second + 1).iter().map(|each| each.0).sum()).collect()
}

/// Returns what processes with these requests per second are answered, if the server accepts a part of them for some seconds.
fn brown_out(processes: usize, each: u64, part: f64, length: u64, after: u64) -> Vec<u32> {
    let demand = f64::from(u32::try_from(processes as u64 * each).unwrap());
    let end = BEGIN + length;
    let seconds = usize::try_from(end + after).unwrap();
    // Requests come evenly, and those of different processes at different times.
    let wants = |process: usize, now: u64| {
        let by = |time: u64| (time * each + process as u64 * 379 % 1_000) / 1_000;
        u32::try_from(by(now + 1) - by(now)).unwrap()
    };
    let world = World::new(processes, UNLIMITED).burst(0.1).wants(wants);
    let counts = world.later(BEGIN, part * demand).later(end, UNLIMITED).run(seconds);
    accepted(&counts, seconds)
}

// Rules F8, F47.
#[test]
fn a_fleet_sends_what_comes_soon_after_a_brown_out() {
    let mut wrong = Vec::new();
    // In the last one, each process sends far less than once in a step.
    for (processes, each, part, length) in [
        (20, 12, 100.0 / 240.0, 4),
        (2, 120, 100.0 / 240.0, 4),
        (20, 12, 0.2, 10),
        (50, 5, 0.5, 30),
        (5, 40, 0.9, 60),
        (100, 2, 0.3, 5),
    ] {
        let by_second = brown_out(processes, each, part, length, 60);
        let demand = f64::from(u32::try_from(processes as u64 * each).unwrap());
        let settled = usize::try_from(BEGIN + length + 15).unwrap();
        println!(
            "{processes} x {each}, {part:.2} for {length} s: {:?}",
            &by_second[usize::try_from(BEGIN).unwrap() - 2..]
        );
        if by_second[settled..].iter().any(|accepted| (f64::from(*accepted) / demand - 1.0).abs() > 0.1) {
            wrong.push((processes, each, part, length));
        }
    }
    assert!(wrong.is_empty(), "not flat: {wrong:?}");
}
