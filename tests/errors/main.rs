//! Errors: what is retried, by labels, tables and policies.

mod classify;
mod conflicts;
mod derive;
mod policy;

use tests::support;
