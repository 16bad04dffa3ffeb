//! The goals of the paced strategy and, in a file of their own, of hedges, on seeds that nothing was tuned on. A limit is the goal, except
//! where a comment says what was reached. The output of a run has the numbers: `cargo test --release -p lab --test goals -- --nocapture`.

mod hedges;

use lab::aimd;
use lab::scenario::{changing, copy, many, untold, weights, worlds};
use lab::strategies::Strategy;
use retry_core::quota::NoQuota;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, PacedLimiter, PacedRetryStrategy, Pair};
use std::time::Duration;

/// The first seed. The strategy was tuned on 0 to 4 and 2000 to 3019, in another simulation and in this one.
const FIRST: u64 = 7000;

fn paced(seed: u64) -> PacedRetryStrategy {
    PacedRetryStrategy::over(StandardRetryStrategy::new().max_attempts(3).seed(seed)).seed(seed)
}

fn with_ramp() -> Strategy {
    Strategy::of("paced", paced)
}

fn without_ramp() -> Strategy {
    Strategy::of("paced, no ramp", |seed| paced(seed).ramp(false))
}

/// Returns the mean and the highest value over the seeds.
fn over(seeds: u64, measure: impl Fn(u64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (FIRST..FIRST + seeds).map(measure).collect();
    let sum: f64 = values.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let mean = sum / values.len() as f64;
    (mean, values.into_iter().fold(0.0, f64::max))
}

#[track_caller]
fn at_most(what: &str, (mean, highest): (f64, f64), limit: f64) {
    println!("{what}: {mean:.4}, at most {highest:.4}, limit {limit}");
    assert!(mean <= limit, "{what}: {mean}, and the limit is {limit}");
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Runs copies, of which no operation may fail. Returns the time by the ideal time, and the share of rejected requests.
fn copies(options: &copy::Options, strategy: &Strategy, workers: u32, seeds: u64) -> [(f64, f64); 2] {
    let case = copy::Case { strategy: strategy.clone(), workers };
    let runs: Vec<_> = (FIRST..FIRST + seeds).map(|seed| copy::run(options, &case, seed)).collect();
    assert!(runs.iter().all(|run| run.failed == 0), "{workers} workers: an operation failed");
    let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
    [
        over(seeds, |seed| of(seed).time.as_secs_f64() / options.ideal()),
        over(seeds, |seed| share(of(seed).rejected, of(seed).requests)),
    ]
}

fn large(operations: u64) -> copy::Options {
    let options = copy::Options { rate: 3_500.0, burst: 3_500.0, retry_after: false, ..copy::Options::default() };
    copy::Options { operations, ..options }
}

#[test]
fn a_copy_loses_nothing_takes_the_ideal_time_and_gets_few_rejections() {
    for workers in [16, 64, 256] {
        let [time, rejected] = copies(&copy::Options::default(), &with_ramp(), workers, 10);
        at_most(&format!("{workers} workers, time / ideal"), time, 1.02);
        // It was 0.006 before the ramp doubled faster and looked at eight rejections; a short job takes half of the time since.
        at_most(&format!("{workers} workers, rejected"), rejected, 0.008);
    }
}

#[test]
fn a_copy_against_a_high_limit_takes_little_longer_than_the_ideal_time() {
    let [time, _] = copies(&large(4_003), &without_ramp(), 1_024, 10);
    let ideal = large(4_003).ideal();
    at_most("4,003 operations, s", (time.0 * ideal, time.1 * ideal), 0.3);
    for workers in [256, 1_024] {
        let [time, _] = copies(&large(40_030), &without_ramp(), workers, 5);
        at_most(&format!("40,030 operations, {workers} workers, time / ideal"), time, 1.10);
    }
}

#[test]
fn a_copy_against_a_limit_for_each_whole_second_is_done_within_its_goal() {
    let options = copy::Options { window_s: Some(1.0), ..large(40_030) };
    let [time, _] = copies(&options, &with_ramp(), 256, 10);
    at_most("40,030 operations, fixed window, time / ideal", time, 1.35);
}

#[test]
fn a_limit_with_a_small_burst_is_used_as_well_as_was_reached() {
    // There is no goal. While a client sends less than the limit, such a server saves up next to nothing, so a measurement is
    // too low: 1.12 and 1.16 were reached in 20 s, and 1.58 without any burst, where of two requests in one moment one is rejected.
    let limit = |rate: f64, burst: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
        let operations = (20.0 * rate) as u64;
        copy::Options { operations, rate, burst, ..large(0) }
    };
    for (strategy, name) in [(with_ramp(), "with the ramp"), (without_ramp(), "without the ramp")] {
        let [time, _] = copies(&limit(2_000.0, 100.0), &strategy, 256, 5);
        at_most(&format!("a burst of 50 ms, {name}, time / ideal"), time, 1.25);
    }
    let [time, _] = copies(&limit(100.0, 1.0), &with_ramp(), 64, 5);
    at_most("no burst, time / ideal", time, 1.75);
}

#[test]
fn a_client_follows_a_limit_that_changes() {
    let options = changing::Options::default();
    let run = |seed| changing::run(&options, &with_ramp(), seed);
    let admitted = 60.0 * options.rates.iter().sum::<f64>();
    let time = over(10, |seed| admitted / share(run(seed).succeeded.between(0, 180), 1));
    at_most("a limit that changes, time / ideal", time, 1.05);
    // The first second with 90 % of the limit of 160. It depends on when the last rejection was before the limit rose, so the
    // limit rises at another time for each seed.
    let up = over(20, |seed| {
        let phase_s = u32::try_from(50 + seed - FIRST).unwrap();
        let options = changing::Options { phase_s, ..options.clone() };
        let succeeded = changing::run(&options, &with_ramp(), seed).succeeded;
        let rises = 2 * phase_s as usize;
        let second = (rises..3 * phase_s as usize).find(|second| succeeded.at(*second) >= 144);
        share((second.unwrap_or(3 * phase_s as usize) - rises) as u64, 1)
    });
    at_most("up, s", up, 3.0);
}

#[test]
fn a_limit_that_falls_to_a_small_part_is_learned() {
    // There is no goal. 0.03 to 0.23 was reached, the most with a limit of 1 per second. Nearly all requests would be rejected
    // if the limit were not learned.
    for rates in [[1_000.0, 5.0], [300.0, 2.0], [3_500.0, 10.0], [100.0, 1.0]] {
        let options = changing::Options { rates: rates.to_vec(), ..changing::Options::default() };
        // In the last 30 of 60 seconds.
        let rejected = over(5, |seed| {
            let run = changing::run(&options, &with_ramp(), seed);
            share(run.rejected.between(90, 120), run.requests.between(90, 120))
        });
        at_most(&format!("after a fall from {} to {}, rejected", rates[0], rates[1]), rejected, 0.3);
    }
}

#[test]
fn many_clients_share_a_limit_fairly() {
    const SEEDS: u64 = 10;
    let options = many::Options::default();
    let run = |strategy: Strategy, seed| many::run(&options, &many::Case { strategy, rate: 500.0 }, seed);
    let check = |strategy: fn() -> Strategy, rejected: f64, fairness: f64| {
        let runs: Vec<_> = (FIRST..FIRST + SEEDS).map(|seed| run(strategy(), seed)).collect();
        let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
        let name = strategy().name().to_owned();
        at_most(
            &format!("{name}, rejected"),
            over(SEEDS, |seed| share(of(seed).rejected, of(seed).requests)),
            rejected,
        );
        at_most(&format!("{name}, unfairness"), over(SEEDS, |seed| 1.0 - of(seed).fairness()), 1.0 - fairness);
        let used = over(SEEDS, |seed| 1.0 - share(of(seed).succeeded.iter().sum(), 60 * 500));
        at_most(&format!("{name}, unused part of the limit"), used, 0.02);
    };
    // The goal is a fairness of 0.95, and 0.951 was reached. The margin is for the noise of ten seeds.
    check(with_ramp, 0.085, 0.945);
    check(|| Strategy::with_reports("paced, reports", paced), 0.006, 0.93);
    // A client that joins others must not take their rejections for noise.
    let case = || many::Case { strategy: with_ramp(), rate: 2_000.0 };
    let unfairness = |seed| 1.0 - many::run(&options, &case(), seed).fairness();
    at_most("with 20 per second for each, unfairness", over(4, unfairness), 0.08);
}

/// A limiter gives way to clients that do not: they take what its cuts free. Half would be fair.
#[test]
fn beside_clients_that_do_not_pace_some_of_the_limit_is_left() {
    let options = many::Options { clients: 2, workers: 32, arrive_s: 0, ..many::Options::default() };
    let beside = |name: &str, other: &Strategy, least: f64| {
        let missing = over(4, |seed| {
            let pacing = with_ramp();
            let run = many::run_each(&options, 100.0, seed, |client| if client == 0 { &pacing } else { other });
            1.0 - share(run.succeeded[0], run.succeeded.iter().sum())
        });
        at_most(&format!("beside {name}, the share of the others"), missing, 1.0 - least);
    };
    let unlimited = |seed: u64| StandardRetryStrategy::new().seed(seed).with_quota(NoQuota);
    beside("one that paces", &with_ramp(), 0.4);
    beside("an adaptive one", &Strategy::of("adaptive", move |seed| AdaptiveRetryStrategy::over(unlimited(seed))), 0.5);
    beside("a window", &aimd::window(3, Duration::from_mins(1)), 0.003);
    beside("retries without a quota", &Strategy::of("no quota", unlimited), 0.002);
}

/// Runs all worlds whose names have this beginning. Of each, `[time by the ideal time, rejected share, failed operations]`.
fn worlds_like(beginning: &str) -> Vec<(String, [f64; 3])> {
    let mut found = Vec::new();
    for world in worlds::worlds().into_iter().filter(|world| world.name.starts_with(beginning)) {
        let strategy = worlds::strategies(21, &world).pop().expect("the last one is paced, as shipped");
        let runs: Vec<_> = (FIRST..FIRST + 5).map(|seed| worlds::run(0.1, &world, &strategy, seed)).collect();
        let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
        let (time, _) = over(5, |seed| of(seed).time.as_secs_f64() / world.ideal_s);
        let (rejected, _) = over(5, |seed| share(of(seed).rejected, of(seed).requests));
        let (failed, _) = over(5, |seed| share(of(seed).failed, 1));
        println!("{}: time / ideal {time:.3}, rejected {rejected:.4}, failed {failed:.1}", world.name);
        found.push((world.name, [time, rejected, failed]));
    }
    assert!(!found.is_empty(), "{beginning}");
    found
}

/// Checks that no operation fails in the worlds of this beginning, and the goals.
fn world_goals(beginning: &str, time: f64, rejected: f64) {
    for (name, [took, share, failed]) in worlds_like(beginning) {
        assert!(took <= time, "{name}: time / ideal {took}, and the goal is {time}");
        assert!(share <= rejected, "{name}: rejected {share}, and the goal is {rejected}");
        assert!(failed.abs() < 0.5, "{name}: {failed} operations failed");
    }
}

/// Returns the world of a server that takes 20 requests at a time.
fn twenty_in_flight(service_s: f64) -> worlds::World {
    let round_trip_s = 0.02;
    let other = worlds::worlds().into_iter().find(|world| world.name.starts_with("copy")).expect("a world");
    let slots = worlds::Kind::Slots { slots: 20, service_ms: 1_000.0 * service_s };
    worlds::World {
        name: format!("20 in flight, {service_s} s"),
        operations: 4_000,
        workers: 64,
        round_trip_ms: 1_000.0 * round_trip_s,
        server: worlds::Server::new(slots),
        // A slot is not used while its answer and the next request are on their way.
        ideal_s: 4_000.0 * (service_s + round_trip_s) / 20.0,
        ..other
    }
}

#[test]
fn a_limit_on_requests_in_flight_is_used_up_however_long_each_one_takes() {
    let standard = |seed| StandardRetryStrategy::new().max_attempts(3).seed(seed);
    let alone = Strategy::of("concurrency", move |seed| {
        ConcurrencyRetryStrategy::with_limiter(standard(seed), ConcurrencyLimiter::new().seed(seed))
    });
    let beside = Strategy::of("beside the rate", move |seed| {
        let limiters = Pair(PacedLimiter::new(), ConcurrencyLimiter::new().seed(seed));
        LimitedRetryStrategy::with_limiter(standard(seed), limiters)
    });
    let told_beside = Strategy::of("told, beside the rate", move |seed| {
        let limiters = Pair(PacedLimiter::new(), ConcurrencyLimiter::new().max_in_flight(20).seed(seed));
        LimitedRetryStrategy::with_limiter(standard(seed), limiters)
    });
    let told = Strategy::of("told", move |seed| {
        let limiter = ConcurrencyLimiter::new().max_in_flight(20).seed(seed);
        ConcurrencyRetryStrategy::with_limiter(standard(seed), limiter)
    });
    let short = &[0.2, 1.0][..];
    // The goal is 1.08 in all rows. A rate that is not told takes the rejections of the window for its own: 1.18 was reached.
    for (strategy, services, most, most_rejected) in [
        (alone, &[0.05, 0.2, 1.0, 10.0][..], 1.08, 0.04),
        (told, short, 1.02, 0.0),
        (told_beside, short, 1.02, 0.0),
        (beside, short, 1.25, 0.04),
    ] {
        for &service_s in services {
            let world = twenty_in_flight(service_s);
            let runs: Vec<_> = (FIRST..FIRST + 3).map(|seed| worlds::run(0.1, &world, &strategy, seed)).collect();
            let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
            let name = format!("{}, {}", world.name, strategy.name());
            at_most(
                &format!("{name}, time / ideal"),
                over(3, |seed| of(seed).time.as_secs_f64() / world.ideal_s),
                most,
            );
            let rejected = over(3, |seed| share(of(seed).rejected, of(seed).requests));
            at_most(&format!("{name}, rejected"), rejected, most_rejected);
            at_most(&format!("{name}, failed"), over(3, |seed| share(of(seed).failed, 1)), 0.0);
        }
    }
}

#[test]
fn a_limit_on_weights_is_used_up_and_told_it_rejects_next_to_nothing() {
    for job in weights::Options::default().jobs {
        // A limit that is told is told without its burst, so this goal is for the burst of a second.
        let told = if job.name.starts_with("1 to 100, 500/s, burst 500") { (1.1, 0.01) } else { (1.4, 0.01) };
        // The goal of 1 % is for limits that are told. A burst of the heaviest weight is no burst.
        let untold = if job.burst > 100.0 { (1.2, 0.2) } else { (1.35, 0.2) };
        let mut strategies = weights::strategies(21, &job);
        for (time, rejected) in [told, untold] {
            let strategy = strategies.pop().expect("two strategies by weight come last");
            let runs: Vec<_> = (FIRST..FIRST + 3).map(|seed| weights::run(&job, &strategy, seed)).collect();
            let of = |seed: u64| runs[usize::try_from(seed - FIRST).unwrap()];
            let name = format!("{}, {}", job.name, strategy.name());
            at_most(&format!("{name}, time / ideal"), over(3, |seed| of(seed).time), time);
            at_most(
                &format!("{name}, rejected"),
                over(3, |seed| share(of(seed).rejected, of(seed).requests)),
                rejected,
            );
            at_most(&format!("{name}, failed"), over(3, |seed| share(of(seed).failed, 1)), 0.0);
        }
    }
}

#[test]
fn a_wait_that_a_server_always_asks_for_costs_little() {
    for (world, time) in [("always 2 s", 1.1), ("always 5 s", 1.2), ("always 30 s", 2.0)] {
        world_goals(world, time, 0.06);
    }
}

#[test]
fn an_hourly_limit_ends_what_it_must_at_once_and_sends_next_to_nothing_meanwhile() {
    world_goals("5,000 per hour, 2 h", 1.02, 0.015);
    let (_, [.., rejected, failed]) = worlds_like("5,000 per hour").remove(0);
    // The goal is 1 %. At the end of each hour's limit all 64 workers have a request on its way, which is 1.3 %.
    assert!(rejected <= 0.015, "{rejected}");
    assert!(failed <= 180.0, "{failed} operations failed, of those that were on their way and the probes");
}

#[test]
fn a_time_in_which_everything_is_rejected_loses_nothing_and_costs_few_requests() {
    // Probes are a quarter of the time since the first rejection apart, so the last one is up to 30 s late in a job of 160 s.
    world_goals("closed for", 1.22, 0.07);
    for workers in ["1 worker", "2 workers", "8 workers"] {
        world_goals(&format!("600 per minute, {workers}"), 1.07, 0.07);
    }
}

#[test]
fn a_firewall_that_bans_is_learned() {
    for name in ["firewall: 100 in 10 s", "firewall: 100 in 10 s, hints"] {
        let world = untold::worlds().into_iter().find(|world| world.name == name).expect("it is there");
        let strategies = untold::strategies(21, &world);
        let paced = strategies.iter().find(|strategy| strategy.name() == "paced").expect("it is there");
        let runs: Vec<_> = (FIRST..FIRST + 5).map(|seed| untold::run(&world, paced, seed)).collect();
        let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
        let time = over(5, |seed| of(seed).time.as_secs_f64() / world.ideal_s);
        at_most(&format!("{name}, time / ideal"), time, 2.8);
        at_most(&format!("{name}, rejected"), over(5, |seed| share(of(seed).rejected, of(seed).requests)), 0.3);
        at_most(&format!("{name}, failed"), over(5, |seed| share(of(seed).failed, 1)), 0.0);
    }
}

#[test]
fn rejections_at_random_cost_little_if_enough_is_sent() {
    for (world, time) in [
        ("noise 0.1 %, long", 1.1),
        ("noise 0.1 %, 1,000/s", 1.5),
        ("noise 1 %, long", 1.2),
        ("noise 1 %, 1,000/s", 1.5),
        ("noise 5 %, long", 2.0),
        ("noise 5 %, 1,000/s", 1.5),
        ("1 of 20 is sick", 2.0),
    ] {
        world_goals(world, time, 0.08);
    }
    // The goal is 1.5 here, too, and 1.65 to 1.8 was reached. At 100 per second, a client can't tell noise of 1 % from neighbours.
    // Noise of 5 % costs a factor of 11.
    world_goals("noise 1 %, 100/s", 2.0, 0.04);
}

#[test]
fn a_job_that_is_shorter_than_a_ramp_takes_less_than_twice_the_ideal_time() {
    world_goals("4,003 at 3,500/s, 64 workers", 2.0, 0.01);
    world_goals("1,000 after idling", 2.0, 0.01);
    world_goals("4,003 at 3,500/s, 256 workers", 2.0, 0.01);
}

/// Runs a world with a strategy that is told a limit. Returns the mean time by the ideal time, and the mean rejected share.
fn told(name: &str, deviation: f64, limit: f64) -> [f64; 2] {
    let world = worlds::worlds().into_iter().find(|world| world.name == name).expect("it is there");
    let strategy = Strategy::of("paced, told", move |seed| paced(seed).max_rate(limit));
    let runs: Vec<_> = (FIRST..FIRST + 5).map(|seed| worlds::run(deviation, &world, &strategy, seed)).collect();
    assert!(runs.iter().all(|run| run.failed == 0), "an operation failed");
    let of = |seed: u64| &runs[usize::try_from(seed - FIRST).unwrap()];
    let (time, _) = over(5, |seed| of(seed).time.as_secs_f64() / world.ideal_s);
    let (rejected, _) = over(5, |seed| share(of(seed).rejected, of(seed).requests));
    println!("{name}, told {limit}, deviation {deviation}: time / ideal {time:.3}, rejected {rejected:.4}");
    [time, rejected]
}

#[test]
fn a_told_limit_without_a_burst_is_used_as_well_as_its_network_allows() {
    // The goal is 1.05 at 3 %. Sends that are 10.5 ms apart arrive at least 10 ms apart, but for 3 % of them, if the time between
    // them deviates by 0.27 ms, so a message by 0.19 ms, a fiftieth of its 10 ms. With a deviation of a tenth, no even space is
    // better than 1.30, at 12.5 ms.
    for (deviation, least) in [(0.0, 1.04), (0.005, 1.04), (0.01, 1.06), (0.1, 1.36)] {
        let [time, rejected] = told("no burst", deviation, 100.0);
        assert!(time <= least && rejected <= 0.03, "deviation {deviation}: time / ideal {time}, rejected {rejected}");
    }
}

#[test]
fn a_told_limit_that_is_right_or_too_high_costs_little() {
    // A right one leaves a burst of one second unused, and 3 % of the limit: 40 / 39 and 1.03.
    for (limit, most) in [(100.0, 1.06), (200.0, 1.05)] {
        let [time, rejected] = told("copy, 64 workers", 0.1, limit);
        assert!(time <= most && rejected <= 0.01, "told {limit}: time / ideal {time}, rejected {rejected}");
    }
}

#[test]
fn overload_told_as_503_loses_nothing_with_the_setting_for_it() {
    for (world, time, rejected) in [
        // The goal is that no operation fails. 1.37, 1.66, 1.00 and 1.00 times the ideal time were reached, and 0.7 to 1.3 % rejected.
        ("20 slots of 200 ms (set)", 1.5, 0.03),
        ("limit_req, no burst (set)", 1.9, 0.03),
        ("limit_req, burst 20 (set)", 1.1, 0.03),
        ("limit_req, burst 20, nodelay (set)", 1.1, 0.03),
    ] {
        world_goals(world, time, rejected);
    }
}
