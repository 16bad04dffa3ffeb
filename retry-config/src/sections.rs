//! Sections of external parts.

use super::error::Problem;
use super::{ConfigError, ConfigSource};

/// The settings of external parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sections(Vec<Entry>);

/// A value of a section, which was checked.
#[derive(Clone, Debug)]
struct Entry {
    section: &'static str,
    key: &'static str,
    value: String,
    source: ConfigSource,
    /// The path of the section that the section is in.
    path: String,
}

/// Sources are ignored in comparisons.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.section, self.key, &self.value) == (other.section, other.key, &other.value)
    }
}

impl Sections {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the values that are not set yet.
    pub(super) fn or(mut self, other: Self) -> Self {
        for entry in other.0 {
            if !self.0.iter().any(|known| (known.section, known.key) == (entry.section, entry.key)) {
                self.0.push(entry);
            }
        }
        self
    }

    /// Returns the values for a part.
    pub(super) fn of(&self, part: Option<&'static str>) -> Vec<(&'static str, String)> {
        let of_part = self.0.iter().filter(|entry| part == Some(entry.section));
        of_part.map(|entry| (entry.key, entry.value.clone())).collect()
    }

    /// Checks that all values are for this part.
    pub(super) fn check(&self, part: Option<&'static str>) -> Result<(), ConfigError> {
        let Some(other) = self.0.iter().find(|entry| part != Some(entry.section)) else { return Ok(()) };
        let Entry { section, key, source, path, .. } = other.clone();
        Err(ConfigError::new(source, Problem::NoPart { key, part: section }).in_section(&format!("{path}{section}")))
    }
}

#[cfg(feature = "serde")]
mod read {
    use super::{Entry, Sections};
    use crate::error::Problem;
    use crate::suggest;
    use crate::text_form::{Node, no_group, section_of};
    use crate::{ConfigError, ConfigSource, RetryConfig};
    use retry_core::quota::ConfigSection;
    use serde::de::Deserializer;
    use std::path::PathBuf;

    impl RetryConfig {
        /// Reads the settings from a section of a file, as [`from_file_section`](RetryConfig::from_file_section) does, and the
        /// sections of these parts in it; see [`ConfigSection`]. The parts are not changed until the settings are used.
        ///
        /// # Errors
        ///
        /// Returns an error in the same cases as [`from_file_section`](RetryConfig::from_file_section).
        pub fn from_file_section_with<'de, D: Deserializer<'de>>(
            file: impl Into<PathBuf>,
            section: &str,
            document: D,
            parts: &[&dyn ConfigSection],
        ) -> Result<Self, ConfigError> {
            let source = ConfigSource::File(file.into());
            let error = |section: &str, problem| ConfigError::new(source.clone(), problem).in_section(section);
            let mut node = section_of(document, section).map_err(|problem| error(section, problem))?;
            let path = if section.is_empty() { String::new() } else { format!("{section}.") };
            let mut sections = Sections::new();
            for part in parts {
                let Node::Group(members) = &mut node else { break };
                let inner = format!("{path}{}", part.name());
                for (_, group) in members.extract_if(.., |(name, _)| name == part.name()) {
                    let members = match group {
                        Node::Group(members) => members,
                        Node::Nothing => continue,
                        other => return Err(error(&inner, no_group("", other.into_text("")))),
                    };
                    for (name, node) in members {
                        let key = part.keys().iter().copied().find(|key| *key == name);
                        let key = key.ok_or_else(|| error(&inner, unknown(part.keys(), name)))?;
                        if matches!(node, Node::Nothing) {
                            continue;
                        }
                        let value = node.into_text(key);
                        part.check(key, &value).map_err(|invalid| error(&inner, invalid.into()))?;
                        let (section, source, path) = (part.name(), source.clone(), path.clone());
                        sections.0.push(Entry { section, key, value, source, path });
                    }
                }
            }
            let mut config = Self::of_node(node, &source, section)?;
            config.sections = sections;
            Ok(config)
        }
    }

    fn unknown(keys: &[&'static str], key: String) -> Problem {
        let suggestion = suggest::most_similar(&key, keys.iter().copied(), suggest::limit(&key)).map(str::to_owned);
        Problem::Unknown { suggestion, expected: keys.join(", "), key }
    }
}
