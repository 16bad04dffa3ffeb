//! Mutants that drop a statement.

use super::{Kind, Rewriter, range};
use crate::compiled::is_compiled;
use crate::edit::Chunk;
use std::ops::Range;
use syn::visit::Visit;
use syn::{Attribute, Block, Expr, Local, Stmt};

impl Rewriter<'_> {
    /// Visits a block. If it is a unit block, its last expression has the type `()`, or none.
    pub(super) fn block(&mut self, block: &Block, is_unit: bool) {
        for (index, statement) in block.stmts.iter().enumerate() {
            let is_last = index + 1 == block.stmts.len();
            match statement {
                _ if !is_compiled(attributes(statement)) => {}
                Stmt::Expr(expression, Some(_)) => {
                    // Without its last statement, a block that must not end would end.
                    if is_droppable(expression) && !(is_last && !is_unit && diverges(expression)) {
                        self.drop_statement(&range(statement));
                        self.parts(expression);
                    } else {
                        self.visit_expr(expression);
                    }
                }
                Stmt::Expr(expression, None) if !is_last || is_unit => self.unit_expression(expression),
                _ => self.visit_stmt(statement),
            }
        }
    }

    /// Visits an expression of the type `()`.
    fn unit_expression(&mut self, expression: &Expr) {
        match expression {
            Expr::If(branch) => {
                self.condition(&branch.cond);
                self.block(&branch.then_branch, true);
                if let Some((_, other)) = &branch.else_branch {
                    self.unit_expression(other);
                }
            }
            Expr::Match(matched) => {
                self.visit_expr(&matched.expr);
                for arm in matched.arms.iter().filter(|arm| is_compiled(&arm.attrs)) {
                    self.visit_pat(&arm.pat);
                    self.unit_expression(&arm.body);
                }
            }
            Expr::Block(block) if block.label.is_none() => self.block(&block.block, true),
            expression if is_droppable(expression) => {
                self.drop_statement(&range(expression));
                self.parts(expression);
            }
            expression => self.visit_expr(expression),
        }
    }

    pub(super) fn local(&mut self, local: &Local) {
        let Some(init) = &local.init else { return };
        self.visit_expr(&init.expr);
        if let Some((_, diverging)) = &init.diverge {
            self.visit_expr(diverging);
        }
    }

    /// Visits the parts of a statement that has a mutant without it.
    fn parts(&mut self, expression: &Expr) {
        match expression {
            Expr::Assign(assign) => {
                self.visit_expr(&assign.left);
                self.visit_expr(&assign.right);
            }
            _ => self.visit_expr(expression),
        }
    }

    fn drop_statement(&mut self, whole: &Range<usize>) {
        if let Some(number) = self.add(Kind::Statement, whole, "") {
            let open = format!("if !::mutants_switch::on({number}) {{ ");
            self.edits.wrap(whole, vec![Chunk::new(open, &[number])], vec![Chunk::new(" }", &[number])]);
        }
    }

    /// Adds a mutant without an assignment, which is an expression.
    pub(super) fn droppable(&mut self, whole: &Range<usize>) {
        if let Some(number) = self.add(Kind::Statement, whole, "") {
            let open = format!("(if !::mutants_switch::on({number}) {{ ");
            self.edits.wrap(whole, vec![Chunk::new(open, &[number])], vec![Chunk::new(" })", &[number])]);
        }
    }
}

/// Returns whether a statement can be dropped. An assigning operator drops itself.
fn is_droppable(expression: &Expr) -> bool {
    match expression {
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) | Expr::Await(_) | Expr::Try(_) => true,
        Expr::Break(broken) => broken.expr.is_none(),
        _ => diverges(expression),
    }
}

fn diverges(expression: &Expr) -> bool {
    matches!(expression, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_))
}

/// Returns the attributes of a statement.
fn attributes(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(call) => &call.attrs,
        Stmt::Expr(expression, _) => match expression {
            Expr::Assign(it) => &it.attrs,
            Expr::Binary(it) => &it.attrs,
            Expr::Block(it) => &it.attrs,
            Expr::Call(it) => &it.attrs,
            Expr::If(it) => &it.attrs,
            Expr::MethodCall(it) => &it.attrs,
            Expr::Path(it) => &it.attrs,
            Expr::Return(it) => &it.attrs,
            Expr::Struct(it) => &it.attrs,
            _ => &[],
        },
        Stmt::Item(_) => &[],
    }
}
