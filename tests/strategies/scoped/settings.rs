//! Strategies that see their key, and settings that reach the scopes in use and those to come.

use crate::support::secs;
use retry_config::{ConfigError, ConfiguredStrategy, RetryConfig, RetryMode, ScopedRetryConfig};
use retry_core::quota::NoQuota;
use retry_core::{ExponentialBackoff, RetryQuota, ScopedRetryStrategy, StandardRetryStrategy, TokioTimer};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::thread;

type Tenants = ScopedRetryStrategy<String, ConfiguredStrategy>;

fn tenants() -> Tenants {
    ScopedRetryStrategy::new(ConfiguredStrategy::default)
}

fn read(text: &str) -> Result<ScopedRetryConfig<String>, ConfigError> {
    let document = toml::Deserializer::parse(text).unwrap();
    ScopedRetryConfig::from_file_section("settings.toml", "store", "tenants", document)
}

fn capacity(tenants: &Tenants, key: &str) -> u32 {
    tenants.scope(key).quota().capacity()
}

// Rule S7.
#[test]
fn a_maker_can_see_the_key() {
    static SHARDS: ScopedRetryStrategy<u32> =
        ScopedRetryStrategy::by_key(|shard| StandardRetryStrategy::new().quota_capacity(100 * *shard));
    assert_eq!([2, 3].map(|shard| SHARDS.scope(&shard).quota().available()), [200, 300]);
}

// Rules S8, S9.
#[test]
fn settings_of_a_file_reach_the_scopes_in_use_and_those_to_come() {
    let tenants = tenants().max_scopes(2);
    let acme = tenants.scope("acme");
    let file = "
        [store]
        max_attempts = 3
        quota.capacity = 70

        [store.tenants.acme]
        quota.capacity = 900
        mode = \"adaptive\"

        [store.tenants.umbrella]
        max_attempts = 8
    ";
    read(file).unwrap().apply_to(&tenants, TokioTimer).unwrap();
    assert_eq!((acme.quota().capacity(), acme.settings().max_attempts, acme.mode()), (900, 3, RetryMode::Adaptive));
    let umbrella = tenants.scope("umbrella");
    assert_eq!((umbrella.quota().capacity(), umbrella.settings().max_attempts), (70, 8));
    assert_eq!(capacity(&tenants, "initech"), 70);

    // A scope that was evicted comes back with its settings.
    drop((acme, umbrella));
    for key in ["a", "b", "c"] {
        tenants.scope(key);
    }
    assert_eq!(capacity(&tenants, "acme"), 900);

    // What is no longer set is that of the maker again.
    ScopedRetryConfig::new(RetryConfig::new()).apply_to(&tenants, TokioTimer).unwrap();
    assert_eq!(["acme", "initech", "new"].map(|key| capacity(&tenants, key)), [500; 3]);
}

// Rules C6, C17, S8.
#[test]
fn a_mistake_in_the_settings_of_a_scope_names_its_whole_path() {
    let text = |file: &str| read(file).unwrap_err().to_string();
    assert!(
        text("[store.tenants.acme]\nmax_atempts = 3").starts_with(
            "file \"settings.toml\": unknown key store.tenants.acme.max_atempts: did you mean store.tenants.acme.max_attempts?"
        )
    );
    assert!(text("[store.tenants.acme]\nmax_attempts = 0").contains("invalid store.tenants.acme.max_attempts \"0\""));
    assert!(
        text("[store]\ntenants = 3")
            .starts_with("file \"settings.toml\": invalid store.tenants \"3\": expected a group")
    );
    assert!(text("[store]\ntenant.acme.max_attempts = 3").contains("unknown key store.tenant"));
    let document = toml::Deserializer::parse("[shards.seven]\nmax_attempts = 3").unwrap();
    let error = ScopedRetryConfig::<u32>::from_file_section("s.toml", "", "shards", document).unwrap_err();
    assert_eq!(error.to_string(), "file \"s.toml\": invalid scope \"seven\": expected a key of the map");
    assert_eq!(error.key().as_deref(), Some("shards.seven"));
}

// Rules C23, S9.
#[test]
fn a_setting_that_the_scopes_do_not_have_is_an_error_and_changes_nothing() {
    type Own = ConfiguredStrategy<ExponentialBackoff, NoQuota>;
    let tenants: ScopedRetryStrategy<String, Own> = ScopedRetryStrategy::new(|| {
        RetryConfig::new().build_on(StandardRetryStrategy::new().with_quota(NoQuota)).unwrap()
    });
    let named = read("[store]\nmax_attempts = 3\n[store.tenants.acme]\nquota.capacity = 7").unwrap();
    let error = named.apply_to(&tenants, TokioTimer).unwrap_err();
    assert_eq!((error.part(), error.key().as_deref()), (Some("quota"), Some("store.tenants.acme.quota.capacity")));
    assert_eq!(tenants.scope("acme").settings().max_attempts, 5);
    let error =
        read("[store]\nmax_attempts = 3\nquota.capacity = 7").unwrap().apply_to(&tenants, TokioTimer).unwrap_err();
    assert_eq!(error.key().as_deref(), Some("store.quota.capacity"));
    assert_eq!(tenants.scope("acme").settings().max_attempts, 5);
}

// Rules C23, S9.
#[test]
fn a_known_limit_in_a_mode_that_sends_without_it_is_an_error_for_a_scope_too() {
    let tenants = tenants();
    let acme = tenants.scope("acme");
    let known = "[store]\nmode = \"paced\"\npaced.max_rate = 50\n";
    read(known).unwrap().apply_to(&tenants, TokioTimer).unwrap();
    assert_eq!((acme.mode(), acme.paced_max_rate()), (RetryMode::Paced, Some(50.0)));
    // A scope inherits the limit, so it can't leave the mode. The settings name it, or code does when it is in use.
    for (mode, name) in [("standard", "acme"), ("adaptive", "umbrella")] {
        let config = read(&format!("{known}max_attempts = 9\n[store.tenants.{name}]\nmode = \"{mode}\"")).unwrap();
        let error = config.apply_to(&tenants, TokioTimer).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "file \"settings.toml\": the key store.paced.max_rate \"50\" has no effect in the mode {mode} of \
                 file \"settings.toml\": expected the mode paced or off, or no store.paced.max_rate"
            )
        );
        assert_eq!(error.key().as_deref(), Some("store.paced.max_rate"));
        assert_eq!((acme.mode(), acme.settings().max_attempts), (RetryMode::Paced, 5), "nothing changes");
    }
    // The switch is for incidents, and the limit is back with the mode.
    read(&format!("{known}[store.tenants.acme]\nmode = \"off\"")).unwrap().apply_to(&tenants, TokioTimer).unwrap();
    assert_eq!((acme.mode(), tenants.scope("umbrella").mode()), (RetryMode::Off, RetryMode::Paced));
}

// Rules C23, S9.
#[test]
fn settings_that_are_an_error_for_each_later_scope_are_one_before_there_is_a_scope() {
    let (text, key) = ("[store]\nmode = \"adaptive\"\npaced.max_rate = 50", Some("store.paced.max_rate"));
    let tenants = tenants();
    let error = read(text).unwrap().apply_to(&tenants, TokioTimer).unwrap_err();
    assert_eq!(error.key().as_deref(), key);
    assert_eq!((tenants.len(), tenants.scope("acme").mode()), (0, RetryMode::Standard));

    // A maker that sees the key can make a strategy that has the settings. A later scope that does not have them keeps those of the code, and
    // its own `apply` returns the error.
    let by_key: Tenants = ScopedRetryStrategy::by_key(|_| ConfiguredStrategy::default());
    let config = read(text).unwrap();
    config.clone().apply_to(&by_key, TokioTimer).unwrap();
    let acme = by_key.scope("acme");
    assert_eq!(acme.mode(), RetryMode::Standard);
    let error = acme.apply(&config.of(&"acme".to_owned()), &TokioTimer).unwrap_err();
    assert_eq!(error.key().as_deref(), key);
}

thread_local! {
    /// Whether the next comparison of keys changes the settings.
    static CHANGES: Cell<bool> = const { Cell::new(false) };
}

/// Keys that all have the same hash.
#[derive(Clone, Eq)]
struct Changing(u32);

impl Hash for Changing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

impl PartialEq for Changing {
    fn eq(&self, other: &Self) -> bool {
        if CHANGES.take() {
            change(77);
        }
        self.0 == other.0
    }
}

/// While the strategy of a key is made, another key is inserted.
static CHANGED: ScopedRetryStrategy<Changing, ConfiguredStrategy> = ScopedRetryStrategy::by_key(|key| {
    if key.0 == 1 {
        CHANGED.scope(&Changing(2));
        CHANGES.set(true);
    }
    ConfiguredStrategy::default()
});

fn change(capacity: u32) {
    ScopedRetryConfig::new(RetryConfig::new().quota_capacity(capacity)).apply_to(&CHANGED, TokioTimer).unwrap();
}

// Rule S9.
#[test]
fn a_scope_that_is_made_but_not_inserted_yet_while_the_settings_change_has_the_last_ones() {
    change(33);
    // The new key is compared with the other one, after its scope was given the settings and before it is inserted.
    let scopes = [1, 2].map(|key| CHANGED.scope(&Changing(key)));
    assert!(!CHANGES.get(), "they were changed");
    assert_eq!(scopes.map(|scope| scope.quota().capacity()), [77; 2]);
}

// Rule S9.
#[test]
fn scopes_that_are_made_while_the_settings_change_have_the_last_ones() {
    let tenants = tenants();
    let keys = |i: u32| format!("tenant-{i}");
    thread::scope(|threads| {
        let makers = [0, 1].map(|maker| {
            let tenants = &tenants;
            threads.spawn(move || (0..200).map(|i| tenants.scope(&keys(2 * i + maker))).collect::<Vec<_>>())
        });
        let changes = [0, 1].map(|_| {
            threads.spawn(|| {
                for capacity in 1..50 {
                    let all = RetryConfig::new().quota_capacity(capacity).try_quota_refill(1, secs(1)).unwrap();
                    ScopedRetryConfig::new(all).apply_to(&tenants, TokioTimer).unwrap();
                }
            })
        });
        for change in changes {
            change.join().unwrap();
        }
        ScopedRetryConfig::new(RetryConfig::new().quota_capacity(77)).apply_to(&tenants, TokioTimer).unwrap();
        for scope in makers.map(|maker| maker.join().unwrap()).iter().flatten() {
            assert_eq!(scope.quota().capacity(), 77);
        }
    });
}

// Rules S8, S9.
#[test]
fn settings_of_a_scope_are_set_in_code_over_those_of_all() {
    let all = RetryConfig::new().try_max_attempts(3).unwrap().quota_capacity(70);
    let config = ScopedRetryConfig::new(all).scope("acme".to_owned(), RetryConfig::new().quota_capacity(900));
    let tenants = tenants();
    config.apply_to(&tenants, TokioTimer).unwrap();
    let settings = |key: &str| (capacity(&tenants, key), tenants.scope(key).settings().max_attempts);
    assert_eq!([settings("acme"), settings("umbrella")], [(900, 3), (70, 3)]);
}

// Rule S8.
#[test]
fn scopes_that_are_null_are_those_of_all() {
    let text = r#"{"store": {"max_attempts": 3, "tenants": null}}"#;
    let document = &mut serde_json::Deserializer::from_str(text);
    let config = ScopedRetryConfig::<String>::from_file_section("settings.json", "store", "tenants", document);
    assert_eq!(config.unwrap(), read("[store]\nmax_attempts = 3").unwrap());
}
