//! Calls of functions, and what only looks like one.

use std::sync::Arc;

use crate::parse::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::bind::Binder;
use crate::bind::block::{Clause, GROUPINGS, SETS};
use crate::bind::expr::aggregate::nearest;
use crate::bind::names::{cross_database, fold};
use crate::catalog::{Returns, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::resolve::{self, Call, Callee, Resolved};
use crate::functions::{self, Body, Function};
use crate::ir::same::same;
use crate::ir::{ColumnRef, Expr, ExprKind};
use crate::types::{Type, Typed};

/// A call as it is written.
pub(in crate::bind) struct Parsed<'e> {
    pub schema: Option<String>,
    pub name: String,
    pub args: Vec<&'e ast::Expr>,
    pub arg_names: Vec<Option<String>>,
    pub star: bool,
    pub distinct: bool,
    pub variadic: bool,
    pub order: &'e [ast::OrderByExpr],
    pub within_group: &'e [ast::OrderByExpr],
    pub filter: Option<&'e ast::Expr>,
    pub over: Option<&'e ast::WindowType>,
    pub span: crate::parse::ast::Span,
}

impl<'e> Parsed<'e> {
    /// Takes a call apart.
    pub fn new(function: &'e ast::Function, database: &str) -> Result<Parsed<'e>> {
        let (name, schema) = match function.name.0.as_slice() {
            [name] => (name, None),
            [schema, name] => (name, Some(fold(schema).into_owned())),
            [other, schema, name] if fold(other) == database => (name, Some(fold(schema).into_owned())),
            [_, _, _] => {
                return Err(function.name.span().locate(cross_database(&function.name.to_string())));
            }
            _ => return Err(SqlError::syntax("improper qualified name (too many dotted names)")),
        };
        let mut parsed = Parsed {
            schema,
            name: fold(name).into_owned(),
            args: Vec::new(),
            arg_names: Vec::new(),
            star: false,
            distinct: false,
            variadic: false,
            order: &[],
            within_group: &function.within_group,
            filter: function.filter.as_deref(),
            over: function.over.as_ref(),
            span: name.span,
        };
        if let FunctionArguments::List(list) = &function.args {
            parsed.take_list(list)?;
        }
        Ok(parsed)
    }

    fn take_list(&mut self, list: &'e ast::FunctionArgumentList) -> Result<()> {
        self.distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        for arg in &list.args {
            let (name, value) = match arg {
                FunctionArg::Unnamed(value) => (None, value),
                FunctionArg::Named { name, arg } => (Some(fold(name).into_owned()), arg),
            };
            if name.is_none() && self.arg_names.iter().any(Option::is_some) {
                return Err(SqlError::syntax("positional argument cannot follow named argument"));
            }
            match value {
                FunctionArgExpr::Expr(expr) | FunctionArgExpr::Variadic(expr) => {
                    self.variadic |= matches!(value, FunctionArgExpr::Variadic(_));
                    self.args.push(expr);
                    self.arg_names.push(name);
                }
                FunctionArgExpr::Wildcard if list.args.len() == 1 => self.star = true,
                _ => return Err(SqlError::unsupported("a wildcard as an argument")),
            }
        }
        self.order = &list.order_by;
        Ok(())
    }

    /// Whether nothing but arguments is written.
    fn is_plain(&self) -> bool {
        !self.star
            && !self.distinct
            && !self.variadic
            && self.order.is_empty()
            && self.within_group.is_empty()
            && self.filter.is_none()
            && self.over.is_none()
            && self.arg_names.iter().all(Option::is_none)
    }

    fn is_builtin_name(&self) -> bool {
        self.schema.as_deref().is_none_or(|schema| schema == "pg_catalog")
    }

    /// Whether an aggregate of this name exists.
    fn is_aggregate(&self) -> bool {
        self.is_builtin_name()
            && functions::named(&self.name)
                .iter()
                .any(|function| matches!(function.body, Body::Aggregate(_) | Body::OrderedSet { .. }))
    }

    fn is_window(&self) -> bool {
        self.is_builtin_name()
            && functions::named(&self.name).iter().any(|function| matches!(function.body, Body::Window(_)))
    }
}

impl Binder<'_> {
    /// A call.
    pub(super) fn function(&mut self, function: &ast::Function) -> Result<Expr> {
        if let FunctionArguments::Subquery(query) = &function.args {
            return self.call_of_query(function, query);
        }
        let call = Parsed::new(function, self.database())?;
        if call.schema.is_none() && call.is_plain() {
            if let FunctionArguments::None = function.args
                && let Some(value) = self.bare_function(&call)?
            {
                return Ok(value);
            }
            if let Some(value) = self.like_function(&call)? {
                return Ok(value);
            }
        }
        let span = call.span;
        self.call(&call).map_err(|error| self.at(span, error))
    }

    /// `ARRAY(SELECT …)`; for other functions the query is the argument.
    fn call_of_query(&mut self, function: &ast::Function, query: &ast::Query) -> Result<Expr> {
        match function.name.0.as_slice() {
            [name] if name.value.eq_ignore_ascii_case("array") => self.array_subquery(query),
            [name] => {
                let arg = self.scalar_subquery(query)?;
                self.call_named(&fold(name), vec![arg])
            }
            _ => Err(SqlError::unsupported("a query as an argument of a qualified function")),
        }
    }

    /// What looks like a function but has rules of its own.
    fn like_function(&mut self, call: &Parsed<'_>) -> Result<Option<Expr>> {
        match call.name.as_str() {
            "row" => self.row(call.args.iter().copied()).map(Some),
            "grouping" => self.grouping(&call.args).map(Some),
            "current_timestamp" | "current_time" | "localtimestamp" | "localtime" if call.args.len() == 1 => {
                let bound = self.expr(call.args[0])?;
                let ExprKind::Const(crate::types::Datum::Int(precision)) = bound.kind else { return Ok(None) };
                self.time_function(&call.name, Some(precision))
            }
            name => self.conditional(name, &call.args),
        }
    }

    /// `CURRENT_DATE`, `CURRENT_USER` and the like: without parentheses.
    fn bare_function(&mut self, call: &Parsed<'_>) -> Result<Option<Expr>> {
        let name = match call.name.as_str() {
            "current_user" | "user" | "current_role" => "current_user",
            "session_user" => "session_user",
            "current_catalog" => "current_database",
            "current_schema" => "current_schema",
            name => return self.time_function(name, None),
        };
        let value = self.call_named(name, Vec::new())?;
        Ok(Some(self.as_written(&call.name, value)))
    }

    fn time_function(&mut self, name: &str, precision: Option<i64>) -> Result<Option<Expr>> {
        let ty = match name {
            "current_date" => Type::DATE,
            "current_timestamp" => Type::TIMESTAMPTZ,
            "current_time" => Type::TIMETZ,
            "localtimestamp" => Type::TIMESTAMP,
            "localtime" => Type::TIME,
            _ => return Ok(None),
        };
        let now = self.call_named("now", Vec::new())?;
        let typed = match precision {
            Some(precision) => crate::types::modifier::apply(ty, &[precision])?,
            None => Typed::from(ty),
        };
        let value = self.explicit(now, typed)?;
        Ok(Some(Expr { typed, ..self.as_written(name, value) }))
    }

    /// A value that SQL has a notation of its own for; the schema shows that.
    pub(super) fn as_written(&self, name: &str, value: Expr) -> Expr {
        let Some(written) = functions::internal(name).filter(|_| self.storing) else { return value };
        let typed = value.typed;
        Expr { kind: ExprKind::Call { function: written, args: vec![value] }, typed }
    }

    /// `GROUPING(a, b)`: worked out where the groups are made.
    fn grouping(&mut self, args: &[&ast::Expr]) -> Result<Expr> {
        let mut args = self.within(Clause::AggregateArgument, |binder| binder.exprs(args.iter().copied()))?;
        if args.len() > 31 {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "GROUPING must have fewer than 32 arguments"));
        }
        // It belongs to the nearest query that an argument takes a column from.
        let up = nearest(args.iter()).unwrap_or(0);
        if up > 0 {
            args.iter_mut().for_each(|arg| arg.map_places(&mut |far, slot| (far - up, slot)));
        }
        let owner = self.frames.len() - 1 - up;
        let block = &mut self.frames[owner].block;
        block.clause.allows_aggregates()?;
        block.groupings.push(args);
        let column = block.groupings.len() - 1;
        Ok(Expr::new(ExprKind::Column(ColumnRef { up, slot: GROUPINGS, column }), Type::INT4))
    }

    /// CALL: the procedure, and its arguments.
    pub(in crate::bind) fn procedure(&mut self, function: &ast::Function) -> Result<(Arc<UserFunction>, Vec<Expr>)> {
        let call = Parsed::new(function, self.database())?;
        let span = call.span;
        self.bound_procedure(&call).map_err(|error| self.at(span, error))
    }

    fn bound_procedure(&mut self, call: &Parsed<'_>) -> Result<(Arc<UserFunction>, Vec<Expr>)> {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.expr_in(Clause::Call, arg)?);
        }
        let types: Vec<Type> = args.iter().map(Expr::ty).collect();
        let names: Vec<Option<&str>> = call.arg_names.iter().map(Option::as_deref).collect();
        let wanted = Call {
            schema: call.schema.as_deref(),
            name: &call.name,
            args: &types,
            names: if names.iter().all(Option::is_none) { &[] } else { &names },
            variadic: call.variadic,
            procedure: true,
        };
        let resolved = match resolve::function(&wanted, self.names()) {
            Ok(resolved) => resolved,
            Err(error) => return Err(self.other_kind(&wanted).unwrap_or(error)),
        };
        let Callee::User(procedure) = &resolved.callee else {
            return Err(SqlError::unsupported("a procedure that is built in"));
        };
        let procedure = procedure.clone();
        let args = self.arguments(&resolved, args)?;
        Ok((procedure, args))
    }

    /// The error that a function was called as a procedure, or the other way round, if that is what is wrong.
    fn other_kind(&self, call: &Call<'_>) -> Option<SqlError> {
        let other = Call { procedure: !call.procedure, ..*call };
        resolve::function(&other, self.names()).ok()?;
        let types: Vec<String> = call.args.iter().map(|ty| self.type_name(*ty)).collect();
        let named = format!("{}({})", call.name, types.join(", "));
        let (what, hint) = match call.procedure {
            true => ("is not a procedure", "To call a function, use SELECT."),
            false => ("is a procedure", "To call a procedure, use CALL."),
        };
        Some(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("{named} {what}")).hint(hint))
    }

    /// The call of a function by its plain name, with bound arguments.
    pub(in crate::bind) fn call_named(&mut self, name: &str, args: Vec<Expr>) -> Result<Expr> {
        let types: Vec<Type> = args.iter().map(Expr::ty).collect();
        let resolved = resolve::function(&Call::new(name, &types), self.names())?;
        self.finish_call(resolved, args)
    }

    fn call(&mut self, call: &Parsed<'_>) -> Result<Expr> {
        if call.over.is_some() {
            return self.window(call);
        }
        if call.is_aggregate() {
            return self.aggregate(call);
        }
        if call.is_window() {
            if !call.within_group.is_empty() {
                return Err(SqlError::unsupported(format_args!("the hypothetical-set aggregate {}", call.name)));
            }
            let message = format!("window function {} requires an OVER clause", call.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        let mut args = self.exprs(call.args.iter().copied())?;
        // JDBC writes the result of a function among its arguments, as a parameter of no type.
        args.retain(|arg| !matches!(arg.kind, ExprKind::Param(_)) || arg.ty() != Type::VOID);
        let resolved = match self.resolve(call, &args, &[]) {
            Err(error) if error.is(SqlState::UNDEFINED_FUNCTION) && call.schema.is_none() && call.is_plain() => {
                return self.column_of_row(&call.name, &args)?.ok_or(error);
            }
            resolved => resolved?,
        };
        self.only_aggregates(call)?;
        self.finish_call(resolved, args)
    }

    /// Which function is meant, with these arguments and those of WITHIN GROUP.
    pub(super) fn resolve(&self, call: &Parsed<'_>, args: &[Expr], within: &[Expr]) -> Result<Resolved> {
        let types: Vec<Type> = args.iter().chain(within).map(Expr::ty).collect();
        let names: Vec<Option<&str>> = call.arg_names.iter().map(Option::as_deref).collect();
        let call = Call {
            schema: call.schema.as_deref(),
            name: &call.name,
            args: &types,
            names: if names.iter().all(Option::is_none) { &[] } else { &names },
            variadic: call.variadic,
            procedure: false,
        };
        resolve::function(&call, self.names()).map_err(|error| self.other_kind(&call).unwrap_or(error))
    }

    /// What is written must be for an aggregate only.
    fn only_aggregates(&self, call: &Parsed<'_>) -> Result<()> {
        let written = if call.star {
            format!("{}(*)", call.name)
        } else if call.distinct {
            "DISTINCT".to_owned()
        } else if !call.within_group.is_empty() {
            "WITHIN GROUP".to_owned()
        } else if !call.order.is_empty() {
            "ORDER BY".to_owned()
        } else if call.filter.is_some() {
            "FILTER".to_owned()
        } else {
            return Ok(());
        };
        let message = format!("{written} specified, but {} is not an aggregate function", call.name);
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
    }

    /// The value of a call that found its function.
    fn finish_call(&mut self, resolved: Resolved, args: Vec<Expr>) -> Result<Expr> {
        match &resolved.callee {
            Callee::Cast(ty) => {
                let arg = args.into_iter().next().expect("a cast has an argument");
                self.explicit(arg, Typed::from(*ty))
            }
            Callee::User(function) => {
                let function = function.clone();
                let args = self.arguments(&resolved, args)?;
                self.user_call(function, args, resolved.returns)
            }
            Callee::Builtin(function) => {
                let function = *function;
                let args = self.arguments(&resolved, args)?;
                self.builtin_call(function, args, resolved.returns)
            }
        }
    }

    fn user_call(&mut self, function: Arc<UserFunction>, args: Vec<Expr>, returns: Type) -> Result<Expr> {
        if function.procedure {
            let message = format!("{}() is a procedure", function.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).hint("To call a procedure, use CALL."));
        }
        let is_set = matches!(function.returns, Returns::Set(_) | Returns::Table);
        if function.returns == Returns::Trigger {
            let message = "trigger functions can only be called as triggers";
            let context = format!("compilation of PL/pgSQL function \"{}\" near line 1", function.name);
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).within(context));
        }
        let call = Expr::new(ExprKind::UserCall { function, args }, returns);
        if is_set { self.set(call) } else { Ok(call) }
    }

    fn builtin_call(&mut self, function: &'static Function, args: Vec<Expr>, returns: Type) -> Result<Expr> {
        let call = Expr::new(ExprKind::Call { function, args }, returns);
        match function.body {
            Body::Set { .. } => self.set(call),
            _ => Ok(call),
        }
    }

    /// A set-returning function: in FROM it stays; in a select list a column of a slot that is made for it.
    fn set(&mut self, call: Expr) -> Result<Expr> {
        let block = &mut self.frame().block;
        if block.clause == Clause::FromFunction {
            return Ok(call);
        }
        block.clause.allows_sets()?;
        let typed = call.typed;
        // What is sorted or grouped by is the function of the select list that is written alike.
        let known = match block.clause {
            Clause::OrderBy | Clause::GroupBy | Clause::DistinctOn => {
                block.sets.iter().position(|known| same(known, &call, 0))
            }
            _ => None,
        };
        let column = known.unwrap_or_else(|| {
            block.sets.push(call);
            block.sets.len() - 1
        });
        Ok(Expr { kind: ExprKind::Column(ColumnRef { up: 0, slot: SETS, column }), typed })
    }

    /// Whether an expression has a set-returning function in it.
    pub(in crate::bind) fn has_sets(&self, expr: &Expr) -> bool {
        let any_known = self.frames.last().is_some_and(|frame| !frame.block.sets.is_empty());
        any_known && expr.any(&mut |part| part.place() == Some((0, SETS)))
    }
}
