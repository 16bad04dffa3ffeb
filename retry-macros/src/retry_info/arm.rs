//! Writes one arm of a method: its answer for one case.

use crate::retry_info::bounds::Need;
use crate::retry_info::model::{Fault, Field, HintField, Safety, Unit, With};
use crate::retry_info::precedence::{Asked, Chain, Hint, Hints, Last};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Path, parse_quote};

/// An answer that is being written.
pub(super) struct Arm<'a> {
    krate: &'a Path,
    /// The name of the method, which is the same for all sources of an answer.
    method: Ident,
    /// The fields that the answer uses, in their order.
    fields: Vec<&'a Field>,
    /// The traits that these fields must implement.
    needs: Vec<Need<'a>>,
}

/// An answer.
pub(super) struct Answer<'a> {
    pub(super) value: TokenStream,
    /// The fields that it comes from, each bound to its [`name`].
    pub(super) fields: Vec<&'a Field>,
    /// The traits that these fields must implement.
    pub(super) needs: Vec<Need<'a>>,
}

/// The name that a field is bound to. A missing trait of its type is reported at the type.
pub(super) fn name(field: &Field) -> Ident {
    let span = Span::mixed_site().located_at(field.ty.span());
    format_ident!("__field{}", field.index, span = span)
}

impl<'a> Arm<'a> {
    pub(super) fn new(krate: &'a Path, method: &str) -> Self {
        let method = Ident::new(method, Span::mixed_site());
        Self { krate, method, fields: Vec::new(), needs: Vec::new() }
    }

    /// Returns the first answer, or otherwise the last resort.
    pub(super) fn answer<T>(mut self, chain: &Chain<'a, T>, word: impl Fn(&T) -> TokenStream) -> Answer<'a> {
        let asked = self.ask_all(&chain.asked);
        let last = match &chain.last {
            Last::Word(value) => word(value),
            Last::Status(status, hint) => self.constant_status(*status, *hint),
            Last::Transparent(field) => self.inner(field),
        };
        let value = match (asked, &chain.last) {
            (None, _) => last,
            (Some(asked), Last::Word(_)) => quote!(#asked.unwrap_or(#last)),
            (Some(asked), _) => quote!(#asked.unwrap_or_else(|| #last)),
        };
        self.finish(value)
    }

    /// Returns the first retry-after hint, if there is one.
    pub(super) fn hint(mut self, hints: &Hints<'a>) -> Answer<'a> {
        let asked = self.ask_all(&hints.asked);
        self.finish(or_constant(asked, hints.constant))
    }

    fn finish(self, value: TokenStream) -> Answer<'a> {
        Answer { value, fields: self.fields, needs: self.needs }
    }

    fn ask_all(&mut self, asked: &[Asked<'a>]) -> Option<TokenStream> {
        let mut all: Option<TokenStream> = None;
        for asked in asked {
            let next = self.ask(asked);
            all = Some(match all {
                None => next,
                Some(all) => quote!(#all.or_else(|| #next)),
            });
        }
        all
    }

    /// Returns an expression of an `Option` of the answer.
    fn ask(&mut self, asked: &Asked<'a>) -> TokenStream {
        let (krate, method) = (self.krate, self.method.clone());
        match asked {
            Asked::Hint(hint) => self.hint_field(hint),
            Asked::With(with) => {
                let verdict = self.with_verdict(with);
                quote!(#krate::__private::verdict(#verdict).#method())
            }
            Asked::Safe(field) => self.trait_call(field, "SafeField", "safety"),
            Asked::Code(code, status) => {
                let code = self.trait_call(code, "ErrorCodeField", "code");
                let status = some(status.map(|status| quote!(#status)));
                quote!(#krate::__private::error_code(#code, #status).#method())
            }
            Asked::Response { code, status, hint } => {
                let code = code.map(|code| self.trait_call(code, "ErrorCodeField", "code"));
                let code = code.unwrap_or_else(|| some(None));
                let status = self.trait_call(status, "HttpStatusField", "status");
                let hint = self.status_hint(*hint);
                quote!(#krate::__private::response(#code, #status, #hint).#method())
            }
            Asked::Source(field) => self.source(field),
            Asked::Transparent(field) => self.inner(field),
        }
    }

    /// Returns the answer of a constant status, which is evaluated at compile time if no field is needed.
    fn constant_status(&mut self, status: u16, hint: Hint<'a>) -> TokenStream {
        let (krate, method) = (self.krate, self.method.clone());
        let classified = if hint.field.is_none() && hint.constant.is_none() {
            quote!(#krate::classify::http::status(#status).#method())
        } else {
            let hint = self.status_hint(hint);
            quote!(#krate::classify::http::status_with(#status, #hint).#method())
        };
        if hint.field.is_none() { quote!(const { #classified }) } else { classified }
    }

    /// Returns the answer of an inner error, if there is one.
    fn source(&mut self, field: &'a Field) -> TokenStream {
        let (krate, method, ty) = (self.krate, self.info_method(), &field.ty);
        let then = if self.method == "retry_after" { quote!(and_then) } else { quote!(map) };
        let name = self.bind(field);
        self.needs.push(Need { ty, bound: parse_quote!(#krate::__private::SourceField), is_error: true });
        quote!(#krate::__private::source::<#ty>(#name).#then(#method))
    }

    /// Returns the answer of the inner error of a `transparent` wrapper.
    fn inner(&mut self, field: &'a Field) -> TokenStream {
        let (krate, method, ty) = (self.krate, self.info_method(), &field.ty);
        let name = self.bind(field);
        self.needs.push(Need { ty, bound: parse_quote!(#krate::RetryInfo), is_error: true });
        quote!(#method(#krate::__private::inner::<#ty>(#name)))
    }

    /// Returns the path of the method.
    fn info_method(&self) -> TokenStream {
        let (krate, method) = (self.krate, &self.method);
        let info = if method == "fault" { quote!(ErrorInfo) } else { quote!(RetryInfo) };
        quote!(#krate::#info::#method)
    }

    /// Returns the call of a function under `with`. Its span is that of the function's path, where rustc reports a
    /// wrong type.
    fn with_verdict(&mut self, with: &'a With) -> TokenStream {
        let path = &with.path;
        let arguments = with.fields.iter().map(|field| {
            let mut name = self.bind(field);
            name.set_span(Span::mixed_site());
            name
        });
        let mut arguments = Group::new(Delimiter::Parenthesis, quote!(#(#arguments),*));
        arguments.set_span(path.path.segments.last().map_or_else(Span::call_site, Spanned::span));
        let arguments = TokenTree::Group(arguments);
        quote_spanned!(path.span()=> &#path #arguments)
    }

    fn hint_field(&mut self, hint: &'a HintField) -> TokenStream {
        let number = |arm: &mut Self| arm.trait_call(&hint.field, "RetryAfterNumber", "number");
        match hint.unit {
            None => self.trait_call(&hint.field, "RetryAfterField", "wait"),
            Some(Unit::Secs) => {
                let number = number(self);
                quote!(#number.map(::core::time::Duration::from_secs))
            }
            Some(Unit::Millis) => {
                let number = number(self);
                quote!(#number.map(::core::time::Duration::from_millis))
            }
        }
    }

    fn status_hint(&mut self, hint: Hint<'a>) -> TokenStream {
        let field = hint.field.map(|field| self.hint_field(field));
        or_constant(field, hint.constant)
    }

    /// Returns the answer of a field, by the trait for this kind of field.
    fn trait_call(&mut self, field: &'a Field, name: &str, method: &str) -> TokenStream {
        let (krate, ty) = (self.krate, &field.ty);
        let [name, method] = [name, method].map(|name| Ident::new(name, Span::mixed_site()));
        let field = self.bind(field);
        self.needs.push(Need { ty, bound: parse_quote!(#krate::__private::#name), is_error: false });
        quote!(<#ty as #krate::__private::#name>::#method(#field))
    }

    fn bind(&mut self, field: &'a Field) -> Ident {
        if let Err(place) = self.fields.binary_search_by_key(&field.index, |asked| asked.index) {
            self.fields.insert(place, field);
        }
        name(field)
    }
}

pub(super) fn fault(fault: Fault, krate: &Path) -> TokenStream {
    match fault {
        Fault::Client => quote!(#krate::ErrorFault::Client),
        Fault::Server => quote!(#krate::ErrorFault::Server),
        Fault::Other => quote!(#krate::ErrorFault::Other),
    }
}

pub(super) fn safety(safety: Safety, krate: &Path) -> TokenStream {
    match safety {
        Safety::Yes => quote!(#krate::RetrySafety::Yes),
        Safety::No => quote!(#krate::RetrySafety::No),
        Safety::Maybe => quote!(#krate::RetrySafety::Maybe),
    }
}

/// Returns the answer of the fields, or otherwise the constant.
fn or_constant(asked: Option<TokenStream>, constant: Option<Duration>) -> TokenStream {
    let constant = constant.map(|constant| {
        let (secs, nanos) = (constant.as_secs(), constant.subsec_nanos());
        quote!(::core::time::Duration::new(#secs, #nanos))
    });
    match (asked, constant) {
        (Some(asked), None) => asked,
        (None, constant) => some(constant),
        (Some(asked), constant) => {
            let constant = some(constant);
            quote!(#asked.or(#constant))
        }
    }
}

fn some(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}
