//! The text of an error that a policy does not know, for the warning about it.

use crate::classify::chain;
use std::error::Error;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The maximum number of links in a text.
const MAX_LINKS: usize = 8;

/// The maximum length of the text of one link, in bytes.
const MAX_BYTES: usize = 200;

/// Returns the texts of the error and of its sources.
///
/// The texts come from code that may never have run before, because a final error need not be displayed. So they are
/// bounded, and a panic in this code only ends the text.
///
/// The text is never freed, so that events can be copied freely. There are as many texts as warnings.
#[cold]
pub(crate) fn text_of(error: &(dyn Error + 'static)) -> &'static str {
    let mut text = String::new();
    if catch_unwind(AssertUnwindSafe(|| write_links(&mut text, error))).is_err() {
        text.push_str("(its text panicked)");
    }
    Box::leak(text.into_boxed_str())
}

fn write_links(text: &mut String, error: &(dyn Error + 'static)) {
    let mut previous = 0..0;
    for (index, link) in chain::links(error).enumerate() {
        if index == MAX_LINKS {
            text.push_str(", ..");
            break;
        }
        let end = text.len();
        if index > 0 {
            text.push_str(", caused by: ");
        }
        let start = text.len();
        // An error of `Display` ends the text of its link, like the bound.
        let _ = write!(Bounded { text, left: MAX_BYTES, is_full: false }, "{link}");
        // An error that forwards its text to its source adds nothing.
        if index > 0 && text[start..] == text[previous.clone()] {
            text.truncate(end);
        } else {
            previous = start..text.len();
        }
    }
}

/// Writes a text in one line, up to a number of bytes.
struct Bounded<'t> {
    text: &'t mut String,
    left: usize,
    is_full: bool,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for char in piece.chars() {
            if self.is_full {
                return Err(fmt::Error);
            }
            if let Some(left) = self.left.checked_sub(char.len_utf8()) {
                self.left = left;
                self.text.push(if char.is_control() { ' ' } else { char });
            } else {
                self.is_full = true;
                self.text.push('…');
            }
        }
        Ok(())
    }
}
