//! The error codes of object stores.

use crate::classify::verdict;
use retry_clients::codes::known_storage;
use retry_core::{ErrorFault, RetrySafety};

use ErrorFault::{Client, Server};
use RetrySafety::{Maybe, No, Yes};

// Rule E31.
#[test]
fn each_code_of_a_store_is_classified_as_in_its_row() {
    for (codes, expected) in [
        (["ServerBusy"].as_slice(), verdict(Yes, "throttling", Server)),
        (&["rateLimitExceeded", "userRateLimitExceeded"], verdict(Yes, "throttling", Client)),
        (&["SlowDownRead", "SlowDownWrite"], verdict(Maybe, "throttling", Server)),
        (&["OperationTimedOut", "gatewayTimeout"], verdict(Maybe, "timeout", Server)),
        (&["InternalError", "internalError", "backendError", "uploadBrokenConnection"], verdict(Maybe, "", Server)),
        (&["quotaExceeded", "dailyLimitExceeded"], verdict(No, "", Client)),
    ] {
        for code in codes {
            assert_eq!(known_storage(code), Some(expected), "{code}");
        }
    }
    for code in ["", "serverbusy", "ServerBusy ", "BlobNotFound", "forbidden", "SlowDown", "OperationAborted", "503"] {
        assert_eq!(known_storage(code), None, "{code:?}");
    }
}
