//! Changing views: a view that selects from one table, row by row, stands for it.
//!
//! The statement is bound on the table's row; the view's columns are expressions over it.

use std::sync::Arc;

use crate::parse::ast::{self, SetExpr, TableFactor};

use crate::bind::Binder;
use crate::bind::change::Target;
use crate::bind::names::{Found, name, qualified};
use crate::bind::scope::{Columns, Item, ItemColumn};
use crate::catalog::{CheckOption, Oid, Relation, RelationKind, View};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::walk::{Descend, edit};
use crate::ir::{ColumnRef, Expr, ExprKind, Plan, Query, RowCheck};
use crate::types::Type;

/// A view that stands for a table.
#[derive(Clone, Debug)]
pub(in crate::bind) struct Through {
    /// The view.
    pub(super) name: Arc<str>,
    schema: Oid,
    /// The table.
    table: Oid,
    /// The view's columns over the table's row, which is in slot 0.
    columns: Vec<(Arc<str>, Expr)>,
    /// Which rows it shows.
    conditions: Vec<Expr>,
    /// WITH CHECK OPTION: what new rows have to be.
    pub(super) checks: Vec<RowCheck>,
    /// The conditions of the view and of those below, with their names.
    all: Vec<RowCheck>,
}

/// What is done to a view, as messages say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    Insert,
    Update,
    Delete,
}

impl Doing {
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Doing::Insert => ("insert into", "inserting into", "INSERT"),
            Doing::Update => ("update", "updating", "UPDATE"),
            Doing::Delete => ("delete from", "deleting from", "DELETE"),
        }
    }
}

impl<'a> Binder<'a> {
    /// The table behind a view.
    pub(super) fn table_behind(&mut self, relation: &'a Relation, view: &'a View, doing: Doing) -> Result<Target<'a>> {
        let through = self.through(relation, view).map_err(|problem| match problem {
            Problem::Error(error) => error,
            Problem::NotUpdatable(detail) => not_updatable(&relation.name, doing, detail),
        })?;
        let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, "the view's table does not exist");
        let relation = self.catalog.relation(through.table).ok_or_else(missing)?;
        let RelationKind::Table(table) = &relation.kind else { return Err(missing()) };
        self.through = Some(Arc::new(through));
        Ok(Target { relation, table })
    }

    /// Whether a view can be changed.
    pub(crate) fn is_updatable(&mut self, relation: &'a Relation, view: &'a View) -> bool {
        self.through(relation, view).is_ok()
    }

    fn through(&mut self, relation: &'a Relation, view: &'a View) -> std::result::Result<Through, Problem> {
        let from = single_table(&view.query)?;
        let query = self.nested(|binder| binder.detached_query(&view.query, relation.schema))?;
        let (conditions, source, columns) = parts(query)?;
        let path: Vec<Oid> = std::iter::once(relation.schema).chain(self.path.iter().copied()).collect();
        let named = qualified(from)?;
        let found = Binder::new(self.env, &path).relation(&named)?;
        let Found::Relation(base) = found else { return Err(Problem::NotUpdatable(SINGLE)) };
        let below = match (&base.kind, source) {
            (RelationKind::Table(_), Plan::Scan(scan)) if scan.table == base.oid => None,
            (RelationKind::View(inner), _) if inner.materialized.is_none() => {
                let base = self.catalog.relation(base.oid).ok_or(Problem::NotUpdatable(SINGLE))?;
                let RelationKind::View(inner) = &base.kind else { return Err(Problem::NotUpdatable(SINGLE)) };
                Some(self.nested_through(base, inner)?)
            }
            _ => return Err(Problem::NotUpdatable(SINGLE)),
        };
        let mut columns: Vec<(Arc<str>, Expr)> =
            view.columns.iter().zip(columns).map(|((name, _), expr)| (name.clone(), expr)).collect();
        let mut conditions = conditions;
        if let Some(below) = &below {
            for expr in columns.iter_mut().map(|(_, expr)| expr).chain(&mut conditions) {
                on_table(expr, below)?;
            }
        }
        let own =
            conditions.iter().map(|condition| RowCheck { view: relation.name.clone(), condition: condition.clone() });
        let own: Vec<RowCheck> = own.collect();
        let (table, all_below, checks_below, conditions_below) = match below {
            Some(below) => (below.table, below.all, below.checks, below.conditions),
            None => (base.oid, Vec::new(), Vec::new(), Vec::new()),
        };
        let checks = match view.check_option {
            None => checks_below,
            Some(CheckOption::Local) => checks_below.into_iter().chain(own.clone()).collect(),
            Some(CheckOption::Cascaded) => all_below.iter().cloned().chain(own.clone()).collect(),
        };
        Ok(Through {
            name: relation.name.clone(),
            schema: relation.schema,
            table,
            columns,
            conditions: conditions_below.into_iter().chain(conditions).collect(),
            checks,
            all: all_below.into_iter().chain(own).collect(),
        })
    }

    fn nested_through(&mut self, relation: &'a Relation, view: &'a View) -> std::result::Result<Through, Problem> {
        // Views were made one after the other: none is below itself.
        let mut result = Err(Problem::NotUpdatable(SINGLE));
        self.nested(|binder| {
            result = binder.through(relation, view);
            Ok(())
        })?;
        result
    }

    /// The row that a statement changes, in a slot: the table's, or what the view shows of it.
    pub(super) fn target_item(&self, target: Target<'a>, alias: Option<&ast::Ident>, slot: usize) -> Item<'a> {
        let Some(through) = &self.through else { return target.item(alias, slot) };
        let column = |(name, expr): &(Arc<str>, Expr)| {
            let mut expr = expr.clone();
            expr.map_slots(&mut |at| at + slot);
            ItemColumn { name: name.clone(), expr, origin: None }
        };
        Item {
            name: alias.map_or_else(|| through.name.clone(), name),
            schema: alias.is_none().then_some(through.schema),
            slot: None,
            table: None,
            row_type: Type::RECORD,
            columns: Columns::List(through.columns.iter().map(column).collect()),
            records: Vec::new(),
            open: true,
        }
    }

    /// Only the rows that the view shows.
    pub(super) fn shown(&self, scan: Plan) -> Plan {
        let conditions = self.through.iter().flat_map(|through| &through.conditions);
        conditions.fold(scan, |input, condition| Plan::Filter { input: Box::new(input), condition: condition.clone() })
    }

    /// What new rows have to be.
    pub(super) fn row_checks(&self) -> Vec<RowCheck> {
        self.through.as_ref().map_or_else(Vec::new, |through| through.checks.clone())
    }
}

impl Through {
    /// The table's column behind one of the view's; `None` if the view has no such column.
    pub(super) fn column(&self, wanted: &str) -> Option<Result<usize>> {
        let (_, expr) = self.columns.iter().find(|(name, _)| **name == *wanted)?;
        Some(match &expr.kind {
            ExprKind::Column(ColumnRef { up: 0, slot: 0, column }) => Ok(*column),
            _ => {
                let message = format!("cannot update column \"{wanted}\" of view \"{}\"", self.name);
                let detail = "View columns that are not columns of their base relation are not updatable.";
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail))
            }
        })
    }

    /// The table's columns behind all of the view's.
    pub(super) fn all_columns(&self) -> Result<Vec<usize>> {
        self.columns.iter().filter_map(|(name, _)| self.column(name)).collect()
    }
}

/// Why a view does not stand for a table.
enum Problem {
    NotUpdatable(&'static str),
    Error(SqlError),
}

impl std::convert::From<SqlError> for Problem {
    fn from(error: SqlError) -> Problem {
        Problem::Error(error)
    }
}

const SINGLE: &str = "Views that do not select from a single table or view are not automatically updatable.";

fn not_updatable(name: &str, doing: Doing, detail: &str) -> SqlError {
    let (verb, enabling, event) = doing.words();
    let hint = format!(
        "To enable {enabling} the view, provide an INSTEAD OF {event} trigger or an unconditional ON {event} DO INSTEAD rule."
    );
    let message = format!("cannot {verb} view \"{name}\"");
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).detail(detail).hint(hint)
}

/// The one table that a query selects from, if it is simple.
fn single_table(query: &ast::Query) -> std::result::Result<&ast::ObjectName, Problem> {
    let refuse = |detail| Err(Problem::NotUpdatable(detail));
    if query.with.is_some() {
        return refuse("Views containing WITH are not automatically updatable.");
    }
    if query.is_limited() {
        return refuse("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    let select = match &*query.body {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { .. } => {
            return refuse("Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.");
        }
        _ => return refuse(SINGLE),
    };
    if select.distinct.is_some() {
        return refuse("Views containing DISTINCT are not automatically updatable.");
    }
    if !select.group_by.is_empty() {
        return refuse("Views containing GROUP BY are not automatically updatable.");
    }
    if select.having.is_some() {
        return refuse("Views containing HAVING are not automatically updatable.");
    }
    let [from] = select.from.as_slice() else { return refuse(SINGLE) };
    match &from.relation {
        TableFactor::Table { name, .. } if from.joins.is_empty() => Ok(name),
        _ => refuse(SINGLE),
    }
}

/// The conditions, the source and the columns of a bound query that goes through one source row by row.
fn parts(query: Query) -> std::result::Result<(Vec<Expr>, Plan, Vec<Expr>), Problem> {
    let mut plan = query.plan;
    while let Plan::Sort { input, .. } = plan {
        plan = *input;
    }
    let Plan::Project { input, columns } = plan else { return Err(Problem::NotUpdatable(SINGLE)) };
    let mut source = *input;
    let mut conditions = Vec::new();
    loop {
        source = match source {
            Plan::Sort { input, .. } => *input,
            Plan::Filter { input, condition } => {
                conditions.push(condition);
                *input
            }
            Plan::Aggregate(_) => {
                let detail = "Views that return aggregate functions are not automatically updatable.";
                return Err(Problem::NotUpdatable(detail));
            }
            Plan::Window { .. } => {
                let detail = "Views that return window functions are not automatically updatable.";
                return Err(Problem::NotUpdatable(detail));
            }
            Plan::ProjectSet { .. } => {
                let detail = "Views that return set-returning functions are not automatically updatable.";
                return Err(Problem::NotUpdatable(detail));
            }
            source => return Ok((conditions, source, columns)),
        };
    }
}

/// Makes an expression over a view's row one over the row of the table behind it.
fn on_table(expr: &mut Expr, below: &Through) -> Result<()> {
    edit::expr(expr, 0, &mut |node, depth| match &node.kind {
        ExprKind::Column(ColumnRef { up, slot: 0, column }) if *up == depth => {
            let mut column = below.columns[*column].1.clone();
            match &mut column.kind {
                ExprKind::Column(place) => place.up += depth,
                _ if depth == 0 => {}
                _ => return Err(SqlError::unsupported("changing a view over a view whose columns are computed")),
            }
            *node = column;
            Ok(Descend::No)
        }
        ExprKind::Row { up, .. } if *up == depth => Err(SqlError::unsupported("changing a view of whole rows")),
        _ => Ok(Descend::Yes),
    })
}
