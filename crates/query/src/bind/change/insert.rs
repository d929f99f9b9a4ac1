//! INSERT: which columns get what.

use crate::parse::ast::{self, Overriding, SetExpr};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::change::assign::is_default;
use crate::bind::change::{Doing, Target};
use crate::bind::from::slot_column;
use crate::bind::scope::Frame;
use crate::bind::sets::rows_of_sets;
use crate::catalog::{Column, Generation};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, Insert, Plan, Query};

/// What is known about the columns that an INSERT gives.
struct Given<'a> {
    target: Target<'a>,
    /// Their positions.
    columns: Vec<usize>,
    /// Whether they are named, rather than all of the table's.
    named: bool,
    overriding: Option<Overriding>,
}

impl<'a> Binder<'a> {
    pub(super) fn insert(&mut self, insert: &ast::Insert) -> Result<Insert> {
        let target = self.changed(&insert.table, Some(Doing::Insert))?;
        let mut given = Given {
            target,
            columns: self.insert_columns(target, &insert.columns)?,
            named: !insert.columns.is_empty(),
            overriding: insert.overriding,
        };
        let source = match &insert.source {
            None => {
                given.columns.clear();
                Plan::Values(vec![Vec::new()])
            }
            Some(query) => self.source(query, &mut given)?,
        };
        let defaults = self.other_defaults(&given)?;
        let alias = insert.table_alias.as_ref();
        let on_conflict = match &insert.on {
            None => None,
            Some(conflict) => Some(self.on_conflict(conflict, target, alias)?),
        };
        self.frames.push(Frame::new(vec![self.target_item(target, alias, 0)], None));
        let returning = self.returning(insert.returning.as_ref());
        self.frames.pop();
        let (table, columns) = (target.oid(), given.columns);
        let checks = self.row_checks();
        let through = self.view_target();
        Ok(Insert { table, columns, source, defaults, on_conflict, returning: returning?, checks, through })
    }

    /// The columns that are named, or all.
    fn insert_columns(&mut self, target: Target<'a>, names: &[ast::Ident]) -> Result<Vec<usize>> {
        if let (true, Some(through)) = (names.is_empty(), &self.through) {
            return through.all_columns();
        }
        if names.is_empty() {
            let live = target.table.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
            return Ok(live.map(|(at, _)| at).collect());
        }
        let mut columns = Vec::with_capacity(names.len());
        for ident in names {
            let column = target.column(ident, self)?;
            if columns.contains(&column) {
                let message = format!("column \"{}\" specified more than once", target.table.columns[column].name);
                return Err(self.at(ident.span, SqlError::new(SqlState::DUPLICATE_COLUMN, message)));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// VALUES or a query, with the types of the columns.
    fn source(&mut self, query: &ast::Query, given: &mut Given<'a>) -> Result<Plan> {
        let is_plain = query.with.is_none() && query.order_by.is_empty() && !query.is_limited();
        if let SetExpr::Values(values) = &*query.body
            && is_plain
        {
            let mut frame = Frame::new(Vec::new(), None);
            frame.block.clause = if values.rows.len() == 1 { Clause::InsertRow } else { Clause::Values };
            self.frames.push(frame);
            let rows = self.insert_rows(&values.rows, given);
            let frame = self.frames.pop().expect("it was pushed");
            return Ok(rows_of_sets(rows?, frame.block.sets));
        }
        let query = self.keep_query(query)?;
        given.check_width(query.columns.len())?;
        let taken = given.columns.clone();
        for column in &taken {
            given.check_generated(*column, false)?;
        }
        self.assigned_source(query, given)
    }

    fn insert_rows(&mut self, rows: &[Vec<ast::Expr>], given: &mut Given<'a>) -> Result<Vec<Vec<Expr>>> {
        let width = rows.first().map_or(0, |row| row.len());
        if rows.iter().any(|row| row.len() != width) {
            return Err(SqlError::syntax("VALUES lists must all be the same length"));
        }
        given.check_width(width)?;
        // A column whose value is DEFAULT in all rows is not given at all; the schema shows what was written.
        let is_shown =
            |at: usize| self.storing && given.target.table.columns[given.columns[at]].generation != Generation::Stored;
        let given_up = (0..width).map(|at| !is_shown(at) && rows.iter().all(|row| is_default(&row[at])));
        let given_up: Vec<bool> = given_up.collect();
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            let mut values = Vec::with_capacity(width);
            for (at, expr) in row.iter().enumerate().filter(|(at, _)| !given_up[*at]) {
                values.push(self.insert_value(expr, given.columns[at], given)?);
            }
            bound.push(values);
        }
        let mut at = 0;
        given.columns.retain(|_| {
            at += 1;
            !given_up[at - 1]
        });
        Ok(bound)
    }

    fn insert_value(&mut self, expr: &ast::Expr, at: usize, given: &Given<'a>) -> Result<Expr> {
        let column = &given.target.table.columns[at];
        let takes_default = is_default(expr);
        given.check_generated(at, takes_default)?;
        let bound = if takes_default || given.is_overridden(column) {
            self.default_or_null(given.target, at)?
        } else {
            let bound = self.expr(expr)?;
            self.assign(bound, column.typed, &column.name).map_err(|error| self.at_expr(expr, error))?
        };
        Ok(bound)
    }

    /// The columns of a query as the table's columns.
    fn assigned_source(&mut self, query: Query, given: &Given<'a>) -> Result<Plan> {
        let target = given.target.table;
        let (input, exprs) = match query.plan {
            Plan::Project { input, columns } => (input, columns),
            plan => {
                let columns = query.columns.iter().enumerate();
                (Box::new(plan), columns.map(|(at, column)| slot_column(at, column.typed)).collect())
            }
        };
        let mut columns = Vec::with_capacity(exprs.len());
        for (expr, at) in exprs.into_iter().zip(&given.columns) {
            let column = &target.columns[*at];
            columns.push(if given.is_overridden(column) {
                self.default_or_null(given.target, *at)?
            } else {
                self.assign(expr, column.typed, &column.name)?
            });
        }
        Ok(Plan::Project { input, columns })
    }

    /// Defaults of the columns that are not given.
    fn other_defaults(&mut self, given: &Given<'a>) -> Result<Vec<(usize, Expr)>> {
        let mut defaults = Vec::new();
        for (at, column) in given.target.table.columns.iter().enumerate() {
            if column.dropped || column.generation == Generation::Stored || given.columns.contains(&at) {
                continue;
            }
            defaults.extend(self.column_default(column)?.map(|default| (at, default)));
        }
        Ok(defaults)
    }
}

impl Given<'_> {
    /// As many expressions as columns; without names, fewer are the first ones.
    fn check_width(&mut self, width: usize) -> Result<()> {
        if width > self.columns.len() {
            return Err(SqlError::syntax("INSERT has more expressions than target columns"));
        }
        if width < self.columns.len() && self.named {
            return Err(SqlError::syntax("INSERT has more target columns than expressions"));
        }
        self.columns.truncate(width);
        Ok(())
    }

    /// Generated columns take nothing but DEFAULT.
    fn check_generated(&self, at: usize, is_default: bool) -> Result<()> {
        let column = &self.target.table.columns[at];
        if is_default {
            return Ok(());
        }
        let refuse = || {
            let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
            SqlError::new(SqlState::GENERATED_ALWAYS, message)
        };
        match column.generation {
            Generation::Stored => Err(refuse().detail(format!("Column \"{}\" is a generated column.", column.name))),
            Generation::IdentityAlways if self.overriding.is_none() => Err(refuse()
                .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name))
                .hint("Use OVERRIDING SYSTEM VALUE to override.")),
            _ => Ok(()),
        }
    }

    /// OVERRIDING USER VALUE: what is given for an identity column does not count.
    fn is_overridden(&self, column: &Column) -> bool {
        let is_identity = matches!(column.generation, Generation::IdentityAlways | Generation::IdentityByDefault);
        self.overriding == Some(Overriding::User) && is_identity
    }
}
