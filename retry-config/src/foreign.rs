//! Names that are not keys, but that users expect here: options that code sets, and names from other libraries.

/// Returns what to write instead of a key with this name, if it is such a name.
pub(super) fn expected_for(name: &str) -> Option<&'static str> {
    Some(match name {
        "max_time" | "timeout" => "in code, for each function, as in `#[retryable(max_time = \"30s\")]`",
        "attempt_timeout" => "in code, for each function, as in `#[retryable(attempt_timeout = \"2s\")]`",
        "unlimited_attempts" => "in code, for each function, as in `#[retryable(unlimited_attempts)]`",
        "max_wait_for_service" => "in code, as in `PatientRetryStrategy::new().max_wait_for_service(..)`",
        "max_waiting" => "in code, as in `PatientRetryStrategy::new().max_waiting(..)`",
        "strategy" => "in code, as in `build_on(PatientRetryStrategy::new())`",
        "max_retries" | "retries" => "max_attempts, which counts the first attempt too",
        "attempts" => "max_attempts",
        "enabled" => "mode = \"off\", to switch retries off",
        _ => return None,
    })
}
