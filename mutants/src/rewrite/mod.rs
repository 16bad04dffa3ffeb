//! Rewrites a source file so that each of its mutants can be chosen at run time.
//!
//! The operands of a changed operator are evaluated once, into a `match`, so that nested mutants do not double the text. A
//! constant item is kept, for patterns and types, and gets a function beside it that the expressions call instead.

mod expressions;
mod items;
mod neighbours;
mod statements;
#[cfg(test)]
mod tests;

use crate::edit::{Chunk, Edits};
use proc_macro2::Span;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr};

/// A change of the sources that a test should notice.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    /// Its function, as in `RetryQuota for TokenBucket::refund`, or its constant, as in `const RETRY`.
    pub(crate) function: String,
    pub(crate) line: usize,
    /// Where it is in the original.
    pub(crate) range: Range<usize>,
    /// What is changed into what, as in `a < b -> a <= b`. Unique in the function.
    pub(crate) change: String,
    pub(crate) kind: Kind,
    /// False if it is left out of the copy, because it does not compile.
    pub(crate) is_built: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Expression,
    /// A dropped statement. It can cause errors elsewhere in its function, for example about a variable without a value.
    Statement,
    /// Not a mutant, but the use of a constant that is replaced by a call. It can be left out like one.
    Use,
}

/// A function or a constant.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    /// Its text without comments and layout.
    pub(crate) tokens: String,
}

/// A rewritten file.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) mutants: Vec<Mutant>,
    pub(crate) functions: Vec<Function>,
}

/// The constants that have functions beside them: `NAME`, or `Type::NAME` in an `impl`.
pub(crate) type Constants = BTreeSet<String>;

/// Returns the constants of a file that get functions beside them.
pub(crate) fn constants(file: &syn::File) -> Constants {
    items::constants(file)
}

/// Rewrites a file. Its mutants are numbered from `first` on.
pub(crate) fn rewrite(
    text: &str,
    file: &syn::File,
    first: u32,
    constants: &Constants,
    is_left_out: &dyn Fn(&str, &str) -> bool,
) -> Rewritten {
    let mut rewriter = Rewriter {
        text,
        first,
        constants,
        is_left_out,
        mutants: Vec::new(),
        functions: Vec::new(),
        edits: Edits::default(),
        place: Vec::new(),
        implemented: None,
        names: HashMap::new(),
        changes: HashMap::new(),
    };
    rewriter.visit_file(file);
    let Rewriter { edits, mutants, functions, .. } = rewriter;
    Rewritten { chunks: edits.render(text, 0..text.len()), mutants, functions }
}

struct Rewriter<'a> {
    text: &'a str,
    first: u32,
    constants: &'a Constants,
    is_left_out: &'a dyn Fn(&str, &str) -> bool,
    mutants: Vec<Mutant>,
    functions: Vec<Function>,
    edits: Edits,
    /// The names of the modules, implementations and functions around.
    place: Vec<String>,
    /// The type of the `impl` around.
    implemented: Option<String>,
    /// How many functions have this name.
    names: HashMap<String, usize>,
    /// How many changes of this function read like this.
    changes: HashMap<String, usize>,
}

impl Rewriter<'_> {
    /// Adds a mutant, and returns its number, unless it is left out.
    fn add(&mut self, kind: Kind, range: &Range<usize>, mutated: &str) -> Option<u32> {
        let original = shortened(&self.text[range.clone()]);
        let mut change = if mutated.is_empty() {
            format!("{original} -> dropped")
        } else {
            format!("{original} -> {}", shortened(mutated))
        };
        let function = self.place.join("::");
        let count = self.changes.entry(change.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            change = format!("{change} ({count})");
        }
        let is_built = !(self.is_left_out)(&function, &change);
        let line = self.text[..range.start].matches('\n').count() + 1;
        self.mutants.push(Mutant { function, line, range: range.clone(), change, kind, is_built });
        let number = self.first + u32::try_from(self.mutants.len()).expect("few mutants") - 1;
        is_built.then_some(number)
    }

    /// Adds the mutants of one place, and returns those that are not left out, each with its text.
    fn add_all<T: AsRef<str>>(
        &mut self,
        range: &Range<usize>,
        mutated: impl IntoIterator<Item = (T, String)>,
    ) -> Vec<(u32, String)> {
        let mut added = Vec::new();
        for (shown, written) in mutated {
            if let Some(number) = self.add(Kind::Expression, range, shown.as_ref()) {
                added.push((number, written));
            }
        }
        added
    }

    fn text(&self, node: &impl Spanned) -> &str {
        &self.text[range(node)]
    }

    /// Visits a part, and returns it with its edits, which do not become edits of the file.
    fn rendered(&mut self, part: Range<usize>, visit: impl FnOnce(&mut Self)) -> Vec<Chunk> {
        let around = std::mem::take(&mut self.edits);
        visit(self);
        std::mem::replace(&mut self.edits, around).render(self.text, part)
    }
}

impl<'ast> Visit<'ast> for Rewriter<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.expression(expression);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block(block, false);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.local(local);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.item(item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        self.impl_item(item);
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        self.trait_item(item);
    }

    fn visit_pat_guard(&mut self, guarded: &'ast syn::PatGuard) {
        self.condition(&guarded.guard);
    }

    // Patterns, types and attributes need constants that are known at compile time. Only the guard of a pattern is not one.
    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Guard(guarded) = pattern {
            self.visit_pat_guard(guarded);
        }
    }

    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_path_arguments(&mut self, _: &'ast syn::PathArguments) {}

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if crate::compiled::is_compiled(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }
}

fn range(node: &impl Spanned) -> Range<usize> {
    Span::byte_range(&node.span())
}

/// Returns the text on one line, and only its beginning and end if it is long.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 100;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<_> = words.chars().collect();
    if letters.len() <= LONGEST {
        return words;
    }
    let part = |range: Range<usize>| letters[range].iter().collect::<String>();
    format!("{} .. {}", part(0..LONGEST * 3 / 5), part(letters.len() - LONGEST / 3..letters.len()))
}

/// Returns the choice between mutants, each with its text. What is chosen otherwise comes after it, and then [`chosen`].
fn choice(mutants: &[(u32, String)]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (number, text) in mutants {
        chunks.push(Chunk::new(format!("if ::mutants_switch::on({number}) {{ {text} }} else "), &[*number]));
    }
    chunks.push(Chunk::new("{ ", &numbers(mutants)));
    chunks
}

fn numbers(mutants: &[(u32, String)]) -> Vec<u32> {
    mutants.iter().map(|(number, _)| *number).collect()
}
