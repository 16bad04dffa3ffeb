//! Mutants of expressions.

use super::{Kind, Rewriter, choice, neighbours, numbers, range};
use crate::edit::Chunk;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprMethodCall, ExprPath, UnOp};

/// Types whose constants are those of the standard library.
const PRIMITIVE: [&str; 11] = ["u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "i128", "f64", "char"];

impl Rewriter<'_> {
    pub(super) fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Binary(binary) => self.binary(binary),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Lit(literal) => {
                let changed = neighbours::literals(&literal.lit);
                self.replaceable(&range(literal), changed);
            }
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Path(path) => self.path(path),
            Expr::Macro(call) if call.mac.path.is_ident("matches") => {
                let range = range(call);
                let mutated = format!("!{}", self.text(call));
                self.opposite(&range, &mutated);
            }
            Expr::Assign(assign) => {
                self.droppable(&range(assign));
                self.visit_expr(&assign.left);
                self.visit_expr(&assign.right);
            }
            Expr::If(branch) => {
                self.condition(&branch.cond);
                self.visit_block(&branch.then_branch);
                if let Some((_, other)) = &branch.else_branch {
                    self.visit_expr(other);
                }
            }
            Expr::While(repeated) => {
                self.condition(&repeated.cond);
                self.block(&repeated.body, true);
            }
            Expr::ForLoop(repeated) => {
                self.visit_expr(&repeated.expr);
                self.block(&repeated.body, true);
            }
            Expr::Loop(repeated) => self.block(&repeated.body, true),
            // What must be known at compile time is not mutated.
            Expr::Const(_) => {}
            Expr::Repeat(repeated) => self.visit_expr(&repeated.expr),
            _ => visit::visit_expr(self, expression),
        }
    }

    fn binary(&mut self, binary: &ExprBinary) {
        let (left, right) = (range(&binary.left), range(&binary.right));
        let between = left.end..right.start;
        let whole = left.start..right.end;
        let shown = |rewriter: &Self, operator: &str| {
            format!("{} {operator} {}", &rewriter.text[left.clone()], &rewriter.text[right.clone()])
        };
        if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            if !has_let(&binary.left) && !has_let(&binary.right) {
                let is_and = matches!(binary.op, BinOp::And(_));
                let mutated = shown(self, if is_and { "||" } else { "&&" });
                if let Some(number) = self.add(Kind::Expression, &whole, &mutated) {
                    let chunk = |text: String| vec![Chunk::new(text, &[number])];
                    let differs = format!("; if __l != ::mutants_switch::on({number}) ");
                    let (middle, end) = if is_and {
                        (differs + "{ ", " } else { __l } })")
                    } else {
                        (differs + "{ __l } else { ", " } })")
                    };
                    self.edits.wrap(&whole, chunk("({ let __l: bool = ".into()), chunk(end.into()));
                    self.edits.replace(between, chunk(middle));
                }
            }
        } else if let Some(operator) = neighbours::assigning(&binary.op) {
            self.droppable(&whole);
            let mutated = shown(self, operator);
            if let Some(number) = self.add(Kind::Expression, &whole, &mutated) {
                let original = self.text(&binary.op).to_string();
                let mut chunks = vec![Chunk::new("(match ", &[number])];
                chunks.extend(self.rendered(right.clone(), |rewriter| rewriter.visit_expr(&binary.right)));
                let place = &self.text[left.clone()];
                chunks.push(Chunk::new(
                    format!(
                        " {{ __r => if ::mutants_switch::on({number}) {{ {place} {operator} __r }} else {{ {place} {original} __r }} }})"
                    ),
                    &[number],
                ));
                self.edits.replace(whole, chunks);
                return;
            }
        } else if let Some(operator) = neighbours::arithmetic(&binary.op) {
            let mutated = shown(self, operator);
            if let Some(number) = self.add(Kind::Expression, &whole, &mutated) {
                let chunk = |text: &str| vec![Chunk::new(text, &[number])];
                let original = self.text(&binary.op);
                let end = format!(
                    ") {{ (__l, __r) => if ::mutants_switch::on({number}) {{ __l {operator} __r }} else {{ __l {original} __r }} }})"
                );
                self.edits.wrap(&whole, chunk("(match ("), chunk(&end));
                self.edits.replace(between, chunk(", "));
            }
        } else {
            let operators = neighbours::comparisons(&binary.op);
            let mutated: Vec<_> =
                operators.iter().map(|operator| (shown(self, operator), format!("*__l {operator} *__r"))).collect();
            let mutants = self.add_all(&whole, mutated);
            if !mutants.is_empty() {
                let numbers = numbers(&mutants);
                let mut end = vec![Chunk::new(")) { (__l, __r) => ", &numbers)];
                end.extend(choice(&mutants));
                end.push(Chunk::new(format!("*__l {} *__r }} }})", self.text(&binary.op)), &numbers));
                self.edits.wrap(&whole, vec![Chunk::new("(match (&(", &numbers)], end);
                self.edits.replace(between, vec![Chunk::new("), &(", &numbers)]);
            }
        }
        self.visit_expr(&binary.left);
        self.visit_expr(&binary.right);
    }

    fn unary(&mut self, unary: &syn::ExprUnary) {
        let whole = range(unary);
        let operand = self.text(&unary.expr).to_string();
        if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_))
            && let Some(number) = self.add(Kind::Expression, &whole, &operand)
        {
            let operator = self.text(&unary.op);
            let end = format!(" {{ __l => if ::mutants_switch::on({number}) {{ __l }} else {{ {operator}__l }} }})");
            self.edits.wrap(&whole, vec![Chunk::new("(match ", &[number])], vec![Chunk::new(end, &[number])]);
            self.edits.replace(range(&unary.op), vec![]);
        }
        self.visit_expr(&unary.expr);
    }

    fn method_call(&mut self, call: &ExprMethodCall) {
        let whole = range(call);
        let name = call.method.to_string();
        let receiver = range(&call.receiver);
        if call.turbofish.is_none()
            && let Some((other, by_reference)) = neighbours::method(&name, call.args.len())
        {
            let arguments = &self.text[call.paren_token.span.join().byte_range()];
            let mutated = format!("{}.{other}{arguments}", &self.text[receiver.clone()]);
            if let Some(number) = self.add(Kind::Expression, &whole, &mutated) {
                let chunk = |text: &str| vec![Chunk::new(text, &[number])];
                let names = ["__a, ", "__b, "][..call.args.len()].concat();
                let end = format!(
                    " {{ (__l, {names}) => if ::mutants_switch::on({number}) {{ __l.{other}({names}) }} else {{ __l.{name}({names}) }} }})"
                );
                self.edits.wrap(&whole, chunk(if by_reference { "(match (&(" } else { "(match ((" }), chunk(&end));
                self.edits.replace(receiver.end..call.paren_token.span.open().byte_range().end, chunk("), "));
            }
        } else if neighbours::is_predicate(&name) {
            let mutated = format!("!{}", self.text(call));
            self.opposite(&whole, &mutated);
        }
        self.visit_expr(&call.receiver);
        for argument in &call.args {
            self.visit_expr(argument);
        }
    }

    fn path(&mut self, path: &ExprPath) {
        let names: Vec<_> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let [owners @ .., name] = &names[..] else { return };
        let whole = range(path);
        if path.qself.is_some() || name.chars().any(char::is_lowercase) {
            return;
        }
        let owner = owners.last().map_or("", String::as_str);
        if let Some(changed) = neighbours::known_constant(owner, name) {
            return self.replaceable(&whole, vec![changed.to_string()]);
        }
        if PRIMITIVE.contains(&owner) {
            return;
        }
        let owner = if owner == "Self" { self.implemented.as_deref().unwrap_or("") } else { owner };
        let key = if owner.starts_with(char::is_uppercase) { format!("{owner}::{name}") } else { name.clone() };
        if self.constants.contains(&key)
            && let Some(number) = self.add(Kind::Use, &whole, "its value")
        {
            self.edits.after(&whole, vec![Chunk::new("__m()", &[number])]);
        }
    }

    /// Adds mutants that put another text in the place of an expression.
    pub(super) fn replaceable(&mut self, whole: &std::ops::Range<usize>, changed: Vec<String>) {
        let mutants = self.add_all(whole, changed.into_iter().map(|text| (text.clone(), text)));
        if !mutants.is_empty() {
            let numbers = numbers(&mutants);
            let mut open = vec![Chunk::new("(", &numbers)];
            open.extend(choice(&mutants));
            self.edits.wrap(whole, open, vec![Chunk::new(" })", &numbers)]);
        }
    }

    /// Adds a mutant of an expression of the type `bool`: its opposite.
    fn opposite(&mut self, whole: &std::ops::Range<usize>, mutated: &str) {
        if let Some(number) = self.add(Kind::Expression, whole, mutated) {
            let end = format!(" != ::mutants_switch::on({number}))");
            self.edits.wrap(whole, vec![Chunk::new("(", &[number])], vec![Chunk::new(end, &[number])]);
        }
    }

    /// Adds the mutants of a condition: always true, and always false.
    pub(super) fn condition(&mut self, condition: &Expr) {
        let whole = range(condition);
        if has_let(condition) {
            if let Some(number) = self.add(Kind::Expression, &whole, "false") {
                self.edits.after(&whole, vec![Chunk::new(format!(" && !::mutants_switch::on({number})"), &[number])]);
            }
        } else if !matches!(condition, Expr::Lit(_)) {
            self.replaceable(&whole, vec!["true".into(), "false".into()]);
        }
        self.visit_expr(condition);
    }
}

/// Returns whether a condition binds variables, so that it can only be part of a chain of `&&`.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_)) && (has_let(&binary.left) || has_let(&binary.right)),
        _ => false,
    }
}
