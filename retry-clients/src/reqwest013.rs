//! The errors of reqwest 0.13.

crate::reqwest::version!(reqwest);
