//! Reading the service's answers: which one is which [`StoreError`].

use crate::client::StoreError;
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};

/// Passes a success on, and makes an error of anything else.
pub(crate) async fn check(response: Response) -> Result<Response, StoreError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Err(match status {
        StatusCode::TOO_MANY_REQUESTS => StoreError::SlowDown { wait },
        // S3 turns requests away with a 503, which by itself could mean anything: the code in the body tells.
        StatusCode::SERVICE_UNAVAILABLE if response.text().await?.contains("<Code>SlowDown</Code>") => {
            StoreError::SlowDown { wait }
        }
        _ if status.is_server_error() => StoreError::Server(status),
        _ => StoreError::Refused(status),
    })
}

/// A request that got no answer, or not all of it.
impl From<reqwest::Error> for StoreError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() { Self::Timeout } else { Self::Connection(error) }
    }
}
