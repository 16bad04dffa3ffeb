//! How parts of the output look on a terminal.
//!
//! Text has its styles in any case. The streams of `anstream` remove them where they are not wanted: if the stream is not a
//! terminal, or if `NO_COLOR` is set. `CLICOLOR_FORCE` keeps them.

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// What went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What may go wrong soon.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
/// What went wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// A name that others belong to.
pub(crate) const GROUP: Style = Style::new().bold();
/// What matters less.
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Removes the styles of a text if the stream does not want them. For output that does not go through `anstream`.
pub(crate) fn for_stream(stream: &impl RawStream, text: String) -> String {
    if AutoStream::choice(stream) == ColorChoice::Never {
        return anstream::adapter::strip_str(&text).to_string();
    }
    text
}
