use lab::World;
use lab::call::{Call, CallError, Outcome};
use lab::peers::strategies;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Runs calls one after the other, each of whose attempts fails, and returns the times of all attempts.
fn attempts(peer: usize, calls: u32, outcome: Outcome) -> Vec<Duration> {
    let (world, times) = (World::new(), Rc::new(RefCell::new(Vec::new())));
    let caller = strategies()[peer].caller(7);
    let (client, seen) = (world.clone(), Rc::clone(&times));
    world.spawn(async move {
        for _ in 0..calls {
            let (clock, seen) = (client.clone(), Rc::clone(&seen));
            let attempt = move || {
                seen.borrow_mut().push(clock.elapsed());
                std::future::ready(outcome)
            };
            assert_eq!(caller.call(Call::new(&client, attempt)).await, outcome);
        }
    });
    world.run();
    times.take()
}

/// Returns the times between attempts, in seconds.
fn delays(peer: usize, calls: u32) -> Vec<f64> {
    let times: Vec<f64> = attempts(peer, calls, Err(CallError::Failed)).iter().map(Duration::as_secs_f64).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn assert_within(delays: &[f64], bounds: [(f64, f64); 3]) {
    assert_eq!(delays.len(), 3);
    for (delay, (low, high)) in delays.iter().zip(bounds) {
        assert!((low..=high).contains(delay), "{delays:?}");
    }
}

#[test]
fn each_peer_waits_as_it_documents() {
    // backon adds up to the least delay; tokio-retry2 multiplies by 0.5 to 1.5; tower adds up to 99 %.
    assert_within(&delays(0, 1), [(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)]);
    assert_within(&delays(1, 1), [(0.5, 1.502), (1.0, 3.002), (2.0, 6.002)]);
    assert_within(&delays(2, 1), [(0.05, 0.1), (0.1, 0.2), (0.2, 0.4)]);
    // aws-smithy-runtime has full jitter, in both modes as long as nothing is throttled.
    assert_within(&delays(3, 1), [(0.0, 1.0), (0.0, 2.0), (0.0, 4.0)]);
    assert_within(&delays(4, 1), [(0.0, 1.0), (0.0, 2.0), (0.0, 4.0)]);
}

#[test]
fn a_success_is_not_repeated() {
    for peer in 0..strategies().len() {
        assert_eq!(attempts(peer, 5, Ok(())).len(), 5);
    }
}

#[test]
fn runs_repeat_and_calls_differ() {
    for peer in 0..strategies().len() {
        let drawn = delays(peer, 2);
        assert_eq!(drawn, delays(peer, 2));
        assert!((drawn[0] - drawn[4]).abs() > 1e-6, "the jitter of another call");
    }
}

#[test]
fn the_budget_of_tower_fills_as_time_passes() {
    // Ten retries in a second, over ten seconds: 100 of 150 concurrent calls get their one retry immediately.
    let (world, sent) = (World::new(), Rc::new(Cell::new(0_u32)));
    let caller = strategies()[2].caller(7);
    for late in [0, 0, 0, 60] {
        for _ in 0..50 {
            let (client, caller, sent) = (world.clone(), Rc::clone(&caller), Rc::clone(&sent));
            world.spawn(async move {
                retry_core::time::Timer::sleep(&client, Duration::from_secs(late)).await;
                let attempt = move || {
                    sent.set(sent.get() + 1);
                    std::future::ready(Err(CallError::Failed))
                };
                let _ = caller.call(Call::new(&client, attempt)).await;
            });
        }
    }
    world.run();
    // All first attempts, 100 retries in the first minute, and 100 after it.
    assert_eq!(sent.get(), 200 + 100 + 100);
}

#[test]
fn the_quota_of_a_client_of_aws_smithy_runtime_pays_for_fifty_retries_after_failures() {
    // A retry after a timeout costs 10 of 500, as does one after a status of 500. Each client has its own quota.
    for peer in [3, 4] {
        for outcome in [CallError::Failed, CallError::TimedOut] {
            assert_eq!(attempts(peer, 40, Err(outcome)).len(), 40 + 50);
        }
    }
}

#[test]
fn a_success_of_a_client_of_aws_smithy_runtime_gives_back_the_last_payment_of_another_call() {
    let (world, sent) = (World::new(), Rc::new(Cell::new(0_u32)));
    let (client, caller, counted) = (world.clone(), strategies()[3].caller(7), Rc::clone(&sent));
    world.spawn(async move {
        for call in 0..80 {
            let (outcome, counted) = (if call % 2 == 0 { Err(CallError::Failed) } else { Ok(()) }, Rc::clone(&counted));
            let attempt = move || {
                counted.set(counted.get() + 1);
                std::future::ready(outcome)
            };
            let _ = caller.call(Call::new(&client, attempt)).await;
        }
    });
    world.run();
    let retries = sent.get() - 80;
    // 50 by the full quota, and one for each success after a call that paid. With a refund of 1 it would be 53.
    assert!((80..=90).contains(&retries), "{retries}");
}

#[test]
fn a_client_of_aws_smithy_runtime_waits_as_a_throttling_server_asks() {
    let retry_after = Some(Duration::from_millis(2_500));
    let times = attempts(3, 1, Err(CallError::Throttled { retry_after }));
    let expected = [0, 2_500, 5_000, 7_500].map(Duration::from_millis);
    assert_eq!(times, expected);
}

#[test]
fn the_adaptive_mode_of_aws_smithy_runtime_delays_first_attempts_once_a_server_has_throttled() {
    let first_attempts = |peer, outcome| {
        let times = attempts(peer, 30, outcome);
        times.last().copied().unwrap_or_default()
    };
    assert_eq!(first_attempts(4, Ok(())), Duration::ZERO);
    // The quota is empty after 100 retries, so the last calls have one attempt each.
    let throttled = Err(CallError::Throttled { retry_after: Some(Duration::ZERO) });
    assert_eq!(first_attempts(3, throttled), Duration::ZERO);
    assert!(first_attempts(4, throttled) > Duration::from_secs(10));
}

#[test]
fn an_attempt_that_hangs_is_cut() {
    for peer in 0..strategies().len() {
        let world = World::new();
        let caller = strategies()[peer].caller(1);
        let client = world.clone();
        world.spawn(async move {
            let call = Call::new(&client, std::future::pending).attempt_timeout(Duration::from_secs(1));
            assert_eq!(caller.call(call).await, Err(CallError::TimedOut));
            assert!(client.elapsed() > Duration::from_secs(4), "four attempts of a second");
        });
        world.run();
        assert!(world.elapsed() > Duration::from_secs(4));
    }
}
