//! Sections of parts from elsewhere, in the same file.

use super::CLOCK;
use retry_config::{ConfigError, ConfiguredOn, ConfiguredStrategy, RetryConfig};
use retry_core::quota::ConfigSection;
use retry_core::{Clock, ExponentialBackoff, InvalidSetting, RetryQuota, StandardRetryStrategy};
use std::sync::{Arc, Mutex, Weak};

type Values = Vec<(&'static str, String)>;

/// A quota with its own section.
#[derive(Debug, Default)]
struct Budget {
    set: Mutex<Vec<Values>>,
    /// A configuration that is applied while the next values are set, as by another thread.
    meanwhile: Mutex<Option<(Weak<WithBudget>, RetryConfig)>>,
}

type WithBudget = ConfiguredOn<StandardRetryStrategy<ExponentialBackoff, Arc<Budget>>>;

impl RetryQuota for Budget {
    fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
        true
    }

    fn refund(&self, _: u32) {}

    fn available(&self) -> u32 {
        1
    }

    fn section(&self) -> Option<&dyn ConfigSection> {
        Some(self)
    }
}

impl ConfigSection for Budget {
    fn name(&self) -> &'static str {
        "budget"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["share", "burst"]
    }

    fn check(&self, key: &'static str, value: &str) -> Result<(), InvalidSetting> {
        if value == "bad" { Err(InvalidSetting::new(key, value, "anything else")) } else { Ok(()) }
    }

    fn set(&self, values: &[(&'static str, String)]) {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some((strategy, config)) = meanwhile {
            strategy.upgrade().unwrap().apply(&config, CLOCK).unwrap();
        }
        self.set.lock().unwrap().push(values.to_vec());
    }
}

fn read(text: &str, budget: &Budget) -> Result<RetryConfig, ConfigError> {
    let document = toml::Deserializer::parse(text).unwrap();
    RetryConfig::from_file_section_with("settings.toml", "store", document, &[budget])
}

fn with(budget: &Arc<Budget>) -> StandardRetryStrategy<ExponentialBackoff, Arc<Budget>> {
    StandardRetryStrategy::new().with_quota(Arc::clone(budget))
}

// Rules C22, C25.
#[test]
fn a_part_from_elsewhere_gets_its_section_of_the_file_at_the_start_and_while_running() {
    let budget = Arc::new(Budget::default());
    let set = || {
        let mut set = std::mem::take(&mut *budget.set.lock().unwrap());
        for values in &mut set {
            values.sort_unstable();
        }
        set
    };
    let value = |key: &'static str, value: &str| (key, value.to_owned());
    let config = read("[store]\nmax_attempts = 2\n[store.budget]\nshare = 0.5\nburst = 7", &budget).unwrap();
    assert!(set().is_empty(), "reading sets nothing");
    let strategy = config.build_on(with(&budget)).unwrap();
    assert_eq!(strategy.settings().max_attempts, 2);
    assert_eq!(set(), [[value("burst", "7"), value("share", "0.5")]]);
    strategy.apply(&config, CLOCK).unwrap();
    assert!(set().is_empty(), "nothing is different");
    // Of two configurations, the first that has a value sets it.
    let burst = read("[store.budget]\nburst = 9", &budget).unwrap();
    strategy.apply(&burst.or(config), CLOCK).unwrap();
    assert_eq!(set(), [[value("burst", "9"), value("share", "0.5")]]);
    strategy.apply(&RetryConfig::new(), CLOCK).unwrap();
    assert_eq!(set(), [vec![]]);
}

// Rule C25.
#[test]
fn of_two_changes_at_the_same_time_a_section_gets_the_values_that_are_in_effect() {
    let config = |value: &str| read(&format!("[store.budget]\nshare = \"{value}\""), &Budget::default()).unwrap();
    let budget = Arc::new(Budget::default());
    let strategy = Arc::new(RetryConfig::new().build_on(with(&budget)).unwrap());
    *budget.meanwhile.lock().unwrap() = Some((Arc::downgrade(&strategy), config("second")));
    strategy.apply(&config("first"), CLOCK).unwrap();
    let set: Vec<String> = budget.set.lock().unwrap().iter().flatten().map(|(_, value)| value.clone()).collect();
    assert_eq!(set.last().map(String::as_str), Some("second"), "{set:?}");
    assert!(set.contains(&"first".to_owned()), "{set:?}");
}

// Rules C17, C25.
#[test]
fn a_mistake_in_a_section_at_the_top_of_a_file_is_an_error_with_its_path() {
    let text = |text: &str| {
        let document = toml::Deserializer::parse(text).unwrap();
        let read = RetryConfig::from_file_section_with("settings.toml", "", document, &[&Budget::default()]);
        read.unwrap_err().to_string()
    };
    let invalid = "file \"settings.toml\": invalid budget.share \"bad\": expected anything else";
    assert_eq!(text("[budget]\nshare = \"bad\""), invalid);
}

// Rules C17, C25.
#[test]
fn a_mistake_in_a_section_is_an_error_when_it_is_read() {
    let budget = Budget::default();
    let text = |text: &str| read(text, &budget).unwrap_err().to_string();
    let invalid = "file \"settings.toml\": invalid store.budget.share \"bad\": expected anything else";
    assert_eq!(text("[store.budget]\nshare = \"bad\""), invalid);
    assert!(
        text("[store.budget]\nshar = 1").ends_with("unknown key store.budget.shar: did you mean store.budget.share?")
    );
    assert!(text("[store]\nbudget = 3").contains("invalid store.budget \"3\": expected a group"));
    assert!(text("[store]\nmax_atempts = 3\nbudget.share = 1").contains("unknown key store.max_atempts"));
    // A section of which nobody was told is an unknown key.
    let document = toml::Deserializer::parse("[store.budget]\nshare = 1").unwrap();
    let error = RetryConfig::from_file_section("settings.toml", "store", document).unwrap_err();
    assert!(error.to_string().contains("unknown key store.budget"));
}

// Rules C23, C25.
#[test]
fn a_section_of_a_part_that_the_strategy_does_not_have_is_an_error() {
    let config = read("[store.budget]\nshare = 1", &Budget::default()).unwrap();
    let error = config.build_on(StandardRetryStrategy::new()).unwrap_err();
    let text = "the key store.budget.share can't be set: the strategy has no part with the section budget";
    assert_eq!(error.to_string(), format!("file \"settings.toml\": {text}"));
    assert_eq!((error.part(), error.key().as_deref()), (Some("budget"), Some("store.budget.share")));
    let strategy = ConfiguredStrategy::default();
    assert_eq!(strategy.apply(&config, CLOCK).unwrap_err().to_string(), error.to_string());
}

// Rule C25.
#[test]
fn a_section_or_a_value_that_is_null_sets_nothing() {
    let budget = Budget::default();
    let read = |text: &str| {
        let document = &mut serde_json::Deserializer::from_str(text);
        RetryConfig::from_file_section_with("settings.json", "store", document, &[&budget]).unwrap()
    };
    let share = |value: &str| read(&format!(r#"{{"store": {{"budget": {{"share": {value}}}}}}}"#));
    assert_eq!(read(r#"{"store": {"budget": null}}"#), RetryConfig::new());
    assert_eq!(share("null"), RetryConfig::new());
    assert_ne!(share("1"), RetryConfig::new());
    assert_ne!(share("1"), share("2"));
    let of_another_file = {
        let document = &mut serde_json::Deserializer::from_str(r#"{"shop": {"budget": {"share": 1}}}"#);
        RetryConfig::from_file_section_with("other.json", "shop", document, &[&budget]).unwrap()
    };
    assert_eq!(share("1"), of_another_file, "where a value was found makes no difference");
}
