//! The name of an operation, as observers and events show it.

use crate::support::sync::{PoisonError, RwLock};
use std::any::type_name;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Name {
    /// A given name.
    Given(&'static str),
    /// The path of a function or of a closure. The two are one variant, so that a name fits into two words.
    Path(&'static Path),
}

impl Name {
    /// Creates the name of a closure: its own path.
    #[inline]
    pub(crate) const fn of_closure<F>() -> Self {
        Self::Path(const { &Path { path: type_name::<F>, function: &NO_FUNCTION } })
    }

    /// Creates a name that a user gives. An owned name is kept until the process ends, once for each text.
    #[inline]
    pub(crate) fn given(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Given(match name.into() {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => interned(name),
        })
    }

    #[inline]
    pub(crate) fn get(self) -> &'static str {
        match self {
            Self::Given(name) => name,
            Self::Path(path) => path.get(),
        }
    }
}

/// A path without generic arguments. It is computed when the name is first needed.
pub struct Path {
    /// Returns the type name of a closure.
    path: fn() -> &'static str,
    /// The function, or [`NO_FUNCTION`] if it is the path of the closure itself.
    function: &'static FunctionName,
}

impl Path {
    /// Creates the path of the function that contains the closure.
    pub const fn new<F: Copy>(function: &'static FunctionName, _closure: F) -> Self {
        Self { path: type_name::<F>, function }
    }

    #[inline]
    fn get(&self) -> &'static str {
        self.function.name.get().copied().unwrap_or_else(|| self.read())
    }

    #[cold]
    fn read(&self) -> &'static str {
        let path = (self.path)();
        match self.function {
            FunctionName { plain: Some(plain), name } => name.get_or_init(|| match method_name(path, plain) {
                Some(name) => name.leak(),
                None => plain,
            }),
            FunctionName { plain: None, .. } => closure_name(path),
        }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// The name of a function, including the type if it is a method.
///
/// A macro can't determine the type, so it is taken from the type name of a closure inside the function. The closure is
/// in the static that contains the [`Path`].
#[derive(Debug)]
pub struct FunctionName {
    /// The module path and the name of the function.
    plain: Option<&'static str>,
    name: OnceLock<&'static str>,
}

/// What closures have in place of a function. Its name stays empty.
static NO_FUNCTION: FunctionName = FunctionName { plain: None, name: OnceLock::new() };

/// The name of the static that holds the name of a function.
const STATIC: &str = "__RETRIED";

impl FunctionName {
    /// Creates the name of a function from its module path and name.
    pub const fn new(plain: &'static str) -> Self {
        Self { plain: Some(plain), name: OnceLock::new() }
    }
}

/// The names of closures whose paths have generic arguments, by path. A program has a bounded number of paths.
static CLOSURES: RwLock<BTreeMap<&'static str, &'static str>> = RwLock::new(BTreeMap::new());

/// The maximum number of owned names that are kept. Each one takes memory until the process ends, and is a series in metrics.
const MAX_OWNED: usize = 1024;

/// The name of operations whose own name is not kept.
const OTHER: &str = "other";

/// The owned names.
static OWNED: RwLock<BTreeSet<&'static str>> = RwLock::new(BTreeSet::new());

/// Interns an owned name: leaks its first copy, and returns that one for each equal name. If there is no room for it, returns
/// [`OTHER`].
#[cold]
fn interned(name: String) -> &'static str {
    let known = OWNED.read().unwrap_or_else(PoisonError::into_inner).get(&*name).copied();
    known.unwrap_or_else(|| {
        let mut names = OWNED.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(interned) = names.get(&*name).copied() {
            return interned;
        }
        if names.len() >= MAX_OWNED {
            return OTHER;
        }
        let interned = name.leak();
        names.insert(interned);
        interned
    })
}

/// Returns the path of a closure without generic arguments.
fn closure_name(path: &'static str) -> &'static str {
    if path.contains('<') {
        let known = CLOSURES.read().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        known.unwrap_or_else(|| read_closure_name(path))
    } else {
        path
    }
}

/// Interns the name of a closure. All paths of one closure have the same text as their name.
#[cold]
fn read_closure_name(path: &'static str) -> &'static str {
    let name = without_arguments(path);
    let mut names = CLOSURES.write().unwrap_or_else(PoisonError::into_inner);
    let interned = names.values().copied().find(|interned| *interned == name).unwrap_or_else(|| name.leak());
    names.entry(path).or_insert(interned)
}

/// Returns the name of a method from the path of a closure in it: `module::Type::method`, or
/// `<module::Type as module::Trait>::method`, without generic arguments.
///
/// Returns `None` for a function that is not a method. Its parent shows this: types are capitalized, modules and
/// functions are not. Also returns `None` for a path in a form that current versions of rustc do not write.
fn method_name(path: &str, plain: &str) -> Option<String> {
    let path = without_arguments(path);
    // The path up to the last segment so far, and that segment.
    let (mut parent, mut function) = (String::new(), "");
    let mut segments = split(&path, "::").into_iter();
    // The path of the function ends before the segment of the static.
    for segment in segments.by_ref().take_while(|segment| *segment != STATIC) {
        let inner = segment.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
        // An impl outside of its type's module is written as `module::<impl module::Type>::method`.
        if let Some(inner) = inner.and_then(|inner| inner.strip_prefix("impl ")) {
            parent = match split(inner, " for ").as_slice() {
                [of_trait, ty] => format!("<{ty} as {of_trait}>"),
                _ => inner.to_owned(),
            };
            function = "";
        } else if !segment.starts_with('{') {
            // `{{closure}}` segments are skipped.
            parent = joined(&parent, function);
            function = segment.strip_prefix("r#").unwrap_or(segment);
        }
    }
    segments.next()?; // The closure in the static.
    let is_type = parent.rsplit_once(':').map_or(&*parent, |(_, last)| last).starts_with(char::is_uppercase);
    let is_method = is_type || parent.ends_with('>');
    let is_known = plain.strip_suffix(function).is_some_and(|before| before.ends_with("::"));
    (is_method && is_known).then(|| joined(&parent, function))
}

/// Joins two parts of a path, either of which may be empty.
fn joined(parent: &str, segment: &str) -> String {
    let separator = if parent.is_empty() || segment.is_empty() { "" } else { "::" };
    format!("{parent}{separator}{segment}")
}

/// Removes the generic arguments from a path or a type: the angle brackets after names, and their contents.
fn without_arguments(text: &str) -> String {
    let mut kept = String::new();
    let (mut depth, mut previous) = (0_usize, ' ');
    for char in text.chars() {
        if char == '<' && (depth > 0 || previous.is_alphanumeric() || previous == '_') {
            depth += 1;
        } else if depth == 0 {
            kept.push(char);
        } else if char == '>' && previous != '-' {
            depth -= 1;
        }
        previous = char;
    }
    kept
}

/// Returns the type of the error of a `Result` with this type name, or `None` for another type.
#[cfg(debug_assertions)]
pub(super) fn error_type(result: &str) -> Option<&str> {
    let arguments = result.strip_prefix("core::result::Result<")?.strip_suffix('>')?;
    match split(arguments, ", ")[..] {
        [_, error] => Some(error),
        _ => None,
    }
}

/// Splits a text at the separators outside of brackets.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut previous) = (0_usize, 0, ' ');
    for (index, char) in text.char_indices() {
        match char {
            '<' | '(' | '[' => depth += 1,
            // `->`
            '>' if previous == '-' => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 || index < start => {}
            _ => {
                if let Some(rest) = text.get(index..).and_then(|rest| rest.strip_prefix(separator)) {
                    parts.extend(text.get(start..index));
                    start = text.len() - rest.len();
                }
            }
        }
        previous = char;
    }
    parts.extend(text.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use super::method_name;

    /// Returns the name of a method from its path, to which this function appends the static and the closure in it.
    fn name_from(path: &str, plain: &str) -> Option<String> {
        method_name(&format!("{path}::__RETRIED::{{{{closure}}}}"), plain)
    }

    #[test]
    fn a_method_is_recognized_in_each_form_of_a_path() {
        let plain = "store::api::get";
        for (path, name) in [
            ("store::api::Client::get", "store::api::Client::get"),
            ("store::api::Client::get::{{closure}}", "store::api::Client::get"),
            ("store::api::Client::get::{closure#0}::{closure#1}", "store::api::Client::get"),
            ("store::api::Client<_, N>::get", "store::api::Client::get"),
            ("store::api::Client<alloc::vec::Vec<u8>, 3>::get", "store::api::Client::get"),
            ("store::api::Client<fn(u8) -> alloc::vec::Vec<u8>>::get", "store::api::Client::get"),
            ("store::api::Client::r#get", "store::api::Client::get"),
            ("store::api::<impl store::client::Client<_>>::get", "store::client::Client::get"),
            ("store::api::outer::{{closure}}::Local::get", "store::api::outer::Local::get"),
            ("store::api::Trait::get", "store::api::Trait::get"),
            ("<store::Client as store::Trait>::get::{{closure}}", "<store::Client as store::Trait>::get"),
            ("<store::Client<_> as store::Trait<alloc::vec::Vec<u8>>>::get", "<store::Client as store::Trait>::get"),
            ("store::api::<impl store::Trait<_> for store::Client<_>>::get", "<store::Client as store::Trait>::get"),
            ("<(_, _) as store::Trait>::get", "<(_, _) as store::Trait>::get"),
            ("<fn(u8) -> u16 as store::Trait>::get", "<fn(u8) -> u16 as store::Trait>::get"),
            ("<dyn store::Trait>::get", "<dyn store::Trait>::get"),
            ("store::api::Client<<u8 as store::Trait>::Item>::get", "store::api::Client::get"),
            ("<fn(u8) -> u16 as store::r#in::Trait>::get", "<fn(u8) -> u16 as store::r#in::Trait>::get"),
            ("<(_, (_, _)) as store::r#in::Trait>::get", "<(_, (_, _)) as store::r#in::Trait>::get"),
            ("store::api::Client::::get", "store::api::Client::get"),
            ("<[u8; 3] as store::Trait>::get", "<[u8; 3] as store::Trait>::get"),
        ] {
            assert_eq!(name_from(path, plain).as_deref(), Some(name), "{path}");
        }
    }

    #[test]
    fn a_function_that_is_not_a_method_is_recognized() {
        for path in ["store::api::get", "store::api::outer::get", "store::api::outer::{{closure}}::get", "get", ""] {
            assert_eq!(name_from(path, "store::api::get"), None, "{path}");
        }
    }

    #[test]
    fn a_path_in_an_unknown_form_gives_no_name() {
        for path in ["store::api::Client::put", "<<<", ">>>", "::", "->->", "é<é>::é"] {
            assert_eq!(name_from(path, "store::api::get"), None, "{path}");
        }
        assert_eq!(method_name("store::api::Client::get", "store::api::get"), None);
    }
}
