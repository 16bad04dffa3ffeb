use super::super::{PEERS, peers};
use super::{assert_texts_apart, set_rows};
use crate::chart::looks::is_peer;
use crate::report::{Report, Spread};

/// Returns the committed results beside other crates, in the order of [`PEERS`].
fn reports() -> Vec<Report> {
    let files: [&str; PEERS.len()] = [
        include_str!("../../../results/peers/outage.json"),
        include_str!("../../../results/peers/layers.json"),
        include_str!("../../../results/peers/partial.json"),
        include_str!("../../../results/peers/copy.json"),
    ];
    files.map(|file| serde_json::from_str(file).unwrap()).into()
}

#[test]
fn no_text_lies_on_another_one_or_outside_of_its_picture() {
    assert_texts_apart(&peers(&reports()).unwrap());
}

#[test]
fn each_number_of_each_other_crate_is_drawn() {
    let before = peers(&reports()).unwrap();
    // The table of each scenario, and the measures of it that are drawn.
    let drawn = [("outage", &[0][..]), ("layers", &[3]), ("partial", &[0, 1]), ("copy", &[0, 1, 4])];
    let mut count = 0;
    for (index, (name, columns)) in drawn.into_iter().enumerate() {
        assert_eq!(name, PEERS[index]);
        let reports = reports();
        for (number, row) in reports[index].table(name).unwrap().rows.iter().enumerate() {
            let is_case = |key: &str, cases: &[&str]| cases.contains(&key) || is_peer(key);
            let is_shown = row.keys.iter().any(|key| is_peer(key))
                && row.keys.iter().all(|key| is_case(key, &["0.8", "1", "30", "64"]))
                // A limit on sends is shown only where the rate is limited.
                && (name == "copy" || !row.keys.iter().any(|key| key.ends_with(", adaptive")));
            for &column in columns.iter().filter(|_| is_shown) {
                let mut reports = reports.clone();
                let table = reports[index].tables.iter_mut().find(|table| table.name == name).unwrap();
                let spread = &mut table.rows[number].values[column];
                // Between the others, so that no axis changes.
                let old = spread.mid.unwrap_or(100.0);
                *spread = Spread { mid: Some(old * 0.9 + 0.05), ..*spread };
                let changed = peers(&reports).unwrap();
                let differ = before.lines().zip(changed.lines()).filter(|(before, changed)| before != changed).count();
                assert!(differ > 0, "{name}: {:?}, column {column}", row.keys);
                count += 1;
            }
        }
    }
    assert_eq!(count, 4 * (1 + 1 + 2) + 5 * 3, "four rows with four measures, and five with three");
}

#[test]
fn a_server_that_never_recovers_is_said_in_words() {
    let mut reports = reports();
    let count = |reports: &[Report]| peers(reports).unwrap().matches(">never<").count();
    assert_eq!(count(&reports), 3, "without a limit on retries, of this library and of other crates");
    set_rows(&mut reports[0], "tower", f64::INFINITY);
    assert_eq!(count(&reports), 4);
    assert!(peers(&reports).unwrap().contains("not within 520 s"));
}

#[test]
fn the_only_logarithmic_axis_says_so_and_has_no_bars() {
    let picture = peers(&reports()).unwrap();
    assert_eq!(picture.matches(">logarithmic<").count(), 1);
    let bars = picture.matches(" bar\"").count();
    assert_eq!(bars, 7 * 3 + 10 * 2, "of all panels but the logarithmic one and the times");
}

#[test]
fn the_title_states_a_finding_only_if_the_results_have_it() {
    let title = |reports: &[Report]| {
        let picture = peers(reports).unwrap();
        picture.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_owned()
    };
    let finding = "This library and others: a shared retry limit saves servers and loses operations";
    assert_eq!(title(&reports()), finding);
    // Without a limit, a server recovers, bears it, or loses as many operations.
    let changes = [("outage", "backon", 20.0), ("layers", "tokio-retry2", 200.0), ("copy", "backon", 2000.0)];
    for (name, strategy, value) in changes.into_iter().chain([("partial", "tower", 99.9)]) {
        let mut reports = reports();
        let report = reports.iter_mut().find(|report| report.scenario == name).unwrap();
        set_rows(report, strategy, value);
        assert_eq!(title(&reports), "This library and other crates in four scenarios", "{name}");
    }
}

#[test]
fn a_scenario_or_a_crate_that_the_results_lack_is_an_error() {
    let error = |reports: &[Report]| peers(reports).unwrap_err().to_string();
    assert_eq!(error(&reports()[..3]), "the results have no scenario \"copy\"");
    let mut reports = reports();
    reports[0].tables[0].rows.retain(|row| row.keys[1] != "tower");
    assert!(error(&reports).contains("[\"0.8\", \"tower\", \"1\"]"), "{}", error(&reports));
}

#[test]
fn all_results_beside_other_crates_have_as_many_seeds_as_the_picture_says() {
    let (reports, picture) = (reports(), peers(&reports()).unwrap());
    for report in &reports {
        assert!(picture.contains(&format!("Medians of {} runs", report.seeds)), "{}", report.scenario);
    }
}
