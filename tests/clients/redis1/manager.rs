//! The connection manager that the module advises.

use crate::server::PATIENCE;
use redis::aio::ConnectionManagerConfig;
use std::time::Duration;

/// Returns the advised settings, with a long timeout.
pub(crate) fn reconnecting() -> ConnectionManagerConfig {
    let config = ConnectionManagerConfig::new().set_number_of_retries(usize::MAX);
    config.set_max_delay(Duration::from_millis(500)).set_response_timeout(Some(PATIENCE))
}
