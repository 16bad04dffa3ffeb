//! Statuses that tonic makes of answers that are not gRPC, or not complete.
//!
//! Tonic keeps the HTTP status of such an answer only in the text of the error, and its headers only in the metadata. The texts are
//! the same in tonic 0.14.0 to 0.14.9, but that of missing trailers is new in 0.14.6. Before, an answer that ended there looked like one
//! without a message.

use tonic::{Code, Status};

/// An answer without a `grpc-status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// An answer that is not gRPC, with this HTTP status: a proxy's page, for example.
    Http(u16),
    /// An answer of gRPC that ended early.
    CutShort,
}

/// The text for an answer without a body.
const EMPTY: &str = "grpc-status header missing, mapped from HTTP status code ";

/// The beginning and the end of the text for a body that is not a message of gRPC. Between them is the first byte of the body.
const PAGE: [&str; 2] = [
    "protocol error: received message with invalid compression flag: ",
    " (valid flags are 0 and 1) while receiving response with status: ",
];

/// The text for an answer that ended within a message, or within the first five bytes of a page.
const IN_MESSAGE: &str = "Unexpected EOF decoding stream.";

/// The beginning of the text for an answer with the HTTP status 200 that ended after its messages.
const BEFORE_TRAILERS: &str =
    "protocol error: missing grpc-status trailer, stream was terminated without a final status";

impl Foreign {
    /// Returns what a status says about an answer that is not gRPC, or `None` if a server of gRPC has answered.
    pub(super) fn of(status: &Status) -> Option<Self> {
        let text = status.message();
        if let Some(number) = text.strip_prefix(EMPTY) {
            return Some(Self::Http(http_status(number)?));
        }
        match status.code() {
            Code::Internal if text == IN_MESSAGE => Some(Self::CutShort),
            Code::Internal => {
                let (flag, rest) = text.strip_prefix(PAGE[0])?.split_once(PAGE[1])?;
                flag.parse::<u8>().ok()?;
                Some(Self::Http(http_status(rest)?))
            }
            // The answer of another server can be complete without a `grpc-status`.
            Code::Unknown if text.starts_with(BEFORE_TRAILERS) => {
                Some(if is_grpc(status) { Self::CutShort } else { Self::Http(200) })
            }
            _ => None,
        }
    }
}

/// Returns the code of gRPC for an HTTP status, by the
/// [specification](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md).
pub(super) const fn code(http_status: u16) -> Code {
    match http_status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// Reads the number of a status, which may be followed by its reason.
fn http_status(text: &str) -> Option<u16> {
    let number = text.split_once(' ').map_or(text, |(number, _)| number);
    if number.len() == 3 { number.parse().ok() } else { None }
}

fn is_grpc(status: &Status) -> bool {
    let content_type = status.metadata().get("content-type").and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("application/grpc"))
}
