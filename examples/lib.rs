//! What the runnable programs beside this file share.

pub mod reqwest_errors;
