//! Writes the two impls. It cannot fail.

use crate::retry_info::arm::{self, Answer, Arm};
use crate::retry_info::bounds;
use crate::retry_info::model::{Fault, Model, Says, Warning};
use crate::retry_info::said::{self, Read};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{DeriveInput, ExprPath, Path};

pub(super) fn expand(model: &Model) -> TokenStream {
    let Model { ident, generics, crate_path: krate, cases, warnings } = model;
    let no_fault = arm::fault(Fault::Other, krate);
    let mut reads: Vec<Read<'_>> = cases.iter().map(|_| Read::default()).collect();

    let fault = method(model, "fault", &quote!(#krate::ErrorFault), Some(&no_fault), &mut reads, &|arm, says| {
        arm.answer(&says.fault(), |fault| arm::fault(*fault, krate))
    });
    let safety = method(model, "is_retry_safe", &quote!(#krate::RetrySafety), None, &mut reads, &|arm, says| {
        arm.answer(&says.safety(), |safety| arm::safety(*safety, krate))
    });
    let (bool, no) = (quote!(::core::primitive::bool), quote!(false));
    let throttle = method(model, "is_throttle", &bool, Some(&no), &mut reads, &|arm, says| {
        arm.answer(&says.throttling(), ToTokens::to_token_stream)
    });
    let timeout = method(model, "is_timeout", &bool, Some(&no), &mut reads, &|arm, says| {
        arm.answer(&says.timeout(), ToTokens::to_token_stream)
    });
    let conflict = method(model, "is_conflict", &bool, Some(&no), &mut reads, &|arm, says| {
        arm.answer(&says.conflict(), ToTokens::to_token_stream)
    });
    let unknown = method(model, "is_unknown", &bool, Some(&no), &mut reads, &|arm, says| {
        arm.unknown(&says.safety(), matches!(says, Says::Options(options) if options.is_unknown))
    });
    let wait = quote!(::core::option::Option<::core::time::Duration>);
    let no_wait = quote!(::core::option::Option::None);
    let retry_after =
        method(model, "retry_after", &wait, Some(&no_wait), &mut reads, &|arm, says| arm.hint(&says.retry_after()));
    let (say, needs) = said::say(model, &reads).map_or_else(Default::default, |(say, needs)| (Some(say), needs));

    let mut generics = generics.clone();
    let bounds = bounds::of(model, &needs);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    // Only a type that is `'static` can be found among the errors of an exploration.
    let no_answer = generics.params.is_empty().then(|| {
        quote! {
            fn __no_answer() -> ::core::option::Option<Self> { #krate::__private::no_answer() }
        }
    });
    let as_error = quote! {
        fn as_error(&self) -> ::core::option::Option<&(dyn ::core::error::Error + '_)> {
            // It is used if the type is no error.
            use #krate::__private::NoError as _;
            (&#krate::__private::MaybeError(self)).__as_error()
        }
    };
    let warnings = warnings.iter().map(expand_warning);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let say = say.map(|say| {
        quote! {
            #[automatically_derived]
            #[doc(hidden)]
            impl #impl_generics #krate::__private::Say for #ident #type_generics #where_clause {
                fn say(&self) -> #krate::__private::Said<'_> { #say }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::ErrorInfo for #ident #type_generics #where_clause {
            #fault
        }
        #[automatically_derived]
        impl #impl_generics #krate::RetryInfo for #ident #type_generics #where_clause {
            #safety
            #throttle
            #timeout
            #conflict
            #unknown
            #retry_after
            #as_error
            #no_answer
        }
        #say
        #(#warnings)*
    }
}

/// Returns an item about which rustc warns at the name of the case or the enum. Only at the user's token is such a warning shown.
fn expand_warning(warning: &Warning) -> TokenStream {
    let Warning { ident, message, lints } = warning;
    let item = Ident::new("NO_RETRY_LABEL", Span::call_site());
    let used = Ident::new("NO_RETRY_LABEL", ident.span());
    // The user's own attribute was checked already, by the lints that look at attributes.
    let lints = lints.iter().map(|lint| expanded(lint.to_token_stream()));
    quote! {
        #(#lints)*
        const _: () = {
            #[deprecated(note = #message)]
            const #item: () = ();
            #used
        };
    }
}

/// Returns tokens at the same place that belong to the expansion.
fn expanded(tokens: TokenStream) -> TokenStream {
    let expanded = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = TokenTree::Group(Group::new(group.delimiter(), expanded(group.stream())));
        }
        token.set_span(token.span().resolved_at(Span::mixed_site()));
        token
    });
    expanded.collect()
}

/// Returns impls that say nothing, with the errors in one of them, so that rustc reports nothing that follows from them: the
/// impls exist, and the functions under `with` are used. In a body with an error, rustc does not ask for the types of functions
/// that are generic.
pub(super) fn fallback(input: &DeriveInput, krate: &Path, errors: &TokenStream, functions: &[ExprPath]) -> TokenStream {
    let DeriveInput { ident, generics, .. } = input;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::ErrorInfo for #ident #type_generics #where_clause {}
        #[automatically_derived]
        impl #impl_generics #krate::RetryInfo for #ident #type_generics #where_clause {
            fn is_throttle(&self) -> ::core::primitive::bool {
                #errors
                #(let _ = &#functions;)*
                false
            }
        }
    }
}

/// Returns a method, a match in which cases with the same answer are merged. It is omitted if it equals the default
/// of the trait. What it reads of the fields of each case is added to `reads`.
fn method<'a>(
    model: &'a Model,
    name: &str,
    result: &TokenStream,
    default: Option<&TokenStream>,
    reads: &mut [Read<'a>],
    answer: &dyn Fn(Arm<'a>, &'a Says) -> Answer<'a>,
) -> TokenStream {
    let mut answers: Vec<(TokenStream, Vec<TokenStream>)> = Vec::new();
    for (case, reads) in model.cases.iter().zip(reads) {
        let variant = case.variant.iter();
        let pattern = quote!(Self #(::#variant)* { .. });
        let Answer { value, read } = answer(Arm::new(&model.crate_path, name), &case.says);
        reads.add(read);
        match answers.iter_mut().find(|(other, _)| other.to_string() == value.to_string()) {
            Some((_, patterns)) => patterns.push(pattern),
            None => answers.push((value, vec![pattern])),
        }
    }
    let body = match answers.as_slice() {
        [] => return TokenStream::new(),
        [(only, _)] if default.is_some_and(|default| default.to_string() == only.to_string()) => {
            return TokenStream::new();
        }
        [(only, _)] => quote!(#only),
        answers => {
            let arms = answers.iter().map(|(value, patterns)| quote!(#(#patterns)|* => #value,));
            quote!(match self { #(#arms)* })
        }
    };
    let name = format_ident!("{name}");
    quote!(fn #name(&self) -> #result { #body })
}
