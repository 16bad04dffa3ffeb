//! The names of strategies.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name of a strategy, as events carry it. It distinguishes strategies in metrics and logs.
///
/// Clones share one text.
#[derive(Clone)]
pub struct StrategyName(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl StrategyName {
    /// Creates a name from a constant.
    pub const fn new(name: &'static str) -> Self {
        Self(Text::Static(name))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Static(name) => name,
            Text::Shared(name) => name,
        }
    }
}

impl From<&'static str> for StrategyName {
    fn from(name: &'static str) -> Self {
        Self::new(name)
    }
}

impl From<String> for StrategyName {
    fn from(name: String) -> Self {
        Self(Text::Shared(name.into()))
    }
}

impl PartialEq for StrategyName {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for StrategyName {}

impl Hash for StrategyName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
