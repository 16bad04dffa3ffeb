//! What can be promised to the letter: no allocation for a success, and how much a future grows.

use benches::SCENARIOS;
use benches::operation::Outcome;
use benches::ours::STORE;
use retry_core::{retry, retryable};
use std::hint::black_box;
use tokio::task::yield_now;

/// The most bytes that the attribute may add to a future.
const GROWTH: usize = 40;

/// Holds so many bytes across an await.
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

/// By how much the attribute grows a future. That of a closure call is printed only: it holds the strategy, the closure
/// and the policy as well.
fn growth<const BYTES: usize>() -> usize {
    let bare = size_of_val(&holding::<BYTES>());
    let attribute = size_of_val(&holding_retried::<BYTES>()) - bare;
    let closure = size_of_val(&retry(&STORE, holding::<BYTES>).run()) - bare;
    println!("a future of {bare} bytes, of which {BYTES} are held: attribute +{attribute}, closure +{closure}");
    attribute
}

#[test]
fn the_attribute_adds_at_most_40_bytes_to_a_future() {
    for attribute in [growth::<64>(), growth::<512>()] {
        assert!(attribute <= GROWTH, "{attribute} bytes more");
    }
}

fn allocations(run: impl Fn(u64)) -> u64 {
    // The runtime is made in each run, and the first run may fill what is kept for the later ones.
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
            assert_eq!(count, 0, "{scenario} allocates");
        }
    }
}

/// They allocate as much as they like.
const PEERS: [&str; 3] = ["backon", "tokio_retry", "tower"];
