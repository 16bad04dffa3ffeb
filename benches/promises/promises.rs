//! Exact promises: a success does not allocate, and both forms add a bounded number of bytes to a future.

use benches::SCENARIOS;
use benches::operation::Outcome;
use benches::ours::STORE;
use benches::waiters::Crowd;
use retry_config::ConfiguredToken;
use retry_core::strategy::{AdaptiveRetryToken, StandardRetryToken};
use retry_core::{retry, retryable};
use retry_limits::PacedRetryToken;
use std::hint::black_box;
use std::time::Duration;
use tokio::task::yield_now;

/// The maximum number of bytes that the attribute may add to a future.
const ATTRIBUTE_GROWTH: usize = 40;

/// The maximum number of bytes that the closure form may add. Its future also holds the strategy, the closure, the
/// policy and the name of the call.
const CLOSURE_GROWTH: usize = 80;

/// The maximum numbers of bytes of the tokens: standard, adaptive, paced and configured.
const TOKEN_SIZES: [usize; 4] = [32, 48, 56, 64];

/// Holds `BYTES` bytes across an await.
async fn holding<const BYTES: usize>() -> Outcome {
    let held = black_box([1_u8; BYTES]);
    yield_now().await;
    Ok(u64::from(black_box(&held)[0]))
}

#[retryable(strategy = STORE)]
async fn holding_retried<const BYTES: usize>() -> Outcome {
    let held = black_box([1_u8; BYTES]);
    yield_now().await;
    Ok(u64::from(black_box(&held)[0]))
}

/// Returns the numbers of bytes that the attribute and the closure form add to a future.
fn growth<const BYTES: usize>() -> (usize, usize) {
    let bare = size_of_val(&holding::<BYTES>());
    let attribute = size_of_val(&holding_retried::<BYTES>()) - bare;
    let closure = size_of_val(&retry(&STORE, holding::<BYTES>).run()) - bare;
    println!("a future of {bare} bytes, of which {BYTES} are held: attribute +{attribute}, closure +{closure}");
    (attribute, closure)
}

#[test]
fn both_forms_add_a_bounded_number_of_bytes_to_a_future() {
    for (attribute, closure) in [growth::<64>(), growth::<512>()] {
        assert!(attribute <= ATTRIBUTE_GROWTH, "{attribute} bytes added by the attribute");
        assert!(closure <= CLOSURE_GROWTH, "{closure} bytes added by the closure form");
    }
}

/// The future of an operation holds the token of its strategy.
#[test]
fn no_token_has_grown() {
    let sizes = [
        size_of::<StandardRetryToken>(),
        size_of::<AdaptiveRetryToken>(),
        size_of::<PacedRetryToken>(),
        size_of::<ConfiguredToken>(),
    ];
    println!(
        "bytes of the tokens: standard {}, adaptive {}, paced {}, configured {}",
        sizes[0], sizes[1], sizes[2], sizes[3]
    );
    for (size, most) in sizes.into_iter().zip(TOKEN_SIZES) {
        assert!(size <= most, "{size} bytes, and {most} at most");
    }
}

fn allocations(run: impl Fn(u64)) -> u64 {
    // Each run creates a runtime, whose allocations cancel out in the difference. The first run also fills caches.
    let count = |calls| allocation_counter::measure(|| run(calls)).count_total;
    count(1);
    count(1_001) - count(1)
}

#[test]
fn neither_a_success_nor_a_retry_without_delay_allocates() {
    for scenario in SCENARIOS {
        let count = allocations(|calls| scenario.run(calls));
        println!("{scenario}: {count} allocations in 1000 calls");
        if !PEERS.iter().any(|peer| scenario.name.starts_with(peer)) {
            // The body of these makes a `String` in each call.
            let of_the_body = if scenario.name.starts_with("string_") { 1000 } else { 0 };
            assert_eq!(count, of_the_body, "{scenario} allocates");
        }
    }
}

/// The number of questions is that of a clock that the test sets, so it is the same in each run.
#[test]
fn a_waiter_asks_again_only_once_in_100_ms() {
    // One client waits for one interval, 100 wait for 5 ms, and 10,000 for half a second, which takes five waits.
    for (clients, most) in [(1, 2.01), (100, 2.01), (10_000, 6.01)] {
        let answers = Crowd::new(clients, 2e4).run(Duration::from_millis(500));
        let (sends, asks) = (answers.sends(), f64::from(answers.asks()) / f64::from(answers.sends()));
        println!("{clients} waiters at 20000 sends per second: {asks:.2} questions for each of {sends} sends");
        assert!(sends >= 9_000, "{sends} sends");
        assert!(asks <= most, "{asks} questions for each send of {clients} clients");
    }
}

/// Scenarios of other crates, which may allocate.
const PEERS: [&str; 3] = ["backon", "tokio_retry", "tower"];
