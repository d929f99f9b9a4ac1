//! Running statements: blocks and their handlers, control flow.

use crate::error::{Result, SqlError, SqlState};
use crate::exec::Context;
use crate::plpgsql::ast::{Condition, ExpressionKind};
use crate::plpgsql::bound::{Block, CaseOperand, Expression, Handler, Handlers, Statement, StatementKind};
use crate::plpgsql::conditions;
use crate::plpgsql::machine::{Flow, Machine};
use crate::storage::site::Position;
use crate::types::{Datum, Type, kind};

impl Machine<'_, '_> {
    /// Runs statements until one of them jumps.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Result<Flow> {
        for statement in statements {
            let flow = self.statement(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow> {
        let around = self.at;
        self.at = Position { line: statement.line, doing: doing(&statement.kind) };
        self.world.check_cancelled()?;
        // The statement before is over: nobody has to keep for it what a function changes that this one calls.
        self.world.looks_at = Default::default();
        let flow = self.one(&statement.kind)?;
        // After an error it stays where that happened.
        self.at = around;
        Ok(flow)
    }

    fn one(&mut self, kind: &StatementKind) -> Result<Flow> {
        match kind {
            StatementKind::Block(block) => self.block(block),
            StatementKind::Assign { target, value } => {
                let (value, typed) = self.eval(value)?;
                self.assign(target, value, typed)?;
                Ok(Flow::Next)
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.is_true(condition)? {
                        return self.statements(body);
                    }
                }
                self.statements(otherwise)
            }
            StatementKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_ref(), branches, otherwise.as_deref())
            }
            StatementKind::Loop(looped) => self.run_loop(looped),
            StatementKind::Jump { again, label, condition } => {
                if let Some(condition) = condition
                    && !self.is_true(condition)?
                {
                    return Ok(Flow::Next);
                }
                Ok(if *again { Flow::Continue(label.clone()) } else { Flow::Exit(label.clone()) })
            }
            StatementKind::Return(value) => self.return_value(value.as_ref()),
            other => {
                self.effect(other)?;
                Ok(Flow::Next)
            }
        }
    }

    /// Statements after which the next one follows.
    fn effect(&mut self, kind: &StatementKind) -> Result<()> {
        match kind {
            StatementKind::ReturnNext(value) => self.return_next(value.as_ref()),
            StatementKind::ReturnQuery(rows) => self.return_query(rows),
            StatementKind::Raise(raise) => self.raise(raise),
            StatementKind::Assert { condition, message } => self.assert(condition, message.as_ref()),
            StatementKind::Perform(sql) => self.perform(sql),
            StatementKind::Execute { command, into } => self.execute(command, into.as_ref()),
            StatementKind::Sql { sql, into } => self.sql(sql, into.as_ref()),
            StatementKind::Utility { text, statement } => self.utility(text, statement),
            StatementKind::Call { text, call, scope, outs, .. } => self.call(text, call, scope, outs),
            StatementKind::Diagnostics { stacked, items } => self.diagnostics(*stacked, items),
            StatementKind::Open { cursor, scroll, of } => self.open(*cursor, *scroll, of),
            StatementKind::Fetch { cursor, direction, count, into } => {
                self.fetch(*cursor, *direction, count.as_ref(), into.as_deref())
            }
            StatementKind::Close(cursor) => self.close(*cursor),
            StatementKind::Commit { chain } => self.end_transaction(true, *chain),
            StatementKind::Rollback { chain } => self.end_transaction(false, *chain),
            _ => Ok(()),
        }
    }

    /// A block: its variables, its statements, and what happens when one of them fails.
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow> {
        self.initialize(block)?;
        let flow = match &block.handlers {
            None => self.statements(&block.body)?,
            Some(handlers) => self.guarded(block, handlers)?,
        };
        Ok(match flow {
            // EXIT of a block goes to its end.
            Flow::Exit(Some(label)) if block.label.as_deref() == Some(label.as_str()) => Flow::Next,
            flow => flow,
        })
    }

    fn initialize(&mut self, block: &Block) -> Result<()> {
        let around = self.at;
        for declaration in &block.declarations {
            self.at =
                Position { line: declaration.line, doing: "during statement block local variable initialization" };
            let typed = self.program.variables[declaration.place].typed;
            self.put(declaration.place, Datum::Null);
            match &declaration.default {
                Some(default) => {
                    let (value, from) = self.eval(default)?;
                    self.assign_whole(declaration.place, value, from)?;
                }
                // A domain may not like NULL.
                None if kind::is_domain(typed.ty, &self.world.catalog) => {
                    self.assign_whole(declaration.place, Datum::Null, typed)?;
                }
                None => {}
            }
        }
        self.at = around;
        Ok(())
    }

    fn guarded(&mut self, block: &Block, handlers: &Handlers) -> Result<Flow> {
        let frames = self.world.frames.len();
        let params = self.world.params.clone();
        let place = self.world.enter_block()?;
        let around = self.at;
        self.guarded += 1;
        let result = self.statements(&block.body);
        self.guarded -= 1;
        let error = match result {
            Ok(flow) => {
                self.world.leave_block(place);
                return Ok(flow);
            }
            Err(error) => error,
        };
        let error = error.within(self.context());
        let handler = handlers.list.iter().find(|handler| fits(handler, &error.fields().code));
        let Some(handler) = handler else { return Err(Self::taken_back(error)) };
        self.at = around;
        self.world.frames.truncate(frames);
        self.world.params = params;
        self.world.come_back_to(place)?;
        self.world.leave_block(place);
        self.put(handlers.state, Datum::text(&error.fields().code));
        self.put(handlers.message, Datum::text(&error.fields().message));
        self.handled.push(error);
        let flow = self.statements(&handler.body);
        self.handled.pop();
        flow
    }

    /// The error without the context line of this body, which is added again when it leaves it.
    fn taken_back(error: SqlError) -> SqlError {
        error.without_last_context()
    }

    fn case(
        &mut self,
        operand: Option<&CaseOperand>,
        branches: &[(Vec<Expression>, Vec<Statement>)],
        otherwise: Option<&[Statement]>,
    ) -> Result<Flow> {
        let operand = match operand {
            Some(operand) => Some(self.eval(&operand.value)?),
            None => None,
        };
        for (values, body) in branches {
            for value in values {
                let taken = match &operand {
                    None => self.is_true(value)?,
                    Some((operand, typed)) => self.equals(operand, *typed, value)?,
                };
                if taken {
                    return self.statements(body);
                }
            }
        }
        match otherwise {
            Some(body) => self.statements(body),
            None => {
                let error = SqlError::new(SqlState::CASE_NOT_FOUND, "case not found");
                Err(error.hint("CASE statement is missing ELSE part."))
            }
        }
    }

    /// Whether CASE's operand equals a value, by the `=` of their types.
    fn equals(&mut self, operand: &Datum, typed: crate::types::Typed, value: &Expression) -> Result<bool> {
        let literal = is_string(&value.syntax);
        let (value, from) = self.eval(value)?;
        let from = if literal { Type::UNKNOWN.into() } else { from };
        if operand.is_null() || value.is_null() {
            return Ok(false);
        }
        let catalog = self.world.catalog.clone();
        let common = if from.ty == typed.ty {
            typed.ty
        } else {
            crate::functions::resolve::common_type("CASE", &[typed.ty, from.ty], &catalog)?
        };
        let left = self.convert(operand.clone(), typed, common.into())?;
        let right = self.convert(value, from, common.into())?;
        Ok(crate::types::compare::equal(&left, &right, common))
    }

    fn assert(&mut self, condition: &Expression, message: Option<&Expression>) -> Result<()> {
        if crate::settings::show(&self.world.session.settings, "plpgsql.check_asserts").is_ok_and(|on| on == "off") {
            return Ok(());
        }
        if matches!(self.eval_as(condition, Type::BOOL.into())?, Datum::Bool(true)) {
            return Ok(());
        }
        let said = match message {
            Some(message) => self.eval_text(message)?,
            None => None,
        };
        Err(SqlError::new(SqlState::ASSERT_FAILURE, said.unwrap_or_else(|| "assertion failed".to_owned())))
    }
}

/// Whether an expression is a string without a type.
fn is_string(syntax: &ExpressionKind) -> bool {
    use crate::parse::ast::{Expr, Value};
    let ExpressionKind::Simple(expr) = syntax else { return false };
    matches!(&**expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

fn fits(handler: &Handler, state: &str) -> bool {
    handler.conditions.iter().any(|condition| match condition {
        // Somebody wants the statement to stop, or the program is wrong.
        Condition::Others => state != SqlState::QUERY_CANCELED.0 && state != SqlState::ASSERT_FAILURE.0,
        Condition::State(known) => conditions::matches(known, state),
        Condition::Named(name) => conditions::states(name).any(|known| conditions::matches(known, state)),
    })
}

/// What error contexts say about a statement.
fn doing(kind: &StatementKind) -> &'static str {
    use crate::plpgsql::bound::{Over, Rows};
    match kind {
        StatementKind::Block(_) => "at statement block",
        StatementKind::Assign { .. } => "at assignment",
        StatementKind::If { .. } => "at IF",
        StatementKind::Case { .. } => "at CASE",
        StatementKind::Loop(looped) => match &looped.over {
            Over::Forever => "at LOOP",
            Over::While(_) => "at WHILE",
            Over::Range { .. } => "at FOR with integer loop variable",
            Over::Rows { rows: Rows::Query(_), .. } => "at FOR over SELECT rows",
            Over::Rows { rows: Rows::Execute(_), .. } => "at FOR over EXECUTE statement",
            Over::Cursor { .. } => "at FOR over cursor",
            Over::Array { .. } => "at FOREACH over array",
        },
        StatementKind::Jump { again: true, .. } => "at CONTINUE",
        StatementKind::Jump { .. } => "at EXIT",
        StatementKind::Return(_) => "at RETURN",
        StatementKind::ReturnNext(_) => "at RETURN NEXT",
        StatementKind::ReturnQuery(_) => "at RETURN QUERY",
        StatementKind::Raise(_) => "at RAISE",
        StatementKind::Assert { .. } => "at ASSERT",
        StatementKind::Perform(_) => "at PERFORM",
        StatementKind::Execute { .. } => "at EXECUTE",
        StatementKind::Sql { .. } | StatementKind::Utility { .. } => "at SQL statement",
        StatementKind::Call { .. } => "at CALL",
        StatementKind::Diagnostics { stacked: true, .. } => "at GET STACKED DIAGNOSTICS",
        StatementKind::Diagnostics { .. } => "at GET DIAGNOSTICS",
        StatementKind::Null => "at NULL",
        StatementKind::Open { .. } => "at OPEN",
        StatementKind::Fetch { into: None, .. } => "at MOVE",
        StatementKind::Fetch { .. } => "at FETCH",
        StatementKind::Close(_) => "at CLOSE",
        StatementKind::Commit { .. } => "at COMMIT",
        StatementKind::Rollback { .. } => "at ROLLBACK",
    }
}
