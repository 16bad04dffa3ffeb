//! The section of a fleet's quota in the file of a configuration.

use super::FleetQuota;
use retry_core::InvalidSetting;
use retry_core::config::ConfigSection;
use std::sync::atomic::Ordering;

const CAPACITY: &str = "capacity";
const COST: &str = "cost";

impl ConfigSection for FleetQuota {
    fn name(&self) -> &'static str {
        "fleet"
    }

    fn keys(&self) -> &'static [&'static str] {
        &[CAPACITY, COST]
    }

    fn check(&self, key: &'static str, value: &str) -> Result<(), InvalidSetting> {
        let (least, expected) = match key {
            COST => (1, "a whole number from 1 to 4294967295"),
            _ => (0, "a whole number from 0 to 4294967295"),
        };
        match value.trim().parse::<u32>() {
            Ok(number) if number >= least => Ok(()),
            _ => Err(InvalidSetting::new(key, value, expected)),
        }
    }

    fn set(&self, values: &[(&'static str, String)]) {
        let set = |key| {
            let value = values.iter().find(|(known, _)| *known == key);
            value.and_then(|(_, value)| value.trim().parse().ok())
        };
        self.live.capacity.store(set(CAPACITY).unwrap_or(self.capacity), Ordering::Relaxed);
        self.live.cost.store(set(COST).unwrap_or(self.cost).max(1), Ordering::Relaxed);
    }
}
