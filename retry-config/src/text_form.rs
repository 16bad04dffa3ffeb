//! Serialization and deserialization of a [`RetryConfig`].

use super::error::{Problem, join};
use super::key_names::{groups, key, names_in, unknown};
use super::reader::Reader;
use super::suggest;
use super::value::Value;
use super::{ConfigError, ConfigSource, RetryConfig, RetryMode};
use retry_core::InvalidSetting;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;
use std::path::PathBuf;

impl Serialize for RetryMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RetryMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Node::deserialize(deserializer)?.into_text("mode");
        let invalid = || InvalidSetting::new("mode", &text, Self::expected_for(&text));
        Self::named(&text).ok_or_else(|| de::Error::custom(invalid()))
    }
}

impl Serialize for RetryConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values: Vec<_> = self.set.values().collect();
        Group(values.iter().map(|(key, value)| (*key, value)).collect()).serialize(serializer)
    }
}

/// Values with keys that are relative to a group. The values of an inner group are consecutive.
struct Group<'a>(Vec<(&'static str, &'a Value)>);

impl Serialize for Group<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut rest = self.0.as_slice();
        while let Some(&(key, value)) = rest.first() {
            let Some((group, _)) = key.split_once('.') else {
                map.serialize_entry(key, value)?;
                rest = &rest[1..];
                continue;
            };
            let inner = |&(key, value): &(&'static str, _)| Some((key.strip_prefix(group)?.strip_prefix('.')?, value));
            let members: Vec<_> = rest.iter().map_while(inner).collect();
            rest = &rest[members.len()..];
            map.serialize_entry(group, &Group(members))?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Factor(factor) => serializer.serialize_f64(*factor),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
        }
    }
}

impl<'de> Deserialize<'de> for RetryConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        from_node(node, &ConfigSource::Code).map_err(de::Error::custom)
    }
}

impl RetryConfig {
    /// Reads the settings from a section of a file, so that errors name the file and the whole path of the key.
    ///
    /// `document` is a deserializer of the whole file, in any self-describing format. `section` is the path of the
    /// section, with dots, and is empty if the whole file is a `RetryConfig`. An empty section, or one that is `null`,
    /// has no settings. Keys outside of the section belong to other code and are ignored, unless the section is missing. For a section that a
    /// file may leave out, deserialize a field of your configuration instead. The file is not opened.
    ///
    /// Some formats parse the text before this is called, such as TOML in `toml::Deserializer::parse`. Their errors of syntax don't name
    /// the file: add it, as in `.map_err(|error| format!("file \"settings.toml\": {error}"))`.
    ///
    /// ```
    /// use retry_config::RetryConfig;
    ///
    /// let text = r#"{ "store": { "backoff": { "base": "5" } } }"#;
    /// let document = &mut serde_json::Deserializer::from_str(text);
    /// let error = RetryConfig::from_file_section("settings.json", "store", document).unwrap_err();
    /// let expected = r#"file "settings.json": invalid store.backoff.base "5": expected "#;
    /// assert!(error.to_string().starts_with(expected));
    /// assert_eq!(error.key().as_deref(), Some("store.backoff.base"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the document is malformed, if the section is missing, if a value is invalid, or if a key is unknown.
    pub fn from_file_section<'de, D: Deserializer<'de>>(
        file: impl Into<PathBuf>,
        section: &str,
        document: D,
    ) -> Result<Self, ConfigError> {
        let source = ConfigSource::File(file.into());
        let node = section_of(document, section);
        let node = node.map_err(|problem| ConfigError::new(source.clone(), problem).in_section(section))?;
        Self::of_node(node, &source, section)
    }

    /// Reads the settings from the node of a section.
    pub(super) fn of_node(node: Node, source: &ConfigSource, section: &str) -> Result<Self, ConfigError> {
        if matches!(node, Node::Nothing) {
            return Ok(Self::new());
        }
        let config = from_node(node, source);
        let mut config = config.map_err(|problem| ConfigError::new(source.clone(), problem).in_section(section))?;
        config.origins.set_section(section);
        Ok(config)
    }
}

/// Returns the node of a section, which is nothing if the section is `null`.
pub(super) fn section_of<'de, D: Deserializer<'de>>(document: D, section: &str) -> Result<Node, Problem> {
    let mut node = Node::deserialize(document).map_err(|what| Problem::Malformed(what.to_string()))?;
    let mut path = String::new();
    for name in section.split('.').filter(|name| !name.is_empty()) {
        let mut members = match node {
            Node::Group(members) => members,
            // An empty YAML file is `null`.
            Node::Nothing if path.is_empty() => Vec::new(),
            Node::Nothing => break,
            other => return Err(no_group("", other.into_text(""))),
        };
        let Some(found) = members.iter().position(|(key, _)| key == name) else {
            return Err(no_section(section, &path, name, &members));
        };
        node = members.swap_remove(found).1;
        path = join(&path, name);
    }
    Ok(node)
}

/// Returns the error of a wanted section of which a part is missing in a group. Settings that are in its place were probably meant for it:
/// in TOML, they are above the first header.
fn no_section(wanted: &str, group: &str, part: &str, members: &[(String, Node)]) -> Problem {
    let sections = || members.iter().filter(|(_, node)| matches!(node, Node::Group(_))).map(|(name, _)| name.as_str());
    let path = |name: &str| join(group, name);
    let similar = suggest::most_similar(part, sections(), suggest::limit(part)).map(path);
    let found = |names: &mut dyn Iterator<Item = &str>| names.map(path).collect::<Vec<_>>().join(", ");
    let outside = members.iter().find(|(name, node)| match node {
        Node::Group(_) => groups().any(|group| group == name),
        _ => key(name).is_some(),
    });
    match outside {
        Some((name, _)) if similar.is_none() => Problem::Outside {
            key: path(name),
            section: wanted.to_owned(),
            meant: join(wanted, name),
            found: found(&mut sections().filter(|section| section != name)),
        },
        _ => Problem::NoSection { section: path(part), similar, found: found(&mut sections()) },
    }
}

fn from_node(node: Node, source: &ConfigSource) -> Result<RetryConfig, Problem> {
    let mut reader = Reader::default();
    match node {
        Node::Group(members) => read_group(&mut reader, "", members, source)?,
        other => return Err(no_group("", other.into_text(""))),
    }
    reader.finish().map_err(|unfit| unfit.problem)
}

fn read_group(
    reader: &mut Reader,
    group: &str,
    members: Vec<(String, Node)>,
    source: &ConfigSource,
) -> Result<(), Problem> {
    for (name, node) in members {
        let path = join(group, &name);
        let inner = groups().find(|group| *group == path);
        match (node, key(&path), inner) {
            (_, None, None) => return Err(unknown(group, &name)),
            (Node::Nothing, ..) => {}
            (Node::Group(members), _, Some(group)) => read_group(reader, group, members, source)?,
            (node, Some(key), _) => reader.read(key, &node.into_text(key.path), source)?,
            (node, None, Some(group)) => return Err(no_group(group, node.into_text(group))),
        }
    }
    Ok(())
}

/// Returns the error of a value in the place of a group.
pub(super) fn no_group(group: &'static str, value: String) -> Problem {
    Problem::NoGroup { group, value, keys: names_in(group).join(", ") }
}

/// A value of a file, before it is known which setting it is.
pub(super) enum Node {
    /// A text or a number. Numbers keep their decimal point, so that `4.0` is not a whole number.
    Text(String),
    Bool(bool),
    Nothing,
    /// A value of a kind that no setting has.
    Other(&'static str),
    Group(Vec<(String, Node)>),
}

impl Node {
    /// Returns the value of a setting as text.
    pub(super) fn into_text(self, key: &str) -> String {
        match self {
            Self::Text(text) => text,
            // In YAML 1.1, `off` is another name of `false`.
            Self::Bool(false) if key == "mode" => RetryMode::Off.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Nothing => "null".to_owned(),
            Self::Other(kind) => kind.to_owned(),
            Self::Group(_) => "a group".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}

struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a group of settings")
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Text(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Text(number.to_string()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Node, E> {
        Ok(Node::Text(number.to_string()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Node, E> {
        Ok(Node::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Text(format!("{number:?}")))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Node, E> {
        Ok(Node::Other("bytes"))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        while list.next_element::<de::IgnoredAny>()?.is_some() {}
        Ok(Node::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<Node>()? {
            members.push((key.into_text(""), map.next_value()?));
        }
        Ok(Node::Group(members))
    }
}
