//! DELETE.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::change::Doing;
use crate::bind::from::From;
use crate::bind::scope::Frame;
use crate::error::{Result, SqlError};
use crate::ir::Delete;

impl Binder<'_> {
    pub(super) fn delete(&mut self, delete: &ast::Delete) -> Result<Delete> {
        if !delete.tables.is_empty() || delete.output.is_some() || !delete.order_by.is_empty() || delete.limit.is_some()
        {
            return Err(SqlError::unsupported("this form of DELETE"));
        }
        let (ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables)) = &delete.from;
        let [table] = tables.as_slice() else { return Err(SqlError::unsupported("DELETE from several tables")) };
        let (target, alias) = self.changed_table(table, Doing::Delete)?;
        let From { plan, items, merged, .. } = self.target_with(target, alias.as_ref(), delete.using.as_ref())?;
        self.frames.push(Frame::new(items, merged));
        let input = self.filtered(plan, delete.selection.as_ref());
        let returning = self.returning(delete.returning.as_ref());
        self.frames.pop();
        Ok(Delete { table: target.oid(), input: input?, returning: returning? })
    }
}
