//! Functions in FROM.

use std::sync::Arc;

use crate::parse::ast::{self, FunctionArg};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::from::{From, aliased, slot_column, values_item};
use crate::bind::names::fold;
use crate::bind::scope::{Frame, ItemColumn};
use crate::catalog::{ParameterMode, Returns, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Body;
use crate::ir::{Expr, ExprKind, FunctionCall, FunctionScan, Plan};
use crate::types::{Type, Typed, kind};

impl<'a> Binder<'a> {
    /// An item of FROM that is a function, or several side by side.
    pub(super) fn function_scan(
        &mut self,
        calls: &[ast::Expr],
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From<'a>> {
        let definitions = match alias {
            Some(alias) if alias.columns.iter().any(|column| column.data_type.is_some()) => {
                Some(self.definitions(alias)?)
            }
            _ => None,
        };
        let mut bound = Vec::with_capacity(calls.len());
        for call in calls {
            bound.push(self.one_function(call, alias, definitions.as_ref())?);
        }
        let mut columns = Vec::new();
        for (name, typed) in bound.iter().flat_map(|call| &call.columns) {
            columns.push((name.clone(), *typed));
        }
        if ordinality {
            columns.push((Arc::from("ordinality"), Typed::from(Type::INT8)));
        }
        let item_columns = columns.into_iter().enumerate().map(|(at, (name, typed))| ItemColumn {
            name,
            expr: slot_column(at, typed),
            collation: 0,
            origin: None,
        });
        let mut item = values_item(call_name(&calls[0]), item_columns.collect());
        // The row of a function that returns a named row type is of that type.
        if let [call] = bound.as_slice()
            && call.expand
            && !ordinality
            && kind::is_composite(call.call.ty(), self.catalog)
        {
            item.row_type = call.call.ty();
        }
        item.scalar = !ordinality && matches!(bound.as_slice(), [call] if !call.expand);
        let from = From::one(Plan::Function(FunctionScan { calls: bound, ordinality }), item);
        let mut from = match (alias, definitions) {
            (Some(alias), Some(_)) => {
                let plain = ast::TableAlias { columns: Vec::new(), ..alias.clone() };
                aliased(from, Some(&plain))
            }
            (alias, _) => aliased(from, alias),
        }?;
        self.note_item(&mut from, alias);
        Ok(from)
    }

    /// `AS t(a int, b text)`
    fn definitions(&mut self, alias: &ast::TableAlias) -> Result<Vec<(Arc<str>, Typed)>> {
        let column = |column: &ast::TableAliasColumnDef| {
            let Some(data_type) = &column.data_type else {
                return Err(SqlError::syntax("a column definition list gives each column a type"));
            };
            Ok((Arc::from(&*fold(&column.name)), self.data_type(data_type)?))
        };
        alias.columns.iter().map(column).collect()
    }

    fn one_function(
        &mut self,
        call: &ast::Expr,
        alias: Option<&ast::TableAlias>,
        definitions: Option<&Vec<(Arc<str>, Typed)>>,
    ) -> Result<FunctionCall> {
        let mut frame = Frame::new(Vec::new(), None);
        frame.block.clause = Clause::FromFunction;
        self.frames.push(frame);
        let bound = self.expr(call).and_then(|bound| self.settle(bound));
        self.frames.pop();
        let bound = bound?;
        if has_inner_set(&bound) {
            let message = "set-returning functions must appear at top level of FROM";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let is_record = bound.ty() == Type::RECORD;
        if let Some(definitions) = definitions {
            if !is_record {
                let message = "a column definition list is only allowed for functions returning \"record\"";
                return Err(SqlError::syntax(message));
            }
            return Ok(FunctionCall { call: of_shape(bound, definitions), columns: definitions.clone(), expand: true });
        }
        if let Some(fields) =
            self.fields_of(&bound).filter(|fields| is_record || fields.len() != 1 || self.is_row(&bound))
        {
            return Ok(FunctionCall { call: bound, columns: fields, expand: true });
        }
        if is_record {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(SqlError::syntax(message));
        }
        let name = scalar_name(&bound).unwrap_or_else(|| match alias {
            Some(alias) => Arc::from(&*fold(&alias.name)),
            None => call_name(call),
        });
        let typed = bound.typed;
        Ok(FunctionCall { call: bound, columns: vec![(name, typed)], expand: false })
    }

    fn is_row(&self, expr: &Expr) -> bool {
        kind::is_composite(kind::base(expr.typed, self.catalog).ty, self.catalog)
    }
}

/// A call whose rows have the columns that the query defines: functions of json make them so.
fn of_shape(mut call: Expr, columns: &[(Arc<str>, Typed)]) -> Expr {
    if let ExprKind::Call { function, args } = &mut call.kind
        && let Some((populate, shape)) = crate::functions::with_columns(function, columns)
    {
        *function = populate;
        args.insert(0, Expr::constant(shape, Type::RECORD));
    }
    call
}

/// The name that a function gives its only column.
fn scalar_name(call: &Expr) -> Option<Arc<str>> {
    match &call.kind {
        ExprKind::Call { function, .. } => match &function.body {
            Body::Set { columns: [(name, _)], .. } => Some(Arc::from(*name)),
            _ => None,
        },
        ExprKind::UserCall { function, .. } => out_name(function),
        _ => None,
    }
}

fn out_name(function: &UserFunction) -> Option<Arc<str>> {
    let is_out = |mode| matches!(mode, ParameterMode::Out | ParameterMode::InOut | ParameterMode::Table);
    let mut outs = function.parameters.iter().filter(|parameter| is_out(parameter.mode));
    match (outs.next(), outs.next()) {
        (Some(only), None) => only.name.clone(),
        _ => None,
    }
}

fn has_inner_set(call: &Expr) -> bool {
    let is_set = |expr: &Expr| match &expr.kind {
        ExprKind::Call { function, .. } => matches!(function.body, Body::Set { .. }),
        ExprKind::UserCall { function, .. } => matches!(function.returns, Returns::Set(_) | Returns::Table),
        _ => false,
    };
    let top = usize::from(is_set(call));
    let mut count = 0;
    call.any(&mut |part| {
        count += usize::from(is_set(part));
        false
    });
    count > top
}

/// The name of the function that is called, or of what stands for one.
fn call_name(call: &ast::Expr) -> Arc<str> {
    match call {
        ast::Expr::Function(function) => match function.name.last() {
            Some(name) => Arc::from(&*fold(name)),
            None => Arc::from("function"),
        },
        other => crate::bind::target::figure_name(other).unwrap_or_else(|| Arc::from("?column?")),
    }
}

/// The calls that a function in FROM stands for: one, or one for each array of `unnest(a, b)`.
pub(super) fn calls_of(name: &ast::ObjectName, args: &[FunctionArg]) -> Vec<ast::Expr> {
    let is_unnest = matches!(name.0.as_slice(), [ident] if ident.value == "unnest");
    if is_unnest && args.len() > 1 {
        return args.iter().map(|arg| call_of(name, vec![arg.clone()])).collect();
    }
    vec![call_of(name, args.to_vec())]
}

fn call_of(name: &ast::ObjectName, args: Vec<FunctionArg>) -> ast::Expr {
    let is_bare = args.is_empty();
    let mut function = ast::Function::plain(name.clone(), args);
    // CURRENT_DATE and the like have no parentheses.
    if is_bare {
        function.args = ast::FunctionArguments::None;
    }
    ast::Expr::Function(function)
}
