//! The names that the arguments bind, and how attempts borrow them.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    Attribute, Block, Expr, FnArg, GenericArgument, Pat, PatIdent, Path, PathArguments, ReceiverKind, Signature, Token,
    Type, TypePath, TypeReference,
};

/// A name that an argument binds.
pub(super) struct Argument {
    pub(super) ident: Ident,
    /// The `mut` that it was declared with.
    pub(super) mutability: Option<Token![mut]>,
    /// Whether the declaration is `mut` now.
    pub(super) is_mut: bool,
    pub(super) lending: Lending,
    /// Whether each attempt borrows it mutably, so that the future is `Send` if the argument is.
    pub(super) unique: bool,
    /// The `cfg` attributes of the argument.
    pub(super) cfg: Vec<Attribute>,
}

impl Argument {
    /// Forgets the type, because another value has this name in the attempts.
    pub(super) fn hide(&mut self) {
        self.mutability = None;
        self.is_mut = false;
        self.lending = Lending::Shared;
    }
}

/// The kind of an argument, as far as the signature shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lending {
    /// A shared reference, or a binding that may be by reference.
    Shared,
    /// An owned value.
    Owned,
    /// `&mut T`.
    Reference,
    /// `Pin<&mut T>`
    Pinned,
    /// `Option<&mut T>`
    Optional,
    /// `Option<Pin<&mut T>>`
    OptionalPinned,
}

impl Lending {
    pub(super) fn of(ty: &Type) -> Self {
        match (ungrouped(ty), argument_of("Option", ty)) {
            (Type::Reference(reference), _) if reference.mutability.is_some() => Self::Reference,
            (Type::Reference(_), _) => Self::Shared,
            (_, None) if pinned(ty).is_some() => Self::Pinned,
            (_, Some(ty)) if as_mutable_reference(ty).is_some() => Self::Optional,
            (_, Some(ty)) if pinned(ty).is_some() => Self::OptionalPinned,
            _ => Self::Owned,
        }
    }

    /// Returns the expression that reborrows a mutable reference for one attempt.
    pub(super) fn reborrow(self, ident: &Ident) -> Option<TokenStream> {
        let (option, pin) = (quote!(::core::option::Option), quote!(::core::pin::Pin));
        match self {
            Self::Shared | Self::Owned => None,
            Self::Reference => Some(quote!(&mut *#ident)),
            Self::Pinned => Some(quote!(#pin::as_mut(&mut #ident))),
            Self::Optional => Some(quote!(#option::as_deref_mut(&mut #ident))),
            Self::OptionalPinned => Some(quote!(#option::map(#option::as_mut(&mut #ident), #pin::as_mut))),
        }
    }
}

/// Returns the `&mut` reference that a type is, or contains in a `Pin`, an `Option` or both.
pub(super) fn mutable_reference(ty: &Type) -> Option<&TypeReference> {
    let ty = argument_of("Option", ty).unwrap_or(ty);
    as_mutable_reference(ty).or_else(|| pinned(ty))
}

fn as_mutable_reference(ty: &Type) -> Option<&TypeReference> {
    match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Some(reference),
        _ => None,
    }
}

fn pinned(ty: &Type) -> Option<&TypeReference> {
    argument_of("Pin", ty).and_then(as_mutable_reference)
}

/// Returns the type argument of a type with this name, if it has only one.
fn argument_of<'a>(name: &str, ty: &'a Type) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = ungrouped(ty) else { return None };
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Paren(paren) => ungrouped(&paren.elem),
        Type::Group(group) => ungrouped(&group.elem),
        other => other,
    }
}

/// Returns the kind of the receiver.
pub(super) fn receiver(signature: &Signature) -> Lending {
    match signature.receiver().map(|receiver| &receiver.kind) {
        Some(ReceiverKind::Reference(_, _, Some(_))) => Lending::Reference,
        Some(ReceiverKind::Typed(_, ty)) => Lending::of(ty),
        Some(ReceiverKind::Value) => Lending::Owned,
        _ => Lending::Shared,
    }
}

/// Returns the names that the arguments bind, and removes their `mut` where that is possible. Each attempt binds `mut`
/// arguments again.
pub(super) fn take_arguments(signature: &mut Signature) -> Vec<Argument> {
    let typed = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(argument) => Some(argument),
        FnArg::Receiver(_) => None,
    });
    typed.flat_map(|argument| take_bindings(&mut argument.pat, &argument.attrs, Matched::Type(&argument.ty))).collect()
}

/// The known type of the value that a pattern matches.
#[derive(Clone, Copy)]
pub(super) enum Matched<'a> {
    Type(&'a Type),
    /// A value of an unknown type.
    Value,
    /// A value that may be behind a reference, so that the names may be references.
    Unknown,
}

/// Returns the names that a pattern binds, and removes their `mut` where that is possible.
pub(super) fn take_bindings(pat: &mut Pat, attrs: &[Attribute], matched: Matched<'_>) -> Vec<Argument> {
    let cfg = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
    let mut names = Names { arguments: Vec::new(), cfg };
    names.bind(pat, matched);
    if let Pat::Ident(pattern) = pat
        && let Some(name) = names.arguments.first_mut()
        && pattern.by_ref.is_none()
    {
        pattern.mutability = None;
        name.is_mut = false;
    }
    names.arguments
}

/// Returns the names that a pattern binds.
pub(super) fn names(pat: &Pat) -> Vec<Ident> {
    let mut names = Names { arguments: Vec::new(), cfg: Vec::new() };
    names.visit_pat(pat);
    names.arguments.into_iter().map(|name| name.ident).collect()
}

struct Names {
    arguments: Vec<Argument>,
    cfg: Vec<Attribute>,
}

impl Names {
    fn bind(&mut self, pat: &Pat, matched: Matched<'_>) {
        let ty = match matched {
            Matched::Type(ty) => Some(ungrouped(ty)),
            Matched::Value | Matched::Unknown => None,
        };
        match (pat, ty) {
            (Pat::Ident(pattern), _) => self.bind_name(pattern, matched),
            (Pat::Paren(paren), _) => self.bind(&paren.pat, matched),
            (Pat::Tuple(tuple), Some(Type::Tuple(types))) => self.bind_tuple(&tuple.elems, &types.elems),
            (Pat::Slice(slice), Some(Type::Array(array))) => {
                slice.elems.iter().for_each(|pat| self.bind(pat, Matched::Type(&array.elem)));
            }
            (Pat::TupleStruct(pattern), Some(Type::Path(ty))) if same(&pattern.path, ty) => {
                pattern.elems.iter().for_each(|pat| self.bind(pat, Matched::Value));
            }
            (Pat::Struct(pattern), Some(Type::Path(ty))) if same(&pattern.path, ty) => {
                pattern.fields.iter().for_each(|field| self.bind(&field.pat, Matched::Value));
            }
            _ => self.visit_pat(pat),
        }
    }

    /// Binds the elements of a tuple. Those after a `..` are counted from the end.
    fn bind_tuple(&mut self, elements: &Punctuated<Pat, Token![,]>, types: &Punctuated<Type, Token![,]>) {
        let rest = elements.iter().position(|pat| matches!(pat, Pat::Rest(_))).unwrap_or(elements.len());
        for (index, pat) in elements.iter().enumerate() {
            let behind = elements.len().saturating_sub(index);
            let position = if index < rest { Some(index) } else { types.len().checked_sub(behind) };
            let ty = position.and_then(|position| types.get(position));
            self.bind(pat, ty.map_or(Matched::Unknown, Matched::Type));
        }
    }

    fn bind_name(&mut self, pattern: &PatIdent, matched: Matched<'_>) {
        let lending = match (pattern.by_ref, pattern.mutability, &pattern.subpat, matched) {
            (Some(_), Some(_), None, _) => Lending::Reference,
            (None, _, None, Matched::Type(ty)) => Lending::of(ty),
            (None, _, None, Matched::Value) => Lending::Owned,
            _ => Lending::Shared,
        };
        // The `mut` of `ref mut` is part of the borrow.
        let mutability = pattern.mutability.filter(|_| pattern.by_ref.is_none());
        self.arguments.push(Argument {
            ident: pattern.ident.clone(),
            mutability,
            is_mut: mutability.is_some(),
            lending,
            unique: false,
            cfg: self.cfg.clone(),
        });
        if let Some((_, pat)) = &pattern.subpat {
            self.bind(pat, Matched::Unknown);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.bind_name(pattern, Matched::Unknown);
    }

    // Names that are bound inside of these are not names of the pattern. These methods also keep the visitor's code for
    // blocks from being compiled.
    fn visit_block(&mut self, _: &'ast Block) {}
    fn visit_expr(&mut self, _: &'ast Expr) {}
    fn visit_type(&mut self, _: &'ast Type) {}
}

/// Whether a pattern and a type name the same struct, so that there is no reference between them.
fn same(pattern: &Path, ty: &TypePath) -> bool {
    let names = |path: &Path| path.segments.iter().map(|segment| segment.ident.clone()).collect::<Vec<_>>();
    ty.qself.is_none() && names(pattern) == names(&ty.path)
}

/// Declares a name as `mut` in the patterns that bind it, and returns whether any of them binds it.
pub(super) fn declare_mut<'a>(pats: impl IntoIterator<Item = &'a mut Pat>, ident: &Ident) -> bool {
    let mut found = false;
    for pat in pats {
        // All patterns are searched, because arguments under different `cfg`s may have the same name.
        found |= declare_mut_in(pat, ident);
    }
    found
}

fn declare_mut_in(pat: &mut Pat, ident: &Ident) -> bool {
    match pat {
        Pat::Ident(pattern) if pattern.ident == *ident => {
            pattern.mutability = pattern.mutability.or(Some(Token![mut](ident.span())));
            true
        }
        Pat::Paren(pattern) => declare_mut_in(&mut pattern.pat, ident),
        Pat::Slice(pattern) => declare_mut(&mut pattern.elems, ident),
        Pat::Struct(pattern) => declare_mut(pattern.fields.iter_mut().map(|field| &mut *field.pat), ident),
        Pat::Tuple(pattern) => declare_mut(&mut pattern.elems, ident),
        Pat::TupleStruct(pattern) => declare_mut(&mut pattern.elems, ident),
        // Other patterns keep the user's `mut`. A name in them may be a reference, which attempts don't borrow mutably.
        other => names(other).contains(ident),
    }
}
