//! Where one attempt stands in a function, and what stands around it.

use crate::retryable::arguments::{self, Argument};
use crate::retryable::moved;
use crate::retryable::signature::inferred;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprAsync, ExprCall, FnArg, GenericArgument, ItemFn, Local, PatIdent, PathArguments, ReturnType, Signature,
    Stmt, Type, TypeParamBound, parse_quote,
};

/// The statements of one attempt, and the place that the loop takes.
pub(super) struct Body {
    /// One attempt.
    pub(super) attempt: Vec<Stmt>,
    pub(super) place: Place,
}

/// What the loop stands in.
pub(super) enum Place {
    /// In the function itself.
    Function,
    /// In the `async` block that the function ends with.
    Tail(Box<Tail>),
}

/// The end of a function that returns a future.
pub(super) struct Tail {
    /// What comes before it, once in each call.
    pub(super) before: Vec<Stmt>,
    /// What it is an argument of, such as `Box::pin`.
    pub(super) call: Option<Expr>,
    /// `async` or `async move`, with its attributes.
    pub(super) block: ExprAsync,
    /// The arguments as they are moved into it, once in each call.
    pub(super) moved: Vec<Local>,
}

impl Body {
    /// The body of an `async fn`, or of a function that blocks.
    pub(super) fn whole(function: &ItemFn) -> Self {
        Self { attempt: function.block.stmts.clone(), place: Place::Function }
    }

    /// The `async` block that a function ends with, if it ends with one.
    pub(super) fn tail(function: &ItemFn) -> Option<Self> {
        let (last, before) = function.block.stmts.split_last()?;
        let Stmt::Expr(last, None) = last else { return None };
        let (call, mut block) = async_block(last)?;
        let attempt = std::mem::take(&mut block.block.stmts);
        let tail = Tail { before: before.to_vec(), call, block, moved: Vec::new() };
        Some(Self { attempt, place: Place::Tail(Box::new(tail)) })
    }

    /// Takes out what moves the arguments into the `async` block by name, as `#[async_trait]` does. If `self` is among
    /// them, the name that stands for it is returned.
    pub(super) fn take_moves(&mut self, arguments: &mut Vec<Argument>, signature: &Signature) -> Option<Ident> {
        let Place::Tail(tail) = &mut self.place else { return None };
        let moves = moved::take(&mut self.attempt, arguments, signature);
        tail.moved = moves.statements;
        moves.receiver
    }

    /// Whether an attempt may borrow an owned argument mutably: not if an outer block that borrows itself stands between.
    pub(super) fn owns_arguments(&self) -> bool {
        match &self.place {
            Place::Tail(tail) => tail.block.capture.is_some(),
            Place::Function => true,
        }
    }

    /// Declares a name `mut` where it is bound last: in a move into the block, else in the signature.
    pub(super) fn declare_mut(&mut self, signature: &mut Signature, ident: &Ident) {
        let moved = match &mut self.place {
            Place::Tail(tail) => tail.moved.as_mut_slice(),
            Place::Function => &mut [],
        };
        if !arguments::declare_mut(moved.iter_mut().map(|local| &mut local.pat), ident) {
            let typed = signature.inputs.iter_mut().filter_map(|input| match input {
                FnArg::Typed(argument) => Some(&mut *argument.pat),
                FnArg::Receiver(_) => None,
            });
            arguments::declare_mut(typed, ident);
        }
    }

    /// The names that the function itself binds before the block.
    pub(super) fn locals(&self) -> Vec<Ident> {
        struct Names(Vec<Ident>);
        impl<'ast> Visit<'ast> for Names {
            fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
                self.0.push(pattern.ident.clone());
                visit::visit_pat_ident(self, pattern);
            }
        }

        let mut names = Names(Vec::new());
        for statement in self.before() {
            if let Stmt::Local(local) = statement {
                names.visit_pat(&local.pat);
            }
        }
        names.0
    }

    /// What comes before the block, once in each call.
    pub(super) fn before(&self) -> &[Stmt] {
        match &self.place {
            Place::Tail(tail) => &tail.before,
            Place::Function => &[],
        }
    }
}

/// The `async` block, and what it is the argument of.
fn async_block(expr: &Expr) -> Option<(Option<Expr>, ExprAsync)> {
    match expr {
        Expr::Async(block) => Some((None, block.clone())),
        Expr::Call(ExprCall { func, args, .. }) if args.len() == 1 => match args.first() {
            Some(Expr::Async(block)) => Some((Some((**func).clone()), block.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// What the future that a function returns comes to, as far as its type says: `Output = T`, or the `T` of a `BoxFuture`.
pub(super) fn output(returned: &ReturnType) -> Type {
    let ReturnType::Type(_, ty) = returned else { return parse_quote!(()) };
    output_of(ty).map_or_else(|| parse_quote!(_), inferred)
}

fn output_of(ty: &Type) -> Option<Type> {
    let of_bound = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => output_in(&bound.path.segments.last()?.arguments, false),
        _ => None,
    };
    match ty {
        Type::ImplTrait(ty) => ty.bounds.iter().find_map(of_bound),
        Type::TraitObject(ty) => ty.bounds.iter().find_map(of_bound),
        Type::Paren(ty) => output_of(&ty.elem),
        Type::Group(ty) => output_of(&ty.elem),
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            output_in(&last.arguments, last.ident == "BoxFuture" || last.ident == "LocalBoxFuture")
        }
        _ => None,
    }
}

/// The type behind `Output =`, at any depth, or the type argument itself.
fn output_in(arguments: &PathArguments, itself: bool) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(assoc.ty.clone()),
        GenericArgument::Type(ty) if itself => Some(ty.clone()),
        GenericArgument::Type(ty) => output_of(ty),
        _ => None,
    })
}

impl Place {
    /// Puts the loop where it belongs, and gives the statements of the function.
    pub(super) fn around(&self, body: &TokenStream) -> TokenStream {
        let Self::Tail(tail) = self else { return body.clone() };
        let Tail { before, call, block, moved } = &**tail;
        let ExprAsync { attrs, async_token, capture, .. } = block;
        let block = quote!(#(#attrs)* #async_token #capture { #(#moved)* #body });
        let tail = call.as_ref().map_or_else(|| block.clone(), |call| quote!(#call(#block)));
        quote!(#(#before)* #tail)
    }
}

/// The same expression, where `self` has another name.
pub(super) fn renamed(expr: &Expr, receiver: &Ident) -> Expr {
    let tokens = crate::tokens::rename(expr.to_token_stream(), "self", receiver);
    syn::parse2(tokens).unwrap_or_else(|_| expr.clone())
}
