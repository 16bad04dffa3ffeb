//! The names of strategies.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name of a strategy in events. It distinguishes strategies in metrics and logs.
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

thread_local! {
    /// The name of the scope that decides on this thread. The strategy in it does not know the name, but its quota needs
    /// the name for its warnings.
    static SCOPE: RefCell<Option<StrategyName>> = const { RefCell::new(None) };
}

/// Restores the former name when a decision is over, even if it panics.
struct Former(Option<StrategyName>);

impl Drop for Former {
    fn drop(&mut self) {
        let _ = SCOPE.try_with(|scope| scope.replace(self.0.take()));
    }
}

/// Lets a strategy decide in a scope of this name, if it has one. If scopes are nested, the name of the outer one is
/// used, as in events.
pub(super) fn within_scope<R>(name: Option<&StrategyName>, decide: impl FnOnce() -> R) -> R {
    let name = name.filter(|_| scope().is_none());
    let _former = name.and_then(|name| SCOPE.try_with(|scope| Former(scope.replace(Some(name.clone())))).ok());
    decide()
}

/// Returns the name of the scope that decides on this thread.
fn scope() -> Option<StrategyName> {
    SCOPE.try_with(|scope| scope.borrow().clone()).ok().flatten()
}

/// Calls `warn` with the name of the scope that contains the strategy of this name, or with this name.
#[cold]
pub(super) fn named<R>(strategy: Option<&str>, warn: impl FnOnce(Option<&str>) -> R) -> R {
    let scope = scope();
    warn(scope.as_ref().map(StrategyName::as_str).or(strategy))
}
