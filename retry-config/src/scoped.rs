//! Settings for a map of strategies: for all scopes, and for single ones.

use super::parts::ConfigLimiter;
use super::{ConfigError, ConfiguredStrategy, RetryConfig};
use retry_core::backoff::BackoffStrategy;
use retry_core::quota::RetryQuota;
use retry_core::strategy::ScopedRetryStrategy;
use retry_core::time::Clock;
use std::collections::HashMap;
use std::hash::Hash;

/// The settings of a [`ScopedRetryStrategy`] of [configured strategies](ConfiguredStrategy): for all scopes, and for single
/// scopes, which inherit the settings for all.
///
/// ```
/// use retry_config::{ConfiguredStrategy, RetryConfig, ScopedRetryConfig};
/// use retry_core::{ScopedRetryStrategy, TokioTimer};
///
/// static TENANTS: ScopedRetryStrategy<String, ConfiguredStrategy> =
///     ScopedRetryStrategy::new(ConfiguredStrategy::default);
///
/// let all = RetryConfig::new().try_max_attempts(3)?;
/// let acme = RetryConfig::new().quota_capacity(1_000);
/// let config = ScopedRetryConfig::new(all).scope("acme".to_owned(), acme);
/// config.apply_to(&TENANTS, TokioTimer)?;
/// assert_eq!(TENANTS.scope("acme").quota().capacity(), 1_000);
/// assert_eq!(TENANTS.scope("umbrella").quota().capacity(), 500);
/// assert_eq!(TENANTS.scope("umbrella").settings().max_attempts, 3);
/// # Ok::<(), retry_config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedRetryConfig<K: Eq + Hash> {
    all: RetryConfig,
    scopes: HashMap<K, RetryConfig>,
}

impl<K: Eq + Hash> ScopedRetryConfig<K> {
    /// Creates settings that are the same for all scopes.
    pub fn new(all: RetryConfig) -> Self {
        Self { all, scopes: HashMap::new() }
    }

    /// Sets the settings of a single scope.
    #[must_use]
    pub fn scope(mut self, key: K, config: RetryConfig) -> Self {
        self.scopes.insert(key, config);
        self
    }

    /// Returns the settings of a scope.
    pub fn of(&self, key: &K) -> RetryConfig {
        match self.scopes.get(key) {
            Some(config) => config.clone().or(self.all.clone()),
            None => self.all.clone(),
        }
    }
}

impl<K: Eq + Hash + Send + Sync + 'static> ScopedRetryConfig<K> {
    /// Changes the settings of all scopes, those in use and later ones; see [`ConfiguredStrategy::apply`]. Values that are
    /// not set for a scope come from the strategy that the map makes for it.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`RetryConfig::build_on`], for the scopes in use and those that the settings
    /// name, and for later scopes if the map makes all strategies alike. Then nothing changes.
    ///
    /// A maker that sees the key ([`by_key`](ScopedRetryStrategy::by_key)) can make strategies with other parts. If the settings are an error
    /// for such a later scope, it keeps the settings of the code. To see the error, apply [`of`](Self::of) the key to the scope.
    pub fn apply_to<B, Q, L>(
        self,
        scopes: &ScopedRetryStrategy<K, ConfiguredStrategy<B, Q, L>>,
        clock: impl Clock + Send + Sync + 'static,
    ) -> Result<(), ConfigError>
    where
        B: BackoffStrategy + 'static,
        Q: RetryQuota + 'static,
        L: ConfigLimiter + 'static,
    {
        for key in self.scopes.keys() {
            scopes.make_strategy(key).check(&self.of(key))?;
        }
        // Later scopes, of which the map may have none yet.
        if let Some(later) = scopes.make_alike() {
            later.check(&self.all)?;
        }
        scopes.try_for_each(|key, strategy| strategy.check(&self.of(key)))?;
        scopes.configure(move |key, strategy| {
            // All known scopes were checked. For later ones of a maker by key, there is no caller that could get the error.
            let _ = strategy.apply(&self.of(key), &clock);
        });
        Ok(())
    }
}

#[cfg(feature = "serde")]
mod read {
    use super::ScopedRetryConfig;
    use crate::error::Problem;
    use crate::text_form::{Node, no_group, section_of};
    use crate::{ConfigError, ConfigSource, RetryConfig};
    use serde::de::Deserializer;
    use std::hash::Hash;
    use std::path::PathBuf;
    use std::str::FromStr;

    impl<K: Eq + Hash + FromStr> ScopedRetryConfig<K> {
        /// Reads the settings from a section of a file, as [`RetryConfig::from_file_section`] does. `scopes` is the name of
        /// the group that contains a group of settings for each key:
        ///
        /// ```
        /// use retry_config::ScopedRetryConfig;
        ///
        /// // In TOML: [store] with max_attempts = 3, and [store.tenants.acme] with max_attempts = 5.
        /// let text = r#"{
        ///     "store": { "max_attempts": 3, "tenants": { "acme": { "max_attempts": 5 } } }
        /// }"#;
        /// let document = &mut serde_json::Deserializer::from_str(text);
        /// let file = "settings.json";
        /// let config = ScopedRetryConfig::from_file_section(file, "store", "tenants", document)?;
        /// assert_eq!(config.of(&"acme".to_owned()).max_attempts_setting(), Some(5));
        /// assert_eq!(config.of(&"umbrella".to_owned()).max_attempts_setting(), Some(3));
        /// # Ok::<(), retry_config::ConfigError>(())
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if the document is malformed, if the section is missing, if a value or the key of a scope is invalid,
        /// or if a key is unknown. The group of scopes can be missing.
        pub fn from_file_section<'de, D: Deserializer<'de>>(
            file: impl Into<PathBuf>,
            section: &str,
            scopes: &str,
            document: D,
        ) -> Result<Self, ConfigError> {
            let source = ConfigSource::File(file.into());
            let error = |section: &str, problem| ConfigError::new(source.clone(), problem).in_section(section);
            let mut node = section_of(document, section).map_err(|problem| error(section, problem))?;
            let mut groups = Vec::new();
            if let Node::Group(members) = &mut node {
                groups.extend(members.extract_if(.., |(name, _)| name == scopes).map(|(_, node)| node));
            }
            let read = |section: &str, node| RetryConfig::of_node(node, &source, section);
            let mut config = Self { all: read(section, node)?, scopes: std::collections::HashMap::new() };
            let path = format!("{section}.{scopes}");
            let path = path.trim_start_matches('.');
            for node in groups {
                let members = match node {
                    Node::Group(members) => members,
                    Node::Nothing => continue,
                    other => return Err(error(path, no_group("", other.into_text("")))),
                };
                for (name, node) in members {
                    let path = format!("{path}.{name}");
                    let key = name.parse().map_err(|_| error(&path, Problem::NoScope(name)))?;
                    config.scopes.insert(key, read(&path, node)?);
                }
            }
            Ok(config)
        }
    }
}
