use lab::chart::scale::{Scale, fixed, number};

#[test]
fn ticks_are_round_and_cover_the_values() {
    let linear = |values, end, is_open| Scale::linear(values, (0.0, end), is_open).ticks;
    assert_eq!(linear((0.0, 87.0), 300.0, true), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    assert_eq!(linear((10.0, 190.0), 300.0, false), [50.0, 100.0, 150.0]);
    assert_eq!(linear((0.0, 87.0), 80.0, true), [0.0, 50.0, 100.0], "a short axis has few");
    assert_eq!(Scale::logarithmic((0.4, 96.0), (0.0, 100.0)).ticks, [0.1, 1.0, 10.0, 100.0]);
}

#[test]
fn values_have_positions_within_the_axis() {
    let scale = Scale::linear((0.0, 100.0), (300.0, 100.0), true);
    assert_eq!([0.0, 50.0, 1e9].map(|value| number(scale.at(value))), ["300", "200", "100"]);
    let scale = Scale::logarithmic((1.0, 100.0), (0.0, 100.0));
    assert_eq!([0.0, 1.0, 10.0].map(|value| number(scale.at(value))), ["0", "0", "50"]);
    assert_eq!(number(Scale::linear((0.0, 0.0), (0.0, 100.0), true).at(2.0)), "100", "no values");
}

#[test]
fn numbers_are_short() {
    let texts = [0.0, 0.25, 1.171, 24.0, 46.238, 3776.0, 12_724.5].map(number);
    assert_eq!(texts, ["0", "0.25", "1.17", "24", "46.2", "3,776", "12,724"]);
    assert_eq!([0.0, 0.04, 5.0, 1234.56].map(|value| fixed(value, 1)), ["0", "0.0", "5.0", "1,234.6"]);
}
