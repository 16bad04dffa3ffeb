//! The options of a limit on weights: what an operation needs of it, and what an attempt used.

use crate::tokens::{local, respan};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// The options `weight` and `used`.
#[derive(Default)]
pub(super) struct Weighing {
    pub(super) weight: Option<Expr>,
    /// The closure that returns what an attempt used.
    pub(super) used: Option<Expr>,
}

impl Weighing {
    /// Returns the code that computes the weight of the operation before it begins, and the code that tells it after that.
    pub(super) fn weigh(
        &self,
        call: &TokenStream,
        operation: &Ident,
        private: &TokenStream,
    ) -> (Option<TokenStream>, Option<TokenStream>) {
        let weight = local("weight");
        let setup = self.weight.as_ref().map(|expr| quote_spanned!(expr.span()=> let #weight: u32 = #expr;));
        let weigh = setup.as_ref().map(|_| quote!(#private::weigh(#call, &mut #operation, #weight);));
        (setup, weigh)
    }

    /// Returns the expression of a directive that also tells what the attempt used.
    pub(super) fn settled(
        &self,
        directive: TokenStream,
        [call, operation, result]: [&TokenStream; 3],
        private: &TokenStream,
    ) -> TokenStream {
        let Some(used) = &self.used else { return directive };
        let outcome = local("outcome");
        // Whether the type is right depends on the user's expression, so rustc points there.
        let place = used.span();
        let told = respan(quote!(#private::used), place);
        let told = quote_spanned!(place=> #told(#outcome, #used));
        quote!(#private::used_by(#call, #directive, #operation, #result, |#outcome| #told))
    }
}
