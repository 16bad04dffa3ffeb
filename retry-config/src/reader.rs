//! Settings read from text, one key after the other.

use super::error::Problem;
use super::keys::{Key, Unfit};
use super::{ConfigSource, RetryConfig};

/// Reads settings into a configuration.
#[derive(Debug, Default)]
pub(super) struct Reader(RetryConfig);

impl Reader {
    /// Reads the value of a key.
    pub(super) fn read(&mut self, key: &Key, text: &str, source: &ConfigSource) -> Result<(), Problem> {
        (key.read)(&mut self.0.set, text)?;
        if let Some(value) = (key.write)(&self.0.set) {
            self.0.origins.add(key.path, value.into_text(), source.clone());
        }
        Ok(())
    }

    /// Returns the configuration.
    pub(super) fn finish(self) -> Result<RetryConfig, Unfit> {
        self.0.set.check()?;
        Ok(self.0)
    }
}
