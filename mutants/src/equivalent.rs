//! The mutants that no test can notice, each with its argument, and how many others may survive: the file `equivalent.toml`.

use serde::Deserialize;
use std::collections::BTreeSet;

/// How many there may be.
pub(crate) const MOST: usize = 28;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    unexplained: usize,
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

/// Which mutants may survive.
#[derive(Debug, PartialEq)]
pub(crate) struct Allowed {
    /// Those that no test can notice.
    pub(crate) equivalent: BTreeSet<Key>,
    /// The number of the others.
    pub(crate) unexplained: usize,
}

/// Reads the file.
pub(crate) fn parse(text: &str) -> Result<Allowed, String> {
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
    Ok(Allowed { equivalent: listed, unexplained: file.unexplained })
}
