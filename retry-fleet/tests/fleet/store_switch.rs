//! What the store makes of the turns of the switch: by an operator's text, by a call, and by what processes know.

use retry_fleet::protocol::{Call, Turn};
use retry_fleet::store::MemoryStore;
use std::time::Duration;

fn turn(number: u64, off_for: u64, reason: &str) -> Turn {
    Turn { number, off_for: Duration::from_millis(off_for), reason: reason.into() }
}

/// Returns the turn in the reply to a process that knows this turn.
fn told(store: &mut MemoryStore, now: u64, known: Option<Turn>) -> Option<Turn> {
    let mut call = Call::new("p", "fresh");
    call.known_turn = known;
    store.call(now, &call).turn
}

/// Turns the switch by a call.
fn turned(store: &mut MemoryStore, now: u64, known: Option<Turn>, off_for: u64, reason: &str) -> Turn {
    let mut call = Call::new("p", "fresh");
    (call.known_turn, call.turn) = (known, Some(turn(0, off_for, reason)));
    store.call(now, &call).turn.unwrap()
}

// Rule F34.
#[test]
fn a_turn_has_a_number_above_all_others_and_at_least_the_time() {
    let mut store = MemoryStore::new();
    assert_eq!(told(&mut store, 0, None), None);
    assert_eq!(turned(&mut store, 0, None, 50, "ada"), turn(1, 50, "ada"));
    assert_eq!(turned(&mut store, 0, None, 60, "ada"), turn(2, 60, "ada"));
    assert_eq!(turned(&mut store, 0, None, 0, "bob"), turn(3, 0, "bob"));
    assert_eq!(turned(&mut store, 0, Some(turn(3, 0, "")), 70, "bob"), turn(4, 70, "bob"));
    assert_eq!(turned(&mut store, 0, Some(turn(9, 0, "")), 80, "bob"), turn(10, 80, "bob"));
    assert_eq!(turned(&mut store, 5_000, None, 90, "bob"), turn(5_000, 90, "bob"));
    // Larger numbers are treated as 2^52.
    let most = 1 << 52;
    assert_eq!(turned(&mut store, 5_000, Some(turn(u64::MAX, 0, "")), 1, "eve").number, most);
    let mut store = MemoryStore::new();
    assert_eq!(turned(&mut store, most + 1_000, None, 0, "").number, most);
    assert_eq!(turned(&mut store, most + 1_000, None, u64::MAX, "eve"), turn(most, 0, ""));
    let mut store = MemoryStore::new();
    assert_eq!(turned(&mut store, 100, None, u64::MAX, "eve"), turn(100, most - 100, "eve"));
}

// Rule F34.
#[test]
fn a_turn_ends_exactly_when_it_should_and_then_nobody_has_turned_retries_on() {
    let mut store = MemoryStore::new();
    let first = turned(&mut store, 0, None, 1, "ada");
    assert_eq!((told(&mut store, 0, None), told(&mut store, 1, None)), (Some(first), Some(turn(1, 0, ""))));
    let mut store = MemoryStore::new();
    turned(&mut store, 1_000, None, 5_000, "ada: why");
    assert_eq!(told(&mut store, 5_999, None), Some(turn(1_000, 1, "ada: why")));
    assert_eq!(told(&mut store, 6_000, None), Some(turn(1_000, 0, "")));
    assert_eq!(told(&mut store, 9_000, None), Some(turn(1_000, 0, "")));
    assert_eq!(turned(&mut store, 9_000, None, 0, "bob"), turn(9_000, 0, "bob"));
    assert_eq!(told(&mut store, 99_000, None), Some(turn(9_000, 0, "bob")));
}

// Rule F34.
#[test]
fn a_later_turn_that_a_process_knows_is_taken_over_and_an_earlier_one_is_not() {
    let mut store = MemoryStore::new();
    let known = turn(1, 5_000, "ada: why");
    assert_eq!(told(&mut store, 1_000, Some(known.clone())), Some(known));
    for number in [0, 1] {
        let other = told(&mut store, 2_000, Some(turn(number, 0, "bob")));
        assert_eq!(other, Some(turn(1, 4_000, "ada: why")), "{number}");
    }
    assert_eq!(told(&mut store, 2_000, Some(turn(2, 0, "bob"))), Some(turn(2, 0, "bob")));
    assert_eq!(told(&mut store, 2_000, Some(turn(u64::MAX, 1, "eve"))), Some(turn(1 << 52, 1, "eve")));
}

// Rules F34, F41.
#[test]
fn while_a_text_is_there_it_decides() {
    // The text that a process writes stays until the end of the time, or for a minute.
    for (off_for, written_for) in [(5_000, 5_000), (0, 60_000)] {
        for (elapsed, is_taken) in [(written_for - 1, false), (written_for, true)] {
            let mut store = MemoryStore::new();
            turned(&mut store, 1_000, None, off_for, "ada");
            let known = turn(100_000, 7_000, "eve");
            let told = told(&mut store, 1_000 + elapsed, Some(known.clone()));
            assert_eq!(told == Some(known), is_taken, "{elapsed} ms after a turn for {off_for} ms: {told:?}");
        }
    }
    for (text, off_for, reason) in [
        ("on", 0, ""),
        ("off", 9_000, ""),
        ("off ", 9_000, ""),
        ("off ada: why", 9_000, "ada: why"),
        ("on ", 9_000, ""),
        ("nonsense", 9_000, ""),
    ] {
        let mut store = MemoryStore::new();
        told(&mut store, 1_000, None);
        store.write_switch(Some(text), 10_000);
        assert_eq!(told(&mut store, 1_000, None), Some(turn(1_000, off_for, reason)), "{text}");
        assert_eq!(
            told(&mut store, 1_500, None).map(|turn| turn.number),
            Some(1_000),
            "the same text is no other turn"
        );
        store.write_switch(None, 0);
        let known = turn(2_000, 0, "bob");
        assert_eq!(told(&mut store, 1_600, Some(known.clone())), Some(known), "the text was deleted");
    }
    let mut store = MemoryStore::new();
    store.write_switch(Some("off"), u64::MAX);
    assert_eq!(told(&mut store, 0, None), Some(turn(1, 1 << 52, "")));
}

// Rules F34, F41.
#[test]
fn a_text_is_another_turn_if_it_has_another_value_reason_or_end() {
    // What a call turned, the text and the time until its end, and whether that is another turn.
    for (off_for, by, text, end, is_another) in [
        (5_000, "ada", "off ada", 5_000, false),
        (5_000, "ada", "off ada", 6_000, false),
        (5_000, "ada", "off ada", 6_001, true),
        (5_000, "ada", "off ada", 4_000, false),
        (5_000, "ada", "off ada", 3_999, true),
        (5_000, "ada", "off bob", 5_000, true),
        (5_000, "ada", "off", 5_000, true),
        (5_000, "ada", "on", 5_000, true),
        (0, "ada", "on", 60_000, false),
        (0, "ada", "on", 1, false),
        (0, "ada", "off ada", 60_000, true),
        (0, "ada", "off ada", 1, true),
    ] {
        let mut store = MemoryStore::new();
        let before = turned(&mut store, 1_000, None, off_for, by);
        store.write_switch(Some(text), 1_000 + end);
        let after = told(&mut store, 1_000, None).unwrap();
        let number = if is_another { 1_001 } else { 1_000 };
        assert_eq!((before.number, after.number), (1_000, number), "{by} for {off_for}, then {text} for {end}");
        if is_another {
            let off_for = if text == "on" { 0 } else { end };
            let reason = text.strip_prefix("off ").unwrap_or("");
            assert_eq!(after, turn(number, off_for, reason), "{by}, then {text} for {end}");
        } else {
            assert_eq!(after, before);
        }
    }
    // The end of a short time does not make `off` the same as `on`.
    let mut store = MemoryStore::new();
    store.write_switch(Some("off"), 500);
    assert_eq!(told(&mut store, 0, None), Some(turn(1, 500, "")));
    store.write_switch(Some("on"), 60_000);
    assert_eq!(told(&mut store, 0, None), Some(turn(2, 0, "")));
    store.write_switch(Some("off"), 500);
    assert_eq!(told(&mut store, 0, None), Some(turn(3, 500, "")));
}

// Rules F34, F44.
#[test]
fn a_turn_whose_text_outlives_the_state_is_restored_under_the_number_that_a_process_knows() {
    let mut store = MemoryStore::new();
    let first = turned(&mut store, 1_000, None, 60_000, "ada: why");
    store.forget_state();
    assert_eq!(told(&mut store, 1_000, Some(first.clone())), Some(first.clone()));
    store.forget_state();
    assert_eq!(told(&mut store, 1_000, None), Some(first));
    // As if the clock had been set back: a process is never told a number below the one that it knows.
    let known = turn(9_000, 0, "");
    assert_eq!(told(&mut store, 1_000, Some(known)), Some(turn(9_001, 60_000, "ada: why")));
    store.forget_state();
    // A new turn takes the place of the text, and one number.
    assert_eq!(turned(&mut store, 1_000, None, 0, "bob"), turn(1_000, 0, "bob"));
}
