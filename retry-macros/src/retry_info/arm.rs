//! Writes one arm of a method: its answer for one case.

use crate::retry_info::model::{Fault, Field, Safety};
use crate::retry_info::optional::or_constant;
use crate::retry_info::precedence::{Asked, Chain, Hint, Hints, Last};
use crate::retry_info::said::{Read, Response};
use crate::tokens::local;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;

/// An answer that is being written.
pub(super) struct Arm<'a> {
    krate: &'a Path,
    /// The name of the method, which is the same for all sources of an answer.
    method: Ident,
    /// The expression of what the fields say, and the variable that it uses if it is used more than once.
    said: TokenStream,
    setup: Option<TokenStream>,
    read: Read<'a>,
}

/// An answer.
pub(super) struct Answer<'a> {
    pub(super) value: TokenStream,
    /// The fields that it comes from.
    pub(super) read: Read<'a>,
}

impl<'a> Arm<'a> {
    pub(super) fn new(krate: &'a Path, method: &str) -> Self {
        let method = Ident::new(method, Span::mixed_site());
        let said = quote!(#krate::__private::Say::say(self));
        Self { krate, method, said, setup: None, read: Read::default() }
    }

    /// Makes a variable of what the fields say, if it is used more than once.
    fn share(&mut self, uses: usize) {
        if uses > 1 {
            let (said, variable) = (&self.said, local("said"));
            self.setup = Some(quote!(let #variable = #said;));
            self.said = variable.to_token_stream();
        }
    }

    /// Returns the first answer, or otherwise the last resort.
    pub(super) fn answer<T>(mut self, chain: &Chain<'a, T>, word: impl Fn(&T) -> TokenStream) -> Answer<'a> {
        let asks_last = match &chain.last {
            Last::Word(_) => false,
            Last::Status(_, hint) => hint.field.is_some(),
            Last::Transparent(_) => true,
        };
        self.share(chain.asked.len().saturating_add(usize::from(asks_last)));
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

    /// Returns whether nothing says what the error means: the inner error that says whether a retry is safe does not know it, or
    /// there is no label.
    pub(super) fn unknown(mut self, safety: &Chain<'a, Safety>, is_unlabelled: bool) -> Answer<'a> {
        if matches!(safety.last, Last::Transparent(_)) {
            return self.answer(safety, |_| TokenStream::new());
        }
        let Some(before) = safety.asked.iter().position(|asked| matches!(asked, Asked::Source(_))) else {
            return self.finish(is_unlabelled.to_token_stream());
        };
        let is_unknown = self.info_method();
        self.share(before.saturating_add(1));
        self.method = Ident::new("is_retry_safe", Span::mixed_site());
        let mut value = TokenStream::new();
        for asked in &safety.asked {
            if let Asked::Source(field) = asked {
                let said = &self.said;
                self.read.source = Some(field);
                value.extend(quote!(#said.source().is_some_and(#is_unknown)));
            } else {
                let asked = self.ask(asked);
                value.extend(quote!(#asked.is_none() &&));
            }
        }
        self.finish(value)
    }

    /// Returns the first retry-after hint, if there is one.
    pub(super) fn hint(mut self, hints: &Hints<'a>) -> Answer<'a> {
        self.share(hints.asked.len());
        let asked = self.ask_all(&hints.asked);
        self.finish(or_constant(asked, hints.constant))
    }

    fn finish(self, value: TokenStream) -> Answer<'a> {
        let Self { setup, read, .. } = self;
        let value = if setup.is_some() { quote!({ #setup #value }) } else { value };
        Answer { value, read }
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
        let (said, method) = (self.said.clone(), self.method.clone());
        match asked {
            Asked::Hint(hint) => {
                self.read.wait = Some(hint);
                quote!(#said.wait())
            }
            Asked::With(with) => {
                self.read.with = Some(with);
                quote!(#said.with().#method())
            }
            Asked::Safe(field) => {
                self.read.safe = Some(field);
                quote!(#said.safe())
            }
            Asked::Code(code, status) => {
                self.read.response = Some(Response::Code(code, *status));
                quote!(#said.response().#method())
            }
            Asked::Response { code, status, hint } => {
                self.read.wait = self.read.wait.or(hint.field);
                self.read.response = Some(Response::Status { code: *code, status, hint: *hint });
                quote!(#said.response().#method())
            }
            Asked::Source(field) => {
                let (then, info) =
                    (if method == "retry_after" { quote!(and_then) } else { quote!(map) }, self.info_method());
                self.read.source = Some(field);
                quote!(#said.source().#then(#info))
            }
            Asked::Transparent(field) => self.inner(field),
        }
    }

    /// Returns the answer of a constant status, which is evaluated at compile time if no field is needed.
    fn constant_status(&mut self, status: u16, hint: Hint<'a>) -> TokenStream {
        let (krate, method) = (self.krate, self.method.clone());
        let classified = if hint.field.is_none() && hint.constant.is_none() {
            quote!(#krate::classify::http::status(#status).#method())
        } else {
            self.read.wait = self.read.wait.or(hint.field);
            let said = &self.said;
            let hint = or_constant(hint.field.map(|_| quote!(#said.wait())), hint.constant);
            quote!(#krate::classify::http::status_with(#status, #hint).#method())
        };
        if hint.field.is_none() { quote!(const { #classified }) } else { classified }
    }

    /// Returns the answer of the inner error of a `transparent` wrapper.
    fn inner(&mut self, field: &'a Field) -> TokenStream {
        let (said, method) = (&self.said, self.info_method());
        self.read.transparent = Some(field);
        quote!(#method(#said.inner()))
    }

    /// Returns the path of the method.
    fn info_method(&self) -> TokenStream {
        let (krate, method) = (self.krate, &self.method);
        let info = if method == "fault" { quote!(ErrorInfo) } else { quote!(RetryInfo) };
        quote!(#krate::#info::#method)
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
