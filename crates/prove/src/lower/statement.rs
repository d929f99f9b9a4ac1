//! Statements of PL/pgSQL.

use std::sync::Arc;

use skew_sql::plpgsql::ast::Severity;
use skew_sql::plpgsql::bound::{
    BoundCall, CallTarget, Expression, Into, Raise, Raised, Rows, Sql, Statement, StatementKind, Target, written_back,
};

use super::Lowering;
use super::plan::Slot;
use crate::ir::{Cause, Origin, Step, Value};

/// So many characters of a statement are kept.
const MAX_TEXT: usize = 100;

impl Lowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        let is_called = matches!(self.origin.cause, Cause::Call(_) | Cause::Trigger(_));
        for statement in statements {
            // What a call does stands where the call is.
            if !is_called {
                self.origin.place = statement.line;
            }
            self.statement(statement);
        }
    }

    /// From now on the program does this.
    pub(super) fn does(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut line = words.join(" ");
        if line.chars().count() > MAX_TEXT {
            line = line.chars().take(MAX_TEXT).chain(['…']).collect();
        }
        self.origin = Origin { text: Arc::from(line), ..self.origin.clone() };
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Block(block) => self.plpgsql_block(block),
            StatementKind::Assign { target, value } => {
                let value = self.expression(value);
                self.assign(target, value);
            }
            StatementKind::If { branches, otherwise } => {
                let branches: Vec<_> =
                    branches.iter().map(|(one, body)| (std::slice::from_ref(one), &body[..])).collect();
                self.branches(&branches, Some(otherwise), None);
            }
            StatementKind::Case { operand, branches, otherwise } => {
                let value = operand.as_ref().map(|operand| self.expression(&operand.value));
                let value = value.map(|value| self.once("case", value));
                let branches: Vec<_> = branches.iter().map(|(all, body)| (&all[..], &body[..])).collect();
                self.branches(&branches, otherwise.as_deref(), value.as_ref());
            }
            StatementKind::Loop(looped) => self.looped(looped),
            StatementKind::Jump { again, label, condition } => self.jump(*again, label.as_deref(), condition.as_ref()),
            StatementKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expression(value));
                let result = self.routine.result;
                value.into_iter().for_each(|value| self.emit(Step::Let(result, value)));
                let end = self.routine.end;
                self.emit(Step::Leave(end));
            }
            StatementKind::ReturnNext(value) => value.iter().for_each(|value| _ = self.expression(value)),
            StatementKind::ReturnQuery(rows) => _ = self.rows(rows),
            StatementKind::Raise(raise) => self.raise(raise),
            StatementKind::Assert { condition, message } => {
                let condition = self.expression(condition);
                message.iter().for_each(|message| self.perhaps(|lowering| _ = lowering.expression(message)));
                let origin = self.origin.clone();
                let otherwise = vec![Step::Fail(origin.clone())];
                self.emit(Step::If { origin, condition, then: Vec::new(), otherwise });
            }
            StatementKind::Perform(sql) => self.sql(sql, None),
            StatementKind::Sql { sql, into } => self.sql(sql, into.as_ref()),
            StatementKind::Execute { command, into } => {
                self.expression(&command.command);
                command.using.iter().for_each(|value| _ = self.expression(value));
                self.havoc("EXECUTE of a command that is made while running");
                self.forget_targets(into.iter().flat_map(|into| &into.targets));
            }
            StatementKind::Call { text, outs, known, .. } => match known.get() {
                Some(call) => self.call_procedure(&call, outs, text),
                None => self.utility(text),
            },
            StatementKind::Utility { text, .. } => self.utility(text),
            StatementKind::Diagnostics { items, .. } => self.forget_targets(items.iter().map(|(target, _)| target)),
            StatementKind::Open { cursor, of, .. } => self.open(*cursor, of),
            StatementKind::Fetch { cursor, count, into, .. } => {
                count.iter().for_each(|count| _ = self.expression(count));
                self.fetch(*cursor);
                self.forget_targets(into.iter().flatten());
                self.set_found(Value::opaque("whether there was a row"));
            }
            StatementKind::Commit { .. } | StatementKind::Rollback { .. } => {
                let origin = self.origin.clone();
                self.emit(Step::Ends(origin));
            }
            StatementKind::Null | StatementKind::Close(_) => {}
        }
    }

    /// A condition or a value that stands alone: a statement of its own, if it looks at anything.
    pub(super) fn expression(&mut self, expression: &Expression) -> Value {
        self.does(&expression.text);
        match expression.bound() {
            Some(bound) => self.statement_of(|lowering| {
                let value = lowering.value(&bound.expr, None, true);
                if value.is_one() { value } else { lowering.once("value", value) }
            }),
            None => {
                self.havoc(format!("`{}` is not bound: {}", expression.text, expression.refused().unwrap_or_default()));
                Value::opaque("what is not bound")
            }
        }
    }

    fn branches(&mut self, branches: &[(&[Expression], &[Statement])], last: Option<&[Statement]>, of: Option<&Value>) {
        let Some(((conditions, body), rest)) = branches.split_first() else {
            match last {
                Some(body) => self.statements(body),
                // CASE without ELSE that no branch takes.
                None => self.fail(),
            }
            return;
        };
        // What the later conditions look at is looked at only if the first one is not true.
        let condition = match conditions {
            [one] => self.expression(one),
            several => {
                let each: Vec<Value> = several.iter().map(|one| self.perhaps_value(one)).collect();
                Value::Apply(crate::ir::Function::Or, each)
            }
        };
        // A WHEN beside an operand was bound to a comparison with the variable that holds it.
        let condition = if of.is_some() { Value::opaque("which WHEN it is") } else { condition };
        let origin = self.origin.clone();
        let (then, ()) = self.block_of(|lowering| lowering.statements(body));
        let (otherwise, ()) = self.block_of(|lowering| lowering.branches(rest, last, of));
        self.emit(Step::If { origin, condition, then, otherwise });
    }

    fn perhaps_value(&mut self, expression: &Expression) -> Value {
        let (block, value) = self.block_of(|lowering| lowering.expression(expression));
        if block.is_empty() {
            return value;
        }
        let label = self.label();
        self.emit(Step::Loop(label, block));
        Value::opaque("a condition that is perhaps not evaluated")
    }

    pub(super) fn fail(&mut self) {
        let origin = self.origin.clone();
        self.emit(Step::Fail(origin));
    }

    fn raise(&mut self, raise: &Raise) {
        if let Some(Raised::Message(_, arguments)) = &raise.what {
            arguments.iter().for_each(|argument| _ = self.expression(argument));
        }
        raise.options.iter().for_each(|(_, value)| _ = self.expression(value));
        if raise.level == Severity::Exception {
            self.fail();
        }
    }

    /// A command that is neither a query nor a change.
    fn utility(&mut self, text: &str) {
        self.does(text);
        self.havoc(format!("`{}`", self.origin.text));
        let places: Vec<_> = self.routine.places.values().copied().collect();
        for place in places {
            self.emit(Step::Let(place, Value::opaque("after a command")));
        }
    }

    fn call_procedure(&mut self, call: &BoundCall, outs: &[CallTarget], text: &str) {
        self.does(text);
        let mut args = self.statement_of(|lowering| {
            let args = call.args.iter().map(|arg| lowering.value(arg, None, true)).collect::<Vec<_>>();
            args.into_iter()
                .map(|arg| if arg.is_one() { arg } else { lowering.once("argument", arg) })
                .collect::<Vec<_>>()
        });
        let procedure = &call.procedure;
        let modes = procedure.parameters.iter().map(|parameter| parameter.mode);
        let mut modes = modes.map(|mode| mode != skew_sql::catalog::ParameterMode::Out);
        args.retain(|_| modes.next().unwrap_or(true));
        let given = self.enter(procedure, None, args).map(|(_, outs)| outs);
        for (at, number) in Self::given_back(procedure).into_iter().enumerate() {
            let name = procedure.parameters[number].name.as_deref();
            let Some(target) = written_back(outs, at, name) else { continue };
            let value = given.as_ref().and_then(|given| given.get(at)).cloned();
            self.assign(target, value.unwrap_or_else(|| Value::opaque("an OUT parameter")));
        }
    }

    /// A query or a change, and what its first row is put into.
    pub(super) fn sql(&mut self, sql: &Sql, into: Option<&Into>) {
        self.does(&sql.text);
        let Some(bound) = sql.bound() else {
            self.havoc(format!("`{}` is not bound: {}", sql.text, sql.refused().unwrap_or_default()));
            self.forget_targets(into.iter().flat_map(|into| &into.targets));
            return self.set_found(Value::opaque("whether there was a row"));
        };
        let (slots, found) = self.statement_of(|lowering| {
            let slots = lowering.plan(&bound.query.plan, None, true);
            let found = lowering.gives_row(&bound.query.plan);
            (lowering.kept(slots), found)
        });
        let found = self.once("found", found);
        if let Some(into) = into {
            let values = match slots.into_iter().next() {
                Some(Slot::Values(values)) => values,
                _ => Vec::new(),
            };
            let origin = self.origin.clone();
            let (then, ()) = self.block_of(|lowering| lowering.assign_row(&into.targets, &values));
            let nulls = vec![Value::Null; bound.query.columns.len()];
            let (otherwise, ()) = self.block_of(|lowering| match into.strict {
                true => lowering.fail(),
                false => lowering.assign_row(&into.targets, &nulls),
            });
            self.emit(Step::If { origin, condition: found.clone(), then, otherwise });
        }
        self.set_found(found);
    }

    /// Values of a statement that stay the same after it.
    fn kept(&mut self, slots: Vec<Slot>) -> Vec<Slot> {
        let keep = |lowering: &mut Self, value: Value| match value.is_one() {
            true => value,
            false => lowering.once("value", value),
        };
        let slots = slots.into_iter().map(|slot| match slot {
            Slot::Values(values) => Slot::Values(values.into_iter().map(|value| keep(self, value)).collect()),
            row => row,
        });
        slots.collect()
    }

    pub(super) fn set_found(&mut self, value: Value) {
        let found = self.place(self.routine.body.found, None);
        self.emit(Step::Let(found, value));
    }

    /// The rows that something is done for: their values, different ones each time.
    pub(super) fn rows(&mut self, rows: &Rows) -> Vec<Value> {
        match rows {
            Rows::Query(sql) => {
                self.sql(sql, None);
                let columns = sql.bound().map_or(0, |bound| bound.query.columns.len());
                vec![Value::opaque("a column of a row"); columns]
            }
            Rows::Execute(command) => {
                self.expression(&command.command);
                command.using.iter().for_each(|value| _ = self.expression(value));
                self.havoc("EXECUTE of a command that is made while running");
                Vec::new()
            }
        }
    }

    /// The columns of a row are put into variables, or into the fields of a record.
    pub(super) fn assign_row(&mut self, targets: &[Target], values: &[Value]) {
        if let [target] = targets
            && target.steps.is_empty()
            && self.is_record(target.place)
        {
            self.forget(target.place);
            for (field, value) in values.iter().enumerate() {
                let variable = self.place(target.place, Some(field));
                self.emit(Step::Let(variable, value.clone()));
            }
            return;
        }
        for (at, target) in targets.iter().enumerate() {
            let value = values.get(at).cloned().unwrap_or_else(|| Value::opaque("a column"));
            self.assign(target, value);
        }
    }

    pub(super) fn assign(&mut self, target: &Target, value: Value) {
        if !target.steps.is_empty() || self.is_record(target.place) {
            return self.forget(target.place);
        }
        let variable = self.place(target.place, None);
        // A conversion to the variable's type may change the value.
        let converted = self.converted(target.place, value);
        self.emit(Step::Let(variable, converted));
    }

    fn converted(&self, place: usize, value: Value) -> Value {
        let typed = self.routine.body.variables[place].typed;
        let is_plain = |ty| crate::summary::values::is_integer(ty) || ty == skew_sql::types::Type::BOOL;
        let keeps = is_plain(typed.ty) || typed.modifier == -1;
        let is_domain = self.schema.catalog.user_type(typed.ty).is_some();
        if keeps && !is_domain { value } else { Value::opaque("a converted value") }
    }

    pub(super) fn forget_targets<'t>(&mut self, targets: impl Iterator<Item = &'t Target>) {
        targets.for_each(|target| self.forget(target.place));
    }

    /// A variable holds anything from now on.
    pub(super) fn forget(&mut self, place: usize) {
        let fields: Vec<_> =
            self.routine.places.keys().filter(|(known, _)| *known == place).map(|(_, field)| *field).collect();
        for field in fields.into_iter().chain([None]) {
            let variable = self.place(place, field);
            self.emit(Step::Let(variable, Value::opaque("a value that is not followed")));
        }
    }
}
