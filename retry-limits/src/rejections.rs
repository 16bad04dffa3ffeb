//! Which failures are rejections.

use retry_core::policy::RetryErrorType;

/// The failures from which a [`PacedRetryStrategy`](crate::PacedRetryStrategy) learns that it sends too much. Each choice
/// includes the ones before it.
///
/// | choice | in a file | for |
/// |---|---|---|
/// | `Throttling` | `throttling` | servers that report it: status 429, `RESOURCE_EXHAUSTED`, the throttling codes of a cloud |
/// | `ServerErrors` | `server_errors` | servers that answer 503 under load, as nginx does with `limit_req`, and load balancers that shed load |
/// | `Timeouts` | `timeouts` | servers that become slow under load, and answer late or not at all |
///
/// A rejected attempt is repeated without backoff when its turn comes, and takes nothing from the quota, until the [time for
/// throttled attempts](crate::PacedRetryStrategy::max_throttled_time) is over. So with `ServerErrors`, an operation on a
/// broken server fails only after that time. Use it if most server errors mean overload.
///
/// The classes are those of the failures: an error that is not safe to repeat is a rejection, too, and ends its operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rejections {
    /// Throttling only.
    #[default]
    Throttling,
    /// Throttling and server errors.
    ServerErrors,
    /// Throttling, server errors and timeouts.
    Timeouts,
}

impl Rejections {
    pub(crate) const ALL: [Self; 3] = [Self::Throttling, Self::ServerErrors, Self::Timeouts];

    /// Returns the name: `throttling`, `server_errors` or `timeouts`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Throttling => "throttling",
            Self::ServerErrors => "server_errors",
            Self::Timeouts => "timeouts",
        }
    }

    /// Returns the choice of this [name](Rejections::as_str), or `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rejections| rejections.as_str() == name)
    }

    /// Returns whether a failure of this class is a rejection.
    pub(crate) fn include(self, error_type: RetryErrorType) -> bool {
        match error_type {
            RetryErrorType::Throttling => true,
            RetryErrorType::ServerSide => self != Self::Throttling,
            RetryErrorType::Timeout => self == Self::Timeouts,
            _ => false,
        }
    }
}
