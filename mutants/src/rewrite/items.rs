//! Functions, constants and imports.

use super::{Constants, Function, Kind, Rewriter, range};
use crate::compiled::{differs_under_loom, is_compiled};
use crate::edit::Chunk;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemImpl, ReturnType, Signature, TraitItem, Type, UseTree, Visibility};

/// A constant of a module, a function or an `impl`.
struct Constant<'a> {
    attributes: &'a [Attribute],
    visibility: &'a Visibility,
    name: String,
    ty: &'a Type,
    value: &'a Expr,
    /// Whether it is in an `impl`.
    is_associated: bool,
}

impl Rewriter<'_> {
    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Fn(function) => self.function(&function.attrs, &function.sig, Some(&function.block), function),
            Item::Const(constant) => self.constant(
                constant,
                &Constant {
                    attributes: &constant.attrs,
                    visibility: &constant.vis,
                    name: constant.ident.to_string(),
                    ty: &constant.ty,
                    value: &constant.expr,
                    is_associated: false,
                },
            ),
            Item::Impl(block) if is_compiled(&block.attrs) => {
                let around = self.implemented.replace(type_name(&block.self_ty));
                self.inside(implementation(block), |rewriter| visit::visit_item_impl(rewriter, block));
                self.implemented = around;
            }
            Item::Trait(definition) if is_compiled(&definition.attrs) => {
                self.inside(definition.ident.to_string(), |rewriter| visit::visit_item_trait(rewriter, definition));
            }
            Item::Mod(module) if is_compiled(&module.attrs) => {
                self.inside(module.ident.to_string(), |rewriter| visit::visit_item_mod(rewriter, module));
            }
            Item::Use(import) if is_compiled(&import.attrs) => {
                self.inside("use".to_string(), |rewriter| rewriter.import(&import.tree));
            }
            _ => {}
        }
    }

    pub(super) fn impl_item(&mut self, item: &ImplItem) {
        match item {
            ImplItem::Fn(function) => self.function(&function.attrs, &function.sig, Some(&function.block), function),
            ImplItem::Const(constant) => {
                let Some(implemented) = &self.implemented else { return };
                // A trait has no place for the function beside it.
                if self.constants.contains(&format!("{implemented}::{}", constant.ident)) {
                    self.constant(
                        constant,
                        &Constant {
                            attributes: &constant.attrs,
                            visibility: &constant.vis,
                            name: constant.ident.to_string(),
                            ty: &constant.ty,
                            value: &constant.expr,
                            is_associated: true,
                        },
                    );
                }
            }
            _ => {}
        }
    }

    pub(super) fn trait_item(&mut self, item: &TraitItem) {
        if let TraitItem::Fn(function) = item {
            self.function(&function.attrs, &function.sig, function.default.as_ref(), function);
        }
    }

    fn inside(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.place.push(name);
        visit(self);
        self.place.pop();
    }

    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        body: Option<&syn::Block>,
        item: &(impl Spanned + ToTokens),
    ) {
        let Some(body) = body.filter(|_| is_compiled(attributes)) else { return };
        self.named(signature.ident.to_string(), item, |rewriter| {
            rewriter.block(body, matches!(signature.output, ReturnType::Default));
        });
    }

    /// Visits a function or a constant.
    fn named(&mut self, name: String, item: &(impl Spanned + ToTokens), visit: impl FnOnce(&mut Self)) {
        self.place.push(name);
        let path = self.place.join("::");
        let count = self.names.entry(path.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            let last = self.place.last_mut().expect("pushed");
            *last = format!("{last} ({count})");
        }
        let function = Function { name: self.place.join("::"), range: range(item), tokens: tokens(item) };
        self.functions.push(function);
        let around = std::mem::take(&mut self.changes);
        visit(self);
        self.changes = around;
        self.place.pop();
    }

    /// Puts a function beside a constant that returns its value.
    fn constant(&mut self, item: &(impl Spanned + ToTokens), constant: &Constant<'_>) {
        if !is_compiled(constant.attributes) || differs_under_loom(constant.attributes) || !has_function(constant.ty) {
            return;
        }
        let name = format!("const {}", constant.name);
        self.named(name, item, |rewriter| {
            // Its whole function can be left out, too.
            let Some(own) = rewriter.add(Kind::Use, &range(item), "a function") else { return };
            let before = rewriter.mutants.len();
            let (value, is_leaked) = match (constant.ty, constant.value) {
                (Type::Reference(_), Expr::Reference(value)) => (&*value.expr, true),
                _ => (constant.value, false),
            };
            let chunks = rewriter.rendered(range(value), |rewriter| rewriter.visit_expr(value));
            let numbers = (before..rewriter.mutants.len())
                .filter(|index| rewriter.mutants[*index].is_built)
                .map(|index| rewriter.first + u32::try_from(index).expect("few mutants"));
            let mut numbers: Vec<_> = numbers.collect();
            if numbers.is_empty() {
                numbers.push(own);
            }
            let (visibility, ty) = (rewriter.text(constant.visibility), rewriter.text(constant.ty));
            let ty = ty.replace("&'static ", "&").replace('&', "&'static ");
            let visibility = if matches!(constant.visibility, Visibility::Inherited) { "" } else { visibility };
            let name = &constant.name;
            let (open, close) = if is_leaked {
                let owner = if constant.is_associated { "Self::" } else { "" };
                (
                    format!(" #[allow(non_snake_case)] fn {name}__leaked() -> {ty} {{ Box::leak(Box::new("),
                    format!(
                        ")) }} #[allow(non_snake_case)] {visibility} const fn {name}__m() -> {ty} {{ \
                         ::mutants_switch::leaked({owner}{name}, {owner}{name}__leaked) }}"
                    ),
                )
            } else {
                (format!(" #[allow(non_snake_case)] {visibility} const fn {name}__m() -> {ty} {{ "), " }".to_string())
            };
            let mut beside = vec![Chunk::new(open, &numbers)];
            beside.extend(chunks);
            beside.push(Chunk::new(close, &numbers));
            rewriter.edits.after(&range(item), beside);
        });
    }

    /// Imports the function beside each imported constant.
    fn import(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                let module = path.ident.to_string();
                // Constants of types are not imported.
                if !module.starts_with(char::is_uppercase) && module != "std" && module != "core" {
                    self.import(&path.tree);
                }
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree)),
            UseTree::Name(name) => {
                let whole = range(&name.ident);
                let imported = name.ident.to_string();
                if self.constants.contains(&imported)
                    && let Some(number) = self.add(Kind::Use, &whole, "its value")
                {
                    let chunk = |text: String| vec![Chunk::new(text, &[number])];
                    self.edits.wrap(&whole, chunk("{".into()), chunk(format!(", {imported}__m}}")));
                }
            }
            UseTree::Rename(_) | UseTree::Glob(_) => {}
        }
    }
}

pub(super) fn constants(file: &syn::File) -> Constants {
    #[derive(Default)]
    struct Finder {
        found: Constants,
        implemented: Option<String>,
    }

    impl<'ast> Visit<'ast> for Finder {
        fn visit_item(&mut self, item: &'ast Item) {
            match item {
                Item::Const(constant) => {
                    let is_one = is_compiled(&constant.attrs) && !differs_under_loom(&constant.attrs);
                    if is_one && has_function(&constant.ty) {
                        self.found.insert(constant.ident.to_string());
                    }
                }
                Item::Impl(block) if is_compiled(&block.attrs) => {
                    // A trait has no place for the function beside it.
                    let name = block.trait_.is_none().then(|| type_name(&block.self_ty));
                    let around = std::mem::replace(&mut self.implemented, name);
                    visit::visit_item_impl(self, block);
                    self.implemented = around;
                }
                Item::Mod(module) if !is_compiled(&module.attrs) => {}
                item => visit::visit_item(self, item),
            }
        }

        fn visit_impl_item_const(&mut self, constant: &'ast syn::ImplItemConst) {
            if let Some(implemented) = &self.implemented
                && has_function(&constant.ty)
            {
                self.found.insert(format!("{implemented}::{}", constant.ident));
            }
        }
    }

    let mut finder = Finder::default();
    finder.visit_file(file);
    finder.found
}

/// Returns whether constants of this type get a function: all but texts, which have no mutants.
fn has_function(ty: &Type) -> bool {
    !matches!(ty, Type::Reference(reference) if matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("str")))
}

/// Returns the name of a type without its arguments.
fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        ty => ty.to_token_stream().to_string(),
    }
}

/// Returns the name of an implementation, as in `RetryQuota for TokenBucket`.
fn implementation(block: &ItemImpl) -> String {
    let ty = type_name(&block.self_ty);
    match block.trait_.as_ref().and_then(|(path, _)| path.segments.last()) {
        Some(implemented) => format!("{} for {ty}", implemented.ident),
        None => ty,
    }
}

/// Returns the tokens without doc comments.
fn tokens(item: &impl ToTokens) -> String {
    fn add(tokens: TokenStream, text: &mut String) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(hash)
                    if hash.as_char() == '#'
                        && matches!(tokens.peek(), Some(TokenTree::Group(group)) if is_doc(&group.stream())) =>
                {
                    tokens.next();
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ('(', ')'),
                        Delimiter::Brace => ('{', '}'),
                        Delimiter::Bracket => ('[', ']'),
                        Delimiter::None => (' ', ' '),
                    };
                    text.push(open);
                    add(group.stream(), text);
                    text.push(close);
                }
                token => {
                    text.push_str(&token.to_string());
                    text.push(' ');
                }
            }
        }
    }

    let mut text = String::new();
    add(item.to_token_stream(), &mut text);
    text
}

fn is_doc(attribute: &TokenStream) -> bool {
    matches!(attribute.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}
