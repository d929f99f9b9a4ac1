//! Blocks, handlers, loops and cursors of PL/pgSQL.

use skew_sql::error::SqlState;
use skew_sql::plpgsql::ast::Condition;
use skew_sql::plpgsql::bound::{Block, Expression, Loop, Opened, Over};

use super::Lowering;
use crate::ir::{Cause, Handler, Step, Value};

/// Errors that say that a row is there already, or is not there.
const VIOLATIONS: [SqlState; 2] = [SqlState::UNIQUE_VIOLATION, SqlState::FOREIGN_KEY_VIOLATION];
/// Errors that say that other transactions are at work.
const CONFLICTS: [SqlState; 3] =
    [SqlState::SERIALIZATION_FAILURE, SqlState::DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];

impl Lowering<'_> {
    pub(super) fn plpgsql_block(&mut self, block: &Block) {
        for declaration in &block.declarations {
            let value = match &declaration.default {
                Some(default) => self.expression(default),
                None => Value::Null,
            };
            if self.is_record(declaration.place) {
                self.forget(declaration.place);
                continue;
            }
            let variable = self.place(declaration.place, None);
            self.emit(Step::Let(variable, value));
        }
        let label = self.label();
        self.routine.labels.push((block.label.clone(), label, false));
        let (body, ()) = self.block_of(|lowering| lowering.statements(&block.body));
        let steps = match &block.handlers {
            None => body,
            Some(handlers) => {
                let each = handlers.list.iter().map(|handler| {
                    let catches = |errors: &[SqlState]| handler.conditions.iter().any(|one| catches(one, errors));
                    let (body, ()) = self.block_of(|lowering| {
                        lowering.forget(handlers.state);
                        lowering.forget(handlers.message);
                        lowering.statements(&handler.body);
                    });
                    Handler { violations: catches(&VIOLATIONS), conflicts: catches(&CONFLICTS), body }
                });
                let handlers = each.collect();
                vec![Step::Try { origin: self.origin.clone(), body, handlers }]
            }
        };
        self.routine.labels.pop();
        self.emit(Step::Within(label, steps));
    }

    pub(super) fn jump(&mut self, again: bool, name: Option<&str>, condition: Option<&Expression>) {
        let condition = condition.map(|condition| self.expression(condition));
        let found = self.routine.labels.iter().rev().find(|(label, _, is_loop)| match name {
            Some(name) => label.as_deref() == Some(name),
            None => *is_loop,
        });
        let Some((_, label, _)) = found else { return self.havoc("a jump to a place that is not known") };
        let step = if again { Step::Again(*label) } else { Step::Leave(*label) };
        let origin = self.origin.clone();
        match condition {
            None => self.emit(step),
            Some(condition) => self.emit(Step::If { origin, condition, then: vec![step], otherwise: Vec::new() }),
        }
    }

    pub(super) fn looped(&mut self, looped: &Loop) {
        let row = match &looped.over {
            Over::Rows { rows, .. } => {
                // Rows are fetched as the loop goes on: what is not reached is not looked at.
                let (block, row) = self.block_of(|lowering| lowering.rows(rows));
                self.optional(block);
                row
            }
            Over::Range { from, to, step, .. } => {
                [from, to].into_iter().chain(step).for_each(|bound| _ = self.expression(bound));
                Vec::new()
            }
            Over::Array { array, .. } => {
                self.expression(array);
                Vec::new()
            }
            Over::Cursor { cursor, arguments, .. } => {
                arguments.iter().for_each(|(_, value)| _ = self.expression(value));
                self.fetch(*cursor);
                Vec::new()
            }
            Over::Forever | Over::While(_) => Vec::new(),
        };
        let label = self.label();
        let (body, ()) = self.block_of(|lowering| {
            match &looped.over {
                Over::While(condition) => {
                    let condition = lowering.expression(condition);
                    let origin = lowering.origin.clone();
                    let otherwise = vec![Step::Leave(label)];
                    lowering.emit(Step::If { origin, condition, then: Vec::new(), otherwise });
                }
                Over::Range { place, .. } | Over::Cursor { place, .. } => lowering.forget(*place),
                Over::Rows { targets, .. } => lowering.assign_row(targets, &row),
                Over::Array { targets, .. } => lowering.forget_targets(targets.iter()),
                Over::Forever => {}
            }
            lowering.routine.labels.push((looped.label.clone(), label, true));
            lowering.statements(&looped.body);
            lowering.routine.labels.pop();
        });
        self.emit(Step::Loop(label, body));
        if matches!(looped.over, Over::Rows { .. } | Over::Range { .. } | Over::Array { .. } | Over::Cursor { .. }) {
            self.set_found(Value::opaque("whether the loop was run"));
        }
    }

    /// What a cursor looks at, it looks at when rows are fetched from it, in the statement of OPEN or of FETCH.
    pub(super) fn open(&mut self, cursor: usize, of: &Opened) {
        let (block, ()) = self.block_of(|lowering| match of {
            Opened::Rows(rows) => _ = lowering.rows(rows),
            Opened::Bound(arguments) => {
                arguments.iter().for_each(|(_, value)| _ = lowering.expression(value));
                lowering.fetch(cursor);
            }
        });
        self.optional(block);
    }

    /// A cursor is fetched from. What one does that was opened for a query of its own is not known here.
    pub(super) fn fetch(&mut self, cursor: usize) {
        let around = self.origin.clone();
        self.origin = self.because(Cause::Cursor);
        match self.routine.body.variables[cursor].cursor.clone() {
            Some(declared) => {
                let (block, ()) = self.block_of(|lowering| lowering.sql(&declared.query, None));
                self.optional(block);
            }
            None => self.havoc("rows of a cursor that is opened elsewhere"),
        }
        self.origin = around;
    }

    /// Steps of which each statement may do less than it says, or nothing.
    fn optional(&mut self, mut block: Vec<Step>) {
        self.nothing_is_sure(&block);
        block.retain(|step| !matches!(step, Step::Let(..)));
        let label = self.label();
        self.emit(Step::Loop(label, block));
    }

    fn nothing_is_sure(&mut self, block: &[Step]) {
        for step in block {
            match step {
                Step::Access(id) => {
                    let access = self.at(*id);
                    access.must_read.give_up();
                    access.must_write.give_up();
                    access.surely_looks = false;
                    if let crate::ir::Rows::Where { picked, .. } = &mut access.rows {
                        picked.also("only rows that are fetched");
                    }
                }
                Step::Statement(_, inner) | Step::Loop(_, inner) | Step::Within(_, inner) => {
                    self.nothing_is_sure(inner)
                }
                Step::If { then, otherwise, .. } => {
                    self.nothing_is_sure(then);
                    self.nothing_is_sure(otherwise);
                }
                Step::Try { body, handlers, .. } => {
                    self.nothing_is_sure(body);
                    handlers.iter().for_each(|handler| self.nothing_is_sure(&handler.body));
                }
                _ => {}
            }
        }
    }
}

/// Whether one of these errors is caught.
fn catches(condition: &Condition, errors: &[SqlState]) -> bool {
    use skew_sql::plpgsql::conditions;
    let is_one = |caught: &str| errors.iter().any(|error| conditions::matches(caught, error.0));
    match condition {
        Condition::Named(name) => conditions::states(name).any(is_one),
        Condition::State(state) => is_one(state),
        Condition::Others => true,
    }
}
