//! DELETE.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::change::Doing;
use crate::bind::from::From;
use crate::bind::scope::Frame;
use crate::error::Result;
use crate::ir::Delete;

impl Binder<'_> {
    pub(super) fn delete(&mut self, delete: &ast::Delete) -> Result<Delete> {
        let (target, alias) = self.changed_table(&delete.table, Doing::Delete)?;
        let From { plan, items, merged, .. } = self.target_with(target, alias.as_ref(), &delete.using)?;
        self.frames.push(Frame::new(items, merged));
        let input = self.filtered(plan, delete.selection.as_ref());
        let returning = self.returning(delete.returning.as_ref());
        self.frames.pop();
        Ok(Delete { table: target.oid(), input: input?, returning: returning?, through: self.view_target() })
    }
}
