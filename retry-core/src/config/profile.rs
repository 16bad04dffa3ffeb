//! The format of the shared config file.

use configparser::ini::Ini;
use std::collections::HashMap;

/// What a profile says, to the letter.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) retry_mode: Option<String>,
    pub(super) max_attempts: Option<String>,
}

/// Where the parser puts what stands before the first section. No section has this name.
const BEFORE_ALL_SECTIONS: &str = "\n";

/// Reads one profile. One that is not there says nothing.
///
/// The parser follows Python's configparser, on which the AWS CLI stands: line by line, values to the letter, and what
/// is indented further continues the value above. On top of it come the rules of the SDKs: comments behind a value,
/// keys in any case, and the names of profiles.
///
/// # Errors
///
/// What makes no sense, and where. Only the structure is judged here.
pub(super) fn read(text: &str, profile: &str) -> Result<Profile, String> {
    // Keys can be in any case, but the names of profiles can't.
    let mut parser = Ini::new_cs();
    parser.set_multiline(true);
    // It takes any `#` for a comment, but only one behind white space is.
    parser.set_inline_comment_symbols(Some(&[]));
    parser.set_default_section(BEFORE_ALL_SECTIONS);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // It takes an indented bracket for a new section, but what is indented belongs to the value above.
    let lines = text
        .lines()
        .map(|line| if line.starts_with([' ', '\t']) && line.trim_start().starts_with('[') { "" } else { line });
    parser.read(lines.collect::<Vec<_>>().join("\n"))?;
    let sections = parser.get_map_ref();

    if sections.contains_key(BEFORE_ALL_SECTIONS) {
        return Err("there is a line before the first section".to_owned());
    }
    // The order of the map is random, and an error should not be.
    let no_values = sections.iter().flat_map(|(section, lines)| {
        lines.iter().filter(|(_, value)| value.is_none()).map(move |(key, _)| (section, key))
    });
    if let Some((section, key)) = no_values.min() {
        return Err(format!("the line {key:?} in section [{}] has no `=`", section.escape_debug()));
    }

    // `[profile default]` hides `[default]`.
    let section = sections
        .iter()
        .filter(|(section, _)| profile_name(section) == Some(profile))
        .max_by_key(|(section, _)| (section.starts_with("profile"), *section));
    Ok(section.map_or_else(Profile::default, |(_, lines)| Profile {
        retry_mode: value(lines, "retry_mode"),
        max_attempts: value(lines, "max_attempts"),
    }))
}

/// The name of the profile that a section is about: `default`, `profile name` or, as the AWS CLI writes a name with a
/// space in it, `profile 'a name'`.
fn profile_name(section: &str) -> Option<&str> {
    // The parser looks for the last bracket of the line, which can be that of a comment.
    let section = section.split(']').next().unwrap_or(section).trim();
    if section == "default" {
        return Some(section);
    }
    let name = section.strip_prefix("profile").filter(|name| name.starts_with(char::is_whitespace))?.trim();
    let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"')).or(Some(name))
}

/// A value without the comment behind it. A key in lower case comes before others.
fn value(lines: &HashMap<String, Option<String>>, key: &str) -> Option<String> {
    let (_, value) = lines.iter().filter(|(other, _)| other.eq_ignore_ascii_case(key)).max_by_key(|(key, _)| *key)?;
    let value = value.as_deref()?;
    let comment = value
        .match_indices(['#', ';'])
        .map(|(at, _)| &value[..at])
        .find(|before| before.is_empty() || before.ends_with(char::is_whitespace));
    Some(comment.unwrap_or(value).trim_end().to_owned())
}
