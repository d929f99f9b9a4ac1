//! RAISE and GET DIAGNOSTICS.

use crate::budget;
use crate::client::Message;
use crate::error::{Result, SqlError, SqlState};
use crate::plpgsql::ast::{Diagnostic, RaiseOption, Severity};
use crate::plpgsql::bound::{Raise, Raised, Target};
use crate::plpgsql::conditions;
use crate::plpgsql::machine::Machine;
use crate::settings;
use crate::types::{Datum, Type};

impl Machine<'_, '_> {
    /// RAISE
    pub(super) fn raise(&mut self, raise: &Raise) -> Result<()> {
        let Some(what) = &raise.what else {
            return Err(match self.handled.last() {
                Some(error) => error.clone(),
                None => SqlError::new(
                    SqlState("0Z002"),
                    "RAISE without parameters cannot be used outside an exception handler",
                ),
            });
        };
        let (mut state, mut message) = (None, None);
        match what {
            Raised::Message(format, arguments) => message = Some(self.formatted(format, arguments)?),
            Raised::Condition { name, state: known } => {
                state = Some(known.clone());
                message = Some(name.clone());
            }
            Raised::Options => {}
        }
        let by_name = matches!(what, Raised::Condition { .. });
        let mut said = Vec::new();
        for (option, value) in &raise.options {
            let Some(text) = self.eval_text(value)? else {
                let error = "RAISE statement option cannot be null";
                return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, error));
            };
            let twice = match option {
                RaiseOption::ErrorCode => state.is_some(),
                RaiseOption::Message => message.is_some() && !by_name,
                _ => said.iter().any(|(known, _)| known == option),
            };
            if twice {
                let word = RaiseOption::ALL.iter().find(|(_, known)| known == option).map_or("", |(word, _)| word);
                return Err(SqlError::syntax(format!("RAISE option already specified: {}", word.to_uppercase())));
            }
            match option {
                RaiseOption::ErrorCode => state = Some(self.state_of(&text)?),
                RaiseOption::Message => message = Some(text),
                _ => said.push((*option, text)),
            }
        }
        let is_error = raise.level == Severity::Exception;
        let state = state.unwrap_or_else(|| match raise.level {
            Severity::Exception => SqlState::RAISE_EXCEPTION.0.to_owned(),
            Severity::Warning => SqlState::WARNING.0.to_owned(),
            _ => SqlState::SUCCESSFUL_COMPLETION.0.to_owned(),
        });
        let mut raised = SqlError::with_code(state.clone(), message.unwrap_or(state));
        for (option, text) in said {
            raised = match option {
                RaiseOption::Detail => raised.detail(text),
                RaiseOption::Hint => raised.hint(text),
                RaiseOption::Column => raised.column(text),
                RaiseOption::Constraint => raised.constraint(text),
                RaiseOption::DataType => raised.data_type(text),
                RaiseOption::Table => raised.table(text),
                RaiseOption::Schema => raised.schema(text),
                RaiseOption::Message | RaiseOption::ErrorCode => raised,
            };
        }
        if is_error {
            return Err(raised);
        }
        self.tell(raise.level, raised);
        Ok(())
    }

    /// Tells the client, if it wants to hear messages of this kind.
    fn tell(&mut self, level: Severity, message: SqlError) {
        let least = settings::show(&self.world.session.settings, "client_min_messages").unwrap_or_default();
        // LOG ranks between DEBUG and NOTICE for clients.
        let rank = |name: &str| match name {
            "debug5" | "debug4" | "debug3" | "debug2" | "debug1" | "debug" => 1,
            "log" => 2,
            "notice" => 3,
            "warning" => 4,
            _ => 5,
        };
        let wanted = level == Severity::Info || rank(&level.name().to_lowercase()) >= rank(&least);
        if wanted {
            let message = message.within(self.whole_context());
            // Messages wait until the statement is over.
            let bytes = 500 + message.fields().message.len();
            self.kept.add(bytes).unwrap_or_else(budget::give_up);
            self.world.session.messages.push(Message::Notice(level.name(), message));
        }
    }

    /// A message with its `%`s filled in.
    fn formatted(&mut self, format: &str, arguments: &[crate::plpgsql::bound::Expression]) -> Result<String> {
        let mut out = String::with_capacity(format.len());
        let mut arguments = arguments.iter();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            match arguments.next() {
                Some(argument) => {
                    let text = self.eval_text(argument)?;
                    out.push_str(text.as_deref().unwrap_or("<NULL>"));
                }
                None => out.push('%'),
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The state that ERRCODE names: five characters, or a condition.
    fn state_of(&self, text: &str) -> Result<String> {
        let is_state = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if is_state {
            return Ok(text.to_owned());
        }
        conditions::states(text).next().map(str::to_owned).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized exception condition \"{text}\""))
        })
    }

    /// GET DIAGNOSTICS
    pub(super) fn diagnostics(&mut self, stacked: bool, items: &[(Target, Diagnostic)]) -> Result<()> {
        let handled = self.handled.last().cloned();
        if stacked && handled.is_none() {
            let message = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler";
            return Err(SqlError::with_code("0Z002", message));
        }
        for (target, item) in items {
            let text = |text: Option<&String>| Datum::text(text.map_or("", String::as_str));
            let fields = handled.as_ref().map(SqlError::fields);
            let (value, ty) = match item {
                Diagnostic::RowCount => (Datum::Int(self.row_count), Type::INT8),
                Diagnostic::RoutineOid => {
                    (Datum::Int(self.function.map_or(0, |function| function.oid).into()), Type::OID)
                }
                Diagnostic::Context => (Datum::text(self.whole_context()), Type::TEXT),
                Diagnostic::ErrorState => (text(fields.map(|fields| &fields.code)), Type::TEXT),
                Diagnostic::ErrorMessage => (text(fields.map(|fields| &fields.message)), Type::TEXT),
                Diagnostic::ErrorDetail => (text(fields.and_then(|fields| fields.detail.as_ref())), Type::TEXT),
                Diagnostic::ErrorHint => (text(fields.and_then(|fields| fields.hint.as_ref())), Type::TEXT),
                Diagnostic::ErrorContext => (text(fields.and_then(|fields| fields.context.as_ref())), Type::TEXT),
                Diagnostic::ColumnName => (text(fields.and_then(|fields| fields.column.as_ref())), Type::TEXT),
                Diagnostic::ConstraintName => (text(fields.and_then(|fields| fields.constraint.as_ref())), Type::TEXT),
                Diagnostic::DataTypeName => (text(fields.and_then(|fields| fields.data_type.as_ref())), Type::TEXT),
                Diagnostic::TableName => (text(fields.and_then(|fields| fields.table.as_ref())), Type::TEXT),
                Diagnostic::SchemaName => (text(fields.and_then(|fields| fields.schema.as_ref())), Type::TEXT),
            };
            self.assign(target, value, ty.into())?;
        }
        Ok(())
    }
}
