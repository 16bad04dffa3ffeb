//! The names by which observers and events know an operation.

use std::any::type_name;
use std::sync::OnceLock;

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Name {
    /// As it was given.
    Given(&'static str),
    /// That of a function.
    Function(&'static FunctionName),
}

impl Name {
    #[inline]
    pub(crate) fn get(self) -> &'static str {
        match self {
            Self::Given(name) => name,
            Self::Function(function) => function.get(),
        }
    }
}

/// The path of a function, with the type that it is a method of.
///
/// A macro knows neither, so the path is read from the name of a type that stands in the function: that of a closure, in
/// the static that holds this. It is read when the name is first needed.
#[derive(Debug)]
pub struct FunctionName {
    plain: &'static str,
    path: fn() -> &'static str,
    name: OnceLock<&'static str>,
}

/// The name of the static that holds the name of a function.
const STATIC: &str = "__RETRYABLE_NAME";

impl FunctionName {
    /// The name of the function that this is called in, by its module and itself, and a closure in it.
    pub const fn new<F: Copy>(plain: &'static str, _closure: F) -> Self {
        Self { plain, path: type_name::<F>, name: OnceLock::new() }
    }

    #[inline]
    fn get(&self) -> &'static str {
        self.name.get().copied().unwrap_or_else(|| self.read())
    }

    #[cold]
    fn read(&self) -> &'static str {
        let read = || match method((self.path)(), self.plain) {
            Some(name) => name.leak(),
            None => self.plain,
        };
        self.name.get_or_init(read)
    }
}

/// The name of a method, if the path of a closure in it is as rustc writes it: `module::Type::method`, or
/// `<module::Type as module::Trait>::method`, without generic arguments.
///
/// A function that is no method has no such name, because its parent isn't capitalized as types are.
fn method(path: &str, plain: &str) -> Option<String> {
    let path = without_arguments(path);
    // The joined segments before the last one, and the last one.
    let (mut parent, mut function) = (String::new(), "");
    let mut segments = split(&path, "::").into_iter();
    // The segment of the static ends the path of the function.
    for segment in segments.by_ref().take_while(|segment| *segment != STATIC) {
        let inner = segment.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
        // rustc writes the `impl` outside of the module of its type.
        if let Some(inner) = inner.and_then(|inner| inner.strip_prefix("impl ")) {
            parent = match split(inner, " for ").as_slice() {
                [of_trait, ty] => format!("<{ty} as {of_trait}>"),
                _ => inner.to_owned(),
            };
            function = "";
        } else if !segment.starts_with('{') {
            // Anything but `{{closure}}`.
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

/// Two parts of a path, either of which may be empty.
fn joined(parent: &str, segment: &str) -> String {
    let separator = if parent.is_empty() || segment.is_empty() { "" } else { "::" };
    format!("{parent}{separator}{segment}")
}

/// A path or a type without what stands in angle brackets behind names.
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

/// The parts between separators that stand in no brackets.
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
    use super::method;

    /// The name that is read from a path, which goes on with the static and the closure in it.
    fn read(path: &str, plain: &str) -> Option<String> {
        method(&format!("{path}::__RETRYABLE_NAME::{{{{closure}}}}"), plain)
    }

    #[test]
    fn a_method_is_read_from_each_form_of_a_path() {
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
            ("<[u8; 3] as store::Trait>::get", "<[u8; 3] as store::Trait>::get"),
        ] {
            assert_eq!(read(path, plain).as_deref(), Some(name), "{path}");
        }
    }

    #[test]
    fn a_function_that_is_no_method_has_no_name_of_its_own() {
        for path in ["store::api::get", "store::api::outer::get", "store::api::outer::{{closure}}::get", "get", ""] {
            assert_eq!(read(path, "store::api::get"), None, "{path}");
        }
    }

    #[test]
    fn what_is_written_in_another_way_is_not_read() {
        for path in ["store::api::Client::put", "<<<", ">>>", "::", "->->", "é<é>::é"] {
            assert_eq!(read(path, "store::api::get"), None, "{path}");
        }
        assert_eq!(method("store::api::Client::get", "store::api::get"), None);
    }
}
