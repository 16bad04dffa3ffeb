//! What `reseed` changes in one process. `.ci/fork` runs real forks.

use crate::support::run_in_a_process;
use retry_core::{OperationId, reseed};
use std::collections::HashSet;
use std::thread;

// In its own process, because ids that other tests compare would change.
// Rule O14.
#[test]
fn ids_change_with_each_reseed_in_every_thread() {
    run_in_a_process("reseed::child", |_| ());
}

#[test]
#[ignore = "run by the test above"]
fn child() {
    let ids: Vec<_> = (0..1000).map(|_| OperationId::random()).collect();
    let numbers = || ids.iter().map(|id| id.as_u128()).collect::<Vec<_>>();
    let mut seen = numbers();
    // The same entropy twice does not lead to the same seed, because the former seed is a part of it.
    for entropy in [0, 0, 1, u128::MAX] {
        thread::spawn(move || reseed(entropy)).join().unwrap();
        let now = numbers();
        assert_eq!(thread::scope(|scope| scope.spawn(numbers).join().unwrap()), now, "one seed for all threads");
        seen.extend(now);
    }
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 5000);
    for id in &ids {
        let text = id.to_string();
        assert_eq!(&text[14..15], "4", "{text} is a UUID of version 4");
    }
}
