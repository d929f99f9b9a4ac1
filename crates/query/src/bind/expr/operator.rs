//! Operators: which symbol, and which function stands for it.

use std::borrow::Cow;

use crate::parse::ast::{self, BinaryOperator, UnaryOperator};

use crate::bind::Binder;
use crate::bind::expr::peel;
use crate::bind::names::fold;
use crate::budget;
use crate::error::{Result, SqlError};
use crate::functions::Function;
use crate::functions::resolve::{self, Argument, Callee, Resolved};
use crate::ir::{DefaultOf, Expr, ExprKind};
use crate::types::{Datum, Type};

impl Binder<'_> {
    /// `left op right`. A chain `a + b + c` leans to the left: it is followed, not recursed into.
    pub(super) fn binary(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let ast::Expr::BinaryOp { op, .. } = expr else { unreachable!("the caller matched") };
        match op {
            BinaryOperator::And => self.logic(expr, &BinaryOperator::And),
            BinaryOperator::Or => self.logic(expr, &BinaryOperator::Or),
            _ => self.chain(expr),
        }
    }

    /// AND or OR of any number of conditions.
    fn logic(&mut self, expr: &ast::Expr, which: &BinaryOperator) -> Result<Expr> {
        let mut operands = Vec::new();
        let mut left = expr;
        while let ast::Expr::BinaryOp { left: next, op, right } = left
            && op == which
        {
            operands.push(&**right);
            left = peel_same(next, which);
        }
        operands.push(left);
        let is_and = *which == BinaryOperator::And;
        let mut conditions = Vec::with_capacity(operands.len());
        for operand in operands.into_iter().rev() {
            let bound = self.expr(operand)?;
            let bound = self.boolean(bound, if is_and { "AND" } else { "OR" })?;
            match bound.kind {
                ExprKind::And(inner) if is_and => conditions.extend(inner),
                ExprKind::Or(inner) if !is_and => conditions.extend(inner),
                _ => conditions.push(bound),
            }
        }
        let kind = if is_and { ExprKind::And(conditions) } else { ExprKind::Or(conditions) };
        Ok(Expr::new(kind, Type::BOOL))
    }

    fn chain(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let mut steps = Vec::new();
        let mut left = expr;
        while let ast::Expr::BinaryOp { left: next, op, right } = left
            && !matches!(op, BinaryOperator::And | BinaryOperator::Or)
        {
            steps.push((op, &**right, left));
            left = next;
        }
        // It becomes as deep when it is evaluated.
        budget::chain(steps.len())?;
        let (first_op, first_right, first) = steps.pop().expect("the caller matched an operator");
        let mut value = self.one_operator(left, first_op, first_right).map_err(|error| self.at_expr(first, error))?;
        for (op, right, whole) in steps.into_iter().rev() {
            let right = self.expr(right)?;
            let found = self.looking_for(op, |binder| binder.operator(&symbol(op), Some(value), right));
            value = found.map_err(|error| self.at_expr(whole, error))?;
        }
        Ok(value)
    }

    /// The operator at the end of a chain: here both sides are as written, so that rows are seen.
    fn one_operator(&mut self, left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr) -> Result<Expr> {
        let symbol = symbol(op);
        if let Some(rows) = self.row_operator(left, &symbol, right)? {
            return Ok(rows);
        }
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        if left.ty() == Type::RECORD
            && right.ty() == Type::RECORD
            && let Some(compared) = self.compare_records(&symbol, &left, &right)?
        {
            return Ok(compared);
        }
        self.looking_for(op, |binder| binder.operator(&symbol, Some(left), right))
    }

    /// Looks for an operator in the schema that is written with it.
    pub(super) fn looking_for<T>(
        &mut self,
        op: &BinaryOperator,
        find: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if let BinaryOperator::Qualified { schema, .. } = op
            && let Some(schema) = schema.last()
        {
            let schema = self.schema(&fold(schema))?;
            self.operator_path = Some(std::slice::from_ref(&schema.oid));
        }
        let found = find(self);
        self.operator_path = None;
        found
    }

    /// A prefix operator.
    pub(super) fn unary(&mut self, op: UnaryOperator, arg: &ast::Expr) -> Result<Expr> {
        let symbol = match op {
            UnaryOperator::Not => {
                let bound = self.expr(arg)?;
                let arg = Box::new(self.boolean(bound, "NOT")?);
                return Ok(Expr::new(ExprKind::Not(arg), Type::BOOL));
            }
            UnaryOperator::MINUS => {
                // The smallest integers are only read right with their sign.
                if let ast::Expr::Value(value) = arg
                    && let ast::Value::Number(digits) = &value.value
                {
                    return self.number(&format!("-{digits}"));
                }
                "-"
            }
            UnaryOperator::Symbol(symbol) => symbol,
        };
        let bound = self.expr(arg)?;
        self.operator(symbol, None, bound).map_err(|error| self.at_expr(arg, error))
    }

    /// The call of the operator that fits the operands.
    pub(in crate::bind) fn operator(&mut self, symbol: &str, left: Option<Expr>, right: Expr) -> Result<Expr> {
        let symbol = if symbol == "!=" { "<>" } else { symbol };
        let resolved = resolve::operator(symbol, left.as_ref().map(Expr::ty), right.ty(), self.names())?;
        let args = left.into_iter().chain([right]).collect();
        let applied = self.apply(&resolved, args)?;
        self.compared_by_collation(symbol, applied)
    }

    /// An operator between two operands: the function, the types that it takes.
    pub(in crate::bind) fn find_operator(&self, symbol: &str, left: Type, right: Type) -> Result<Comparison> {
        let symbol = if symbol == "!=" { "<>" } else { symbol };
        let resolved = resolve::operator(symbol, Some(left), right, self.names())?;
        let function = builtin(&resolved)?;
        match resolved.arguments.as_slice() {
            [Argument::Given { ty: left, .. }, Argument::Given { ty: right, .. }] => {
                Ok(Comparison { function, left: *left, right: *right, returns: resolved.returns })
            }
            _ => Err(SqlError::unsupported("an operator with defaults")),
        }
    }

    /// A call that found its function, with its arguments.
    pub(in crate::bind) fn apply(&mut self, resolved: &Resolved, args: Vec<Expr>) -> Result<Expr> {
        let function = builtin(resolved)?;
        let args = self.arguments(resolved, args)?;
        Ok(Expr::new(ExprKind::Call { function, args }, resolved.returns))
    }

    /// The arguments of a call, converted and gathered as its function wants them.
    pub(super) fn arguments(&mut self, resolved: &Resolved, args: Vec<Expr>) -> Result<Vec<Expr>> {
        let mut given: Vec<Option<Expr>> = args.into_iter().map(Some).collect();
        let mut take = |index: usize| given[index].take().expect("each argument is used once");
        let mut converted = Vec::with_capacity(resolved.arguments.len());
        for argument in &resolved.arguments {
            converted.push(match argument {
                Argument::Given { index, ty } => {
                    let arg = take(*index);
                    if keeps_unknown(resolved) { arg } else { self.argument(arg, *ty)? }
                }
                Argument::Gathered { indices, element, array } => {
                    let mut items = Vec::with_capacity(indices.len());
                    for index in indices.clone() {
                        let item = take(index);
                        items.push(self.argument(item, *element)?);
                    }
                    Expr::new(ExprKind::MakeArray(items), *array)
                }
                Argument::Constant { value, ty } => Expr::constant(value.clone(), *ty),
                Argument::Default(parameter) => self.default_argument(resolved, *parameter)?,
            });
        }
        Ok(converted)
    }

    fn argument(&mut self, arg: Expr, ty: Type) -> Result<Expr> {
        if ty == Type::ANY {
            // A parameter of which nothing is known stays so, and is an error in the end.
            return match arg.kind {
                ExprKind::Const(Datum::Text(_) | Datum::Null) => self.settle(arg),
                _ => Ok(arg),
            };
        }
        self.implicit(arg, ty)
    }

    fn default_argument(&mut self, resolved: &Resolved, at: usize) -> Result<Expr> {
        let Callee::User(function) = &resolved.callee else { unreachable!("only users' functions have such defaults") };
        let parameter = &function.parameters[at];
        let default = parameter.default.as_ref().expect("the call was found to use a default");
        if self.storing {
            let kind = ExprKind::Default(DefaultOf::Parameter(function.oid, at));
            return Ok(Expr { kind, typed: parameter.typed });
        }
        let expr = crate::ir::current::expr(default, self.catalog);
        self.assign(expr, parameter.typed, parameter.name.as_deref().unwrap_or("?"))
    }
}

/// An operator and its types.
#[derive(Clone, Copy, Debug)]
pub(in crate::bind) struct Comparison {
    pub function: &'static Function,
    pub left: Type,
    pub right: Type,
    pub returns: Type,
}

/// Whether a literal without a type stays one: the function asks for the type.
fn keeps_unknown(resolved: &Resolved) -> bool {
    matches!(&resolved.callee, Callee::Builtin(function) if function.name == "pg_typeof")
}

fn builtin(resolved: &Resolved) -> Result<&'static Function> {
    match &resolved.callee {
        Callee::Builtin(function) => Ok(function),
        _ => Err(SqlError::unsupported("a user's operator")),
    }
}

/// Through parentheses, if the same operator is inside: `a AND (b AND c)` is one list.
fn peel_same<'e>(expr: &'e ast::Expr, which: &BinaryOperator) -> &'e ast::Expr {
    match peel(expr) {
        inner @ ast::Expr::BinaryOp { op, .. } if op == which => inner,
        _ => expr,
    }
}

/// An operator as PostgreSQL writes it; there is one with each symbol, whatever its schema.
pub(in crate::bind) fn symbol(op: &BinaryOperator) -> Cow<'_, str> {
    match op {
        BinaryOperator::Symbol(symbol) => (&**symbol).into(),
        BinaryOperator::Qualified { symbol, .. } => symbol.into(),
        other => other.to_string().into(),
    }
}
