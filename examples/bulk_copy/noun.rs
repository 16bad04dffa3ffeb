//! Nouns after numbers.

/// Returns the form of a noun that belongs after this number: the first form after 1, the second one after all others.
pub(crate) fn noun<N: Copy + PartialEq + From<u8>>(count: N, one: &'static str, many: &'static str) -> &'static str {
    if count == N::from(1) { one } else { many }
}
