//! The error codes of object stores other than S3.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};

/// Classifies the error code of Azure Storage, Google Cloud Storage or `MinIO`. Returns `None` if the code is in none of the rows.
///
/// | store | where the code is | code | safe | class | fault |
/// |---|---|---|---|---|---|
/// | Azure | the header `x-ms-error-code`, `Code` in XML, `error.code` in JSON | `ServerBusy` | yes | throttling | server |
/// | | | `OperationTimedOut` | maybe | timeout | server |
/// | Azure, Google | | `InternalError` | maybe | | server |
/// | Google | `error.errors[].reason` in JSON | `rateLimitExceeded`, `userRateLimitExceeded` | yes | throttling | client |
/// | | | `backendError`, `internalError`, `uploadBrokenConnection` | maybe | | server |
/// | | | `gatewayTimeout` | maybe | timeout | server |
/// | | | `quotaExceeded`, `dailyLimitExceeded` | no | | client |
/// | `MinIO` | `Code` in XML | `SlowDownRead`, `SlowDownWrite` | maybe | throttling | server |
///
/// The other codes of these stores mean what their statuses say. `MinIO` also sends its two codes when too few drives answer, so a
/// write may have been carried out in part. Google sends `backendError` beside a 410 for an upload that is gone; classify that by
/// its status. The codes of S3, which Google's XML and `MinIO` share, are in [`aws`](retry_core::classify::aws).
///
/// The authorities are the [codes of Azure](https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes),
/// the [statuses of Google](https://cloud.google.com/storage/docs/json_api/v1/status-codes) and the retries of `minio-go` and
/// `minio-java`.
///
/// ```
/// use retry_clients::codes::known_storage;
///
/// assert!(known_storage("ServerBusy").is_some_and(|verdict| verdict.is_throttle()));
/// assert_eq!(known_storage("BlobNotFound"), None);
/// ```
pub fn known_storage(code: &str) -> Option<Classification> {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    match code {
        "ServerBusy" => Some(Classification::new(Yes).with_throttling().with_fault(Server)),
        "OperationTimedOut" | "gatewayTimeout" => Some(Classification::new(Maybe).with_timeout().with_fault(Server)),
        "InternalError" | "backendError" | "internalError" | "uploadBrokenConnection" => {
            Some(Classification::new(Maybe).with_fault(Server))
        }
        "rateLimitExceeded" | "userRateLimitExceeded" => {
            Some(Classification::new(Yes).with_throttling().with_fault(Client))
        }
        "quotaExceeded" | "dailyLimitExceeded" => Some(Classification::new(No).with_fault(Client)),
        "SlowDownRead" | "SlowDownWrite" => Some(Classification::new(Maybe).with_throttling().with_fault(Server)),
        _ => None,
    }
}
