//! The tests of all versions of reqwest. The crate root says which version, as `crate::client` and `crate::module`.

mod error_for_response;
mod errors;
mod explored;
mod headers;
mod own_retries;
mod stack;
