//! The fields of the form are checked, and the pictures are those of the lab.

use playground::{answer, presets};
use serde_json::{Value, json};

const FIELDS: [&str; 8] = ["attempts", "base", "cap", "quota", "load", "workers", "limit", "outage"];

fn form() -> Value {
    json!({
        "strategy": "patient", "preset": "default", "attempts": "10", "base": "1000", "cap": "4", "quota": "500",
        "load": "80", "workers": "64", "limit": "100", "outage": "10",
    })
}

fn standard() -> Value {
    let mut form = form();
    form["strategy"] = "standard".into();
    form
}

fn answered(part: &str, form: &Value) -> Value {
    serde_json::from_str(&answer(part, &form.to_string())).unwrap()
}

fn text(answer: &Value, field: &str) -> String {
    answer[field].as_str().unwrap_or_default().to_owned()
}

#[test]
fn invalid_fields_get_a_message_that_says_what_is_expected() {
    let cases = [
        ("attempts", "0", "expected a whole number from 1 to 20"),
        ("attempts", "2.5", "expected a whole number from 1 to 20"),
        ("base", "", "expected a whole number from 1 to 60000"),
        ("base", "30000", "expected at most the cap"),
        ("cap", "4000000000", "expected a whole number from 1 to 3600"),
        ("quota", "-1", "expected a whole number from 0 to 100000"),
        ("load", "96", "expected a whole number from 1 to 95"),
        ("workers", "many", "expected a whole number from 1 to 256"),
        ("limit", "9", "expected a whole number from 10 to 300"),
        ("outage", "31", "expected a whole number from 1 to 30"),
        ("strategy", "off", "expected one of: patient, standard, adaptive, paced"),
        ("preset", "", "expected one of: default, aws_2_0, aws_2_1"),
    ];
    for (field, value, expected) in cases {
        let mut form = form();
        form[field] = value.into();
        for part in ["texts", "timeline", "copy", "outage"] {
            assert_eq!(answered(part, &form), json!({ "invalid": { field: expected } }), "{part}: {field} = {value:?}");
        }
    }
    let nothing = answered("texts", &Value::Null);
    assert_eq!(nothing["invalid"].as_object().unwrap().len(), 10);
    assert_eq!(answer("texts", "{"), answer("texts", "{}"));
}

#[test]
fn a_preset_has_valid_fields() {
    let presets: Value = serde_json::from_str(&presets()).unwrap();
    for (name, fields) in presets.as_object().unwrap() {
        let is_patient = name == "patient";
        let mut form = if is_patient { form() } else { standard() };
        if !is_patient {
            form["preset"] = name.as_str().into();
        }
        for (field, value) in fields.as_object().unwrap() {
            form[field] = value.clone();
        }
        let toml = text(&answered("texts", &form), "toml");
        let expected = match name.as_str() {
            "patient" => "# The settings of the patient strategy are in its static.\n".to_owned(),
            "default" => "# All settings have the defaults of the library.\n".to_owned(),
            name => format!("preset = \"{name}\"\n"),
        };
        assert_eq!(toml, expected, "the numbers of a preset are not written");
    }
}

#[test]
fn the_settings_change_each_picture_and_its_sentence() {
    let (patient, standard, mut paced) = (form(), standard(), form());
    paced["strategy"] = "paced".into();
    let (before, after) = (answered("copy", &standard), answered("copy", &paced));
    let (fails, sentence) = (text(&before, "sentence"), text(&after, "sentence"));
    assert!(
        fails.starts_with("With 64 workers, ")
            && fails.ends_with("% of the operations fail; with the paced strategy none."),
        "{fails}"
    );
    assert!(sentence.starts_with("With 64 workers, no operation fails; without retries "), "{sentence}");
    assert_ne!(before["svg"], after["svg"]);
    assert_ne!(answered("timeline", &standard)["svg"], answered("timeline", &patient)["svg"]);
    let mut unlimited = standard.clone();
    unlimited["quota"] = "100000".into();
    let (before, after) = (answered("outage", &standard), answered("outage", &unlimited));
    assert!(text(&before, "sentence").contains("the server works again"), "{before}");
    assert!(text(&after, "sentence").contains("still does not work again"), "{after}");
    assert_ne!(before["svg"], after["svg"]);
    assert_ne!(answered("outage", &patient)["svg"], before["svg"]);
}

#[test]
fn an_operation_of_the_first_form_outlasts_its_outage_and_not_a_longer_one() {
    let mut form = form();
    let survives = answered("timeline", &form);
    assert!(text(&survives, "svg").contains("An operation succeeds after "), "{survives}");
    assert!(text(&survives, "svg").contains(", waits for "), "{survives}");
    form["outage"] = "30".into();
    let fails = answered("timeline", &form);
    assert!(text(&fails, "svg").contains("An operation ends after "), "{fails}");
    let before = answered("outage", &self::form());
    assert!(text(&before, "sentence").starts_with("After a stall of 10 s, "), "{before}");
    assert!(text(&answered("outage", &form), "sentence").starts_with("After a stall of 30 s, "));
}

#[test]
fn the_smallest_and_the_largest_values_have_pictures() {
    let choices = [("patient", "default"), ("standard", "default"), ("adaptive", "aws_2_0"), ("paced", "aws_2_1")];
    for values in
        [["1", "1", "1", "0", "1", "1", "10", "1"], ["20", "60000", "3600", "100000", "95", "256", "300", "30"]]
    {
        for (strategy, preset) in choices {
            let mut form = json!({ "strategy": strategy, "preset": preset });
            for (field, value) in FIELDS.iter().zip(values) {
                form[field] = value.into();
            }
            for part in ["timeline", "copy", "outage"] {
                let answer = answered(part, &form);
                assert!(text(&answer, "svg").starts_with("<svg"), "{part} {form}: {answer}");
            }
        }
    }
}
