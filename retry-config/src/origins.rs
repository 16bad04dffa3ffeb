//! The sources of settings, for errors that are found when the settings are used.

use super::error::ConfigSource;

/// The sources of the settings that were read from text. Settings that are not in the list come from code.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(Vec<Origin>);

#[derive(Clone, Debug)]
struct Origin {
    key: &'static str,
    /// The value as it is written. If the setting has another value, code has changed it.
    value: String,
    source: ConfigSource,
    section: String,
}

impl Origins {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, key: &'static str, value: String, source: ConfigSource) {
        self.0.push(Origin { key, value, source, section: String::new() });
    }

    /// Sets the section of a file that all settings come from.
    #[cfg(feature = "serde")]
    pub(super) fn set_section(&mut self, section: &str) {
        for origin in &mut self.0 {
            section.clone_into(&mut origin.section);
        }
    }

    /// Adds the sources of settings that these do not set.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Forgets the source of a setting that code has set.
    pub(super) fn forget(&mut self, key: &str) {
        self.0.retain(|origin| origin.key != key);
    }

    /// Returns the source and the section of a setting.
    pub(super) fn of(&self, key: &str, value: &str) -> (&ConfigSource, &str) {
        static CODE: ConfigSource = ConfigSource::Code;

        let origin = self.0.iter().find(|origin| origin.key == key && origin.value == value);
        origin.map_or((&CODE, ""), |origin| (&origin.source, &origin.section))
    }
}

/// Sources are ignored in comparisons.
impl PartialEq for Origins {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
