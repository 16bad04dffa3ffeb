//! The bounds of a generic error, for the fields that give answers.
//!
//! A bound names the type of the field, so that it is independent of how that type implements the trait:
//! `Wrapper<E>: RetryInfo`. For types that contain each other, such bounds would be circular. Each cycle contains a
//! pointer, so behind a pointer the bound names the parameter instead, if there is only one: `E: RetryInfo` for a
//! `Box<Wrapper<E>>`.

use crate::retry_info::model::Model;
use crate::tokens::mentions;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::iter;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Expr, GenericArgument, Generics, Path, PathArguments, Token, Type, TypeParam, TypeParamBound, TypePath,
    WherePredicate, parse_quote_spanned,
};

/// A trait that a field's type must implement.
pub(super) struct Need<'a> {
    pub(super) ty: &'a Type,
    pub(super) bound: Path,
    /// The field is an error that gives answers.
    pub(super) is_error: bool,
}

/// Returns the bounds for fields whose type depends on a parameter.
pub(super) fn of(model: &Model, needs: &[Need<'_>]) -> Vec<WherePredicate> {
    let mut seen = Vec::new();
    let mut bounds = Vec::new();
    for bound in needs.iter().filter_map(|need| bound(model, need)) {
        let text = quote!(#bound).to_string();
        if !seen.contains(&text) {
            seen.push(text);
            bounds.push(bound);
        }
    }
    bounds
}

fn bound(model: &Model, need: &Need<'_>) -> Option<WherePredicate> {
    let Model { ident, generics, crate_path, .. } = model;
    let Need { ty, bound, is_error } = need;
    let parameters: Vec<&TypeParam> = generics.type_params().filter(|it| names(ty, &it.ident)).collect();
    // A type that contains itself needs no bound on itself.
    if parameters.is_empty() || contains(ty, ident) {
        return None;
    }
    let span = ty.span();
    let whole = Some(parse_quote_spanned!(span=> #ty: #bound));
    if !is_error {
        return whole;
    }
    let info = quote!(#crate_path::RetryInfo);
    let error = innermost(ty, optional);
    let behind = innermost(error, pointee);
    if is_parameter(behind, &parameters) {
        return Some(parse_quote_spanned!(span=> #error: #info));
    }
    let may_lead_back = !std::ptr::eq(behind, error) && matches!(behind, Type::Path(_));
    match parameters.as_slice() {
        _ if !may_lead_back => whole,
        all if all.iter().any(|it| is_declared_error(&it.ident, generics)) => None,
        [only] if declared(&only.ident, generics).all(is_common) => {
            let parameter = &only.ident;
            Some(parse_quote_spanned!(span=> #parameter: #info))
        }
        _ => whole,
    }
}

/// Removes a wrapper from a type as often as possible.
fn innermost<'a>(ty: &'a Type, take_off: fn(&'a Type) -> Option<&'a Type>) -> &'a Type {
    iter::successors(Some(ty), |ty| take_off(ty)).last().unwrap_or(ty)
}

/// Returns the `T` of an `Option<T>`.
pub(super) fn optional(ty: &Type) -> Option<&Type> {
    last_argument(ty, &["Option"])
}

/// Returns the pointee of a reference or a pointer of the standard library.
fn pointee(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) => Some(&reference.elem),
        _ => last_argument(ty, &["Arc", "Box", "Cow", "Rc"]),
    }
}

/// Returns the last type argument of a type with one of these names.
fn last_argument<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a Type> {
    match ty {
        Type::Paren(paren) => last_argument(&paren.elem, names),
        Type::Group(group) => last_argument(&group.elem, names),
        Type::Path(TypePath { qself: None, path, .. }) => {
            let last = path.segments.last().filter(|last| names.iter().any(|name| last.ident == name))?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            arguments.args.iter().rev().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Whether a type is a parameter or an associated type of one, such as `S::Error`.
fn is_parameter(ty: &Type, parameters: &[&TypeParam]) -> bool {
    match ty {
        Type::Path(TypePath { qself: Some(_), .. }) => true,
        Type::Path(TypePath { path, .. }) => {
            path.segments.first().is_some_and(|first| parameters.iter().any(|it| it.ident == first.ident))
        }
        _ => false,
    }
}

type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// Returns all bounds of the item, each with its type.
fn all_declared(generics: &Generics) -> impl Iterator<Item = (TokenStream, &Bounds)> {
    let inline = generics.type_params().map(|it| (it.ident.to_token_stream(), &it.bounds));
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    inline.chain(predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some((predicate.bounded_ty.to_token_stream(), &predicate.bounds)),
        _ => None,
    }))
}

/// Returns the bounds of a parameter.
fn declared<'a>(parameter: &'a Ident, generics: &'a Generics) -> impl Iterator<Item = &'a TypeParamBound> {
    let own = all_declared(generics).filter(move |(ty, _)| *parameter == ty.to_string());
    own.flat_map(|(_, bounds)| bounds)
}

/// Whether a bound of the item says that a type with the parameter is an error.
fn is_declared_error(parameter: &Ident, generics: &Generics) -> bool {
    all_declared(generics).any(|(ty, bounds)| {
        mentions(&ty, &[parameter]) && bounds.iter().any(|bound| name(bound).is_some_and(|name| name == "RetryInfo"))
    })
}

/// Whether a bound is usual for errors. A bound of a service, such as `S: Service`, is not.
fn is_common(bound: &TypeParamBound) -> bool {
    const COMMON: [&str; 14] = [
        "Any",
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "Display",
        "Eq",
        "Error",
        "Hash",
        "PartialEq",
        "Send",
        "Sized",
        "Sync",
        "Unpin",
    ];
    name(bound).is_none_or(|name| COMMON.iter().any(|common| name == common))
}

/// Returns the name of the trait, unless the bound is a lifetime.
fn name(bound: &TypeParamBound) -> Option<&Ident> {
    match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}

fn names(ty: &Type, parameter: &Ident) -> bool {
    mentions(&ty.to_token_stream(), &[parameter])
}

/// Whether a type contains a type by its bare name. A path such as `S::Error` is another type.
fn contains(ty: &Type, name: &Ident) -> bool {
    struct Finder<'a> {
        name: &'a Ident,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_type_path(&mut self, ty: &'ast TypePath) {
            let bare = ty.path.segments.len() == 1 && ty.path.segments.first().is_some_and(|it| it.ident == *self.name);
            self.found |= (bare && ty.qself.is_none()) || ty.path.is_ident("Self");
            visit::visit_type_path(self, ty);
        }

        fn visit_expr(&mut self, _: &'ast Expr) {}
    }

    let mut finder = Finder { name, found: false };
    finder.visit_type(ty);
    finder.found
}
