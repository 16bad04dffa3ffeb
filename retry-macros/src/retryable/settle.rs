//! Writes the end of a turn of the loop, which calls `on_retry` and `on_end`, and returns the outcome if it is final.

use crate::tokens::{local, respan};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
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
    /// Whether the function names the whole type of the outcome.
    pub(super) is_known: bool,
    /// The marker that gives the text of the error in an outcome.
    pub(super) text: &'a TokenStream,
    /// The location of the outcome's type, where rustc reports that this type does not fit.
    pub(super) outcome: Span,
    pub(super) on_retry: Option<&'a Expr>,
    pub(super) on_end: Option<&'a Expr>,
}

/// The code for the outcome of an operation whose time is over.
pub(super) struct Over {
    /// Whether the outcome is settled like any other. Otherwise it is returned immediately.
    pub(super) is_settled: bool,
    /// The declaration of the flag, if one is needed.
    pub(super) setup: TokenStream,
    /// The expression of the outcome.
    pub(super) value: TokenStream,
}

impl Over {
    /// The outcome is settled if there is an `on_retry` or an `on_end`, so that its code is written once. rustc would report a
    /// mistake in it once for each copy.
    pub(super) fn new(result: &Ident, is_settled: bool) -> Self {
        if !is_settled {
            return Self { is_settled, setup: TokenStream::new(), value: quote!(return #result) };
        }
        let is_over = local("is_over");
        Self { is_settled, setup: quote!(let mut #is_over = false;), value: quote!({ #is_over = true; #result }) }
    }
}

impl Settle<'_> {
    /// Returns the setup before the operation begins.
    pub(super) fn started(&self) -> Option<TokenStream> {
        let Self { private, call, on_end, .. } = self;
        let started = local("started");
        on_end.map(|_| quote!(let #started = #private::started(#call);))
    }

    /// Returns the setup before the loop.
    pub(super) fn setup(&self) -> Option<TokenStream> {
        let Self { private, call, identified, on_retry, .. } = self;
        let beginning = local("beginning");
        on_retry.map(|_| quote!(let #beginning = #private::beginning(#call, &#identified);))
    }

    /// Returns the expression that moves the outcome.
    pub(super) fn moved(&self) -> TokenStream {
        self.moved_from(&self.result.to_token_stream())
    }

    /// Returns the expression that moves the outcome from this expression. Only for a known type can rustc choose the move.
    fn moved_from(&self, outcome: &TokenStream) -> TokenStream {
        let private = self.private;
        if self.is_known { quote!(#private::moved!(#outcome)) } else { outcome.clone() }
    }

    /// Returns the code that returns the outcome if it is final.
    pub(super) fn settle(&self) -> TokenStream {
        let Self { private, call, operation, result, directive, text, .. } = self;
        let places = respan(quote!(&mut #operation, &#result), self.outcome);
        let moved = self.moved();
        quote! {
            if #private::settle(#call, #directive, #places, #text) {
                return #private::final_outcome(#moved);
            }
        }
    }

    /// Returns the end of a turn that calls `on_retry` or `on_end`.
    pub(super) fn tell_and_settle(&self) -> TokenStream {
        let Self { private, call, result, directive, .. } = self;
        let [operation, last] = self.places();
        let [is_over, end] = ["is_over", "end"].map(local);
        let some = quote!(::core::option::Option::Some(#directive));
        let directive = quote!(if #is_over { ::core::option::Option::None } else { #some });
        let settled = match self.on_failure() {
            None => quote!(#private::settle_to_end(#call, #directive, #operation, #last, #result)),
            Some((beginning, told)) => {
                quote!(#private::settle_and_tell(#call, #directive, #operation, #last, #result, #beginning, #told))
            }
        };
        let value = self.tell_end(&end);
        quote! {
            if let ::core::option::Option::Some(#end) = #settled {
                return #value;
            }
        }
    }

    /// Returns the beginning of the operation, and the closure that calls `on_retry`.
    pub(super) fn on_failure(&self) -> Option<(Ident, TokenStream)> {
        let Self { private, result, on_retry, .. } = self;
        let on_retry = (*on_retry)?;
        let [beginning, error, event] = ["beginning", "error", "event"].map(local);
        // Whether the type is right depends on the user's expression, so rustc points there.
        let place = on_retry.span();
        let told = respan(quote!(#private::on_retry), place);
        let told = quote_spanned!(place=> #told(#error, #event, #on_retry));
        // The expression is evaluated in a closure of the expansion, so that a panic of it does not lose the paid
        // retry.
        let outcome = respan(quote!(&*#result), self.outcome);
        Some((beginning, quote!(|#result, #event| #private::tell_failure(#outcome, |#error| #told))))
    }

    /// Returns the final outcome, for which `on_end` is called. It is called where the outcome is final, so that the
    /// expression may move arguments.
    pub(super) fn tell_end(&self, end: &Ident) -> TokenStream {
        let Self { private, call, on_end, .. } = self;
        let Some(on_end) = *on_end else { return self.moved_from(&quote!(#private::outcome(#end))) };
        let [started, report] = ["started", "report"].map(local);
        let place = on_end.span();
        let told = respan(quote!(#private::on_end), place);
        let told = quote_spanned!(place=> #told(#report, #on_end));
        quote!(#private::tell_end(#call, #end, #started, |#report| #told))
    }

    fn places(&self) -> [TokenStream; 2] {
        let operation = self.operation;
        [quote!(&mut #operation), self.last.clone()].map(|tokens| respan(tokens, self.outcome))
    }
}
