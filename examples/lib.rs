//! Runnable programs live beside this file; there is nothing to import.
