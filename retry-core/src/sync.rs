//! What threads share. Under `--cfg loom` these are loom's, by the same names, so that the code that is checked is the
//! code that is shipped.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
