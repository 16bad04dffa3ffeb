//! Edits of a source text. Each part of the edited text knows the mutants that it belongs to.

use std::ops::Range;

/// A part of the edited text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) text: String,
    /// The numbers of the mutants that need it. None if it is a part of the original.
    pub(crate) mutants: Vec<u32>,
    /// Where it is in the original, if it is a part of it.
    pub(crate) original: Option<usize>,
}

impl Chunk {
    pub(crate) fn new(text: impl Into<String>, mutants: &[u32]) -> Self {
        Self { text: text.into(), mutants: mutants.to_vec(), original: None }
    }

    fn original(text: &str, at: usize) -> Self {
        Self { text: text.into(), mutants: Vec::new(), original: Some(at) }
    }
}

/// What an edit does at its place. At one place, what ends comes before what begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Close,
    Open,
    Replace,
}

#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    kind: Kind,
    chunks: Vec<Chunk>,
}

/// Edits of one text, in the order in which the tree is visited: the outer expression before the inner ones.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

impl Edits {
    /// Puts chunks before and after a range.
    pub(crate) fn wrap(&mut self, range: &Range<usize>, open: Vec<Chunk>, close: Vec<Chunk>) {
        self.0.push(Edit { range: range.start..range.start, kind: Kind::Open, chunks: open });
        self.after(range, close);
    }

    /// Puts chunks after a range.
    pub(crate) fn after(&mut self, range: &Range<usize>, close: Vec<Chunk>) {
        self.0.push(Edit { range: range.end..range.end, kind: Kind::Close, chunks: close });
    }

    /// Replaces a range, in which there is no other edit.
    pub(crate) fn replace(&mut self, range: Range<usize>, chunks: Vec<Chunk>) {
        self.0.push(Edit { range, kind: Kind::Replace, chunks });
    }

    /// Returns this part of the text, edited.
    pub(crate) fn render(self, text: &str, part: Range<usize>) -> Vec<Chunk> {
        let mut edits: Vec<_> = self.0.into_iter().enumerate().collect();
        // Of several that end at one place, the inner one comes first, which was visited last.
        edits.sort_by_key(|(order, edit)| {
            let order = order.cast_signed();
            (edit.range.start, edit.kind, if edit.kind == Kind::Close { -order } else { order })
        });
        let mut chunks = Vec::new();
        let mut at = part.start;
        for (_, edit) in edits {
            assert!(edit.range.start >= at, "edits overlap: {edit:?}");
            if edit.range.start > at {
                chunks.push(Chunk::original(&text[at..edit.range.start], at));
            }
            chunks.extend(edit.chunks);
            at = edit.range.end;
        }
        if at < part.end {
            chunks.push(Chunk::original(&text[at..part.end], at));
        }
        chunks
    }
}

/// Returns the mutants that an error of the compiler at this range of the edited text is about: those of the part that
/// contains it, or otherwise those of the first part in it, which are the outermost ones.
pub(crate) fn blamed(chunks: &[Chunk], range: &Range<usize>) -> Vec<u32> {
    let mut inside = Vec::new();
    let mut start = 0;
    for chunk in chunks {
        let end = start + chunk.text.len();
        if !chunk.mutants.is_empty() {
            if start <= range.start && range.end <= end {
                return chunk.mutants.clone();
            }
            if inside.is_empty() && start < range.end && end > range.start {
                inside.clone_from(&chunk.mutants);
            }
        }
        start = end;
    }
    inside
}

/// Returns the place in the original of a place in the edited text.
pub(crate) fn original(chunks: &[Chunk], edited: usize) -> usize {
    let (mut start, mut latest) = (0, 0);
    for chunk in chunks {
        let end = start + chunk.text.len();
        if let Some(at) = chunk.original {
            if edited < end {
                return if edited < start { latest } else { at + edited - start };
            }
            latest = at + chunk.text.len();
        }
        start = end;
    }
    latest
}
