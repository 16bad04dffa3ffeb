//! What a request of `object_store` is for.

use object_store::client::HttpRequest;

/// Returns whether a request may be acted upon twice, by the [table](super#which-requests-are-repeated): it may unless it
/// writes on a condition.
pub(super) fn is_idempotent(request: &HttpRequest) -> bool {
    is_read(request) || !has_condition(request)
}

/// Returns whether the answer to a request is the content of an object, which `object_store` passes on as it arrives. It reads
/// all other answers as a whole.
pub(super) fn is_for_content(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method() == http::Method::GET && !query.split('&').any(|part| ["list-type=2", "comp=list"].contains(&part))
}

/// Returns whether a request changes nothing.
pub(super) fn is_read(request: &HttpRequest) -> bool {
    matches!(request.method().as_str(), "GET" | "HEAD" | "PROPFIND")
}

/// The ends of the names of headers with a condition on the object that is written.
const CONDITIONS: [&str; 4] = ["if-match", "if-none-match", "if-generation-match", "if-unmodified-since"];

fn has_condition(request: &HttpRequest) -> bool {
    request.headers().iter().any(|(name, value)| {
        let name = name.as_str();
        // A condition on the source of a copy holds as well when the copy is made again.
        let is_of_target = !name.contains("source");
        (is_of_target && CONDITIONS.iter().any(|end| name.ends_with(end))) || (name == "overwrite" && value == "F")
    })
}
