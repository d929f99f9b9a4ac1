//! Changing views: a view that selects from one table, row by row, stands for it.
//!
//! The statement is bound on the table's row; the view's columns are expressions over it.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::change::Target;
use crate::bind::names::name;
use crate::bind::scope::{Columns, Item, ItemColumn};
use crate::catalog::{CheckOption, Oid, Relation, RelationKind, View};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::walk::{Descend, edit};
use crate::ir::{ColumnRef, Expr, ExprKind, Plan, RowCheck, Stored, ViewTarget, current};
use crate::types::Type;

/// A view that stands for a table.
#[derive(Clone, Debug)]
pub(in crate::bind) struct Through {
    /// The view.
    pub(super) name: Arc<str>,
    schema: Oid,
    /// It, and the views below it that lead to the table.
    views: Vec<Oid>,
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
    pub fn is_updatable(&mut self, relation: &'a Relation, view: &'a View) -> bool {
        self.through(relation, view).is_ok()
    }

    fn through(&mut self, relation: &'a Relation, view: &'a View) -> std::result::Result<Through, Problem> {
        let (conditions, base, columns) = parts(&view.query.query.plan)?;
        let mut now = |expr: &Expr| current::part(expr, &view.query, self.catalog, &mut self.cte_count);
        let columns = columns.iter().map(&mut now).collect::<Result<Vec<Expr>>>()?;
        let conditions = conditions.into_iter().map(&mut now).collect::<Result<Vec<Expr>>>()?;
        let base = self.catalog.relation(base).ok_or(Problem::NotUpdatable(SINGLE))?;
        let below = match &base.kind {
            RelationKind::Table(_) => None,
            RelationKind::View(inner) if inner.materialized.is_none() => Some(self.nested_through(base, inner)?),
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
        let mut views = vec![relation.oid];
        views.extend(below.iter().flat_map(|below| &below.views));
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
            views,
            table,
            columns,
            conditions: conditions_below.into_iter().chain(conditions).collect(),
            checks,
            all: all_below.into_iter().chain(own).collect(),
        })
    }

    fn nested_through(&mut self, relation: &'a Relation, view: &'a View) -> std::result::Result<Through, Problem> {
        // A view that is below itself is refused for its depth.
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
            ItemColumn { name: name.clone(), expr, origin: None, collation: 0 }
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
            scalar: false,
        }
    }

    /// Only the rows that the view shows.
    pub(super) fn shown(&self, scan: Plan) -> Plan {
        let conditions = self.through.iter().flat_map(|through| &through.conditions);
        conditions.fold(scan, |input, condition| Plan::Filter { input: Box::new(input), condition: condition.clone() })
    }

    /// The view that the statement names, if it names one.
    pub(super) fn view_target(&self) -> Option<ViewTarget> {
        let through = self.through.as_ref()?;
        let columns = through.columns.iter().map(|(name, _)| through.column(name)?.ok());
        Some(ViewTarget { views: through.views.clone(), columns: columns.collect() })
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

/// The conditions, the one relation and the columns of a query that goes through it row by row.
fn parts(query: &Plan) -> std::result::Result<(Vec<&Expr>, Oid, &[Expr]), Problem> {
    let refuse = |what: &str| match what {
        "WITH" => "Views containing WITH are not automatically updatable.",
        "LIMIT" => "Views containing LIMIT or OFFSET are not automatically updatable.",
        "UNION" => "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.",
        "DISTINCT" => "Views containing DISTINCT are not automatically updatable.",
        "GROUP BY" => "Views containing GROUP BY are not automatically updatable.",
        "HAVING" => "Views containing HAVING are not automatically updatable.",
        "aggregates" => "Views that return aggregate functions are not automatically updatable.",
        "windows" => "Views that return window functions are not automatically updatable.",
        "sets" => "Views that return set-returning functions are not automatically updatable.",
        _ => SINGLE,
    };
    let refuse = |what| Err(Problem::NotUpdatable(refuse(what)));
    let mut plan = query;
    let mut selected: Option<&[Expr]> = None;
    let mut conditions = Vec::new();
    let mut problem = None;
    loop {
        plan = match plan {
            Plan::With { .. } => return refuse("WITH"),
            Plan::SetOperation { .. } => return refuse("UNION"),
            Plan::Distinct(_) | Plan::DistinctOn { .. } => return refuse("DISTINCT"),
            Plan::Limit(limit) => {
                problem = Some("LIMIT");
                &limit.input
            }
            Plan::Aggregate(aggregate) if !aggregate.keys.is_empty() || aggregate.sets.len() > 1 => {
                return refuse("GROUP BY");
            }
            Plan::Aggregate(_) if !conditions.is_empty() => return refuse("HAVING"),
            Plan::Aggregate(_) => return refuse(problem.unwrap_or("aggregates")),
            Plan::Window { .. } => return refuse(problem.unwrap_or("windows")),
            Plan::ProjectSet { .. } => return refuse(problem.unwrap_or("sets")),
            Plan::Project { input, columns } => {
                selected = Some(columns);
                input
            }
            Plan::Sort { input, .. } | Plan::Lock { input, .. } => input,
            Plan::Filter { input, condition } => {
                conditions.push(condition);
                input
            }
            source => {
                if let Some(problem) = problem {
                    return refuse(problem);
                }
                let relation = match source {
                    Plan::Stored(stored) => match &**stored {
                        Stored::Item { input: Plan::Scan(scan), .. } => Some(scan.table),
                        Stored::Item { input: Plan::Stored(inner), .. } => match **inner {
                            Stored::View(view) => Some(view),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                };
                return match (relation, selected) {
                    (Some(relation), Some(columns)) => Ok((conditions, relation, columns)),
                    _ => refuse("joins"),
                };
            }
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
