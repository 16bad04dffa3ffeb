//! Parses the function, and reads the type of its outcome and its borrows from the signature.

use crate::diagnostics::Diagnostics;
use crate::retryable::arguments::mutable_reference;
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::visit::{self, Visit};
use syn::{
    AngleBracketedGenericArguments, AssocType, Attribute, Block, Expr, FnArg, FnModifiers, GenericArgument, Item,
    ItemFn, Lifetime, ParenthesizedGenericArguments, Pat, Path, PathArguments, Receiver, ReceiverKind, ReturnType,
    Signature, Stmt, TraitItemFn, Type, TypeFnPtr, TypeInfer, TypeParamBound, TypeReference, parse_quote,
};

/// Parses the item, which must be a function with a body.
///
/// A body that can't be parsed is kept as it is if it is known to be one attempt. rustc then reports its errors, and
/// editors, which often have half typed bodies, see the whole loop around it.
pub(super) fn parse(tokens: TokenStream, blocking: bool, diagnostics: &mut Diagnostics) -> Option<ItemFn> {
    let error = match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(function) => return Some(function),
        Err(error) => error,
    };
    if let Ok(HalfTyped(function)) = syn::parse2(tokens.clone())
        && (blocking || function.sig.asyncness.is_some())
    {
        return Some(function);
    }
    if let Ok(declared) = syn::parse2::<TraitItemFn>(tokens.clone()) {
        let name = &declared.sig.ident;
        diagnostics.error(name, format!("`{name}` has no body to retry; write `#[retryable]` where it is implemented"));
    } else if let Some((keyword, what)) = syn::parse2::<Item>(tokens).ok().and_then(|item| other_item(&item)) {
        diagnostics.error(keyword, format!("`#[retryable]` goes on a function, not on {what}"));
    } else {
        return diagnostics.ok(Err(error));
    }
    None
}

/// Returns a function with a body that is not parsed.
struct HalfTyped(ItemFn);

impl Parse for HalfTyped {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, vis, sig) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        // The body keeps its braces, so that rustc reports an error at the last one as it would without the expansion.
        let body: Group = input.parse()?;
        if body.delimiter() != Delimiter::Brace {
            return Err(syn::Error::new(body.span(), "expected a body"));
        }
        let brace_token = Brace { span: body.delim_span() };
        let stmts = vec![Stmt::Expr(Expr::Verbatim(body.into_token_stream()), None)];
        let block = Box::new(Block { brace_token, stmts });
        Ok(Self(ItemFn { attrs, vis, modifiers: FnModifiers::default(), sig, block }))
    }
}

/// Returns the kind of an item that is not a function, and its keyword.
fn other_item(item: &Item) -> Option<(TokenStream, &'static str)> {
    Some(match item {
        Item::Struct(item) => (item.struct_token.to_token_stream(), "a struct"),
        Item::Enum(item) => (item.enum_token.to_token_stream(), "an enum"),
        Item::Impl(item) => (item.impl_token.to_token_stream(), "an impl; write it on each method"),
        Item::Trait(item) => (item.trait_token.to_token_stream(), "a trait; write it on the methods of the impls"),
        Item::Mod(item) => (item.mod_token.to_token_stream(), "a module"),
        Item::Static(item) => (item.static_token.to_token_stream(), "a static"),
        Item::Const(item) => (item.const_token.to_token_stream(), "a constant"),
        _ => return None,
    })
}

/// Returns the receiver if it is `mut self`.
pub(super) fn mutable_receiver(signature: &Signature) -> Option<&Receiver> {
    signature.receiver().filter(|receiver| receiver.mutability.is_some())
}

/// Returns the type of an outcome.
pub(super) fn outcome(returned: &ReturnType) -> Option<Type> {
    match returned {
        ReturnType::Type(_, ty) => Some(inferred((**ty).clone())),
        ReturnType::Default => None,
    }
}

/// Replaces each `impl Trait` in a type with `_`.
pub(super) fn inferred(mut ty: Type) -> Type {
    infer(&mut ty);
    ty
}

/// Returns whether rustc infers a part of a type.
pub(super) fn is_inferred(ty: &Type) -> bool {
    struct Inferred(bool);
    impl Visit<'_> for Inferred {
        fn visit_type_infer(&mut self, _: &TypeInfer) {
            self.0 = true;
        }
    }

    let mut inferred = Inferred(false);
    inferred.visit_type(ty);
    inferred.0
}

fn infer(ty: &mut Type) {
    match ty {
        Type::ImplTrait(_) => *ty = parse_quote!(_),
        // `&(impl A + B)` needs the parentheses, but rustc would warn about them in `&(_)`.
        Type::Paren(paren) if matches!(*paren.elem, Type::ImplTrait(_)) => *ty = parse_quote!(_),
        Type::Array(array) => infer(&mut array.elem),
        Type::Group(group) => infer(&mut group.elem),
        Type::Paren(paren) => infer(&mut paren.elem),
        Type::Path(path) => infer_path(&mut path.path),
        Type::Ptr(pointer) => infer(&mut pointer.elem),
        Type::Reference(reference) => infer(&mut reference.elem),
        Type::Slice(slice) => infer(&mut slice.elem),
        Type::TraitObject(object) => object.bounds.iter_mut().for_each(|bound| {
            if let TypeParamBound::Trait(bound) = bound {
                infer_path(&mut bound.path);
            }
        }),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(infer),
        // Rust allows `impl Trait` in no other kind of type.
        _ => {}
    }
}

fn infer_path(path: &mut Path) {
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            infer_arguments(arguments);
        }
    }
}

fn infer_arguments(arguments: &mut AngleBracketedGenericArguments) {
    for argument in &mut arguments.args {
        match argument {
            GenericArgument::Type(ty) => infer(ty),
            GenericArgument::AssocType(AssocType { generics, ty, .. }) => {
                generics.iter_mut().for_each(infer_arguments);
                infer(ty);
            }
            _ => {}
        }
    }
}

/// Returns the lifetime by which the return type borrows from a `&mut` argument, and the name of that argument.
///
/// Lifetimes that are hidden in a path can't be seen. rustc reports those.
pub(super) fn borrow_of_mutable(signature: &Signature) -> Option<(TokenStream, String)> {
    let ReturnType::Type(_, output) = &signature.output else { return None };
    let mut borrows = Lifetimes::default();
    borrows.visit_type(output);
    let lenders: Vec<Lender> = signature.inputs.iter().map(Lender::of).collect();

    borrows.found.into_iter().find_map(|(lifetime, borrow)| {
        let lender = match lifetime {
            Some(name) => {
                // The borrow may be from another argument with the same lifetime.
                let named: Vec<&Lender> = lenders.iter().filter(|lender| lender.lends(&name)).collect();
                let [only] = named.as_slice() else { return None };
                (only.mutable && only.outermost.as_ref() == Some(&name)).then_some(*only)
            }
            None => elided(&lenders),
        };
        Some((borrow, lender?.name.clone()))
    })
}

/// Returns the argument that an elided lifetime of the return type refers to, if it is a `&mut` argument: the
/// receiver, or the only argument that borrows.
fn elided(lenders: &[Lender]) -> Option<&Lender> {
    let mut candidates = lenders.iter().filter(|lender| lender.borrows > 0);
    let lender = match lenders.iter().find(|lender| lender.receiver && lender.borrows > 0) {
        Some(receiver) => receiver,
        None => candidates.next().filter(|only| only.borrows == 1 && candidates.next().is_none())?,
    };
    lender.mutable.then_some(lender)
}

/// An argument that the return type may borrow from.
struct Lender {
    name: String,
    receiver: bool,
    lifetimes: Vec<Option<Lifetime>>,
    borrows: usize,
    /// Whether it is a `&mut` reference.
    mutable: bool,
    /// The lifetime of the reference, if it has a name.
    outermost: Option<Lifetime>,
}

impl Lender {
    fn of(input: &FnArg) -> Self {
        let mut lifetimes = Lifetimes::default();
        lifetimes.visit_fn_arg(input);
        let lifetimes: Vec<_> = lifetimes.found.into_iter().map(|(lifetime, _)| lifetime).collect();
        let (name, outermost) = match input {
            FnArg::Receiver(receiver) => ("self".to_owned(), mutable_self(receiver)),
            FnArg::Typed(argument) => {
                (argument.pat.to_token_stream().to_string(), mutable_reference(&argument.ty).map(|it| &it.lifetime))
            }
        };
        Self {
            name,
            receiver: matches!(input, FnArg::Receiver(_)),
            borrows: lifetimes.len(),
            lifetimes,
            mutable: outermost.is_some(),
            outermost: outermost.cloned().flatten(),
        }
    }

    fn lends(&self, name: &Lifetime) -> bool {
        self.lifetimes.iter().flatten().any(|lifetime| lifetime == name)
    }
}

fn mutable_self(receiver: &Receiver) -> Option<&Option<Lifetime>> {
    match &receiver.kind {
        ReceiverKind::Reference(_, lifetime, Some(_)) => Some(lifetime),
        ReceiverKind::Typed(_, ty) => mutable_reference(ty).map(|reference| &reference.lifetime),
        _ => None,
    }
}

impl Lifetimes {
    fn named_only(&mut self, visit: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        visit(&mut inner);
        self.found.extend(inner.found.into_iter().filter(|(lifetime, _)| lifetime.is_some()));
    }
}

/// Returns the lifetimes in a type, each with its tokens. An elided lifetime or `'_` is `None`.
#[derive(Default)]
struct Lifetimes {
    found: Vec<(Option<Lifetime>, TokenStream)>,
}

impl<'ast> Visit<'ast> for Lifetimes {
    // An elided lifetime in a function type is bound by that type, and borrows from no argument.
    fn visit_parenthesized_generic_arguments(&mut self, arguments: &'ast ParenthesizedGenericArguments) {
        self.named_only(|names| visit::visit_parenthesized_generic_arguments(names, arguments));
    }

    fn visit_type_fn_ptr(&mut self, function: &'ast TypeFnPtr) {
        self.named_only(|names| visit::visit_type_fn_ptr(names, function));
    }

    fn visit_receiver(&mut self, receiver: &'ast Receiver) {
        if let ReceiverKind::Reference(and, None, _) = &receiver.kind {
            self.found.push((None, and.to_token_stream()));
        }
        visit::visit_receiver(self, receiver);
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.is_none() {
            self.found.push((None, reference.to_token_stream()));
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            let named = Some(lifetime.clone()).filter(|lifetime| lifetime.ident != "_");
            self.found.push((named, lifetime.to_token_stream()));
        }
    }

    // Blocks and expressions in a type borrow nothing.
    fn visit_expr(&mut self, _: &'ast Expr) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
}
