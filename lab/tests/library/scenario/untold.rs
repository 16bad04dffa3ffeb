use lab::call::CallError;
use lab::scenario::untold::{Ban, Gate, Key, Outcome, World, run, strategies, worlds};
use lab::scenario::worlds::{Kind, Running, Server};
use lab::servers::Limit;
use retry_core::time::Timestamp;
use std::rc::Rc;
use std::time::Duration;

fn world(name: &str) -> World {
    worlds().into_iter().find(|world| world.name == name).unwrap()
}

fn outcome(world: &World, strategy: &str) -> Outcome {
    let strategy = strategies(21, world).into_iter().find(|known| known.name() == strategy).unwrap();
    run(world, &strategy, 1)
}

#[test]
fn a_ban_begins_with_the_request_that_is_too_much_and_says_how_long_it_lasts() {
    let ban = Ban { requests: 3, within_s: 1.0, lasts_s: 30.0, hints: true };
    let limit = Box::new(Running::new(&Server::new(Kind::Open), 1));
    let key = Key::Good { limit, gate: Rc::new(Gate::new(Some(ban))) };
    let admit = |millis| key.admit(Timestamp::START.saturating_add(Duration::from_millis(millis)));
    assert!([0, 400, 800, 1_000].into_iter().all(|millis| admit(millis).is_ok()), "3 within any second");
    let banned = |seconds| Err(CallError::Throttled { retry_after: Some(Duration::from_secs(seconds)) });
    assert_eq!(admit(1_300), banned(30));
    assert_eq!((admit(2_000), admit(31_299), admit(31_300)), (banned(30), banned(1), Ok(())));
}

#[test]
fn a_run_ends_with_the_last_operation_that_does_not_go_to_the_bad_key() {
    let world = World { operations: 400, bad_every: 100, ..world("1 % to a bad key") };
    let outcome = outcome(&world, "AIMD window");
    assert_eq!((outcome.succeeded, outcome.failed), (396, 0));
    assert!(outcome.rejected >= 4 && outcome.time < Duration::from_secs(100), "{outcome:?}");
}

#[test]
fn a_strategy_that_is_told_a_limit_and_its_burst_uses_both_and_is_rejected_next_to_never() {
    let told = outcome(&world("500 at 100/s, burst 100"), "governor, told");
    assert_eq!((told.succeeded, told.failed), (500, 0));
    assert!(told.rejected < 5 && told.time < Duration::from_millis(4_100), "{told:?}");
}

#[test]
fn operations_of_an_open_load_begin_whether_others_are_done_or_not() {
    let outcome = outcome(&world("20/s arrive, noise 0 %"), "new(), no quota");
    assert_eq!((outcome.succeeded, outcome.failed, outcome.requests), (2_400, 0, 2_400));
    assert!((outcome.goodput() - 20.0).abs() < 2.0 && (outcome.mean_latency_s() - 0.02).abs() < 0.002, "{outcome:?}");
}
