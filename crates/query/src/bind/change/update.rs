//! UPDATE.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::change::{Doing, Target};
use crate::bind::from::From;
use crate::bind::scope::Frame;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Access, Join, JoinKind, Plan, Scan, Update};

impl<'a> Binder<'a> {
    pub(super) fn update(&mut self, update: &ast::Update) -> Result<Update> {
        let (target, alias) = self.changed_table(&update.table, Doing::Update)?;
        let From { plan, items, merged, .. } = self.target_with(target, alias.as_ref(), &update.from)?;
        self.frames.push(Frame::new(items, merged));
        let bound = self.update_parts(update, target, plan);
        self.frames.pop();
        bound
    }

    fn update_parts(&mut self, update: &ast::Update, target: Target<'a>, plan: Plan) -> Result<Update> {
        let assignments = self.assignments(&update.assignments, target)?;
        let input = self.filtered(plan, update.selection.as_ref())?;
        let returning = self.returning(update.returning.as_ref())?;
        let (checks, through) = (self.row_checks(), self.view_target());
        Ok(Update { table: target.oid(), input, assignments, returning, checks, through })
    }

    /// The tuples for which a WHERE is true.
    pub(super) fn filtered(&mut self, input: Plan, condition: Option<&ast::Expr>) -> Result<Plan> {
        let Some(condition) = condition else { return Ok(input) };
        if let ast::Expr::CurrentOf(_) = condition {
            return Err(SqlError::unsupported("WHERE CURRENT OF"));
        }
        let condition = self.condition(Clause::Where, condition)?;
        Ok(Plan::Filter { input: Box::new(input), condition })
    }

    /// The table that UPDATE or DELETE names, and its alias.
    pub(super) fn changed_table(
        &mut self,
        table: &ast::Target,
        doing: Doing,
    ) -> Result<(Target<'a>, Option<ast::Ident>)> {
        let alias = table.alias.as_ref().map(|alias| alias.name.clone());
        Ok((self.changed(&table.name, Some(doing))?, alias))
    }

    /// The table's rows, with those of FROM or USING beside them. The table is the first slot.
    pub(super) fn target_with(
        &mut self,
        target: Target<'a>,
        alias: Option<&ast::Ident>,
        others: &[ast::TableWithJoins],
    ) -> Result<From<'a>> {
        let item = self.target_item(target, alias, 0);
        let scan =
            Plan::Scan(Scan { table: target.oid(), access: Access::All, filter: None, reverse: false, seeks: false });
        let scan = self.noted_alias(self.shown(scan), alias);
        if others.is_empty() {
            return Ok(From::one(scan, item));
        }
        let mut right = self.from_list(others)?;
        if right.items.iter().any(|other| other.name == item.name && other.schema.is_none()) {
            let message = format!("table name \"{}\" specified more than once", item.name);
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
        }
        for other in &mut right.items {
            other.shift(1);
        }
        let merged = right.merged.map(|mut columns| {
            crate::bind::scope::shift_columns(&mut columns, 1);
            let mut all = item.all();
            all.extend(columns);
            all
        });
        let join = Join {
            kind: JoinKind::Inner,
            left: scan,
            right: right.plan,
            on: None,
            lateral: false,
            slots: (1, right.slots),
            equal: Vec::new(),
        };
        let mut items = vec![item];
        items.append(&mut right.items);
        Ok(From { plan: Plan::Join(Box::new(join)), slots: 1 + right.slots, items, merged })
    }
}
