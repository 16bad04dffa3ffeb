//! How parts of the output look on a terminal. The streams of `anstream` remove the styles elsewhere, and if `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

/// A title, and the head of a table.
pub(super) const TITLE: Style = Style::new().bold();
/// The user's settings.
pub(super) const YOURS: Style = AnsiColor::Cyan.on_default();
/// What is better.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// What fails.
pub(super) const BAD: Style = AnsiColor::Red.on_default();
