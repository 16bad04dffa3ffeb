//! Tests live beside this file.
