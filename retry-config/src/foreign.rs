//! Names that are not keys, but that users expect here: options that code sets, and names from other libraries.

/// What to write instead of such a name.
pub(super) enum Instead {
    /// Code that sets it.
    Code(&'static str),
    /// A key, its value unless the user's own fits, and what to know about it.
    Key { path: &'static str, value: Option<&'static str>, note: &'static str },
}

impl Instead {
    /// Returns what is known of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let key = |path, note| Self::Key { path, value: None, note };
        Some(match name {
            "max_time" | "timeout" => Self::Code("for each function, as in `#[retryable(max_time = \"30s\")]`"),
            "attempt_timeout" => Self::Code("for each function, as in `#[retryable(attempt_timeout = \"2s\")]`"),
            "unlimited_attempts" => Self::Code("for each function, as in `#[retryable(unlimited_attempts)]`"),
            "max_wait_for_service" => Self::Code("as in `PatientRetryStrategy::new().max_wait_for_service(..)`"),
            "max_waiting" => Self::Code("as in `PatientRetryStrategy::new().max_waiting(..)`"),
            "strategy" => Self::Code("as in `build_on(PatientRetryStrategy::new())`"),
            "max_retries" | "retries" => key("max_attempts", ", which counts the first attempt too"),
            "attempts" => key("max_attempts", ""),
            "rate" | "max_rate" | "paced.rate" | "paced_rate" => {
                key("paced.max_rate", ", in sends per second, for the mode paced")
            }
            "burst" => key("paced.burst", ", beside paced.max_rate, for the mode paced"),
            "enabled" => Self::Key { path: "mode", value: Some("off"), note: ", to switch retries off" },
            _ => return None,
        })
    }

    /// Returns the advice of an error, in which the function writes a key, with its value if there is one.
    pub(super) fn advice(self, write: impl FnOnce(&str, Option<&str>) -> String) -> String {
        match self {
            Self::Code(how) => format!("set it in code, {how}"),
            Self::Key { path, value, note } => format!("expected {}{note}", write(path, value)),
        }
    }
}
