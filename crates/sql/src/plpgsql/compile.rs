//! Syntax tree → program: names of variables become places in a frame.

use std::sync::Arc;

use crate::bind::Conflict;
use crate::catalog::{Returns, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::parse;
use crate::parse::ddl::TypeName;
use crate::plpgsql::ast;
use crate::plpgsql::bound::{
    Block, CallTarget, CaseOperand, Declaration, DeclaredCursor, Dynamic, Expression, Handler, Handlers, Into, Loop,
    Opened, Over, Program, Raise, Raised, Rows, Scope, Sql, Statement, StatementKind, Step, Target, TriggerVariables,
    Variable,
};
use crate::plpgsql::named_type;
use crate::plpgsql::parse::near_line;
use crate::storage::World;
use crate::types::{Type, Typed};

/// What a program is made for.
pub(crate) enum Purpose<'a> {
    /// A function or a procedure.
    Function(&'a UserFunction),
    /// A trigger's function, on a table with this row type.
    Trigger(&'a UserFunction, Typed),
    /// DO
    Block,
}

/// Makes a program of a body.
pub(crate) fn program(world: &mut World<'_>, body: &ast::Body, purpose: &Purpose<'_>) -> Result<Program> {
    let result = result_of(purpose);
    let mut compiler = Compiler { world, variables: Vec::new(), labels: Vec::new(), result, line: 1 };
    let name = match purpose {
        Purpose::Function(function) | Purpose::Trigger(function, _) => function.name.to_string(),
        Purpose::Block => "inline_code_block".to_owned(),
    };
    compiler.make(body, purpose, &name).map_err(SqlError::without_position)
}

struct Compiler<'w, 'a> {
    world: &'w mut World<'a>,
    variables: Vec<Variable>,
    /// Labels of the blocks and loops around, and whether each is a loop.
    labels: Vec<(Option<String>, bool)>,
    /// What RETURN may say.
    result: ResultKind,
    /// Where the statement is that is being made.
    line: u32,
}

/// What a body may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ResultKind {
    Nothing,
    Procedure,
    Value,
    Outs,
    Set,
    SetOfOuts,
}

fn result_of(purpose: &Purpose<'_>) -> ResultKind {
    let function = match purpose {
        Purpose::Function(function) | Purpose::Trigger(function, _) => function,
        Purpose::Block => return ResultKind::Nothing,
    };
    use crate::catalog::ParameterMode as Mode;
    let outs = function.parameters.iter().any(|one| matches!(one.mode, Mode::Out | Mode::InOut | Mode::Table));
    match &function.returns {
        _ if function.procedure => ResultKind::Procedure,
        Returns::Set(_) | Returns::Table if outs => ResultKind::SetOfOuts,
        Returns::Set(_) | Returns::Table => ResultKind::Set,
        Returns::One(typed) if typed.ty == Type::VOID => ResultKind::Nothing,
        _ if outs => ResultKind::Outs,
        _ => ResultKind::Value,
    }
}

/// Names being collected for a scope.
type Names = Vec<(String, usize)>;

impl Compiler<'_, '_> {
    fn make(&mut self, body: &ast::Body, purpose: &Purpose<'_>, name: &str) -> Result<Program> {
        let mut names = Names::new();
        let (mut parameters, mut outs) = (Vec::new(), Vec::new());
        if let Purpose::Function(function) = purpose {
            self.parameters(function, &mut names, &mut parameters, &mut outs);
        }
        let trigger = match purpose {
            Purpose::Trigger(_, row) => Some(self.trigger_variables(*row, &mut names)),
            _ => None,
        };
        let found = self.variable("found", Type::BOOL.into(), &mut names);
        let scope = Arc::new(Scope { parent: None, label: Some(name.to_owned()), names });
        let block = self.block(&body.block, &scope)?;
        let signature: Arc<str> = match purpose {
            Purpose::Function(function) | Purpose::Trigger(function, _) => signature(self.world, function).into(),
            Purpose::Block => name.into(),
        };
        let conflict = match body.conflict {
            None | Some(ast::VariableConflict::Error) => Conflict::Refuse,
            Some(ast::VariableConflict::UseVariable) => Conflict::Variable,
            Some(ast::VariableConflict::UseColumn) => Conflict::Column,
        };
        let variables = std::mem::take(&mut self.variables);
        Ok(Program { signature, variables, parameters, outs, found, trigger, conflict, block })
    }

    fn parameters(
        &mut self,
        function: &UserFunction,
        names: &mut Names,
        parameters: &mut Vec<usize>,
        outs: &mut Vec<usize>,
    ) {
        use crate::catalog::ParameterMode as Mode;
        for parameter in &function.parameters {
            let name = parameter.name.as_deref().unwrap_or("");
            let place = self.variable(name, parameter.typed, names);
            if matches!(parameter.mode, Mode::In | Mode::InOut | Mode::Variadic) {
                parameters.push(place);
                names.push((format!("${}", parameters.len()), place));
            }
            if matches!(parameter.mode, Mode::Out | Mode::InOut | Mode::Table) {
                outs.push(place);
            }
        }
    }

    fn trigger_variables(&mut self, row: Typed, names: &mut Names) -> TriggerVariables {
        let text = Typed::from(Type::TEXT);
        let name = Typed::from(Type::NAME);
        TriggerVariables {
            new: self.variable("new", row, names),
            old: self.variable("old", row, names),
            name: self.variable("tg_name", name, names),
            when: self.variable("tg_when", text, names),
            level: self.variable("tg_level", text, names),
            operation: self.variable("tg_op", text, names),
            relation: self.variable("tg_relid", Type::OID.into(), names),
            relation_name: self.variable("tg_relname", name, names),
            table: self.variable("tg_table_name", name, names),
            schema: self.variable("tg_table_schema", name, names),
            argument_count: self.variable("tg_nargs", Type::INT4.into(), names),
            arguments: self.variable("tg_argv", Type::TEXT_ARRAY.into(), names),
        }
    }

    fn variable(&mut self, name: &str, typed: Typed, names: &mut Names) -> usize {
        let place = self.variables.len();
        self.variables.push(Variable { name: name.into(), typed, constant: false, not_null: false, cursor: None });
        names.push((name.to_owned(), place));
        place
    }

    fn block(&mut self, block: &ast::Block, around: &Arc<Scope>) -> Result<Block> {
        // Each declaration sees those before it.
        let mut scope = Arc::new(Scope { parent: Some(around.clone()), label: block.label.clone(), names: Vec::new() });
        let mut declarations = Vec::new();
        for declaration in &block.declarations {
            self.line = declaration.line;
            if scope.names.iter().any(|(known, _)| *known == declaration.name) {
                return Err(SqlError::syntax(format!("duplicate declaration at or near \"{}\"", declaration.name)));
            }
            let mut names = scope.names.clone();
            declarations.extend(self.declaration(declaration, &scope, &mut names)?);
            scope = Arc::new(Scope { parent: Some(around.clone()), label: block.label.clone(), names });
        }
        self.labels.push((block.label.clone(), false));
        let body = self.statements(&block.body, &scope)?;
        let handlers = match &block.handlers {
            Some(handlers) => Some(self.handlers(handlers, &scope)?),
            None => None,
        };
        self.labels.pop();
        Ok(Block { line: block.line, label: block.label.clone(), declarations, body, handlers })
    }

    fn declaration(
        &mut self,
        declaration: &ast::Declaration,
        scope: &Arc<Scope>,
        names: &mut Names,
    ) -> Result<Option<Declaration>> {
        let name = declaration.name.as_str();
        match &declaration.kind {
            ast::DeclarationKind::Alias(of) => {
                let place = scope.find(&[of]).ok_or_else(|| {
                    SqlError::new(SqlState::UNDEFINED_COLUMN, format!("variable \"{of}\" does not exist"))
                })?;
                names.push((name.to_owned(), place));
                Ok(None)
            }
            ast::DeclarationKind::Variable { constant, ty, not_null, default } => {
                if *not_null && default.is_none() {
                    let message =
                        format!("variable \"{name}\" must have a default value, since it's declared NOT NULL");
                    return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
                }
                let typed = self.typed(ty, scope)?;
                let default = default.as_ref().map(|default| expression(default, scope));
                let place = self.variable(name, typed, names);
                (self.variables[place].constant, self.variables[place].not_null) = (*constant, *not_null);
                Ok(Some(Declaration { line: declaration.line, place, default }))
            }
            ast::DeclarationKind::Cursor { scroll, parameters, query } => {
                let mut inner = Names::new();
                let mut places = Vec::new();
                for (parameter, ty) in parameters {
                    let typed = self.typed(ty, scope)?;
                    places.push((Arc::from(parameter.as_str()), self.variable(parameter, typed, &mut inner)));
                }
                let inner = Arc::new(Scope { parent: Some(scope.clone()), label: Some(name.to_owned()), names: inner });
                let cursor = DeclaredCursor { scroll: *scroll, parameters: places, query: sql(query, &inner) };
                let place = self.variable(name, Type::REFCURSOR.into(), names);
                self.variables[place].cursor = Some(Arc::new(cursor));
                Ok(Some(Declaration { line: declaration.line, place, default: None }))
            }
        }
    }

    fn typed(&mut self, ty: &TypeName, scope: &Scope) -> Result<Typed> {
        if let TypeName::TypeOf(name) = ty {
            let path: Vec<&str> = name.0.iter().map(|part| part.value.as_str()).collect();
            if let Some(place) = scope.find(&path) {
                return Ok(self.variables[place].typed);
            }
            // PostgreSQL then reads it as the name of a type.
            return named_type(self.world, ty).map_err(|_| {
                let context = format!("invalid type name \"{}%TYPE\"", path.join("."));
                SqlError::syntax("syntax error at or near \"%\"").within(context)
            });
        }
        let line = self.line;
        named_type(self.world, ty).map_err(|error| match ty {
            TypeName::RowTypeOf(_) => error.without_position().within(near_line(line)),
            _ => error,
        })
    }

    fn handlers(&mut self, handlers: &[ast::Handler], scope: &Arc<Scope>) -> Result<Handlers> {
        let mut names = Names::new();
        let state = self.variable("sqlstate", Type::TEXT.into(), &mut names);
        let message = self.variable("sqlerrm", Type::TEXT.into(), &mut names);
        let scope = Arc::new(Scope { parent: Some(scope.clone()), label: None, names });
        let mut list = Vec::new();
        for handler in handlers {
            let body = self.statements(&handler.body, &scope)?;
            list.push(Handler { line: handler.line, conditions: handler.conditions.clone(), body });
        }
        Ok(Handlers { state, message, list })
    }

    fn statements(&mut self, statements: &[ast::Statement], scope: &Arc<Scope>) -> Result<Vec<Statement>> {
        statements.iter().map(|statement| self.statement(statement, scope)).collect()
    }

    fn statement(&mut self, statement: &ast::Statement, scope: &Arc<Scope>) -> Result<Statement> {
        self.line = statement.line;
        let kind = match &statement.kind {
            ast::StatementKind::Block(block) => StatementKind::Block(self.block(block, scope)?),
            ast::StatementKind::Loop(looped) => StatementKind::Loop(self.loop_statement(looped, scope)?),
            ast::StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| Ok((expression(condition, scope), self.statements(body, scope)?)))
                    .collect::<Result<_>>()?,
                otherwise: self.statements(otherwise.as_deref().unwrap_or(&[]), scope)?,
            },
            ast::StatementKind::Case { operand, branches, otherwise } => StatementKind::Case {
                operand: operand.as_ref().map(|operand| CaseOperand { value: expression(operand, scope) }),
                branches: branches
                    .iter()
                    .map(|(values, body)| Ok((expressions(values, scope), self.statements(body, scope)?)))
                    .collect::<Result<_>>()?,
                otherwise: match otherwise {
                    Some(body) => Some(self.statements(body, scope)?),
                    None => None,
                },
            },
            simple => self.simple(simple, scope)?,
        };
        Ok(Statement { line: statement.line, kind })
    }

    fn simple(&mut self, kind: &ast::StatementKind, scope: &Arc<Scope>) -> Result<StatementKind> {
        use ast::StatementKind as From;
        let maybe = |value: &Option<ast::Expression>| value.as_ref().map(|value| expression(value, scope));
        Ok(match kind {
            From::Assign { target, value } => {
                StatementKind::Assign { target: self.target(target, scope)?, value: expression(value, scope) }
            }
            From::Jump { again, label, condition } => {
                self.check_jump(*again, label.as_deref())?;
                StatementKind::Jump { again: *again, label: label.clone(), condition: maybe(condition) }
            }
            From::Return(value) => {
                self.check_return(value.is_some())?;
                StatementKind::Return(maybe(value))
            }
            From::ReturnNext(value) => {
                self.check_return_next(value.is_some())?;
                StatementKind::ReturnNext(maybe(value))
            }
            From::ReturnQuery(of) => {
                self.must_return_set("RETURN QUERY")?;
                StatementKind::ReturnQuery(rows(of, scope))
            }
            From::Raise(raised) => StatementKind::Raise(raise(raised, scope, self.line)?),
            From::Assert { condition, message } => {
                StatementKind::Assert { condition: expression(condition, scope), message: maybe(message) }
            }
            From::Perform(query) => StatementKind::Perform(sql(query, scope)),
            From::Execute { command, into } => {
                StatementKind::Execute { command: dynamic(command, scope), into: self.into(into.as_ref(), scope)? }
            }
            From::Sql { text, statement, into } => self.sql_statement(text, statement, into.as_ref(), scope)?,
            From::Call { text, call } => StatementKind::Call {
                text: text.as_str().into(),
                call: call.clone(),
                scope: scope.clone(),
                outs: self.call_targets(call, scope),
                known: Default::default(),
            },
            From::Diagnostics { stacked, items } => StatementKind::Diagnostics {
                stacked: *stacked,
                items: items
                    .iter()
                    .map(|(target, item)| Ok((self.target(target, scope)?, *item)))
                    .collect::<Result<_>>()?,
            },
            From::Open { cursor, scroll, of } => {
                let cursor = self.cursor(cursor, scope)?;
                let of = match of {
                    ast::Opened::Bound(arguments) => Opened::Bound(self.cursor_arguments(cursor, arguments, scope)?),
                    ast::Opened::Rows(of) => Opened::Rows(rows(of, scope)),
                };
                StatementKind::Open { cursor, scroll: *scroll, of }
            }
            From::Fetch { cursor, direction, count, targets } => StatementKind::Fetch {
                cursor: self.cursor(cursor, scope)?,
                direction: *direction,
                count: maybe(count),
                into: match targets {
                    Some(targets) => Some(self.targets(targets, scope)?),
                    None => None,
                },
            },
            From::Close(cursor) => StatementKind::Close(self.cursor(cursor, scope)?),
            From::Commit { chain } => StatementKind::Commit { chain: *chain },
            From::Rollback { chain } => StatementKind::Rollback { chain: *chain },
            _ => StatementKind::Null,
        })
    }

    fn sql_statement(
        &mut self,
        text: &str,
        statement: &parse::Statement,
        into: Option<&ast::Into>,
        scope: &Arc<Scope>,
    ) -> Result<StatementKind> {
        let parse::Statement::Sql(syntax) = statement else {
            return Ok(StatementKind::Utility { text: text.into(), statement: Box::new(statement.clone()) });
        };
        let sql = Sql { text: text.into(), syntax: syntax.clone(), scope: scope.clone(), known: Default::default() };
        Ok(StatementKind::Sql { sql, into: self.into(into, scope)? })
    }

    /// What the OUT arguments of CALL are written back to: arguments that are variables.
    fn call_targets(&mut self, call: &crate::parse::ast::Function, scope: &Arc<Scope>) -> Vec<CallTarget> {
        use crate::parse::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments};
        let FunctionArguments::List(list) = &call.args else { return Vec::new() };
        let mut target = |arg: &FunctionArg| {
            let FunctionArgExpr::Expr(expr) = arg.given() else { return None };
            let path = match expr {
                Expr::Identifier(ident) => vec![ident.value.clone()],
                Expr::CompoundIdentifier(idents) => idents.iter().map(|ident| ident.value.clone()).collect(),
                _ => return None,
            };
            self.target(&ast::Target { path, places: Vec::new() }, scope).ok()
        };
        let name = |arg: &FunctionArg| match arg {
            FunctionArg::Named { name, .. } => Some(crate::bind::names::name(name).to_string()),
            FunctionArg::Unnamed(_) => None,
        };
        list.args.iter().map(|arg| CallTarget { name: name(arg), target: target(arg) }).collect()
    }

    fn check_return(&self, has_value: bool) -> Result<()> {
        let wrong = |message: &str| SqlError::new(SqlState::DATATYPE_MISMATCH, message);
        Err(match (self.result, has_value) {
            (ResultKind::Set | ResultKind::SetOfOuts, true) => {
                wrong("RETURN cannot have a parameter in function returning set")
                    .hint("Use RETURN NEXT or RETURN QUERY.")
            }
            (ResultKind::Procedure, true) => SqlError::syntax("RETURN cannot have a parameter in a procedure"),
            (ResultKind::Nothing, true) => wrong("RETURN cannot have a parameter in function returning void"),
            (ResultKind::Outs, true) => wrong("RETURN cannot have a parameter in function with OUT parameters"),
            (ResultKind::Value, false) => SqlError::syntax("missing expression at or near \";\""),
            _ => return Ok(()),
        })
    }

    fn check_return_next(&self, has_value: bool) -> Result<()> {
        self.must_return_set("RETURN NEXT")?;
        match (self.result, has_value) {
            (ResultKind::SetOfOuts, true) => {
                let message = "RETURN NEXT cannot have a parameter in function with OUT parameters";
                Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
            }
            (ResultKind::Set, false) => Err(SqlError::syntax("missing expression at or near \";\"")),
            _ => Ok(()),
        }
    }

    fn must_return_set(&self, what: &str) -> Result<()> {
        if matches!(self.result, ResultKind::Set | ResultKind::SetOfOuts) {
            return Ok(());
        }
        let message = format!("cannot use {what} in a non-SETOF function");
        Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
    }

    fn check_jump(&self, again: bool, label: Option<&str>) -> Result<()> {
        let word = if again { "CONTINUE" } else { "EXIT" };
        match label {
            Some(label) => match self.labels.iter().rev().find(|(known, _)| known.as_deref() == Some(label)) {
                Some((_, false)) if again => {
                    Err(SqlError::syntax(format!("block label \"{label}\" cannot be used in CONTINUE")))
                }
                Some(_) => Ok(()),
                None => Err(SqlError::syntax(format!(
                    "there is no label \"{label}\" attached to any block or loop enclosing this statement"
                ))),
            },
            None if self.labels.iter().any(|(_, is_loop)| *is_loop) => Ok(()),
            None if again => Err(SqlError::syntax("CONTINUE cannot be used outside a loop")),
            None => Err(SqlError::syntax(format!("{word} cannot be used outside a loop, unless it has a label"))),
        }
    }

    fn loop_statement(&mut self, looped: &ast::Loop, around: &Arc<Scope>) -> Result<Loop> {
        let mut names = Names::new();
        let over = match &looped.over {
            ast::Over::Forever => Over::Forever,
            ast::Over::While(condition) => Over::While(expression(condition, around)),
            ast::Over::Range { variable, reverse, from, to, step } => Over::Range {
                place: self.variable(variable, Type::INT4.into(), &mut names),
                reverse: *reverse,
                from: expression(from, around),
                to: expression(to, around),
                step: step.as_ref().map(|step| expression(step, around)),
            },
            ast::Over::Rows { targets, rows: of } => {
                let targets = self.targets(targets, around).map_err(|error| {
                    let message =
                        "loop variable of loop over rows must be a record variable or list of scalar variables";
                    if error.is(SqlState::SYNTAX_ERROR) { SqlError::syntax(message) } else { error }
                })?;
                Over::Rows { targets, rows: rows(of, around) }
            }
            ast::Over::Cursor { variable, cursor, arguments } => {
                let cursor = self.cursor(cursor, around)?;
                if self.variables[cursor].cursor.is_none() {
                    return Err(SqlError::syntax("cursor FOR loop must use a bound cursor variable"));
                }
                let arguments = self.cursor_arguments(cursor, arguments, around)?;
                Over::Cursor { place: self.variable(variable, Type::RECORD.into(), &mut names), cursor, arguments }
            }
            ast::Over::Array { targets, slice, array } => {
                Over::Array { targets: self.targets(targets, around)?, slice: *slice, array: expression(array, around) }
            }
        };
        let scope = Arc::new(Scope { parent: Some(around.clone()), label: looped.label.clone(), names });
        self.labels.push((looped.label.clone(), true));
        let body = self.statements(&looped.body, &scope)?;
        self.labels.pop();
        Ok(Loop { label: looped.label.clone(), over, body })
    }

    fn into(&mut self, into: Option<&ast::Into>, scope: &Arc<Scope>) -> Result<Option<Into>> {
        let Some(into) = into else { return Ok(None) };
        Ok(Some(Into { strict: into.strict, targets: self.targets(&into.targets, scope)? }))
    }

    fn targets(&mut self, targets: &[ast::Target], scope: &Arc<Scope>) -> Result<Vec<Target>> {
        let made: Vec<Target> = targets.iter().map(|target| self.target(target, scope)).collect::<Result<_>>()?;
        let is_record =
            |target: &Target| target.steps.is_empty() && self.variables[target.place].typed.ty == Type::RECORD;
        if made.len() > 1 && made.iter().any(is_record) {
            return Err(SqlError::syntax("record variable cannot be part of multiple-item INTO list"));
        }
        Ok(made)
    }

    fn target(&mut self, target: &ast::Target, scope: &Arc<Scope>) -> Result<Target> {
        let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
        let found = (1..=path.len().min(2)).find_map(|length| Some((scope.find(&path[..length])?, length)));
        let Some((place, length)) = found else {
            return Err(SqlError::syntax(format!("\"{}\" is not a known variable", target.path.join("."))));
        };
        if self.variables[place].constant {
            let message = format!("variable \"{}\" is declared CONSTANT", self.variables[place].name);
            return Err(SqlError::with_code("22005", message));
        }
        let mut steps: Vec<Step> = target.path[length..].iter().cloned().map(Step::Field).collect();
        steps.extend(target.places.iter().map(|place| match place {
            ast::Place::Field(field) => Step::Field(field.clone()),
            ast::Place::Index(index) => Step::Index(expression(index, scope)),
        }));
        Ok(Target { place, steps })
    }

    fn cursor(&mut self, name: &str, scope: &Arc<Scope>) -> Result<usize> {
        let Some(place) = scope.find(&[name]) else {
            return Err(SqlError::syntax(format!("\"{name}\" is not a known variable")));
        };
        if self.variables[place].typed.ty != Type::REFCURSOR {
            let message = format!("variable \"{name}\" must be of type cursor or refcursor");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        Ok(place)
    }

    fn cursor_arguments(
        &mut self,
        cursor: usize,
        arguments: &[ast::Argument],
        scope: &Arc<Scope>,
    ) -> Result<Vec<(usize, Expression)>> {
        let name = self.variables[cursor].name.clone();
        let parameters = match &self.variables[cursor].cursor {
            Some(declared) => declared.parameters.clone(),
            None => Vec::new(),
        };
        if parameters.is_empty() && !arguments.is_empty() {
            return Err(SqlError::syntax(format!("cursor \"{name}\" has no arguments")));
        }
        let mut given: Vec<(usize, Expression)> = Vec::new();
        for (n, argument) in arguments.iter().enumerate() {
            let place = match &argument.name {
                Some(named) => parameters.iter().find(|(known, _)| **known == **named).map(|(_, place)| *place),
                None => parameters.get(n).map(|(_, place)| *place),
            };
            let Some(place) = place else {
                return Err(SqlError::syntax(format!("too many arguments for cursor \"{name}\"")));
            };
            given.push((place, expression(&argument.value, scope)));
        }
        if given.len() < parameters.len() {
            return Err(SqlError::syntax(format!("not enough arguments for cursor \"{name}\"")));
        }
        Ok(given)
    }
}

fn raise(raise: &ast::Raise, scope: &Arc<Scope>, line: u32) -> Result<Raise> {
    let what = match &raise.what {
        None => None,
        Some(ast::Raised::Options) => Some(Raised::Options),
        Some(ast::Raised::Message(format, arguments)) => {
            Some(Raised::Message(format.clone(), expressions(arguments, scope)))
        }
        Some(ast::Raised::State(state)) => Some(Raised::Condition { name: state.clone(), state: state.clone() }),
        Some(ast::Raised::Named(name)) => {
            let state = crate::plpgsql::conditions::states(name).next().ok_or_else(|| {
                let message = format!("unrecognized exception condition \"{name}\"");
                SqlError::new(SqlState::UNDEFINED_OBJECT, message).within(near_line(line))
            })?;
            Some(Raised::Condition { name: name.clone(), state: state.to_owned() })
        }
    };
    let options = raise.options.iter().map(|(option, value)| (*option, expression(value, scope))).collect();
    Ok(Raise { level: raise.level, what, options })
}

fn expression(expression: &ast::Expression, scope: &Arc<Scope>) -> Expression {
    Expression {
        text: expression.text.as_str().into(),
        syntax: expression.kind.clone(),
        scope: scope.clone(),
        known: Default::default(),
    }
}

fn expressions(list: &[ast::Expression], scope: &Arc<Scope>) -> Vec<Expression> {
    list.iter().map(|item| expression(item, scope)).collect()
}

fn sql(query: &ast::Query, scope: &Arc<Scope>) -> Sql {
    Sql {
        text: query.text.as_str().into(),
        syntax: query.statement.clone(),
        scope: scope.clone(),
        known: Default::default(),
    }
}

fn rows(rows: &ast::Rows, scope: &Arc<Scope>) -> Rows {
    match rows {
        ast::Rows::Query(query) => Rows::Query(sql(query, scope)),
        ast::Rows::Execute(command) => Rows::Execute(dynamic(command, scope)),
    }
}

fn dynamic(command: &ast::Dynamic, scope: &Arc<Scope>) -> Dynamic {
    Dynamic { command: expression(&command.command, scope), using: expressions(&command.using, scope) }
}

/// A function as error contexts name it.
pub(crate) fn signature(world: &World<'_>, function: &UserFunction) -> String {
    use crate::catalog::ParameterMode as Mode;
    let inputs = function.parameters.iter().filter(|parameter| match parameter.mode {
        Mode::In | Mode::InOut | Mode::Variadic => true,
        Mode::Out => function.procedure,
        Mode::Table => false,
    });
    let types: Vec<String> =
        inputs.map(|parameter| crate::types::names::display(parameter.typed.ty, &world.catalog)).collect();
    format!("{}({})", function.name, types.join(","))
}
