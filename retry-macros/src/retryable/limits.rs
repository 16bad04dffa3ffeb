//! Limits on the time, as the loop has them.

use crate::retryable::attr::Limit;
use crate::retryable::validate::Limits;
use crate::tokens::local;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// What a limit on the time brings with it.
pub(super) struct Limited {
    /// The limits.
    pub(super) limits: Option<TokenStream>,
    /// A reference to where the last outcome is kept.
    pub(super) last: TokenStream,
    /// What stands before the loop for that.
    pub(super) setup: TokenStream,
}

pub(super) fn limited(limits: &Limits, private: &TokenStream) -> Limited {
    match limits {
        Limits::None => Limited { limits: None, last: quote!(&mut ()), setup: TokenStream::new() },
        Limits::Attempt(time) => {
            let time = duration(time);
            let limits = Some(quote!(#private::attempt_timeout(#time)));
            Limited { limits, last: quote!(&mut ()), setup: TokenStream::new() }
        }
        Limits::MaxTime(max_time, attempt_timeout) => {
            let max_time = duration(max_time);
            let attempt_timeout = attempt_timeout.as_ref().map(duration).map_or_else(
                || quote!(::core::option::Option::None),
                |time| quote!(::core::option::Option::Some(#time)),
            );
            let last = local("last");
            Limited {
                limits: Some(quote!(#private::max_time(#max_time, #attempt_timeout))),
                last: quote!(&mut #last),
                setup: quote!(let mut #last = ::core::option::Option::None;),
            }
        }
    }
}

/// A time as an expression.
fn duration(limit: &Limit) -> TokenStream {
    match limit {
        Limit::Constant(time) => {
            let (secs, nanos) = (time.as_secs(), time.subsec_nanos());
            quote!(::core::time::Duration::new(#secs, #nanos))
        }
        Limit::Expr(expr) => expr.to_token_stream(),
    }
}
