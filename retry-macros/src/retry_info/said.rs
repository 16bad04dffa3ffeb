//! Writes the one method that reads the fields. The other methods take their answers from what it returns, so that rustc
//! reports a wrong type of a field once.

use crate::retry_info::bounds::Need;
use crate::retry_info::model::{Field, HintField, Model, Unit, With};
use crate::retry_info::optional::{or_constant, some};
use crate::retry_info::precedence::Hint;
use crate::tokens::local;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, parse_quote};

/// What is read of the fields of a case.
#[derive(Clone, Copy, Default)]
pub(super) struct Read<'a> {
    pub(super) with: Option<&'a With>,
    pub(super) safe: Option<&'a Field>,
    pub(super) response: Option<Response<'a>>,
    pub(super) wait: Option<&'a HintField>,
    /// A field that may hold an inner error.
    pub(super) source: Option<&'a Field>,
    /// A field that holds an inner error.
    pub(super) transparent: Option<&'a Field>,
}

/// A response of a server in the fields.
#[derive(Clone, Copy)]
pub(super) enum Response<'a> {
    /// An error code, with the constant status of the case.
    Code(&'a Field, Option<u16>),
    /// A status, perhaps with an error code.
    Status { code: Option<&'a Field>, status: &'a Field, hint: Hint<'a> },
}

impl Read<'_> {
    pub(super) fn is_empty(&self) -> bool {
        let Self { with, safe, response, wait, source, transparent } = self;
        let fields = [safe, source, transparent].into_iter().all(Option::is_none);
        fields && with.is_none() && response.is_none() && wait.is_none()
    }

    /// Adds what another answer of the same case reads.
    pub(super) fn add(&mut self, other: Self) {
        let Self { with, safe, response, wait, source, transparent } = other;
        self.with = self.with.or(with);
        self.safe = self.safe.or(safe);
        self.response = self.response.or(response);
        self.wait = self.wait.or(wait);
        self.source = self.source.or(source);
        self.transparent = self.transparent.or(transparent);
    }
}

/// Returns the body of the method, and the traits that the fields must implement. There is none if no field is read.
pub(super) fn say<'a>(model: &'a Model, reads: &[Read<'a>]) -> Option<(TokenStream, Vec<Need<'a>>)> {
    let krate = &model.crate_path;
    let mut needs = Vec::new();
    let mut arms = Vec::new();
    for (case, read) in model.cases.iter().zip(reads).filter(|(_, read)| !read.is_empty()) {
        let mut reader = Reader { krate, fields: Vec::new(), needs: Vec::new() };
        let value = reader.read(read);
        let variant = case.variant.iter();
        let members = reader.fields.iter().map(|field| &field.member);
        let names = reader.fields.iter().map(|field| name(field));
        arms.push(quote!(Self #(::#variant)* { #(#members: #names,)* .. } => #value,));
        needs.extend(reader.needs);
    }
    let rest = (arms.len() < model.cases.len()).then(|| quote!(_ => #krate::__private::said(),));
    (!arms.is_empty()).then(|| (quote!(match self { #(#arms)* #rest }), needs))
}

/// Reads the fields of a case.
struct Reader<'a> {
    krate: &'a Path,
    /// The fields that are read, in their order, each bound to its [`name`].
    fields: Vec<&'a Field>,
    /// The traits that these fields must implement.
    needs: Vec<Need<'a>>,
}

/// The name that a field is bound to. A missing trait of its type is reported at the type.
fn name(field: &Field) -> Ident {
    let span = Span::mixed_site().located_at(field.ty.span());
    format_ident!("__field{}", field.index, span = span)
}

impl<'a> Reader<'a> {
    fn read(&mut self, read: &Read<'a>) -> TokenStream {
        let krate = self.krate;
        let Read { with, safe, response, wait, source, transparent } = read;
        let wait_value = wait.map(|hint| self.hint_field(hint));
        // A response is classified with the wait.
        let shared = local("wait");
        let (setup, wait) = match (&wait_value, response) {
            (Some(value), Some(_)) => (Some(quote!(let #shared = #value;)), Some(quote!(.set_wait(#shared)))),
            (Some(value), None) => (None, Some(quote!(.set_wait(#value)))),
            (None, _) => (None, None),
        };
        let with = with.map(|with| {
            let classification = self.with_verdict(with);
            quote!(.set_with(#krate::__private::classification(#classification)))
        });
        let safe = safe.map(|field| {
            let safe = self.trait_call(field, "SafeField", "safety");
            quote!(.set_safe(#safe))
        });
        let response = response.map(|response| {
            let response = self.response(response, &shared);
            quote!(.set_response(#response))
        });
        let source = source.map(|field| {
            let (name, ty) = (self.bind(field), &field.ty);
            self.needs.push(Need { ty, bound: parse_quote!(#krate::__private::SourceField), is_error: true });
            quote!(.set_source(#krate::__private::source::<#ty>(#name)))
        });
        let transparent = transparent.map(|field| {
            let (name, ty) = (self.bind(field), &field.ty);
            self.needs.push(Need { ty, bound: parse_quote!(#krate::RetryInfo), is_error: true });
            let inner = some(Some(quote!(#krate::__private::inner::<#ty>(#name))));
            quote!(.set_source(#inner))
        });
        let said = quote!(#krate::__private::said() #with #safe #response #wait #source #transparent);
        if setup.is_some() { quote!({ #setup #said }) } else { said }
    }

    fn response(&mut self, response: Response<'a>, wait: &Ident) -> TokenStream {
        let krate = self.krate;
        match response {
            Response::Code(code, status) => {
                let code = self.trait_call(code, "ErrorCodeField", "code");
                let status = some(status.map(|status| quote!(#status)));
                quote!(#krate::__private::error_code(#code, #status))
            }
            Response::Status { code, status, hint } => {
                let code = code.map(|code| self.trait_call(code, "ErrorCodeField", "code"));
                let code = code.unwrap_or_else(|| some(None));
                let status = self.trait_call(status, "HttpStatusField", "status");
                let hint = or_constant(hint.field.map(|_| quote!(#wait)), hint.constant);
                quote!(#krate::__private::response(#code, #status, #hint))
            }
        }
    }

    /// Returns the call of a function under `with`. Its span, and those of the arguments, are that of the function's path,
    /// where rustc reports a wrong type.
    fn with_verdict(&mut self, with: &'a With) -> TokenStream {
        let path = &with.path;
        let arguments = with.fields.iter().map(|field| {
            let mut name = self.bind(field);
            name.set_span(Span::mixed_site().located_at(path.span()));
            name
        });
        let mut arguments = Group::new(Delimiter::Parenthesis, quote!(#(#arguments),*));
        arguments.set_span(path.path.segments.last().map_or_else(Span::call_site, Spanned::span));
        let arguments = TokenTree::Group(arguments);
        quote_spanned!(path.span()=> &#path #arguments)
    }

    fn hint_field(&mut self, hint: &'a HintField) -> TokenStream {
        let number = |reader: &mut Self| reader.trait_call(&hint.field, "RetryAfterNumber", "number");
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

    /// Returns the answer of a field, by the trait for this kind of field.
    fn trait_call(&mut self, field: &'a Field, name: &str, method: &str) -> TokenStream {
        let (krate, ty) = (self.krate, &field.ty);
        let [name, method] = [name, method].map(|name| Ident::new(name, Span::mixed_site()));
        let field = self.bind(field);
        self.needs.push(Need { ty, bound: parse_quote!(#krate::__private::#name), is_error: false });
        quote!(<#ty as #krate::__private::#name>::#method(#field))
    }

    fn bind(&mut self, field: &'a Field) -> Ident {
        if let Err(place) = self.fields.binary_search_by_key(&field.index, |read| read.index) {
            self.fields.insert(place, field);
        }
        name(field)
    }
}
