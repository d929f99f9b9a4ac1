//! SQL in bodies: queries and changes with INTO, PERFORM, EXECUTE, CALL, what changes the schema, and the end of
//! transactions.

use std::sync::Arc;

use crate::bind::Params;
use crate::client::Outcome;
use crate::error::{Result, SqlError, SqlState};
use crate::ir;
use crate::parse;
use crate::plpgsql::bound::{CallTarget, Dynamic, Into, Rows, Scope, Sql, written_back};
use crate::plpgsql::machine::{Answer, Machine, sql_context};
use crate::types::{Datum, Type};

impl Machine<'_, '_> {
    /// A query or a change.
    pub(super) fn sql(&mut self, sql: &Sql, into: Option<&Into>) -> Result<()> {
        let answer = self.run(sql)?;
        let is_query = answer.changed.is_none();
        match into {
            Some(into) => self.into(into, answer, false),
            None if is_query || !answer.columns.is_empty() => {
                let error = SqlError::syntax("query has no destination for result data");
                Err(if is_query {
                    error.hint("If you want to discard the results of a SELECT, use PERFORM instead.")
                } else {
                    error
                })
            }
            None => {
                let changed = answer.changed.unwrap_or(0);
                self.row_count = changed.cast_signed();
                self.put_found(changed > 0);
                Ok(())
            }
        }
    }

    /// Gives the row of an answer to the targets of INTO.
    fn into(&mut self, into: &Into, answer: Answer, dynamic: bool) -> Result<()> {
        let count = answer.rows.len();
        // A change that is written here must return one row at most. A query, and whatever EXECUTE runs, may return more,
        // unless STRICT says otherwise: the first one counts.
        let one = into.strict || (answer.changed.is_some() && !dynamic);
        if count == 0 && into.strict {
            return Err(SqlError::new(SqlState::NO_DATA_FOUND, "query returned no rows"));
        }
        if count > 1 && one {
            let error = SqlError::new(SqlState::TOO_MANY_ROWS, "query returned more than one row");
            let hint = "Make sure the query returns a single row, or use LIMIT 1.";
            return Err(if dynamic { error } else { error.hint(hint) });
        }
        self.row_count = match answer.changed {
            Some(changed) => changed.cast_signed(),
            None => i64::from(count > 0),
        };
        let row = answer.rows.into_iter().next();
        self.put_found(row.is_some());
        self.assign_row(&into.targets, &answer.columns, row)
    }

    /// PERFORM
    pub(super) fn perform(&mut self, sql: &Sql) -> Result<()> {
        let answer = self.run(sql)?;
        self.row_count = answer.rows.len() as i64;
        self.put_found(!answer.rows.is_empty());
        Ok(())
    }

    /// The rows of a query or of a command that is made now.
    pub(super) fn rows_of(&mut self, rows: &Rows) -> Result<Answer> {
        match rows {
            Rows::Query(sql) => self.run(sql),
            Rows::Execute(command) => match self.dynamic(command)? {
                Ran::Rows(answer) => Ok(answer),
                Ran::Done(_) => Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "cannot open a cursor for a command that returns no rows",
                )),
            },
        }
    }

    /// EXECUTE
    pub(super) fn execute(&mut self, command: &Dynamic, into: Option<&Into>) -> Result<()> {
        match (self.dynamic(command)?, into) {
            (Ran::Rows(answer), Some(into)) => {
                let found = self.get(self.program.found);
                let count = answer.changed.map_or(answer.rows.len() as i64, u64::cast_signed);
                self.into(into, answer, true)?;
                // EXECUTE leaves FOUND alone.
                self.row_count = count;
                self.put(self.program.found, found);
            }
            (Ran::Rows(answer), None) => {
                self.row_count = answer.changed.map_or(answer.rows.len() as i64, u64::cast_signed);
            }
            (Ran::Done(_), Some(_)) => {
                return Err(SqlError::syntax("INTO used with a command that cannot return data"));
            }
            (Ran::Done(count), None) => self.row_count = count,
        }
        Ok(())
    }

    /// Runs a command that is made now.
    fn dynamic(&mut self, command: &Dynamic) -> Result<Ran> {
        let Some(text) = self.eval_text(&command.command)? else {
            let message = "query string argument of EXECUTE is null";
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        };
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for value in &command.using {
            let (value, typed) = self.eval(value)?;
            values.push(value);
            types.push(if typed.ty == Type::UNKNOWN { Type::TEXT } else { typed.ty });
        }
        let text: Arc<str> = text.into();
        let within = |error: SqlError| sql_context(error, || format!("SQL statement \"{text}\""));
        let statements = parse::script(&text).map_err(within)?;
        if statements.iter().any(|(_, statement)| ends_something(statement)) {
            let message = "EXECUTE of transaction commands is not implemented";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let mut last = Ran::Done(0);
        for (_, statement) in statements {
            last = self.one_dynamic(&text, &statement, &values, &types).map_err(within)?;
        }
        Ok(last)
    }

    fn one_dynamic(
        &mut self,
        text: &Arc<str>,
        statement: &parse::Statement,
        values: &[Datum],
        types: &[Type],
    ) -> Result<Ran> {
        let parse::Statement::Sql(syntax) = statement else {
            if matches!(statement, parse::Statement::Schema(ddl) if is_select_into(ddl)) {
                return Err(SqlError::unsupported("EXECUTE of SELECT ... INTO")
                    .hint("You might want to use EXECUTE ... INTO or EXECUTE CREATE TABLE ... AS instead."));
            }
            self.utility(text, statement)?;
            return Ok(Ran::Done(self.row_count));
        };
        let path = self.world.path();
        let mut binder = crate::bind::Binder::new(&*self.world, &path).with_params(Params::fixed(types));
        let query = binder.statement(syntax)?;
        let query = self.world.planned(query);
        let params = std::mem::replace(&mut self.world.params, values.to_vec());
        // Variables are not visible in the command.
        self.world.frames.push(Vec::new());
        let answer = self.run_dynamic(text, &query);
        self.world.frames.pop();
        self.world.params = params;
        let answer = answer?;
        if answer.changed.is_some() && answer.columns.is_empty() {
            return Ok(Ran::Done(answer.changed.map_or(0, u64::cast_signed)));
        }
        Ok(Ran::Rows(answer))
    }

    fn run_dynamic(&mut self, text: &Arc<str>, query: &ir::Query) -> Result<Answer> {
        self.run_query(text, query)
    }

    /// A statement that is neither a query nor a change.
    pub(super) fn utility(&mut self, text: &Arc<str>, statement: &parse::Statement) -> Result<()> {
        use parse::Statement as S;
        match statement {
            S::Begin { .. } | S::Savepoint(_) | S::Release(_) | S::RollbackTo(_) => {
                let message = "unsupported transaction command in PL/pgSQL";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            S::Commit { .. } | S::Rollback { .. } => return Err(invalid_termination()),
            S::Copy(_) => return Err(SqlError::unsupported("COPY in PL/pgSQL")),
            _ if !self.is_volatile() => {
                let message = "a command that changes something is not allowed in a non-volatile function";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            _ => {}
        }
        let within = |error: SqlError| sql_context(error, || format!("SQL statement \"{text}\""));
        let params = std::mem::take(&mut self.world.params);
        self.world.frames.push(Vec::new());
        let outcome = self.at_site(Some(text), |machine| machine.world.run_utility(text, statement));
        self.world.frames.pop();
        self.world.params = params;
        match outcome.map_err(within)? {
            Outcome::Rows { rows, .. } => self.row_count = rows.len() as i64,
            _ => self.row_count = 0,
        }
        Ok(())
    }

    /// CALL
    pub(super) fn call(
        &mut self,
        text: &Arc<str>,
        call: &crate::parse::ast::Function,
        scope: &Arc<Scope>,
        outs: &[CallTarget],
    ) -> Result<()> {
        let within = |error: SqlError| sql_context(error, || format!("SQL statement \"{text}\""));
        let (procedure, args) = self.bound_call(scope, call).map_err(within)?;
        let mut values = Vec::with_capacity(args.len());
        for arg in &args {
            values.push(crate::exec::Run::new().eval(self.world, arg, &crate::exec::Tuple::default())?);
        }
        let may_commit = self.may_commit && self.guarded == 0;
        let returned = self.at_site(Some(text), |machine| {
            crate::plpgsql::call::procedure(machine.world, &procedure, values, may_commit)
        });
        let Some(row) = returned.map_err(within)? else { return Ok(()) };
        let mut values = row.into_iter();
        for (n, parameter) in crate::plpgsql::call::called_parameters(&procedure).enumerate() {
            use crate::catalog::ParameterMode as Mode;
            if !matches!(parameter.mode, Mode::Out | Mode::InOut) {
                continue;
            }
            let value = values.next().unwrap_or_default();
            let Some(target) = written_back(outs, n, parameter.name.as_deref()) else {
                let name = parameter.name.as_deref().unwrap_or("");
                let message = format!(
                    "procedure parameter \"{name}\" is an output parameter but corresponding argument is not writable"
                );
                return Err(SqlError::syntax(message));
            };
            self.assign(target, value, parameter.typed)?;
        }
        Ok(())
    }

    /// COMMIT and ROLLBACK
    pub(super) fn end_transaction(&mut self, commit: bool, chain: bool) -> Result<()> {
        if self.guarded > 0 && self.may_commit {
            let what = if commit { "commit" } else { "roll back" };
            let message = format!("cannot {what} while a subtransaction is active");
            return Err(SqlError::new(SqlState::INVALID_TRANSACTION_TERMINATION, message));
        }
        if !self.may_commit {
            return Err(invalid_termination());
        }
        self.world.end_and_begin(commit, chain)
    }
}

/// What a command came to.
enum Ran {
    Rows(Answer),
    /// How many rows it changed.
    Done(i64),
}

/// Whether a statement begins or ends a transaction, or a part of one.
fn ends_something(statement: &parse::Statement) -> bool {
    use parse::Statement as S;
    matches!(
        statement,
        S::Begin { .. } | S::Commit { .. } | S::Rollback { .. } | S::Savepoint(_) | S::Release(_) | S::RollbackTo(_)
    )
}

fn is_select_into(ddl: &parse::ddl::Ddl) -> bool {
    matches!(ddl, parse::ddl::Ddl::CreateTableAs(create) if create.select_into)
}

fn invalid_termination() -> SqlError {
    SqlError::new(SqlState::INVALID_TRANSACTION_TERMINATION, "invalid transaction termination")
}
