//! What the tests of all subjects share. Each subject is a test binary of its own, in the folder of its name.

#![expect(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    reason = "only the tests beside this file use it"
)]

pub mod script;
pub mod support;
