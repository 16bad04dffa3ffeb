//! What the page computes: pictures and texts for the settings of its form, by the library and the lab as they are.

mod form;
mod pictures;
mod texts;

pub use form::{Form, Kind};
use form::{Numbers, PRESETS};
pub use texts::{rust, toml};

use retry_config::RetryPreset;
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::wasm_bindgen;

/// Answers for a form: a JSON object whose values are texts by the name of its field.
///
/// The parts are `texts` (the fields `toml` and `rust`), and `timeline`, `copy` and `outage` (`svg`, and `sentence` except for the
/// timeline). If the form has invalid fields, the answer has the field `invalid` instead, an object with a message for each of them.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
pub fn answer(part: &str, form: &str) -> String {
    let form = match Form::parse(form) {
        Ok(form) => form,
        Err(invalid) => return json!({ "invalid": invalid }).to_string(),
    };
    let answer: Value = match part {
        "texts" => json!({ "toml": toml(&form), "rust": rust(&form) }),
        "timeline" => json!({ "svg": pictures::timeline(&form) }),
        "copy" => pictures::copy(&form),
        "outage" => pictures::outage(&form),
        _ => json!({ "invalid": { "part": "expected texts, timeline, copy or outage" } }),
    };
    answer.to_string()
}

/// Returns the numbers of the presets and of the patient strategy as a JSON object: an object of form fields by their name.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
pub fn presets() -> String {
    let of = |preset: RetryPreset| (preset.as_str().to_owned(), Numbers::of(preset).fields());
    let patient = (Kind::Patient.name().to_owned(), Numbers::of_patient().fields());
    Value::Object(PRESETS.into_iter().map(of).chain([patient]).collect()).to_string()
}
