//! The hook by which an external part gets a section of a configuration.

use crate::support::InvalidSetting;
use std::fmt::Debug;

/// An external part of a strategy, with its own section in the file of a configuration.
///
/// A `RetryConfig` of the crate [`retry-config`](https://docs.rs/retry-config) has keys for the parts of this library. Your own
/// quota, or a quota of another crate, gets keys by implementing this trait and returning itself from [`RetryQuota::section`](crate::RetryQuota::section). Then:
///
/// 1. `RetryConfig::from_file_section_with` reads the section and [checks](ConfigSection::check) each value, so that an error
///    names the file, the key and the value.
/// 2. `RetryConfig::build_on` and `ConfiguredStrategy::apply` [set](ConfigSection::set) the values.
///
/// ```
/// use retry_core::InvalidSetting;
/// use retry_core::quota::ConfigSection;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// #[derive(Debug)]
/// struct Share(AtomicU32);
///
/// impl ConfigSection for Share {
///     fn name(&self) -> &'static str {
///         "share"
///     }
///
///     fn keys(&self) -> &'static [&'static str] {
///         &["percent"]
///     }
///
///     fn check(&self, key: &'static str, value: &str) -> Result<(), InvalidSetting> {
///         let is_valid = value.parse().is_ok_and(|percent: u32| percent <= 100);
///         if is_valid {
///             return Ok(());
///         }
///         Err(InvalidSetting::new(key, value, "a whole number up to 100"))
///     }
///
///     fn set(&self, values: &[(&'static str, String)]) {
///         let percent = values.first().and_then(|(_, value)| value.parse().ok());
///         self.0.store(percent.unwrap_or(100), Ordering::Relaxed);
///     }
/// }
///
/// let share = Share(AtomicU32::new(100));
/// assert!(share.check("percent", "101").is_err());
/// share.set(&[("percent", "50".to_owned())]);
/// ```
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

    /// Sets these keys to values that were checked, and the other keys to their values in code. The part may be in use.
    fn set(&self, values: &[(&'static str, String)]);
}
