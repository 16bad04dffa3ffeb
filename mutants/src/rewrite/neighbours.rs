//! What an operator, a method or a constant is changed into.

use syn::{BinOp, Lit};

/// Returns the operators that a comparison is changed into. Each pair of operands tells at least one of them from it.
pub(super) fn comparisons(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        _ => &[],
    }
}

/// Returns the operator that an arithmetical one is changed into.
pub(super) fn arithmetic(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        BinOp::Mul(_) => "/",
        BinOp::Div(_) | BinOp::Rem(_) => "*",
        BinOp::BitAnd(_) | BinOp::BitXor(_) => "|",
        BinOp::BitOr(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        _ => return None,
    })
}

/// Returns the operator that an assigning one is changed into.
pub(super) fn assigning(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::MulAssign(_) => "/=",
        BinOp::DivAssign(_) | BinOp::RemAssign(_) => "*=",
        BinOp::BitAndAssign(_) | BinOp::BitXorAssign(_) => "|=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::ShlAssign(_) => ">>=",
        BinOp::ShrAssign(_) => "<<=",
        _ => return None,
    })
}

/// Returns the method that a method of this name is changed into, and whether it takes its object by reference.
pub(super) fn method(name: &str, arguments: usize) -> Option<(&'static str, bool)> {
    Some(match (name, arguments) {
        ("min", 1) => ("max", false),
        ("max", 1) => ("min", false),
        ("saturating_add", 1) => ("saturating_sub", false),
        ("saturating_sub" | "saturating_mul", 1) => ("saturating_add", false),
        ("wrapping_add", 1) => ("wrapping_sub", false),
        ("wrapping_sub", 1) => ("wrapping_add", false),
        ("checked_add", 1) => ("checked_sub", false),
        ("checked_sub", 1) => ("checked_add", false),
        ("ceil", 0) => ("floor", false),
        ("floor" | "round", 0) => ("ceil", false),
        ("fetch_add", 2) => ("fetch_sub", true),
        ("fetch_sub", 2) => ("fetch_add", true),
        _ => return None,
    })
}

/// Returns whether a method of this name returns a `bool`, which is changed into its opposite.
pub(super) fn is_predicate(name: &str) -> bool {
    matches!(name, "any" | "all" | "contains" | "contains_key" | "starts_with" | "ends_with") || name.starts_with("is_")
}

/// Returns what a literal is changed into.
pub(super) fn literals(literal: &Lit) -> Vec<String> {
    match literal {
        Lit::Bool(literal) => vec![(!literal.value).to_string()],
        Lit::Int(literal) => {
            let suffix = literal.suffix();
            let changed = match literal.base10_parse::<u128>() {
                Ok(0) => vec![1],
                Ok(1) => vec![0, 2],
                Ok(number) => vec![number / 2, number + 1],
                Err(_) => vec![],
            };
            changed.into_iter().map(|number| format!("{number}{suffix}")).collect()
        }
        Lit::Float(literal) => {
            let suffix = literal.suffix();
            let changed = match literal.base10_parse::<f64>() {
                Ok(0.0) => vec![1.0],
                Ok(number) => vec![number / 2.0, number * 2.0],
                Err(_) => vec![],
            };
            changed.into_iter().map(|number| format!("{number:?}{suffix}")).collect()
        }
        _ => vec![],
    }
}

/// Returns what a constant of the standard library is changed into, by the last two names of its path.
pub(super) fn known_constant(owner: &str, name: &str) -> Option<&'static str> {
    Some(match (owner, name) {
        ("Duration", "ZERO") => "::core::time::Duration::from_millis(1)",
        ("Duration", "MAX") => "::core::time::Duration::ZERO",
        ("u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i64", "MAX") => "0",
        ("f64", "INFINITY" | "MAX") => "0.0",
        _ => return None,
    })
}
