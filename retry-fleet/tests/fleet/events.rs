//! What happens to a fleet and to its store, and what the fleet does then: the numbers in the table of events in docs/semantics.md.

use crate::limit_world::World;

const PROCESSES: usize = 20;
const LIMIT: f64 = 200.0;
/// The second in which an event happens, the seconds after which its goal is met, and the end.
const HAPPENS: u64 = 25;
const SOON: usize = 10;
const END: usize = 55;

/// Returns the parts of the limit that were used, and of the requests that were rejected, until the goal is to be met, and afterwards.
fn seen(world: World<'_>, limit: f64, happens: u64) -> [(f64, f64); 2] {
    let (counts, happens) = (world.run(END), usize::try_from(happens).unwrap());
    [happens..happens + SOON, happens + SOON..END].map(|seconds| {
        let length = f64::from(u32::try_from(seconds.len()).unwrap());
        let each = counts.of_each(seconds);
        let sum = |of: fn(&(u32, u32)) -> u32| each.iter().map(|each| f64::from(of(each))).sum::<f64>();
        let (accepted, rejected) = (sum(|each| each.0), sum(|each| each.1));
        (accepted / (limit * length), rejected / (accepted + rejected))
    })
}

// Rules F8, F10, F26, F27, F35, F36, F37.
#[test]
fn after_each_event_the_limit_is_soon_used_again_with_few_rejections() {
    let new = || World::new(PROCESSES, LIMIT);
    let in_event = |second: u64, length: u64| (HAPPENS..HAPPENS + length).contains(&second);
    let millis = 1_000 * HAPPENS;
    let is_old = |process: usize| process < PROCESSES / 2;
    // In turn, an old process ends and a new one starts.
    let rolls = |process: usize, second: u64| is_old(process) == (second >= HAPPENS + process as u64 % 10);
    let events = [
        ("start", 0, new(), LIMIT),
        ("join", HAPPENS, new().crash(|process, second| is_old(process) && second < HAPPENS), LIMIT),
        ("deaths", HAPPENS, new().crash(|process, second| is_old(process) && second >= HAPPENS), LIMIT),
        ("mass death", HAPPENS, new().crash(|process, second| process < 18 && second >= HAPPENS), LIMIT),
        ("stopped", HAPPENS, new().crash(|process, second| is_old(process) && in_event(second, 10)), LIMIT),
        ("rollout", HAPPENS, new().crash(rolls), LIMIT),
        ("one is cut off", HAPPENS, new().cut_off(|process, second| process == 0 && in_event(second, 10)), LIMIT),
        ("lost", HAPPENS, new().cut_off(|_, second| second >= HAPPENS), LIMIT),
        ("back", HAPPENS, new().cut_off(|_, second| (5..HAPPENS).contains(&second)), LIMIT),
        ("late", HAPPENS, new().slow(HAPPENS..100), LIMIT),
        ("emptied", HAPPENS, new().empty_the_store_at(millis), LIMIT),
        (
            "back and empty",
            HAPPENS,
            new().cut_off(|_, second| (5..HAPPENS).contains(&second)).empty_the_store_at(millis),
            LIMIT,
        ),
        ("lost young", 3, new().cut_off(|_, second| second >= 3), LIMIT),
        ("rises", HAPPENS, World::new(PROCESSES, LIMIT / 2.0).later(HAPPENS, LIMIT), LIMIT),
        ("falls", HAPPENS, new().later(HAPPENS, LIMIT / 2.0), LIMIT / 2.0),
    ];
    let mut wrong = Vec::new();
    for (name, happens, world, limit) in events {
        let [soon, later] = seen(world, limit, happens);
        let percent =
            |(used, rejected): (f64, f64)| format!("{:.0} % used, {:.0} % rejected", 100.0 * used, 100.0 * rejected);
        println!("{name}: {}; later {}", percent(soon), percent(later));
        if soon.0 < 0.7 || later.0 < 0.95 || later.1 > 0.05 {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
