//! The names of keys and groups in a file.

use super::error::{Problem, join};
use super::foreign::Instead;
use super::keys::{KEYS, Key};
use super::suggest;

/// Returns the key with this path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Returns the paths of the groups, such as `quota` and `quota.refill`, each for every key in it. A group can be a key, too.
pub(super) fn groups() -> impl Iterator<Item = &'static str> {
    KEYS.iter().flat_map(|key| key.path.match_indices('.').map(|(end, _)| &key.path[..end]))
}

/// Returns the names of the keys and groups in a group, or at the top if the group is empty.
pub(super) fn names_in(group: &str) -> Vec<&'static str> {
    let inner = |path: &'static str| {
        if group.is_empty() { Some(path) } else { path.strip_prefix(group)?.strip_prefix('.') }
    };
    let mut names: Vec<_> =
        KEYS.iter().filter_map(|key| inner(key.path)).map(|rest| rest.split('.').next().unwrap_or(rest)).collect();
    names.dedup();
    names
}

/// Returns the error of an unknown key of a group, with the key that was probably meant.
pub(super) fn unknown(group: &str, name: &str) -> Problem {
    let (key, limit) = (join(group, name), suggest::limit(name));
    if let Some(instead) = Instead::of(&key) {
        let write = |path: &str, value: Option<&str>| {
            value.map_or_else(|| path.to_owned(), |value| format!("{path} = {value:?}"))
        };
        return Problem::Foreign { advice: instead.advice(write), key };
    }
    let in_group = suggest::most_similar(name, names_in(group), limit).map(|name| join(group, name));
    let elsewhere = || {
        let paths = || KEYS.iter().map(|key| key.path).chain(groups());
        let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
        let exact = paths().find(|path| last(path) == name);
        exact.or_else(|| suggest::most_similar(&key, paths(), limit)).map(str::to_owned)
    };
    let suggestion = in_group.or_else(elsewhere);
    Problem::Unknown { expected: names_in(group).join(", "), suggestion, key }
}
