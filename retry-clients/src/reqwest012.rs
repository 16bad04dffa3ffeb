//! The errors of reqwest 0.12.

crate::reqwest::version!(reqwest012);
