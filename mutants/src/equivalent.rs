//! The mutants that no test can notice, each with its argument: the file `equivalent.toml`.

use serde::Deserialize;
use std::collections::BTreeSet;

/// How many there may be.
pub(crate) const MOST: usize = 29;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    equivalent: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    function: String,
    change: String,
    why: String,
}

/// A mutant by its file, its function, and its change.
pub(crate) type Key = (String, String, String);

/// Returns the mutants in the file.
pub(crate) fn parse(text: &str) -> Result<BTreeSet<Key>, String> {
    let file: File = toml::from_str(text).map_err(|error| format!("mutants/equivalent.toml: {error}"))?;
    let mut listed = BTreeSet::new();
    for Entry { file, function, change, why } in file.equivalent {
        if why.split_whitespace().count() < 5 {
            return Err(format!("mutants/equivalent.toml: {function}: {change}: say why no test can notice it"));
        }
        let key = (file, function, change);
        if !listed.insert(key.clone()) {
            return Err(format!("mutants/equivalent.toml: {}: {} is given twice", key.1, key.2));
        }
    }
    if listed.len() > MOST {
        return Err(format!("mutants/equivalent.toml has {} entries: expected at most {MOST}", listed.len()));
    }
    Ok(listed)
}
