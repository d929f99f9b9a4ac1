//! FROM: tables, views, queries, functions, and joins of them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::parse::ast::{self, JoinConstraint, JoinOperator, TableFactor};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::function_scan::calls_of;
use crate::bind::names::{Found, Qualified, fold, name, qualified};
use crate::bind::scope::{Columns, Frame, Item, ItemColumn, shift_columns};
use crate::bind::with::Forbidding;
use crate::catalog::{Relation, RelationKind, View};
use crate::error::{Result, SqlError, SqlState};
use crate::functions;
use crate::ir::{Access, ColumnRef, Expr, ExprKind, Join, JoinKind, Plan, Query, Scan, Stored, current};
use crate::system::SystemTable;
use crate::types::{Datum, Type, Typed};

/// What FROM, or a part of it, gives.
#[derive(Debug)]
pub(super) struct From<'a> {
    /// Its plan.
    pub plan: Plan,
    /// How many slots its tuples have.
    pub slots: usize,
    /// Its names.
    pub items: Vec<Item<'a>>,
    /// See [`Frame::merged`].
    pub merged: Option<Vec<ItemColumn>>,
}

impl<'a> From<'a> {
    /// Nothing: one tuple without slots.
    pub(super) fn nothing() -> From<'a> {
        From { plan: Plan::One, slots: 0, items: Vec::new(), merged: None }
    }

    pub(super) fn one(plan: Plan, item: Item<'a>) -> From<'a> {
        From { plan, slots: 1, items: vec![item], merged: None }
    }

    /// The columns that can be named alone.
    pub(super) fn columns(&self) -> Vec<ItemColumn> {
        match &self.merged {
            Some(columns) => columns.clone(),
            None => self.items.iter().filter(|item| item.open).flat_map(Item::all).collect(),
        }
    }
}

impl<'a> Binder<'a> {
    /// The items of FROM, which are joined with each other.
    pub(super) fn from_list(&mut self, list: &[ast::TableWithJoins]) -> Result<From<'a>> {
        let base = std::mem::replace(&mut self.from_base, self.frames.len());
        let result = self.from_items(list);
        self.from_base = base;
        result
    }

    fn from_items(&mut self, list: &[ast::TableWithJoins]) -> Result<From<'a>> {
        let mut all: Option<From<'a>> = None;
        for table in list {
            all = Some(match all {
                None => self.table_with_joins(table)?,
                Some(left) => {
                    let (left, right, lateral) =
                        self.beside(left, is_lateral(table), |binder| binder.table_with_joins(table))?;
                    check_names(&left, &right)?;
                    let mut both = combine(left, right, JoinKind::Inner, lateral);
                    self.note(&mut both, Stored::Listed);
                    both
                }
            });
        }
        Ok(all.unwrap_or_else(From::nothing))
    }

    /// A table with the joins that are written after it.
    pub(super) fn table_with_joins(&mut self, table: &ast::TableWithJoins) -> Result<From<'a>> {
        // What stands left of a RIGHT or FULL JOIN is on its nullable side.
        let fills_left = |join: &ast::Join| matches!(join_kind(join.join_operator), JoinKind::Right | JoinKind::Full);
        let nullable_until = table.joins.iter().rposition(fills_left).map_or(0, |last| last + 1);
        let mut left =
            self.in_join(nullable_until > 0, |binder| binder.nested(|binder| binder.table_factor(&table.relation)))?;
        for (at, join) in table.joins.iter().enumerate() {
            left = self.join(left, join, at + 1 < nullable_until)?;
        }
        Ok(left)
    }

    /// Binds an item; `nullable`: an outer join makes up NULLs for it.
    fn in_join<T>(&mut self, nullable: bool, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if nullable { self.forbidding(Forbidding::OuterJoin, bind) } else { bind(self) }
    }

    /// Binds what stands right of something else, which it may look at if it is LATERAL.
    fn beside(
        &mut self,
        left: From<'a>,
        may_look: bool,
        bind: impl FnOnce(&mut Self) -> Result<From<'a>>,
    ) -> Result<(From<'a>, From<'a>, bool)> {
        if !may_look {
            let right = bind(self)?;
            return Ok((left, right, false));
        }
        let From { plan, slots, items, merged } = left;
        let mut frame = Frame::new(items, merged);
        frame.block.clause = Clause::Lateral;
        self.frames.push(frame);
        let right = bind(self);
        let frame = self.frames.pop().expect("it was pushed");
        let left = From { plan, slots, items: frame.items, merged: frame.merged };
        let mut right = right?;
        let mut looks = false;
        right.plan.outward(&mut |up, _| looks |= up == 1);
        if !looks {
            right.plan.map_places(&mut |up, slot| (if up > 1 { up - 1 } else { up }, slot));
        }
        Ok((left, right, looks))
    }

    /// Binds something that does not see the left sides of this FROM, though it may be in the right side of one.
    fn hiding_lateral<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let range = self.from_base..self.frames.len();
        let before: Vec<bool> = self.frames[range.clone()].iter().map(|frame| frame.visible).collect();
        for frame in &mut self.frames[range.clone()] {
            frame.visible = false;
        }
        let result = bind(self);
        for (frame, visible) in self.frames[range].iter_mut().zip(before) {
            frame.visible = visible;
        }
        result
    }

    fn join(&mut self, left: From<'a>, join: &ast::Join, nullable: bool) -> Result<From<'a>> {
        let kind = join_kind(join.join_operator);
        let may_look = is_lateral_factor(&join.relation);
        let nullable = nullable || matches!(kind, JoinKind::Left | JoinKind::Full);
        let (left, right, lateral) = self.beside(left, may_look, |binder| {
            binder.in_join(nullable, |binder| binder.nested(|binder| binder.table_factor(&join.relation)))
        })?;
        if lateral && matches!(kind, JoinKind::Right | JoinKind::Full) {
            let message = "invalid reference to FROM-clause entry in a LATERAL item";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
                .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."));
        }
        check_names(&left, &right)?;
        match &join.constraint {
            JoinConstraint::None => Ok(combine(left, right, kind, lateral)),
            JoinConstraint::On(condition) => {
                let joined = combine(left, right, kind, lateral);
                self.join_on(joined, condition)
            }
            JoinConstraint::Using(names) => {
                let names: Vec<_> = names.iter().map(fold).collect();
                self.join_using(left, right, kind, lateral, &names)
            }
            JoinConstraint::Natural => {
                let (of_left, of_right) = (left.columns(), right.columns());
                let is_common = |column: &&ItemColumn| of_right.iter().any(|other| other.name == column.name);
                let common = of_left.iter().filter(is_common).map(|column| Cow::Owned(column.name.to_string()));
                let common: Vec<Cow<'_, str>> = common.collect();
                self.join_using(left, right, kind, lateral, &common)
            }
        }
    }

    fn join_on(&mut self, joined: From<'a>, condition: &ast::Expr) -> Result<From<'a>> {
        let From { mut plan, slots, items, merged } = joined;
        let (frame, on) = self.hiding_lateral(|binder| {
            binder.frames.push(Frame::new(items, merged));
            let on = binder.condition(Clause::On, condition);
            Ok((binder.frames.pop().expect("it was pushed"), on))
        })?;
        set_condition(&mut plan, on?);
        Ok(From { plan, slots, items: frame.items, merged: frame.merged })
    }

    /// USING and NATURAL: columns of these names are equal, and become one.
    fn join_using(
        &mut self,
        left: From<'a>,
        right: From<'a>,
        kind: JoinKind,
        lateral: bool,
        names: &[Cow<'_, str>],
    ) -> Result<From<'a>> {
        let (mut of_left, mut of_right) = (left.columns(), right.columns());
        shift_columns(&mut of_right, left.slots);
        let mut merged = Vec::with_capacity(of_left.len() + of_right.len());
        let mut conditions = Vec::with_capacity(names.len());
        for name in names {
            let a = take_column(&mut of_left, name, "left")?;
            let b = take_column(&mut of_right, name, "right")?;
            // The condition is bound with nothing in sight, but on the tuple of the join.
            self.frames.push(Frame::new(Vec::new(), None));
            let condition = self.operator("=", Some(a.expr.clone()), b.expr.clone());
            let column = self.merge(kind, a, b);
            self.frames.pop();
            conditions.push(condition?);
            merged.push(column?);
        }
        merged.extend(of_left);
        merged.extend(of_right);
        let mut joined = combine(left, right, kind, lateral);
        joined.merged = Some(merged);
        if let Some(condition) = all_of(conditions) {
            set_condition(&mut joined.plan, condition);
            let columns = names.iter().map(|name| Arc::from(&**name)).collect();
            self.note(&mut joined, |input| Stored::Using { input, columns });
        }
        Ok(joined)
    }

    /// The one column that two of them become.
    fn merge(&mut self, kind: JoinKind, left: ItemColumn, right: ItemColumn) -> Result<ItemColumn> {
        let ty = self.common_type(&[left.expr.clone(), right.expr.clone()], "JOIN/USING")?;
        let (name, collation) = (left.name.clone(), if left.collation == 0 { right.collation } else { left.collation });
        let (a, b) = (self.unified(left.expr, ty, "JOIN/USING")?, self.unified(right.expr, ty, "JOIN/USING")?);
        let (expr, origin) = match kind {
            JoinKind::Inner | JoinKind::Left => (a, left.origin),
            JoinKind::Right => (b, right.origin),
            JoinKind::Full => (Expr::new(ExprKind::Coalesce(vec![a, b]), ty), None),
        };
        Ok(ItemColumn { name, expr, origin, collation })
    }

    fn table_factor(&mut self, factor: &TableFactor) -> Result<From<'a>> {
        match factor {
            TableFactor::Table { name, alias } => {
                let qualified = qualified(name, self.database()).map_err(|error| self.at(name.span(), error))?;
                let located = |binder: &Self, error| binder.at(name.span(), error);
                let from = self.named_from(&qualified).map_err(|error| located(self, error))?;
                let mut from = aliased(from, alias.as_ref())?;
                self.note_item(&mut from, alias.as_ref());
                Ok(from)
            }
            TableFactor::Derived { lateral, subquery, alias } => self.derived(*lateral, subquery, alias.as_ref()),
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let from = self.table_with_joins(table_with_joins)?;
                match alias {
                    Some(alias) => {
                        let mut from = join_alias(from, alias)?;
                        self.note_item(&mut from, Some(alias));
                        Ok(from)
                    }
                    None => Ok(from),
                }
            }
            TableFactor::Function { name, args, with_ordinality, alias, .. } => {
                self.function_scan(&calls_of(name, args), *with_ordinality, alias.as_ref())
            }
            TableFactor::RowsFrom { calls, with_ordinality, alias, .. } => {
                self.function_scan(calls, *with_ordinality, alias.as_ref())
            }
        }
    }

    /// Notes what was written about an item of FROM, where that is kept.
    pub(super) fn note_item(&self, from: &mut From<'a>, alias: Option<&ast::TableAlias>) {
        let columns = alias.into_iter().flat_map(|alias| &alias.columns).map(|column| name(&column.name)).collect();
        let alias = alias.map(|alias| name(&alias.name));
        self.note(from, |input| Stored::Item { input, alias, columns });
    }

    /// The rows of a table that is changed, under the alias that it was given.
    pub(super) fn noted_alias(&self, input: Plan, alias: Option<&ast::Ident>) -> Plan {
        match alias {
            Some(alias) if self.storing => {
                Plan::Stored(Box::new(Stored::Item { input, alias: Some(name(alias)), columns: Vec::new() }))
            }
            _ => input,
        }
    }

    fn note(&self, from: &mut From<'a>, note: impl FnOnce(Plan) -> Stored) {
        if self.storing {
            from.plan = Plan::Stored(Box::new(note(std::mem::replace(&mut from.plan, Plan::One))));
        }
    }

    /// A relation or common table expression by its name.
    pub(super) fn named_from(&mut self, name: &Qualified<'_>) -> Result<From<'a>> {
        if name.schema.is_none()
            && let Some(cte) = self.cte_from(&name.name)?
        {
            return Ok(cte);
        }
        match self.relation(name)? {
            Found::System(table) => Ok(system_from(table)),
            Found::Relation(relation) => self.relation_from(relation),
        }
    }

    fn relation_from(&mut self, relation: &'a Relation) -> Result<From<'a>> {
        match &relation.kind {
            RelationKind::Table(table) => Ok(table_from(relation, relation.oid, table)),
            RelationKind::View(view) => match view.materialized.and_then(|oid| Some((oid, self.catalog.table(oid)?))) {
                Some((oid, table)) => {
                    let mut from = table_from(relation, oid, table);
                    if self.storing {
                        from.plan = Plan::Stored(Box::new(Stored::View(relation.oid)));
                    }
                    Ok(from)
                }
                None => self.view_from(relation, view),
            },
            RelationKind::Sequence(_) => self.sequence_from(relation),
            RelationKind::Index(_) => {
                let message = format!("\"{}\" is an index", relation.name);
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for indexes."))
            }
        }
    }

    /// A view is its query.
    fn view_from(&mut self, relation: &'a Relation, view: &'a View) -> Result<From<'a>> {
        let columns = view.columns.iter().enumerate().map(|(at, (name, typed))| ItemColumn {
            name: name.clone(),
            expr: slot_column(at, *typed),
            collation: view.query.query.columns.get(at).map_or(0, |column| column.collation),
            origin: i16::try_from(at + 1).ok().map(|attnum| (relation.oid, attnum)),
        });
        let mut item = values_item(relation.name.clone(), columns.collect());
        item.schema = Some(relation.schema);
        let plan = if self.storing {
            Plan::Stored(Box::new(Stored::View(relation.oid)))
        } else {
            let query = current::view(relation.oid, self.catalog, &mut self.cte_count)?;
            item.records = self.record_columns(&query);
            Plan::Subquery(Box::new(query))
        };
        Ok(From::one(plan, item))
    }

    /// `SELECT … FROM a_sequence`: its state as one row.
    fn sequence_from(&mut self, relation: &'a Relation) -> Result<From<'a>> {
        let oid = Expr::constant(Datum::Int(relation.oid.into()), Type::REGCLASS);
        let row = vec![
            internal_call("last_value", oid.clone())?,
            Expr::constant(Datum::Int(0), Type::INT8),
            internal_call("is_called", oid)?,
        ];
        let names = ["last_value", "log_cnt", "is_called"];
        let columns = names.iter().zip(&row).enumerate().map(|(at, (name, value))| ItemColumn {
            name: Arc::from(*name),
            expr: slot_column(at, value.typed),
            collation: 0,
            origin: None,
        });
        let mut item = values_item(relation.name.clone(), columns.collect());
        item.schema = Some(relation.schema);
        Ok(From::one(Plan::Values(vec![row]), item))
    }

    fn derived(&mut self, lateral: bool, subquery: &ast::Query, alias: Option<&ast::TableAlias>) -> Result<From<'a>> {
        let Some(alias) = alias else {
            let what = if matches!(*subquery.body, ast::SetExpr::Values(_)) { "VALUES" } else { "subquery" };
            let example = if what == "VALUES" { "VALUES ..." } else { "SELECT ..." };
            return Err(SqlError::syntax(format!("{what} in FROM must have an alias"))
                .hint(format!("For example, FROM ({example}) [AS] foo.")));
        };
        let query = if lateral {
            self.settled_query(subquery)?
        } else {
            self.hiding_lateral(|binder| binder.settled_query(subquery))?
        };
        let mut item = query_item(name(&alias.name), &query);
        item.records = self.record_columns(&query);
        let mut from = aliased(From::one(Plan::Subquery(Box::new(query)), item), Some(alias))?;
        self.note_item(&mut from, Some(alias));
        Ok(from)
    }
}

/// The call of a function that has no name for users.
fn internal_call(name: &str, arg: Expr) -> Result<Expr> {
    let Some(function) = functions::internal(name) else {
        return Err(SqlError::unsupported(format_args!("the function {name}")));
    };
    Ok(Expr::new(ExprKind::Call { function, args: vec![arg] }, function.returns))
}

/// Both, side by side.
fn combine<'a>(left: From<'a>, mut right: From<'a>, kind: JoinKind, lateral: bool) -> From<'a> {
    for item in &mut right.items {
        item.shift(left.slots);
    }
    let merged = if left.merged.is_some() || right.merged.is_some() {
        let mut columns = left.columns();
        // Those of the items are shifted already, merged ones are not.
        let mut others = right.columns();
        if right.merged.is_some() {
            shift_columns(&mut others, left.slots);
        }
        columns.extend(others);
        Some(columns)
    } else {
        None
    };
    let mut items = left.items;
    items.extend(right.items);
    let slots = (left.slots, right.slots);
    let (left, right) = (left.plan, right.plan);
    let join = Join { kind, left, right, on: None, lateral, slots, equal: Vec::new() };
    From { plan: Plan::Join(Box::new(join)), slots: slots.0 + slots.1, items, merged }
}

fn set_condition(plan: &mut Plan, condition: Expr) {
    let Plan::Join(join) = plan else { unreachable!("conditions are set on joins") };
    join.on = Some(condition);
}

/// All of these conditions.
pub(super) fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(Expr::new(ExprKind::And(conditions), Type::BOOL)),
    }
}

fn take_column(columns: &mut Vec<ItemColumn>, name: &str, side: &str) -> Result<ItemColumn> {
    let mut found = columns.iter().enumerate().filter(|(_, column)| &*column.name == name).map(|(at, _)| at);
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(columns.remove(at)),
        (None, _) => {
            let message = format!("column \"{name}\" specified in USING clause does not exist in {side} table");
            Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
        }
        (Some(_), Some(_)) => {
            let message = format!("common column name \"{name}\" appears more than once in {side} table");
            Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message))
        }
    }
}

/// One name must not stand for two items, unless they are tables of different schemas.
fn check_names(left: &From<'_>, right: &From<'_>) -> Result<()> {
    for item in &right.items {
        let same = |other: &&Item<'_>| {
            other.name == item.name && (other.schema.is_none() || other.schema == item.schema || item.schema.is_none())
        };
        if !item.name.is_empty() && left.items.iter().any(|other| same(&other)) {
            let message = format!("table name \"{}\" specified more than once", item.name);
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
        }
    }
    Ok(())
}

fn table_from<'a>(relation: &'a Relation, oid: u32, table: &'a crate::catalog::Table) -> From<'a> {
    let item = Item {
        name: relation.name.clone(),
        schema: Some(relation.schema),
        slot: Some(0),
        table: Some(oid),
        row_type: table.row_type,
        columns: Columns::Table(oid, table),
        records: Vec::new(),
        open: true,
        scalar: false,
    };
    From::one(Plan::Scan(Scan { table: oid, access: Access::All, filter: None, reverse: false, seeks: false }), item)
}

fn system_from<'a>(table: &'static SystemTable) -> From<'a> {
    let columns = table.columns.iter().enumerate().map(|(at, (name, ty))| ItemColumn {
        name: (*name).into(),
        expr: slot_column(at, Typed::from(*ty)),
        origin: i16::try_from(at + 1).ok().map(|attnum| (table.oid, attnum)),
        collation: 0,
    });
    let item = Item {
        name: table.name.into(),
        schema: Some(if table.schema == "pg_catalog" {
            crate::catalog::PG_CATALOG
        } else {
            crate::catalog::INFORMATION_SCHEMA
        }),
        slot: Some(0),
        table: Some(table.oid),
        row_type: Type::RECORD,
        columns: Columns::List(columns.collect()),
        records: Vec::new(),
        open: true,
        scalar: false,
    };
    From::one(Plan::Virtual(table), item)
}

/// A query under a name.
pub(super) fn query_item<'a>(name: Arc<str>, query: &Query) -> Item<'a> {
    let columns = query.columns.iter().enumerate().map(|(at, column)| ItemColumn {
        name: column.name.clone(),
        expr: slot_column(at, column.typed),
        origin: column.origin,
        collation: column.collation,
    });
    values_item(name, columns.collect())
}

/// A slot of values under a name.
pub(super) fn values_item<'a>(name: Arc<str>, columns: Vec<ItemColumn>) -> Item<'a> {
    let columns = Columns::List(columns);
    Item {
        name,
        schema: None,
        slot: Some(0),
        table: None,
        row_type: Type::RECORD,
        columns,
        records: Vec::new(),
        open: true,
        scalar: false,
    }
}

/// The column with this number of the first slot.
pub(super) fn slot_column(column: usize, typed: Typed) -> Expr {
    Expr { kind: ExprKind::Column(ColumnRef { up: 0, slot: 0, column }), typed }
}

/// The same under an alias.
pub(super) fn aliased<'a>(mut from: From<'a>, alias: Option<&ast::TableAlias>) -> Result<From<'a>> {
    let Some(alias) = alias else { return Ok(from) };
    let [item] = from.items.as_mut_slice() else { unreachable!("one item has the alias") };
    item.name = name(&alias.name);
    item.schema = None;
    if !alias.columns.is_empty() {
        rename(item, alias)?;
    }
    Ok(from)
}

fn rename(item: &mut Item<'_>, alias: &ast::TableAlias) -> Result<()> {
    let names: Vec<Cow<'_, str>> = alias.columns.iter().map(|column| fold(&column.name)).collect();
    let available = item.all().len();
    item.rename(&names).ok_or_else(|| {
        let message =
            format!("table \"{}\" has {available} columns available but {} columns specified", item.name, names.len());
        SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
    })
}

/// `(a JOIN b …) AS j`: one item that hides the others.
fn join_alias<'a>(from: From<'a>, alias: &ast::TableAlias) -> Result<From<'a>> {
    let columns = from.columns();
    let mut item = values_item(name(&alias.name), columns);
    item.slot = None;
    if !alias.columns.is_empty() {
        rename(&mut item, alias)?;
    }
    Ok(From { plan: from.plan, slots: from.slots, items: vec![item], merged: None })
}

fn join_kind(operator: JoinOperator) -> JoinKind {
    match operator {
        JoinOperator::Inner | JoinOperator::Cross => JoinKind::Inner,
        JoinOperator::LeftOuter => JoinKind::Left,
        JoinOperator::RightOuter => JoinKind::Right,
        JoinOperator::FullOuter => JoinKind::Full,
    }
}

fn is_lateral(table: &ast::TableWithJoins) -> bool {
    is_lateral_factor(&table.relation) || table.joins.iter().any(|join| is_lateral_factor(&join.relation))
}

/// Whether it may look at what stands left of it: functions may without being asked.
fn is_lateral_factor(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::Table { .. } => false,
        TableFactor::Derived { lateral, .. } => *lateral,
        TableFactor::NestedJoin { table_with_joins, .. } => is_lateral(table_with_joins),
        TableFactor::Function { .. } | TableFactor::RowsFrom { .. } => true,
    }
}
