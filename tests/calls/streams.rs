//! Streams that reconnect.

mod server;

use crate::support::{Failed, millis, secs};
use futures_core::Stream;
use futures_core::stream::FusedStream;
use futures_util::stream::{self, BoxStream, StreamExt};
use retry_core::time::ManualTimer;
use retry_core::{
    Event, EventKind, Jitter, Observer, PatientRetryStrategy, RetryDirective, RetryError, RetryErrorType, RetryQuota,
    StandardRetryStrategy, Stop, policy_fn, test, without_retries,
};
use retry_stream::{reconnect, reconnect_from};
use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Delays of 1, 2, 4, 8, 16 and 20 seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

type Item = Result<u32, Failed>;
type Connection = BoxStream<'static, Item>;

/// A connection that sends these items, and is then closed.
#[expect(clippy::unnecessary_wraps, reason = "the result of opening a connection")]
fn closes(items: impl IntoIterator<Item = Item, IntoIter: Send + 'static>) -> Result<Connection, Failed> {
    Ok(stream::iter(items).boxed())
}

/// A connection that sends this item, and then nothing.
#[expect(clippy::unnecessary_wraps, reason = "the result of opening a connection")]
fn stalls(item: u32) -> Result<Connection, Failed> {
    Ok(stream::iter([Ok(item)]).chain(stream::pending()).boxed())
}

/// A connection that sends an item each 10 seconds, and then ends like this.
#[expect(clippy::unnecessary_wraps, reason = "the result of opening a connection")]
fn lasts(time: Duration, end: Option<Failed>) -> Result<Connection, Failed> {
    let ticks = stream::iter(1..=u32::try_from(time.as_secs() / 10).unwrap());
    let ticks = ticks.then(|tick| async move {
        sleep(secs(10)).await;
        Ok(tick)
    });
    Ok(ticks.chain(stream::iter(end.map(Err))).boxed())
}

/// Opens connections, and notes when.
struct Server {
    started: Instant,
    opened: RefCell<Vec<Duration>>,
}

impl Server {
    fn new() -> Self {
        Self { started: Instant::now(), opened: RefCell::new(Vec::new()) }
    }

    /// Notes a connection and returns its number, from 1.
    fn open(&self) -> usize {
        self.opened.borrow_mut().push(self.started.elapsed());
        self.opened.borrow().len()
    }

    fn opened(&self) -> Vec<u64> {
        self.opened.borrow().iter().map(Duration::as_secs).collect()
    }
}

// Rules R23, X1.
#[tokio::test(start_paused = true)]
async fn after_an_error_or_a_close_it_reconnects_with_backoff_and_passes_items_on() {
    let (strategy, server) = (standard(), Server::new());
    let mut items = reconnect(&strategy, || {
        ready(match server.open() {
            1 => Err(Failed::SAFE),
            2 => closes([Ok(1), Ok(2)]),
            3 => closes([Ok(3), Err(Failed::THROTTLED), Ok(99)]),
            4 => closes([]),
            _ => stalls(4),
        })
    })
    .stream();
    assert_eq!(items.by_ref().take(4).collect::<Vec<_>>().await, [Ok(1), Ok(2), Ok(3), Ok(4)]);
    assert_eq!(server.opened(), [0, 1, 3, 7, 15]);
    assert_eq!(strategy.quota().available(), 500 - 4 * 5);
    drop(items);
    assert_eq!(strategy.quota().available(), 500 - 4 * 5, "the connection was young");
}

// Rules X1, X2.
#[tokio::test(start_paused = true)]
async fn one_item_for_each_connection_resets_nothing() {
    let (strategy, server) = (standard(), Server::new());
    let items = reconnect(&strategy, || {
        server.open();
        ready(closes([Ok(1)]))
    });
    // More attempts than the strategy allows.
    assert_eq!(items.stream().take(8).count().await, 8);
    assert_eq!(server.opened(), [0, 1, 3, 7, 15, 31, 51, 71]);
    assert_eq!(strategy.quota().available(), 500 - 7 * 5);
}

// Rules R25, X2.
#[tokio::test(start_paused = true)]
async fn a_connection_that_has_lasted_resets_backoff_and_payments() {
    for end in [None, Some(Failed::SAFE)] {
        let (strategy, server) = (standard(), Server::new());
        let items = reconnect(&strategy, || {
            ready(match server.open() {
                3 => lasts(secs(60), end),
                4 => lasts(secs(50), end),
                _ => Err(Failed::SAFE),
            })
        });
        let mut items = items.stream();
        assert!(timeout(secs(120), items.by_ref().for_each(|_| ready(()))).await.is_err());
        // Delays of 1 and 2 s, 60 s, 1 s as the first time, 50 s, 2 s, 4 s.
        assert_eq!(server.opened(), [0, 1, 3, 64, 116, 120], "{end:?}");
    }
    let (strategy, server) = (standard(), Server::new());
    let mut items =
        reconnect(&strategy, || ready(if server.open() == 1 { Err(Failed::SAFE) } else { lasts(secs(30), None) }))
            .reset_after(secs(20))
            .stream();
    assert_eq!(items.next().await, Some(Ok(1)));
    assert_eq!(strategy.quota().available(), 495);
    assert_eq!(items.next().await, Some(Ok(2)));
    drop(items);
    // A success after a retry refunds 1.
    assert_eq!(strategy.quota().available(), 496, "a healthy connection whose stream is dropped is a success");
}

// Rule X2.
#[tokio::test(start_paused = true)]
async fn the_first_backoff_after_a_reset_has_jitter() {
    let waits = async |seed| {
        let strategy = StandardRetryStrategy::new().backoff(secs(10), secs(20)).seed(seed);
        let server = Server::new();
        let items = reconnect(&strategy, || {
            server.open();
            ready(lasts(secs(60), None))
        });
        assert_eq!(items.stream().take(7).count().await, 7);
        server.opened.take()[1].checked_sub(secs(60)).unwrap()
    };
    let (first, second) = (waits(1).await, waits(2).await);
    assert!(first != second && first < secs(10) && second < secs(10), "{first:?} {second:?}");
}

// Rule X3.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_opened_in_time_or_stalls_is_opened_again() {
    let (strategy, server) = (standard(), Server::new());
    let dropped = Arc::new(());
    let mut items = reconnect(&strategy, || {
        let (number, held) = (server.open(), Arc::clone(&dropped));
        async move {
            let connection = match number {
                1 => pending().await,
                2 => stalls(1),
                3 => Ok(lasts(secs(90), None)?.chain(stream::pending()).boxed()),
                _ => stalls(99),
            };
            drop(held);
            connection
        }
    })
    .connect_timeout(secs(5))
    .idle_timeout(secs(30))
    .stream();
    assert_eq!(items.next().await, Some(Ok(1)));
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(items.by_ref().take_while(|item| ready(*item != Ok(99))).count().await, 9);
    // 5 s, a wait of 1 s; 30 s, 2 s; 90 s and 30 s: healthy, so 1 s.
    assert_eq!(server.opened(), [0, 6, 38, 159]);
}

// Rules X2, X3.
#[tokio::test(start_paused = true)]
async fn silence_is_no_health() {
    let (strategy, server) = (standard(), Server::new());
    let items = reconnect(&strategy, || {
        server.open();
        ready(stalls(1))
    });
    assert_eq!(items.idle_timeout(secs(100)).stream().take(4).count().await, 4);
    assert_eq!(server.opened(), [0, 101, 203, 307]);
}

// Rule X3.
#[tokio::test(start_paused = true)]
async fn a_quiet_service_that_answers_is_not_waited_for() {
    let (strategy, server) = (PatientRetryStrategy::new().seed(1), Server::new());
    let items = reconnect(&strategy, || {
        let number = server.open();
        ready(if number == 5 || number == 6 {
            Ok::<Connection, Failed>(stream::pending().boxed())
        } else {
            stalls(u32::try_from(number).unwrap())
        })
    });
    let items = items.idle_timeout(secs(10)).stream();
    assert_eq!(items.take(5).collect::<Vec<_>>().await, [1, 2, 3, 4, 7].map(Ok));
    let opened = server.opened.take();
    let spaces: Vec<_> = opened.windows(2).map(|times| times[1].saturating_sub(times[0])).collect();
    assert!(spaces[..4].iter().all(|space| *space < secs(13)), "{spaces:?}");
    // The fifth and the sixth connection sent nothing, so the service may be down.
    assert!(spaces[4] > secs(14) && spaces[5] > secs(25), "{spaces:?}");
}

// Rule X3.
#[tokio::test(start_paused = true)]
async fn the_time_in_which_nobody_polls_is_not_idle() {
    let (strategy, server) = (standard(), Server::new());
    let mut items = reconnect(&strategy, || {
        server.open();
        ready(lasts(secs(90), None))
    })
    .idle_timeout(secs(15))
    .stream();
    assert_eq!(items.next().await, Some(Ok(1)));
    sleep(secs(40)).await;
    assert_eq!(items.by_ref().take(8).count().await, 8);
    assert_eq!(server.opened(), [0]);
}

// Rules K4, X3.
#[test]
fn times_are_those_of_the_timer() {
    let (strategy, timer, opened) = (standard(), ManualTimer::new(), Cell::new(0));
    let connect = || {
        opened.set(opened.get() + 1);
        ready(Ok::<Connection, Failed>(stream::pending().boxed()))
    };
    let mut items = reconnect(&strategy, connect).timer(timer.clone()).idle_timeout(secs(30)).stream();
    let context = &mut Context::from_waker(Waker::noop());
    let mut advance = |time| {
        timer.advance(time);
        // A connection that ends wakes its task.
        for _ in 0..2 {
            assert!(items.poll_next_unpin(context).is_pending());
        }
        opened.get()
    };
    assert_eq!([millis(0), secs(29), secs(1), millis(999), millis(1)].map(&mut advance), [1, 1, 1, 1, 2]);
    assert_eq!([secs(30), secs(1), secs(1)].map(&mut advance), [2, 2, 3]);
}

// Rule X4.
#[tokio::test(start_paused = true)]
async fn each_connection_continues_at_the_last_position() {
    let (strategy, asked) = (standard(), RefCell::new(Vec::new()));
    let items = reconnect_from(&strategy, 7, |position: u32| {
        asked.borrow_mut().push(position);
        ready(match asked.borrow().len() {
            1 => Err(Failed::SAFE),
            // Odd items have no position.
            2 => closes([Ok(8), Ok(9)]),
            3 => closes([Ok(10), Err(Failed::SAFE)]),
            _ => closes([Ok(11)]),
        })
    });
    let items = items.position(|item: &u32| item.is_multiple_of(2).then_some(*item)).stream();
    assert_eq!(items.take(5).collect::<Vec<_>>().await, [8, 9, 10, 11, 11].map(Ok));
    assert_eq!(asked.take(), [7, 7, 8, 10, 10]);
}

// Rule X5.
#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_retried_is_the_last_item() {
    let strategy = standard();
    let mut items = reconnect(&strategy, || ready(closes([Ok(1), Err(Failed::FATAL)]))).stream();
    assert!(!items.is_terminated());
    assert_eq!(items.by_ref().collect::<Vec<_>>().await, [Ok(1), Err(Failed::FATAL)]);
    assert!(items.is_terminated());
    assert_eq!(items.next().await, None);
    // Maybe executed, by nobody's fault: a read is repeated.
    let error = Failed { safety: retry_core::RetrySafety::Maybe, ..Failed::SAFE };
    let opened = Cell::new(0);
    let mut items = reconnect(&strategy, || {
        opened.set(opened.get() + 1);
        ready(if opened.get() == 1 { Err(error) } else { stalls(2) })
    })
    .stream();
    assert_eq!(items.next().await, Some(Ok(2)));
    let policy = policy_fn(|_: &Item| RetryDirective::fail(Some(RetryErrorType::Other)));
    let items = reconnect(&strategy, || ready(Err::<Connection, _>(error))).policy(policy).stream();
    assert_eq!(items.collect::<Vec<_>>().await, [Err(error)]);
}

// Rule X5.
#[tokio::test(start_paused = true)]
async fn a_refused_retry_ends_it_with_the_last_error() {
    let poor = || standard().quota_capacity(5);
    let (strategy, opened) = (poor(), Cell::new(0));
    let connect = || {
        opened.set(opened.get() + 1);
        ready(if opened.get() == 1 { Err(Failed::SAFE) } else { closes([Ok(1)]) })
    };
    assert_eq!(reconnect(&strategy, connect).stream().collect::<Vec<_>>().await, [Ok(1), Err(Failed::SAFE)]);
    // Without an error, it ends without one.
    let strategy = poor();
    let items = reconnect(&strategy, || ready(closes([Ok(1)]))).stream();
    assert_eq!(items.collect::<Vec<_>>().await, [Ok(1), Ok(1)]);
    // An error before a healthy connection is forgotten.
    let (strategy, opened) = (poor(), Cell::new(0));
    let connect = || {
        opened.set(opened.get() + 1);
        ready(match opened.get() {
            1 => Err(Failed::SAFE),
            2 => lasts(secs(60), None),
            _ => closes([]),
        })
    };
    assert_eq!(reconnect(&strategy, connect).stream().filter(|item| ready(item.is_err())).count().await, 0);
    assert_eq!(without_retries(reconnect(&poor(), || ready(closes([]))).stream().count()).await, 0);
}

// Rules U4, X5.
#[tokio::test(start_paused = true)]
async fn with_the_patient_strategy_it_outlasts_an_outage() {
    let (strategy, started) = (PatientRetryStrategy::new(), Instant::now());
    let connect = || ready(if started.elapsed() < secs(36_000) { Err(Failed::SAFE) } else { stalls(1) });
    let streams = (0..20).map(|_| async { reconnect(&strategy, connect).stream().next().await });
    assert!(futures_util::future::join_all(streams).await.iter().all(|item| *item == Some(Ok(1))));
}

// Rules T17, X6.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_it_while_it_waits_connects_or_is_connected() {
    for (kind, left) in [("waits", 500), ("connects", 500), ("is connected", 500), ("is connected again", 500)] {
        let (strategy, stop, opened) = (standard(), Arc::new(Stop::new()), Cell::new(0));
        let connect = || {
            opened.set(opened.get() + 1);
            let number = opened.get();
            async move {
                match kind {
                    "waits" => Err(Failed::SAFE),
                    "connects" => pending().await,
                    "is connected again" if number == 1 => Err(Failed::SAFE),
                    _ => Ok::<Connection, _>(stream::pending().boxed()),
                }
            }
        };
        let (items, started) = (reconnect(&strategy, connect).stop(Arc::clone(&stop)).stream(), Instant::now());
        let stops = async {
            sleep(millis(2500)).await;
            stop.stop();
        };
        let (items, ()) = tokio::join!(items.collect::<Vec<Item>>(), stops);
        assert_eq!((items, started.elapsed()), (vec![], millis(2500)), "{kind}");
        assert!(strategy.quota().available() >= left - 5, "{kind}");
        // After it, none is opened.
        let before = opened.get();
        assert_eq!(reconnect(&strategy, connect).stop(stop).stream().count().await, 0);
        assert_eq!(opened.get(), before);
    }
}

/// A waker that counts.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// Rule X6.
#[test]
fn a_stop_wakes_the_task() {
    let (stop, woken) = (Stop::new(), Arc::new(Woken::default()));
    let waker = Waker::from(Arc::clone(&woken));
    let context = &mut Context::from_waker(&waker);
    let mut stopped = pin!(stop.stopped());
    assert!(stopped.as_mut().poll(context).is_pending());
    // More than are kept without a search for those that are over.
    (0..40).for_each(|_| drop(stop.stopped()));
    stop.stop();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(stopped.as_mut().poll(context).is_ready() && stopped.poll(context).is_ready());
    assert!(pin!(stop.stopped()).poll(context).is_ready(), "after the stop");
    let mut never = pin!(Stop::new().stopped());
    assert!(never.as_mut().poll(context).is_pending(), "the handle is gone");
}

// Rules D1, X7.
#[tokio::test(start_paused = true)]
async fn a_drop_gives_back_what_was_paid_for_a_connection_that_was_not_opened() {
    let strategy = standard();
    let mut items = reconnect(&strategy, || ready(Err::<Connection, _>(Failed::SAFE))).stream();
    assert!(timeout(millis(1500), items.next()).await.is_err(), "it waits for the second retry");
    assert_eq!(strategy.quota().available(), 490);
    drop(items);
    assert_eq!(strategy.quota().available(), 495);
}

/// The names of events.
#[derive(Default)]
struct Names(RefCell<Vec<String>>);

impl Observer for Names {
    fn observe(&self, event: &Event) {
        let class = match event.kind {
            EventKind::AttemptFailed { failure } => format!(" {:?}", failure.error_type()),
            _ => String::new(),
        };
        self.0.borrow_mut().push(format!("{} {}{class}", event.operation, event.kind.as_str()));
    }
}

// Rules O1, X1.
#[tokio::test(start_paused = true)]
async fn a_stream_is_one_operation_for_observers() {
    let (strategy, names, opened) = (standard(), Names::default(), Cell::new(0));
    let connect = || {
        opened.set(opened.get() + 1);
        ready(if opened.get() == 1 { closes([]) } else { Err(Failed::FATAL) })
    };
    let items = reconnect(&strategy, connect).name("feed").observer(&names).stream();
    assert_eq!(items.collect::<Vec<_>>().await, [Err(Failed::FATAL)]);
    let seen = names.0.take();
    assert!(seen.iter().all(|name| name.starts_with("feed ")), "{seen:?}");
    assert!(seen[1].starts_with("feed attempt_failed") && seen[1].contains("Other"), "{seen:?}");
}

// Rules G2, G3, X1.
#[tokio::test]
async fn a_test_guard_skips_the_waits() {
    let (strategy, guard, server) = (standard(), test::begin(), Server::new());
    let connect = || ready(if server.open() < 9 { Err(Failed::SAFE) } else { closes([Ok(1), Err(Failed::FATAL)]) });
    let items = reconnect(&strategy, connect).stream();
    assert_eq!(items.collect::<Vec<_>>().await, [Ok(1), Err(Failed::FATAL)]);
    guard.only().assert_ended(9, Some(RetryError::NotRetryable));
    // A service that is never there does not keep the thread busy.
    let never = reconnect(&strategy, || ready(Err::<Connection, _>(Failed::SAFE))).stream().count();
    let mut never = pin!(never);
    let polled = std::future::poll_fn(|context| Poll::Ready(never.as_mut().poll(context).is_pending()));
    assert!(polled.await);
}

// Rule G10.
#[test]
fn the_connections_of_a_stream_can_be_explored() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();
    let found = test::explore().no_answer(|| Failed::SAFE).run(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let items = reconnect_from(&STRATEGY, 0, |last: u32| ready(closes([Ok(last + 1), Ok(last + 2)])));
            let items = items.position(|item: &u32| Some(*item)).stream();
            assert_eq!(items.take(5).collect::<Vec<_>>().await, [1, 2, 3, 4, 5].map(Ok));
        });
    });
    // It never gives up a service that is never there, and loses no item.
    let never_gives_up = |finding: &test::Finding| finding.kind == test::FindingKind::NeverGivesUp;
    assert!(found.cases > 0 && found.findings.iter().all(never_gives_up), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn it_can_be_used_in_a_spawned_block() {
    static STRATEGY: PatientRetryStrategy = PatientRetryStrategy::new();
    static STOP: Stop = Stop::new();
    fn is_unpin<S: Stream + Unpin + Send>(stream: S) -> S {
        stream
    }
    let task = tokio::spawn(async {
        let items = reconnect_from(&STRATEGY, 0, async |last: u32| closes([Ok(last + 1)])).position(|item| Some(*item));
        let mut items = is_unpin(items.stop(&STOP).stream());
        assert!(format!("{items:?}").starts_with("ReconnectingStream"));
        items.next().await
    });
    assert_eq!(task.await.unwrap(), Some(Ok(1)));
}
