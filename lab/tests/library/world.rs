use lab::world::{Random, World, request};
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

type Log = Rc<RefCell<Vec<&'static str>>>;

/// Returns a world, and a function that adds a task which writes `name` into the log after a sleep.
fn logging() -> (World, Log, impl Fn(&'static str, Duration)) {
    let (world, log) = (World::new(), Rc::new(RefCell::new(Vec::new())));
    let (clock, lines) = (world.clone(), Rc::clone(&log));
    let add = move |name, delay| {
        let (timer, lines) = (clock.clone(), Rc::clone(&lines));
        clock.spawn(async move {
            timer.sleep(delay).await;
            lines.borrow_mut().push(name);
        });
    };
    (world, log, add)
}

#[test]
fn tasks_go_on_in_the_order_of_their_time() {
    let (world, log, add) = logging();
    add("second", seconds(2));
    add("third", seconds(3));
    add("first", seconds(1));
    world.run();
    assert_eq!(*log.borrow(), ["first", "second", "third"]);
    assert_eq!(world.elapsed(), seconds(3));
}

#[test]
fn tasks_of_the_same_instant_go_on_in_the_order_in_which_they_began_to_sleep() {
    let (world, log, add) = logging();
    for name in ["a", "b", "c", "d", "e"] {
        add(name, seconds(1));
    }
    world.run();
    assert_eq!(*log.borrow(), ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_run_ends_at_its_end_and_drops_the_tasks_that_still_wait() {
    let (world, log, add) = logging();
    add("before", seconds(1));
    add("at", seconds(2));
    add("after", seconds(3));
    world.run_until(Timestamp::START.saturating_add(seconds(2)));
    assert_eq!(*log.borrow(), ["before", "at"]);
    assert_eq!(world.elapsed(), seconds(2));
    world.run();
    assert_eq!(world.elapsed(), seconds(2), "no task is left");
}

#[test]
fn a_run_that_is_over_drops_tasks_that_wait_for_ever() {
    struct Guard(World, Rc<Cell<bool>>);
    impl Drop for Guard {
        fn drop(&mut self) {
            // A task may use the world while it is dropped.
            drop(self.0.sleep(Duration::from_secs(1)));
            self.1.set(true);
        }
    }
    let (world, dropped) = (World::new(), Rc::new(Cell::new(false)));
    let guard = Guard(world.clone(), Rc::clone(&dropped));
    world.spawn(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    world.run();
    assert!(dropped.get());
}

#[test]
fn a_dropped_sleep_moves_no_clock() {
    let world = World::new();
    let timer = world.clone();
    world.spawn(async move {
        let mut long = pin!(timer.sleep(seconds(60)));
        std::future::poll_fn(|context: &mut Context<'_>| {
            assert!(long.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        timer.sleep(seconds(1)).await;
    });
    world.run();
    assert_eq!(world.elapsed(), seconds(1));
}

#[test]
fn a_place_that_a_dropped_sleep_leaves_does_not_end_the_next_sleep_early() {
    let world = World::new();
    let timer = world.clone();
    world.spawn(async move {
        {
            let mut dropped = pin!(timer.sleep(seconds(1)));
            std::future::poll_fn(|context: &mut Context<'_>| {
                assert!(dropped.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        timer.sleep(seconds(5)).await;
        assert_eq!(timer.elapsed(), seconds(5));
    });
    world.run();
    assert_eq!(world.elapsed(), seconds(5));
}

#[test]
fn a_task_can_start_others_and_wait_for_their_response() {
    let (world, received) = (World::new(), Rc::new(Cell::new(None)));
    let (client, result) = (world.clone(), Rc::clone(&received));
    world.spawn(async move {
        let (request, response) = request();
        let server = client.clone();
        client.spawn(async move {
            server.sleep(seconds(3)).await;
            request.respond("done");
        });
        result.set(Some((response.await, client.elapsed())));
    });
    world.run();
    assert_eq!(received.get(), Some(("done", seconds(3))));
}

#[test]
fn a_world_can_follow_another_clock() {
    let (world, log, add) = logging();
    add("first", seconds(1));
    add("second", seconds(2));
    let at = |number| Timestamp::START.saturating_add(seconds(number));
    world.advance_to(at(0));
    assert_eq!(world.next_event(), Some(at(1)));
    world.advance_to(at(1));
    assert_eq!((log.borrow().len(), world.now()), (1, at(1)));
    world.advance_to(at(7));
    assert_eq!((log.borrow().len(), world.now()), (2, at(7)));
    world.advance_to(at(3));
    assert_eq!((world.next_event(), world.now()), (None, at(7)));
}

#[test]
fn a_stream_depends_on_its_seed_and_its_name_only() {
    let draw = |seed, name| {
        std::array::from_fn::<u64, 4, _>(|_| 0).map({
            let mut random = Random::new(seed, name);
            move |_| random.uniform().to_bits()
        })
    };
    assert_eq!(draw(1, "arrivals"), draw(1, "arrivals"));
    assert_ne!(draw(1, "arrivals"), draw(2, "arrivals"));
    assert_ne!(draw(1, "arrivals"), draw(1, "failures"));
}

#[test]
fn random_numbers_have_their_distributions() {
    let mut random = Random::new(7, "test");
    let number = 100_000;
    let mean_of = |draw: &mut dyn FnMut() -> f64| (0..number).map(|_| draw()).sum::<f64>() / f64::from(number);
    assert!((mean_of(&mut || random.uniform()) - 0.5).abs() < 0.005);
    assert!((mean_of(&mut || random.interval(50.0).as_secs_f64()) - 0.02).abs() < 0.0005);
    let (mean, deviation) = (Duration::from_millis(10), Duration::from_millis(2));
    let mut squares = 0.0;
    let normal = mean_of(&mut || {
        let value = random.normal(mean, deviation).as_secs_f64() * 1e3;
        squares += (value - 10.0).powi(2);
        value
    });
    assert!((normal - 10.0).abs() < 0.05, "{normal}");
    assert!(((squares / f64::from(number)).sqrt() - 2.0).abs() < 0.05);
}
