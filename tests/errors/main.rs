//! Errors: what is retried, by labels, tables and policies.

mod classify;
mod codes;
mod conflicts;
mod derive;
mod headers;
mod llm;
mod policy;

use tests::support;
