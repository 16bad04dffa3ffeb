//! Which items are compiled in the build that the mutants are tested in: Linux, all features, and not loom, whose models are
//! built beside it. Items for tests alone are not mutated, so for this purpose they are not compiled either.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// Returns whether an item with these attributes is compiled, and not a test.
pub(crate) fn is_compiled(attributes: &[Attribute]) -> bool {
    attributes.iter().all(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.parse_args::<Meta>().is_ok_and(|meta| holds(&meta)),
        meta => !meta.path().is_ident("test"),
    })
}

/// Returns whether an item with these attributes is another one under loom.
pub(crate) fn differs_under_loom(attributes: &[Attribute]) -> bool {
    let of_cfg = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    of_cfg.map(|attribute| attribute.to_token_stream().to_string()).any(|text| text.contains("loom"))
}

fn holds(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        let path = condition.path();
        return !["test", "loom", "windows"].iter().any(|off| path.is_ident(off)) && !path.is_ident("target_family");
    };
    let all: Vec<_> = list
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .map_or_else(|_| Vec::new(), |parts| parts.iter().map(holds).collect());
    if list.path.is_ident("not") {
        all == [false]
    } else if list.path.is_ident("any") {
        all.contains(&true)
    } else {
        !all.contains(&false)
    }
}
