use super::super::picture;
use super::reports;
use crate::report::{Report, Spread};

/// Returns the part of the picture of the worlds that is the row of a world.
fn row_of_world(report: &Report, world: &str) -> String {
    let picture = picture(report).unwrap();
    let row = picture.split_once(&format!(">{world}</text>")).unwrap().1;
    row.split_once("<path class=\"grid\"").unwrap().0.to_owned()
}

#[test]
fn a_world_in_which_tasks_are_lost_says_how_many_and_has_a_hollow_marker() {
    let mut worlds = reports().remove(9);
    let row = |worlds: &Report| row_of_world(worlds, "copy, 64 workers");
    assert!(!row(&worlds).contains("hollow") && !row(&worlds).contains("<text"));
    let of = |strategy: &str| ["copy, 64 workers".to_owned(), strategy.to_owned()];
    let set = |worlds: &mut Report, strategy: &str, column: usize, value: f64| {
        let row = worlds.tables[0].rows.iter_mut().find(|row| row.keys == of(strategy)).unwrap();
        row.values[column] = Spread::exactly(value);
    };
    set(&mut worlds, "adaptive", 0, 1_234.0);
    assert_eq!(row(&worlds).matches("hollow").count(), 1);
    assert!(row(&worlds).contains(">adaptive 1,234</text>"));
    // The best other is one that loses nothing, however long it takes.
    for strategy in ["new(), no quota", "AIMD rate", "AIMD window"] {
        set(&mut worlds, strategy, 0, if strategy == "AIMD window" { 0.0 } else { 5.0 });
        set(&mut worlds, strategy, 1, if strategy == "AIMD window" { 10.0 } else { 1.0 });
    }
    assert_eq!(row(&worlds).matches("hollow").count(), 1);
    set(&mut worlds, "AIMD window", 0, 6.0);
    assert!(row(&worlds).contains(">adaptive 1,234, other 5</text>"), "{}", row(&worlds));
}
