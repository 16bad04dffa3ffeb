use super::{Missing, picture, schedule};
use crate::report::Report;
use retry_core::RetryConfig;
use serde_json::Value;

fn reports() -> Vec<Report> {
    let files = [
        include_str!("../../results/full/changing.json"),
        include_str!("../../results/full/contention.json"),
        include_str!("../../results/full/copy.json"),
        include_str!("../../results/full/layers.json"),
        include_str!("../../results/full/many.json"),
        include_str!("../../results/full/outage.json"),
        include_str!("../../results/full/partial.json"),
    ];
    files.map(|file| serde_json::from_str(file).unwrap()).into()
}

fn settings() -> Report {
    crate::settings::report(Value::Null, &RetryConfig::new(), None)
}

/// A text of a picture with the rectangle that it covers at most: left, top, right, bottom.
struct Text<'a>(&'a str, [f64; 4]);

impl Text<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.1, other.1);
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }
}

fn texts(svg: &str) -> Vec<Text<'_>> {
    let attribute = |line: &'_ str, name: &str| -> Option<String> {
        Some(line.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0.to_owned())
    };
    let lines = svg.lines().filter(|line| line.starts_with("<text ") && line.contains(" x="));
    lines
        .map(|line| {
            let text = line.split_once('>').unwrap().1.trim_end_matches("</text>");
            let class = attribute(line, "class").unwrap();
            let [x, y]: [f64; 2] = ["x", "y"].map(|name| attribute(line, name).unwrap().parse().unwrap());
            let size = if class.contains("title") {
                16.0
            } else if class.contains("small") {
                12.0
            } else {
                13.0
            };
            #[expect(clippy::cast_precision_loss, reason = "texts are short")]
            let width = text.chars().count() as f64 * size * 0.56;
            let before = if class.contains("middle") {
                0.5
            } else if class.contains("end") {
                1.0
            } else {
                0.0
            };
            let left = x - width * before;
            Text(text, [left, y - size * 0.75, left + width, y + size * 0.2])
        })
        .collect()
}

#[test]
fn no_text_lies_on_another_one_or_outside_of_its_picture() {
    let pictures = reports().iter().map(picture).chain([schedule(&settings())]).collect::<Result<Vec<_>, Missing>>();
    for picture in pictures.unwrap() {
        let texts = texts(&picture);
        assert!(texts.len() > 10);
        for (index, text) in texts.iter().enumerate() {
            assert!(text.1[0] >= 0.0 && text.1[2] <= 800.0, "{}", text.0);
            for other in &texts[index + 1..] {
                assert!(!text.overlaps(other), "{} and {} in {}", text.0, other.0, texts[0].0);
            }
        }
    }
}

#[test]
fn a_picture_shows_the_numbers_of_its_report() {
    let mut copy = reports().remove(2);
    let before = picture(&copy).unwrap();
    let row = copy.tables[0].rows.iter_mut().find(|row| row.keys == ["new()", "64"]).unwrap();
    row.values[0] = crate::report::Spread::exactly(1234.0);
    let after = picture(&copy).unwrap();
    assert!(!before.contains(">30.9<") && after.contains(">30.9<"), "1,234 of 4,000 tasks");
}

#[test]
fn a_value_that_is_never_reached_is_said_in_words() {
    let outage = reports().remove(5);
    assert!(picture(&outage).unwrap().contains("1,000 separate quotas and no quota: never again"));
}

#[test]
fn a_strategy_that_the_results_lack_is_an_error() {
    let mut layers = reports().remove(3);
    layers.plots[0].lines.retain(|line| line.name != "quota");
    let error = picture(&layers).unwrap_err().to_string();
    assert_eq!(error, "the results have no line \"quota\" in the plot \"load\"");
    assert!(picture(&settings()).is_err());
}

#[test]
fn settings_of_ones_own_are_a_line_of_their_own() {
    for (mut report, name) in reports().into_iter().zip(["changing", "contention", "copy", "layers", "many"]) {
        assert_eq!(report.scenario, name);
        assert!(!picture(&report).unwrap().contains("yours"));
        let (old, new) = ("adaptive, no quota", "yours");
        let (old, is_renamed) = match name {
            "contention" => ("new(), as shipped", true),
            "layers" => ("no retries", false),
            _ => (old, true),
        };
        for plot in &mut report.plots {
            let mut lines: Vec<_> = plot.lines.iter().filter(|line| line.name == old).cloned().collect();
            for line in &mut lines {
                line.name = new.to_owned();
            }
            plot.lines.retain(|line| !is_renamed || line.name != old);
            plot.lines.extend(lines);
        }
        for key in report.tables.iter_mut().flat_map(|table| &mut table.rows).flat_map(|row| &mut row.keys) {
            if key == old {
                new.clone_into(key);
            }
        }
        assert!(picture(&report).unwrap().contains("yours"), "{name}");
    }
}

#[test]
fn an_outage_can_have_other_numbers_of_quotas() {
    let mut outage = reports().remove(5);
    outage.options["quotas"] = serde_json::json!([1, 100]);
    for plot in &mut outage.plots {
        plot.lines.retain(|line| !line.name.contains("1000"));
    }
    let two = picture(&outage).unwrap();
    assert_eq!(two.matches("separate quotas<").count(), 1);
    outage.options["quotas"] = serde_json::json!([1]);
    for plot in &mut outage.plots {
        plot.lines.retain(|line| !line.name.contains("100"));
    }
    assert!(picture(&outage).unwrap().contains(">no quota: never again<"));
}
