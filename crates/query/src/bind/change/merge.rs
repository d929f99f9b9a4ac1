//! MERGE.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::change::Target;
use crate::bind::scope::{Frame, Item, ItemColumn};
use crate::catalog::Generation;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Access, Assignment, Join, JoinKind, Merge, MergeAction, MergeClause, Plan, Scan};

/// What the WHEN clauses of a MERGE see.
struct Sides<'a> {
    target: Target<'a>,
    item: Item<'a>,
    source: Vec<Item<'a>>,
    merged: Option<Vec<ItemColumn>>,
}

impl<'a> Sides<'a> {
    /// Both sides, or only the source.
    fn frame(&self, matched: bool) -> Frame<'a> {
        let mut items = self.source.clone();
        let mut merged = self.merged.clone();
        if matched {
            items.insert(0, self.item.clone());
            merged = merged.map(|columns| {
                let mut all = self.item.all();
                all.extend(columns);
                all
            });
        }
        Frame::new(items, merged)
    }
}

impl<'a> Binder<'a> {
    pub(super) fn merge_into(&mut self, merge: &ast::Merge) -> Result<Merge> {
        let target = self.changed(&merge.table.name, None)?;
        let alias = merge.table.alias.as_ref().map(|alias| &alias.name);
        let item = target.item(alias, 0);
        let scan =
            Plan::Scan(Scan { table: target.oid(), access: Access::All, filter: None, reverse: false, seeks: false });
        let source = ast::TableWithJoins { relation: merge.source.clone(), joins: Vec::new() };
        let mut right = self.from_list(std::slice::from_ref(&source))?;
        if right.items.iter().any(|other| other.name == item.name) {
            let message = format!("name \"{}\" specified more than once", item.name);
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message)
                .detail("The name is used both as MERGE target table and data source."));
        }
        right.items.iter_mut().for_each(|item| item.shift(1));
        if let Some(columns) = &mut right.merged {
            crate::bind::scope::shift_columns(columns, 1);
        }
        let sides = Sides { target, item, source: right.items, merged: right.merged };
        self.frames.push(sides.frame(true));
        let on = self.condition(Clause::On, &merge.on);
        self.frames.pop();
        let join = Join {
            kind: JoinKind::Right,
            left: self.noted_alias(scan, alias),
            right: right.plan,
            on: Some(on?),
            lateral: false,
            slots: (1, right.slots),
            equal: Vec::new(),
        };
        let clauses = merge.clauses.iter().map(|clause| self.merge_clause(clause, &sides));
        let clauses = clauses.collect::<Result<Vec<_>>>()?;
        check_reachable(&clauses)?;
        Ok(Merge { table: target.oid(), input: Plan::Join(Box::new(join)), clauses })
    }

    fn merge_clause(&mut self, clause: &ast::MergeClause, sides: &Sides<'a>) -> Result<MergeClause> {
        self.frames.push(sides.frame(clause.matched));
        let bound = self.merge_parts(clause, sides);
        self.frames.pop();
        let (condition, action) = bound?;
        Ok(MergeClause { matched: clause.matched, condition, action })
    }

    fn merge_parts(
        &mut self,
        clause: &ast::MergeClause,
        sides: &Sides<'a>,
    ) -> Result<(Option<crate::ir::Expr>, MergeAction)> {
        let condition = match &clause.predicate {
            Some(predicate) => Some(self.condition(Clause::MergeWhen, predicate)?),
            None => None,
        };
        let action = match &clause.action {
            ast::MergeAction::DoNothing => MergeAction::Nothing,
            ast::MergeAction::Delete => MergeAction::Delete,
            ast::MergeAction::Update(list) => MergeAction::Update(self.assignments(list, sides.target)?),
            ast::MergeAction::Insert(insert) => MergeAction::Insert(self.merge_insert(insert, sides.target)?),
        };
        Ok((condition, action))
    }

    /// Every column that gets a value, defaults included.
    fn merge_insert(&mut self, insert: &ast::MergeInsert, target: Target<'a>) -> Result<Vec<Assignment>> {
        let values = insert.values.as_slice();
        let mut columns = Vec::new();
        for ident in &insert.columns {
            columns.push(target.column(ident, self)?);
        }
        if columns.is_empty() {
            let live = target.table.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
            columns = live.map(|(at, _)| at).take(values.len()).collect();
        }
        if values.len() > columns.len() {
            return Err(SqlError::syntax("INSERT has more expressions than target columns"));
        }
        if !values.is_empty() && values.len() < columns.len() {
            return Err(SqlError::syntax("INSERT has more target columns than expressions"));
        }
        let mut assignments = Vec::new();
        for (column, value) in columns.iter().zip(values) {
            let value = self.within(Clause::Values, |binder| binder.new_value(value, target, *column))?;
            assignments.push(Assignment { column: *column, value });
        }
        for (at, column) in target.table.columns.iter().enumerate() {
            let is_given = assignments.iter().any(|known| known.column == at);
            if is_given || column.dropped || column.generation == Generation::Stored {
                continue;
            }
            assignments.extend(self.column_default(column)?.map(|value| Assignment { column: at, value }));
        }
        Ok(assignments)
    }
}

fn check_reachable(clauses: &[MergeClause]) -> Result<()> {
    for (at, clause) in clauses.iter().enumerate() {
        if clauses[..at].iter().any(|before| before.matched == clause.matched && before.condition.is_none()) {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(SqlError::syntax(message));
        }
    }
    Ok(())
}
