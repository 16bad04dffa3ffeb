//! The hook by which a part from elsewhere gets a section of a configuration.

use super::InvalidSetting;
use std::fmt::Debug;

/// A part of a strategy that comes from elsewhere, and has its own section in the file of a configuration.
///
/// The keys of a [`RetryConfig`](crate::RetryConfig) are those of the parts of this library. A quota of your own, or of another
/// crate, implements this trait and returns itself from [`RetryQuota::section`](crate::RetryQuota::section). Then:
///
/// 1. `RetryConfig::from_file_section_with` reads the section and [checks](ConfigSection::check) each value, so that an error
///    names the file, the key and the value.
/// 2. [`RetryConfig::build_on`](crate::RetryConfig::build_on) and
///    [`ConfiguredStrategy::apply`](crate::config::ConfiguredStrategy::apply) [set](ConfigSection::set) the values.
pub trait ConfigSection: Debug {
    /// Returns the name of the section, such as `fleet`.
    fn name(&self) -> &'static str;

    /// Returns the keys of the section.
    fn keys(&self) -> &'static [&'static str];

    /// Checks the value of one of the keys, as it is written in the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is invalid. Its setting is the key.
    fn check(&self, key: &'static str, value: &str) -> Result<(), InvalidSetting>;

    /// Sets these keys to values that were checked, and the other keys to what they are in code. The part may be in use.
    fn set(&self, values: &[(&'static str, String)]);
}
