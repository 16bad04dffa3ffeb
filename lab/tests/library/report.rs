use lab::report::{Plot, Spread, Table, quantile_of};

#[test]
fn a_spread_has_the_median_and_the_percentiles() {
    let spread = Spread::of((0..=100).map(f64::from));
    assert_eq!((spread.low, spread.mid, spread.high), (Some(10.0), Some(50.0), Some(90.0)));
    assert_eq!(Spread::of([2.0, 1.0]).mid, Some(1.5));
    assert_eq!(Spread::of([]).mid, None);
    assert_eq!(quantile_of(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
}

#[test]
fn never_is_larger_than_every_number() {
    let spread = Spread::of_optional([None, Some(1.0), Some(2.0), Some(3.0), None]);
    assert_eq!((spread.mid, spread.high), (Some(3.0), None));
    assert_eq!(spread.low, Some(1.4));
}

#[test]
fn numbers_are_rounded_to_six_digits() {
    assert_eq!(Spread::exactly(1.0 / 3.0).mid, Some(0.333_333));
    assert_eq!(Spread::exactly(123_456_789.0).mid, Some(123_457_000.0));
}

#[test]
fn values_are_found_by_their_keys() {
    let mut table = Table::new("table", &["strategy"], &["time", "calls"]);
    table.add(vec!["none".to_owned()], vec![Spread::exactly(1.0), Spread::exactly(2.0)]);
    assert_eq!(table.value(&["none"], "calls"), Some(Spread::exactly(2.0)));
    assert_eq!(table.value(&["none"], "cost"), None);
    assert_eq!(table.value(&["all"], "calls"), None);
    let mut plot = Plot::new("plot", "A plot", "x", "y");
    for (line, x) in [("a", 1.0), ("b", 1.0), ("a", 2.0)] {
        plot.add(line, x, Spread::exactly(x));
    }
    assert_eq!(plot.lines.iter().map(|line| line.points.len()).collect::<Vec<_>>(), [2, 1]);
}
