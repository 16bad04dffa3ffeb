//! Suggestions for misspelled names.

/// Returns how many characters of a name may be wrong for another name to be suggested.
pub(super) fn limit(name: &str) -> usize {
    name.chars().count().div_ceil(3)
}

/// Returns the candidate that is most similar to a name, if its distance is at most `limit`. Of equal ones, the first is
/// used.
pub(super) fn most_similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Option<&'a str> {
    let distances = candidates.into_iter().map(|candidate| (distance(name, candidate), candidate));
    distances.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Returns the number of characters to insert, remove or replace to turn one name into the other (Levenshtein's
/// distance).
fn distance(from: &str, to: &str) -> usize {
    // The distances of the part of `from` before the current character to each beginning of `to`.
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn a_distance_is_the_smallest_number_of_changed_characters() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("ab", "ba", 2),
            ("aab", "b", 2),
            ("b", "aab", 2),
            ("abcdef", "azced", 3),
            ("größe", "grösse", 2),
        ] {
            assert_eq!((distance(from, to), distance(to, from)), (expected, expected), "{from} {to}");
        }
    }
}
