//! Writes the end of a turn of the loop, which calls `on_retry` and returns the outcome if it is final.

use crate::tokens::{local, respan};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// The expressions that settle an outcome.
pub(super) struct Settle<'a> {
    pub(super) private: &'a TokenStream,
    pub(super) call: &'a TokenStream,
    pub(super) operation: &'a Ident,
    /// The variable that has the id of the operation.
    pub(super) identified: &'a Ident,
    pub(super) result: &'a Ident,
    /// The directive of the policy.
    pub(super) directive: &'a TokenStream,
    /// A reference to the place for the last outcome.
    pub(super) last: &'a TokenStream,
    /// The location of the outcome's type, where rustc reports that this type does not fit.
    pub(super) outcome: Span,
}

/// The code for the outcome of an operation whose time is over.
pub(super) struct Over {
    /// Whether the outcome is settled like any other. Otherwise it is returned at once.
    pub(super) is_settled: bool,
    /// The declaration of the flag, if one is needed.
    pub(super) setup: TokenStream,
    /// The expression of the outcome.
    pub(super) value: TokenStream,
}

impl Over {
    /// The outcome is settled if there is an `on_retry`, which is thus written once. rustc would report a mistake in
    /// it once for each copy.
    pub(super) fn new(result: &Ident, is_settled: bool) -> Self {
        if !is_settled {
            return Self { is_settled, setup: TokenStream::new(), value: quote!(return #result) };
        }
        let is_over = local("is_over");
        Self { is_settled, setup: quote!(let mut #is_over = false;), value: quote!({ #is_over = true; #result }) }
    }
}

impl Settle<'_> {
    /// Returns the setup before the loop, and the end of a turn.
    pub(super) fn expand(&self, on_retry: Option<&Expr>, is_limited: bool) -> (TokenStream, TokenStream) {
        match on_retry {
            None => (TokenStream::new(), self.settle()),
            Some(on_retry) => {
                let Self { private, call, identified, .. } = self;
                let beginning = local("beginning");
                (
                    quote!(let #beginning = #private::beginning(#call, &#identified);),
                    self.tell_and_settle(on_retry, is_limited),
                )
            }
        }
    }

    fn settle(&self) -> TokenStream {
        let Self { private, call, result, directive, .. } = self;
        let [operation, last] = self.places();
        quote! {
            if let ::core::option::Option::Some(#result) =
                #private::settle(#call, #operation, #directive, #last, #result)
            {
                return #result;
            }
        }
    }

    fn tell_and_settle(&self, on_retry: &Expr, is_limited: bool) -> TokenStream {
        let Self { private, call, operation: name, result, directive, .. } = self;
        let [operation, last] = self.places();
        let [settled, beginning, is_over, error, event] =
            ["settled", "beginning", "is_over", "error", "event"].map(local);
        let decide = quote!(#private::decide(#call, #operation, #directive));
        let decide = if is_limited {
            quote!(if #is_over { #private::time_is_over(#call, &#name) } else { #decide })
        } else {
            decide
        };
        let outcome = respan(quote!(&#result), self.outcome);
        // Whether the type is right depends on the user's expression, so rustc points there.
        let place = on_retry.span();
        let told = respan(quote!(#private::on_retry), place);
        let told = quote_spanned!(place=> #told(#error, #event, #on_retry));
        // The expression is evaluated in a closure of the expansion, so that a panic of it does not lose the paid
        // retry.
        quote! {
            let #settled = #decide;
            #private::tell_failure(#call, #operation, #settled, #beginning, #outcome, |#error, #event| #told);
            if let ::core::option::Option::Some(#result) =
                #private::conclude(#call, #operation, #settled, #last, #result)
            {
                return #result;
            }
        }
    }

    fn places(&self) -> [TokenStream; 2] {
        let operation = self.operation;
        [quote!(&mut #operation), self.last.clone()].map(|tokens| respan(tokens, self.outcome))
    }
}
