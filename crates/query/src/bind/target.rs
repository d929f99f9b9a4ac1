//! The select list, and how its columns are called.

use std::sync::Arc;

use crate::parse::ast::{self, SelectItem};

use crate::bind::Binder;
use crate::bind::names::{cross_database, fold, name};
use crate::catalog::Oid;
use crate::error::{Result, SqlError};
use crate::ir::{Expr, Output};

/// A column of a result.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub name: Arc<str>,
    pub expr: Expr,
    pub origin: Option<(Oid, i16)>,
    /// The collation that its texts have; 0 is the database's.
    pub collation: Oid,
}

impl Target {
    pub(super) fn output(&self) -> Output {
        Output { name: self.name.clone(), typed: self.expr.typed, origin: self.origin, collation: self.collation }
    }
}

impl Binder<'_> {
    /// The columns of a select list or of RETURNING.
    pub(super) fn targets(&mut self, items: &[SelectItem]) -> Result<Vec<Target>> {
        let mut targets = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let target = self.target(expr)?;
                    targets.push(target);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let target = self.target(expr)?;
                    targets.push(Target { name: name(alias), ..target });
                }
                SelectItem::Wildcard => self.all_columns(&mut targets)?,
                SelectItem::QualifiedWildcard(name) => self.all_of_item(name, &mut targets)?,
                SelectItem::RecordWildcard(expr) => {
                    let value = self.expr(expr)?;
                    self.all_of_value(&value, &mut targets)?;
                }
            }
        }
        for target in &mut targets {
            target.collation = self.collation_of(&target.expr)?;
        }
        Ok(targets)
    }

    fn target(&mut self, expr: &ast::Expr) -> Result<Target> {
        let parts = match expr {
            ast::Expr::Identifier(ident) => Some(std::slice::from_ref(ident)),
            ast::Expr::CompoundIdentifier(parts) => Some(parts.as_slice()),
            _ => None,
        };
        if let Some(parts) = parts {
            let column = self.named(parts)?;
            let origin = column.origin.filter(|_| column.expr.place().is_some());
            // The name is the one that is written, which differs for a renamed variable only.
            return Ok(Target { name: column.name, expr: column.expr, origin, collation: 0 });
        }
        let bound = self.expr(expr)?;
        let name = figure_name(expr).unwrap_or_else(|| Arc::from("?column?"));
        Ok(Target { name, expr: bound, origin: None, collation: 0 })
    }

    /// `*`
    fn all_columns(&mut self, targets: &mut Vec<Target>) -> Result<()> {
        let frame = self.frame();
        if frame.items.is_empty() {
            return Err(SqlError::syntax("SELECT * with no tables specified is not valid"));
        }
        let columns = frame.all();
        targets.extend(columns.into_iter().map(|column| Target {
            name: column.name,
            origin: column.origin.filter(|_| column.expr.place().is_some()),
            expr: column.expr,
            collation: 0,
        }));
        Ok(())
    }

    /// `t.*`
    fn all_of_item(&mut self, name: &ast::ObjectName, targets: &mut Vec<Target>) -> Result<()> {
        let parts = &name.0;
        let (schema, table) = match parts.as_slice() {
            [table] => (None, fold(table)),
            [schema, table] => (Some(fold(schema)), fold(table)),
            [other, schema, table] if fold(other) == self.database() => (Some(fold(schema)), fold(table)),
            [_, _, _] => return Err(self.at(name.span(), cross_database(&name.to_string()))),
            _ => return Err(SqlError::syntax("improper qualified name (too many dotted names)")),
        };
        if let Some((item, up)) = self.find_item(schema.as_deref(), &table)? {
            let columns = item.all();
            for mut column in columns {
                column.expr.lift(0, up);
                targets.push(Target { name: column.name, expr: column.expr, origin: column.origin, collation: 0 });
            }
            return Ok(());
        }
        // A variable that is a record has fields too.
        match self.variables.is_some().then(|| self.named(parts)) {
            Some(Ok(column)) => self.all_of_value(&column.expr, targets),
            _ => {
                let error = self.no_table(schema.as_deref(), &table);
                Err(self.at(name.span(), error))
            }
        }
    }

    /// `(record).*`
    fn all_of_value(&mut self, value: &Expr, targets: &mut Vec<Target>) -> Result<()> {
        let fields = self.all_fields(value)?;
        targets.extend(fields.into_iter().map(|(name, expr)| Target { name, expr, origin: None, collation: 0 }));
        Ok(())
    }

    /// The columns of `t.*` as values.
    pub(super) fn all_of(&mut self, name: &ast::ObjectName) -> Result<Vec<Expr>> {
        let mut targets = Vec::new();
        self.all_of_item(name, &mut targets)?;
        Ok(targets.into_iter().map(|target| target.expr).collect())
    }
}

/// How many levels inside an expression its name is looked for.
const FAR: usize = 200;

/// How a column is called that has no alias; `None` is `?column?`.
pub(super) fn figure_name(expr: &ast::Expr) -> Option<Arc<str>> {
    let (name, _) = figure(expr, 0)?;
    Some(name)
}

/// A name and how good it is: 2 for what names a thing, 1 for a type's or a construct's name.
fn figure(expr: &ast::Expr, depth: usize) -> Option<(Arc<str>, u8)> {
    use ast::Expr as E;
    if depth > FAR {
        return None;
    }
    let fixed = |name: &str| Some((Arc::from(name), 2));
    match expr {
        E::Identifier(ident) => Some((name(ident), 2)),
        E::CompoundIdentifier(parts) => parts.last().map(|ident| (name(ident), 2)),
        E::QualifiedWildcard(table) => Some((name(table.last()?), 2)),
        E::Nested(inner) | E::Collate { expr: inner, .. } => figure(inner, depth + 1),
        E::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|step| match step {
                ast::AccessExpr::Field(ident) => Some((name(ident), 2)),
                _ => None,
            });
            field.or_else(|| figure(root, depth + 1))
        }
        E::Function(function) => Some((function_name(&name(function.name.last()?)), 2)),
        E::Cast { expr, data_type, .. } => match figure(expr, depth + 1) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some((type_name(data_type)?, 1)),
        },
        E::TypedString(typed) => Some((type_name(&typed.data_type)?, 1)),
        E::Case { else_result, .. } => match else_result.as_ref().and_then(|otherwise| figure(otherwise, depth + 1)) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some((Arc::from("case"), 1)),
        },
        E::Array(_) => fixed("array"),
        E::Tuple(_) => fixed("row"),
        E::Exists { .. } => fixed("exists"),
        E::Subquery(query) => subquery_name(query, depth),
        E::Extract { .. } => fixed("extract"),
        E::Position { .. } => fixed("position"),
        E::Substring { .. } => fixed("substring"),
        E::Overlay { .. } => fixed("overlay"),
        E::Trim { trim_where, .. } => fixed(match trim_where {
            None | Some(ast::TrimWhereField::Both) => "btrim",
            Some(ast::TrimWhereField::Leading) => "ltrim",
            Some(ast::TrimWhereField::Trailing) => "rtrim",
        }),
        E::AtTimeZone { .. } => fixed("timezone"),
        _ => None,
    }
}

fn function_name(name: &Arc<str>) -> Arc<str> {
    match &**name {
        "user" => Arc::from("user"),
        _ => name.clone(),
    }
}

/// The first column of the query, as it is called there.
fn subquery_name(query: &ast::Query, depth: usize) -> Option<(Arc<str>, u8)> {
    let ast::SetExpr::Select(select) = &*query.body else { return None };
    match select.projection.first()? {
        SelectItem::ExprWithAlias { alias, .. } => Some((name(alias), 2)),
        SelectItem::UnnamedExpr(expr) => figure(expr, depth + 1),
        _ => None,
    }
}

/// A type as a column is called after it: its own name, not what SQL calls it.
fn type_name(data_type: &ast::DataType) -> Option<Arc<str>> {
    use ast::DataType as D;
    let own = match data_type {
        D::Integer => "int4",
        D::BigInt => "int8",
        D::SmallInt => "int2",
        D::Boolean => "bool",
        D::Real | D::Float(Some(..=24)) => "float4",
        D::DoublePrecision | D::Float(_) => "float8",
        D::Numeric(_) => "numeric",
        D::Varchar(_) => "varchar",
        D::Character(_) => "bpchar",
        D::Timestamp { with_zone: true, .. } => "timestamptz",
        D::Timestamp { .. } => "timestamp",
        D::Time { with_zone: true, .. } => "timetz",
        D::Time { .. } => "time",
        D::Interval { .. } => "interval",
        D::Array(of, _) => return type_name(of),
        D::Bit(_) => "bit",
        D::BitVarying(_) => "varbit",
        D::Custom(custom, _) => return custom.last().map(name),
    };
    Some(Arc::from(own))
}
