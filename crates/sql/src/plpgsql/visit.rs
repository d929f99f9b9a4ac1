//! Everything in a body that works out a value or does something to the database, one part after the other.

use crate::parse;
use crate::plpgsql::bound::{
    Block, BoundCall, Dynamic, Expression, Known, Opened, Over, Program, Raised, Rows, Sql, Statement, StatementKind,
    Step, Target,
};

/// A part of a body.
#[derive(Clone, Copy, Debug)]
pub enum Part<'p> {
    /// A value.
    Value(&'p Expression),
    /// A query or a change.
    Sql(&'p Sql),
    /// CALL
    Call(&'p Known<BoundCall>),
    /// A statement that is neither a query nor a change.
    Utility(&'p parse::Statement),
    /// A command that is made while running; its text and its values are parts of their own.
    Dynamic,
}

impl Program {
    /// Calls with each part, whether or not a run comes to it.
    pub fn parts<'p>(&'p self, visit: &mut dyn FnMut(Part<'p>)) {
        for cursor in self.variables.iter().filter_map(|variable| variable.cursor.as_ref()) {
            visit(Part::Sql(&cursor.query));
        }
        Visitor { visit }.block(&self.block);
    }
}

struct Visitor<'p, 'v> {
    visit: &'v mut dyn FnMut(Part<'p>),
}

impl<'p> Visitor<'p, '_> {
    fn value(&mut self, value: &'p Expression) {
        (self.visit)(Part::Value(value));
    }

    fn values(&mut self, values: impl IntoIterator<Item = &'p Expression>) {
        values.into_iter().for_each(|value| self.value(value));
    }

    fn block(&mut self, block: &'p Block) {
        self.values(block.declarations.iter().filter_map(|declared| declared.default.as_ref()));
        self.statements(&block.body);
        for handler in block.handlers.iter().flat_map(|handlers| &handlers.list) {
            self.statements(&handler.body);
        }
    }

    fn statements(&mut self, statements: &'p [Statement]) {
        statements.iter().for_each(|statement| self.statement(&statement.kind));
    }

    fn statement(&mut self, kind: &'p StatementKind) {
        match kind {
            StatementKind::Block(block) => self.block(block),
            StatementKind::Assign { target, value } => {
                self.value(value);
                self.target(target);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.value(condition);
                    self.statements(body);
                }
                self.statements(otherwise);
            }
            StatementKind::Case { operand, branches, otherwise } => {
                self.values(operand.iter().map(|operand| &operand.value));
                for (values, body) in branches {
                    self.values(values);
                    self.statements(body);
                }
                otherwise.iter().for_each(|body| self.statements(body));
            }
            StatementKind::Loop(looped) => {
                self.over(&looped.over);
                self.statements(&looped.body);
            }
            StatementKind::Jump { condition: value, .. }
            | StatementKind::Return(value)
            | StatementKind::ReturnNext(value) => self.values(value),
            StatementKind::ReturnQuery(rows) => self.rows(rows),
            StatementKind::Raise(raise) => {
                if let Some(Raised::Message(_, arguments)) = &raise.what {
                    self.values(arguments);
                }
                self.values(raise.options.iter().map(|(_, value)| value));
            }
            StatementKind::Assert { condition, message } => {
                self.value(condition);
                self.values(message);
            }
            StatementKind::Perform(sql) => (self.visit)(Part::Sql(sql)),
            StatementKind::Execute { command, into } => {
                self.dynamic(command);
                into.iter().flat_map(|into| &into.targets).for_each(|target| self.target(target));
            }
            StatementKind::Sql { sql, into } => {
                (self.visit)(Part::Sql(sql));
                into.iter().flat_map(|into| &into.targets).for_each(|target| self.target(target));
            }
            StatementKind::Open { of, .. } => match of {
                Opened::Bound(arguments) => self.values(arguments.iter().map(|(_, value)| value)),
                Opened::Rows(rows) => self.rows(rows),
            },
            StatementKind::Fetch { count, into, .. } => {
                self.values(count);
                into.iter().flatten().for_each(|target| self.target(target));
            }
            StatementKind::Diagnostics { items, .. } => items.iter().for_each(|(target, _)| self.target(target)),
            StatementKind::Call { known, .. } => (self.visit)(Part::Call(known)),
            StatementKind::Utility { statement, .. } => (self.visit)(Part::Utility(statement)),
            StatementKind::Null
            | StatementKind::Close(_)
            | StatementKind::Commit { .. }
            | StatementKind::Rollback { .. } => {}
        }
    }

    fn over(&mut self, over: &'p Over) {
        match over {
            Over::Forever => {}
            Over::While(condition) => self.value(condition),
            Over::Range { from, to, step, .. } => {
                self.value(from);
                self.value(to);
                self.values(step);
            }
            Over::Rows { targets, rows } => {
                self.rows(rows);
                targets.iter().for_each(|target| self.target(target));
            }
            Over::Cursor { arguments, .. } => self.values(arguments.iter().map(|(_, value)| value)),
            Over::Array { array, .. } => self.value(array),
        }
    }

    fn rows(&mut self, rows: &'p Rows) {
        match rows {
            Rows::Query(sql) => (self.visit)(Part::Sql(sql)),
            Rows::Execute(command) => self.dynamic(command),
        }
    }

    fn dynamic(&mut self, command: &'p Dynamic) {
        (self.visit)(Part::Dynamic);
        self.value(&command.command);
        self.values(&command.using);
    }

    fn target(&mut self, target: &'p Target) {
        for step in &target.steps {
            if let Step::Index(index) = step {
                self.value(index);
            }
        }
    }
}
