use lab::World as Time;
use lab::call::{Call, CallError};
use lab::scenario::worlds::{Kind, Outcome, Running, Server, World, run, strategies, worlds};
use lab::servers::Limit;
use lab::strategies::Strategy;
use retry_core::time::Timestamp;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

fn running(kind: Kind) -> Running {
    Running::new(&Server { unavailable: true, ..Server::new(kind) }, 1)
}

fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

/// Returns how many requests are accepted at the same time, and the time that the server takes for each.
fn accepted(server: &Running, millis: u64) -> Vec<Duration> {
    (0..1_000).map_while(|_| server.admit(at(millis)).is_ok().then(|| server.service())).collect()
}

#[test]
fn a_leaky_bucket_accepts_its_burst_and_lets_it_wait_unless_told_otherwise() {
    let without = running(Kind::Leaky { rate: 100.0, burst: 0.0, delays: true });
    assert_eq!(accepted(&without, 0), [Duration::ZERO], "the next one must come 10 ms later");
    assert_eq!((accepted(&without, 9).len(), accepted(&without, 10).len(), accepted(&without, 1_000).len()), (0, 1, 1));
    let delays = running(Kind::Leaky { rate: 100.0, burst: 2.0, delays: true });
    assert_eq!(accepted(&delays, 0), [0, 10, 20].map(Duration::from_millis));
    let nodelay = running(Kind::Leaky { rate: 100.0, burst: 2.0, delays: false });
    assert_eq!(accepted(&nodelay, 0), [Duration::ZERO; 3]);
    assert_eq!(nodelay.admit(at(0)), Err(CallError::Failed), "a 503");
}

#[test]
fn slots_accept_a_request_when_one_is_free() {
    let server = running(Kind::Slots { slots: 3, service_ms: 200.0 });
    let taken = accepted(&server, 0);
    assert_eq!(taken.len(), 3);
    let first = u64::try_from(taken.iter().min().unwrap().as_millis()).unwrap();
    assert_eq!((accepted(&server, first).len(), accepted(&server, first + 1).len()), (0, 1));
}

fn world(name: &str) -> World {
    worlds().into_iter().find(|world| world.name == name).unwrap()
}

fn outcome(world: &World, strategy: &str) -> Outcome {
    let strategy = strategies(21, world).into_iter().find(|known| known.name() == strategy).unwrap();
    run(0.1, world, &strategy, 1)
}

#[test]
fn the_plain_limiters_do_what_such_limiters_do() {
    let rate = outcome(&world("copy, 64 workers"), "AIMD rate");
    assert!(
        rate.failed == 0 && rate.rejected * 100 < rate.requests && rate.time.as_secs_f64() < 1.1 * 39.0,
        "{rate:?}"
    );
    let window = outcome(&world("20 slots of 200 ms"), "AIMD window");
    assert!(window.failed == 0 && window.rejected * 50 < window.requests, "{window:?}");
    // A wait that is longer than the longest one ends a call.
    assert!(outcome(&world("5,000 per hour"), "AIMD rate").failed > 0);
    assert_eq!(outcome(&world("5,000 per hour, 2 h"), "AIMD rate").failed, 0);
}

#[test]
fn all_policies_but_the_last_one_make_as_many_attempts_in_all() {
    let attempts = |strategy: &Strategy| {
        let (time, made, ended) = (Time::new(), Rc::new(Cell::new(0)), Rc::new(RefCell::new(None)));
        let (caller, counted, outcome) = (strategy.caller(1), Rc::clone(&made), Rc::clone(&ended));
        let call = Call::new(&time, move || {
            counted.set(counted.get() + 1);
            std::future::ready(Err(CallError::Throttled { retry_after: None }))
        });
        time.spawn(async move { *outcome.borrow_mut() = Some(caller.call(call).await) });
        time.run();
        assert_eq!(ended.take(), Some(Err(CallError::Throttled { retry_after: None })), "{strategy:?}");
        made.get()
    };
    let strategies = strategies(4, &world("copy, 64 workers"));
    let (shipped, equal) = strategies.split_last().unwrap();
    assert!(equal.iter().all(|strategy| attempts(strategy) == 4));
    assert!(attempts(shipped) > 4, "it counts throttled attempts apart");
}
