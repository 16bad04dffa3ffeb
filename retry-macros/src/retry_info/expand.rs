//! Writes the two impls. It cannot fail.

use crate::retry_info::model::{Constants, Fault, Model, Safety, Says, Unit, WaitField};
use crate::tokens::mentions;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{DeriveInput, Generics, Member, Path, Type, WherePredicate, parse_quote, parse_quote_spanned};

/// What a method answers for one case.
enum Answer {
    /// Without looking at the value.
    Plain(TokenStream),
    /// By what a field says.
    Field(Member, TokenStream),
}

pub(super) fn expand(model: &Model) -> TokenStream {
    let Model { ident, generics, crate_path: krate, cases: _ } = model;
    let mut generics = generics.clone();
    let bounds = bounds(model);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();

    let fault = method(
        model,
        &quote!(fn fault(&self) -> #krate::ErrorFault),
        Some(&fault(Fault::Other, krate)),
        &quote!(#krate::ErrorInfo::fault),
        |says| Answer::Plain(fault(says.fault, krate)),
    );
    let safety = method(
        model,
        &quote!(fn is_retry_safe(&self) -> #krate::RetrySafety),
        None,
        &quote!(#krate::RetryInfo::is_retry_safe),
        |says| Answer::Plain(safety(says.safety, krate)),
    );
    let throttle = method(
        model,
        &quote!(fn is_throttle(&self) -> ::core::primitive::bool),
        Some(&quote!(false)),
        &quote!(#krate::RetryInfo::is_throttle),
        |&Constants { throttling, .. }| Answer::Plain(quote!(#throttling)),
    );
    let timeout = method(
        model,
        &quote!(fn is_timeout(&self) -> ::core::primitive::bool),
        Some(&quote!(false)),
        &quote!(#krate::RetryInfo::is_timeout),
        |&Constants { timeout, .. }| Answer::Plain(quote!(#timeout)),
    );
    let retry_after = method(
        model,
        &quote!(fn retry_after(&self) -> ::core::option::Option<::core::time::Duration>),
        Some(&quote!(::core::option::Option::None)),
        &quote!(#krate::RetryInfo::retry_after),
        |says| retry_after(says, krate),
    );

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
            #retry_after
        }
    }
}

/// Impls that keep one mistake from being reported as many.
pub(super) fn fallback(input: &DeriveInput) -> TokenStream {
    let DeriveInput { ident, generics, .. } = input;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::retry_core::ErrorInfo for #ident #type_generics #where_clause {}
        #[automatically_derived]
        impl #impl_generics ::retry_core::RetryInfo for #ident #type_generics #where_clause {}
    }
}

/// A method of one match, cases of the same answer together. It is left out if the trait's default says the same.
fn method(
    model: &Model,
    signature: &TokenStream,
    default: Option<&TokenStream>,
    ask: &TokenStream,
    constant: impl Fn(&Constants) -> Answer,
) -> TokenStream {
    let mut plain: Vec<(TokenStream, Vec<TokenStream>)> = Vec::new();
    let mut arms = Vec::new();
    for case in &model.cases {
        let variant = case.variant.iter();
        let path = quote!(Self #(::#variant)*);
        let answer = match &case.says {
            Says::Transparent(member, ty) => {
                let (krate, field) = (&model.crate_path, field_ident(ty));
                Answer::Field(member.clone(), quote!(#ask(#krate::__private::inner::<#ty>(#field))))
            }
            Says::Constants(constants) => constant(constants),
        };
        match answer {
            Answer::Plain(value) => {
                let pattern = quote!(#path { .. });
                match plain.iter_mut().find(|(other, _)| other.to_string() == value.to_string()) {
                    Some((_, patterns)) => patterns.push(pattern),
                    None => plain.push((value, vec![pattern])),
                }
            }
            Answer::Field(member, value) => {
                let field = Ident::new("__field", Span::mixed_site());
                arms.push(quote!(#path { #member: #field, .. } => #value,));
            }
        }
    }
    let body = match (plain.as_slice(), arms.as_slice()) {
        ([], []) => return TokenStream::new(),
        ([(only, _)], []) if default.is_some_and(|default| default.to_string() == only.to_string()) => {
            return TokenStream::new();
        }
        ([(only, _)], []) => quote!(#only),
        _ => {
            let plain = plain.iter().map(|(value, patterns)| quote!(#(#patterns)|* => #value,));
            quote!(match self { #(#plain)* #(#arms)* })
        }
    };
    quote!(#signature { #body })
}

/// The name that a field is bound to. A missing trait of its type is reported at the type.
fn field_ident(ty: &Type) -> Ident {
    Ident::new("__field", Span::mixed_site().located_at(ty.span()))
}

fn fault(fault: Fault, krate: &Path) -> TokenStream {
    match fault {
        Fault::Client => quote!(#krate::ErrorFault::Client),
        Fault::Server => quote!(#krate::ErrorFault::Server),
        Fault::Other => quote!(#krate::ErrorFault::Other),
    }
}

fn safety(safety: Safety, krate: &Path) -> TokenStream {
    match safety {
        Safety::Yes => quote!(#krate::RetrySafety::Yes),
        Safety::No => quote!(#krate::RetrySafety::No),
        Safety::Maybe => quote!(#krate::RetrySafety::Maybe),
    }
}

fn retry_after(says: &Constants, krate: &Path) -> Answer {
    let constant = says.retry_after.map(|constant| {
        let constant = duration(constant);
        quote!(::core::option::Option::Some(#constant))
    });
    let Some(WaitField { member, ty, unit }) = &says.wait_field else {
        return Answer::Plain(constant.unwrap_or_else(|| quote!(::core::option::Option::None)));
    };
    let field = field_ident(ty);
    let number = || quote!(<#ty as #krate::__private::RetryAfterNumber>::number(#field));
    let wait = match unit {
        None => quote!(<#ty as #krate::__private::RetryAfterField>::wait(#field)),
        Some(Unit::Secs) => {
            let number = number();
            quote!(#number.map(::core::time::Duration::from_secs))
        }
        Some(Unit::Millis) => {
            let number = number();
            quote!(#number.map(::core::time::Duration::from_millis))
        }
    };
    Answer::Field(
        member.clone(),
        match constant {
            Some(constant) => quote!(#wait.or(#constant)),
            None => wait,
        },
    )
}

fn duration(duration: Duration) -> TokenStream {
    let (secs, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#secs, #nanos))
}

/// Bounds for what is asked of fields whose type depends on a parameter.
fn bounds(model: &Model) -> Vec<WherePredicate> {
    let krate = &model.crate_path;
    let mut bounds = Vec::new();
    for case in &model.cases {
        let (ty, bound): (&Type, Path) = match &case.says {
            Says::Transparent(_, ty) => (ty, parse_quote!(#krate::RetryInfo)),
            Says::Constants(Constants { wait_field: Some(WaitField { ty, unit: None, .. }), .. }) => {
                (ty, parse_quote!(#krate::__private::RetryAfterField))
            }
            Says::Constants(Constants { wait_field: Some(WaitField { ty, unit: Some(_), .. }), .. }) => {
                (ty, parse_quote!(#krate::__private::RetryAfterNumber))
            }
            Says::Constants(Constants { wait_field: None, .. }) => continue,
        };
        // A type that contains itself has the impl if its other parts have; asked for it here, rustc would go in circles.
        if mentions_parameter(ty, &model.generics) && !mentions(&quote!(#ty), &[&model.ident]) {
            bounds.push(parse_quote_spanned!(ty.span()=> #ty: #bound));
        }
    }
    bounds
}

fn mentions_parameter(ty: &Type, generics: &Generics) -> bool {
    let names: Vec<&Ident> = generics.type_params().map(|parameter| &parameter.ident).collect();
    mentions(&quote!(#ty), &names)
}
