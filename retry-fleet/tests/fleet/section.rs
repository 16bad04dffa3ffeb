//! The section of a fleet in the file of a configuration.

use crate::support::at;
use retry_core::time::ManualTimer;
use retry_core::{ConfigError, RetryConfig, StandardRetryStrategy};
use retry_fleet::{FleetQuota, Member};
use std::sync::Arc;

fn read(text: &str, quota: &FleetQuota) -> Result<RetryConfig, ConfigError> {
    let document = toml::Deserializer::parse(text).unwrap();
    RetryConfig::from_file_section_with("settings.toml", "store", document, &[quota])
}

// Rule F15.
#[test]
fn a_member_reads_its_section_of_a_file_and_follows_its_changes() {
    let quota = Arc::new(FleetQuota::new(500));
    let mut member = Member::new("orders", "one", at(0)).quota(Arc::clone(&quota));
    let mut asked = |now| {
        let call = member.call(at(now), false).quota.unwrap();
        (call.capacity, call.cost)
    };
    let config = read("[store]\nmax_attempts = 2\n[store.fleet]\ncapacity = 8000\ncost = 5", &quota).unwrap();
    assert_eq!(asked(0), (500, 14), "reading changes nothing");
    let strategy = config.build_on(StandardRetryStrategy::new().with_quota(Arc::clone(&quota))).unwrap();
    assert_eq!((strategy.settings().max_attempts, quota.capacity(), asked(1_000)), (2, 8000, (8000, 5)));
    strategy.apply(&read("[store.fleet]\ncapacity = 9000", &quota).unwrap(), &ManualTimer::new()).unwrap();
    assert_eq!(asked(2_000), (9000, 14));
    strategy.apply(&RetryConfig::new(), &ManualTimer::new()).unwrap();
    assert_eq!(asked(3_000), (500, 14));
}

// Rule F15.
#[test]
fn a_mistake_in_the_section_of_a_fleet_names_its_key() {
    let quota = FleetQuota::new(500);
    let text = |text: &str| read(text, &quota).unwrap_err().to_string();
    let number = "expected a whole number from 1 to 4294967295";
    assert_eq!(
        text("[store.fleet]\ncost = 0"),
        format!("file \"settings.toml\": invalid store.fleet.cost \"0\": {number}")
    );
    assert!(text("[store.fleet]\ncapacity = -1").contains("invalid store.fleet.capacity \"-1\""));
    assert!(
        text("[store.fleet]\ncapactiy = 1")
            .ends_with("unknown key store.fleet.capactiy: did you mean store.fleet.capacity?")
    );
}
