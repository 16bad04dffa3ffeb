//! A reader for the shared config file.
//!
//! The reader follows Python's `configparser`, which botocore and the AWS CLI are built on, and botocore's rules for
//! nested values and profile names. The documentation of `RetryConfig::or_environment` lists the intentional
//! differences.

/// The retry settings of a profile, not yet parsed.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) retry_mode: Option<Value>,
    pub(super) max_attempts: Option<Value>,
}

/// The text of a value: its lines without indentation and comments, separated by line feeds.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) text: String,
    /// The number of the first line that continues the value.
    pub(super) continued_at: Option<usize>,
}

/// Reads the settings of one profile. A profile that is not in the file has no settings.
///
/// # Errors
///
/// Returns a message that describes the problem with the structure of the file and names the line. The message does not
/// quote the file, since values can be secret.
pub(super) fn read(text: &str, profile: &str) -> Result<Profile, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let sections = sections(&text)?;
    let (mut own, defaults): (Vec<_>, Vec<_>) = sections
        .iter()
        .filter(|section| section.name == DEFAULTS || profile_name(section.name) == Some(profile))
        .partition(|section| section.name != DEFAULTS);
    if own.is_empty() {
        return Ok(Profile::default());
    }
    // `[profile default]` hides `[default]`.
    if own.iter().any(|section| section.name != DEFAULT_PROFILE) {
        own.retain(|section| section.name != DEFAULT_PROFILE);
    }
    let value = |key: &str| {
        let mut settings = defaults.iter().chain(&own).flat_map(|section| &section.settings);
        settings.rfind(|(other, _)| other.eq_ignore_ascii_case(key)).map(|(_, value)| value.clone())
    };
    Ok(Profile { retry_mode: value("retry_mode"), max_attempts: value("max_attempts") })
}

/// The section whose settings apply to all profiles that do not set them.
const DEFAULTS: &str = "DEFAULT";

/// The profile whose section header can omit the word `profile`.
const DEFAULT_PROFILE: &str = "default";

/// The white space between the words of a header.
const BLANKS: [char; 2] = [' ', '\t'];

/// A section: the name in its header, and the keys and values below it.
struct Section<'a> {
    name: &'a str,
    settings: Vec<(&'a str, Value)>,
}

/// Splits a file into sections.
///
/// A line that is indented further than the latest key continues the value of that key, whatever it looks like. Any
/// other line is a header, or a key with its value. Comment lines are skipped.
fn sections(text: &str) -> Result<Vec<Section<'_>>, String> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    // The indentation of the latest header or key.
    let mut indentation = None;
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.trim();
        if content.starts_with(['#', ';']) {
            continue;
        }
        let malformed = |what: &str| Err(format!("line {number} {what}"));
        // `None` directly below a header, because a header can't be continued.
        let latest = sections.last_mut().and_then(|section| section.settings.last_mut()).map(|(_, value)| value);
        if content.is_empty() {
            // A blank line is part of a value that continues after it.
            if let Some(value) = latest {
                value.text.push('\n');
            }
            continue;
        }
        // A tab is treated as one column.
        let indented = line.chars().take_while(|character| character.is_whitespace()).count();
        if let Some(value) = latest.filter(|_| Some(indented) > indentation) {
            let is_nested = value.text.is_empty() || value.text.starts_with('\n');
            if is_nested && !content.contains('=') {
                return malformed("is part of a nested value and has no `=`");
            }
            value.text.push('\n');
            value.text.push_str(without_comment(content));
            value.continued_at.get_or_insert(number);
            continue;
        }

        indentation = Some(indented);
        if let Some(name) = section_name(content) {
            sections.push(Section { name, settings: Vec::new() });
            continue;
        }
        match (sections.last_mut(), content.split_once(['=', ':'])) {
            (Some(_), Some(("", _))) => return malformed("has no key"),
            (Some(section), Some((key, value))) => {
                let text = without_comment(value.trim_start()).to_owned();
                section.settings.push((key.trim_end(), Value { text, continued_at: None }));
            }
            _ if content.starts_with('[') => return malformed("is not a complete section header"),
            (Some(_), None) => return malformed("has no `=`"),
            (None, _) => return malformed("stands before the first section"),
        }
    }
    for (_, value) in sections.iter_mut().flat_map(|section| &mut section.settings) {
        value.text.truncate(value.text.trim_end().len());
    }
    Ok(sections)
}

/// Returns the name in a section header, or `None` if the line is not a header. Any text can follow the closing
/// bracket.
fn section_name(line: &str) -> Option<&str> {
    let (longest_name, _) = line.strip_prefix('[')?.rsplit_once(']').filter(|(name, _)| !name.is_empty())?;
    // The last bracket can be part of a comment.
    let name = longest_name.split(']').next()?;
    Some(name.trim_matches(BLANKS))
}

/// Returns the profile that a section belongs to: `default`, `profile name` or, as the AWS CLI writes a name with a
/// space in it, `profile 'a name'`.
fn profile_name(section: &str) -> Option<&str> {
    if section == DEFAULT_PROFILE {
        return Some(section);
    }
    let name = section.strip_prefix("profile")?.strip_prefix(BLANKS)?.trim_start_matches(BLANKS);
    let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"')).or(Some(name))
}

/// Removes a comment, which begins at the start of the line or after white space.
fn without_comment(line: &str) -> &str {
    let mut before_comments = line.match_indices(['#', ';']).map(|(start, _)| &line[..start]);
    let before_comment = before_comments.find(|before| before.is_empty() || before.ends_with(char::is_whitespace));
    before_comment.map_or(line, str::trim_end)
}
