//! The text of an error, for the warnings about it.

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
#[cold]
pub(super) fn text_of(error: &(dyn Error + 'static)) -> String {
    text_of_links(|| chain::links(error).map(|link| link as &dyn Error))
}

/// Returns the texts of an error that may borrow, and of its sources.
#[cold]
pub(crate) fn text_of_borrowed<'e>(error: &'e (dyn Error + 'e)) -> String {
    text_of_links(|| {
        std::iter::once(error)
            .chain(error.source().into_iter().flat_map(|source| chain::links(source).map(|link| link as _)))
    })
}

fn text_of_links<'e, I: Iterator<Item = &'e (dyn Error + 'e)>>(links: impl FnOnce() -> I) -> String {
    let mut text = String::new();
    if catch_unwind(AssertUnwindSafe(|| write_links(&mut text, links()))).is_err() {
        text.push_str("(its text panicked)");
    }
    text
}

fn write_links<'e>(text: &mut String, links: impl Iterator<Item = &'e (dyn Error + 'e)>) {
    let mut previous = 0..0;
    for (index, link) in links.enumerate() {
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
