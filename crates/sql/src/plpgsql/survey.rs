//! A program with all its SQL bound before anything runs: where analyses begin.
//!
//! While a body runs, SQL is bound when it is needed. Here the body is walked once, in the order of its text: records
//! have the shape of the query that they are filled from last. What cannot be bound, because it refers to tables that the
//! body makes itself or is made as a text, stays unbound ([`Sql::bound`] and [`Expression::bound`] say so).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::bind::{Binder, Clause, Params};
use crate::catalog::{Language, Oid, StoredQuery, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::walk::{Descend, edit};
use crate::ir::{ExprKind, Output, current};
use crate::plpgsql::ast::ExpressionKind;
use crate::plpgsql::bound::{
    Against, Block, BoundCall, BoundExpression, BoundSql, Dynamic, Expression, Into, Opened, Over, Program, Raised,
    Rows, Scope, Sql, Statement, StatementKind, Step, Target, Visible,
};
use crate::plpgsql::call::{Ready, prepare};
use crate::plpgsql::visit::Part;
use crate::storage::World;
use crate::types::{RecordShape, Type, Typed};

/// The statements of a body that was bound when its function was made: they are what they were bound to.
fn put_stored(world: &mut World<'_>, program: &Program, statements: &[StoredQuery]) -> Result<()> {
    let mut bound = Vec::with_capacity(statements.len());
    for stored in statements {
        let mut query = current::query(stored, &world.catalog, &mut 0)?;
        // A parameter is known by its number there, and by its place in the frame here.
        edit::query(&mut query, 0, &mut |expr, _| {
            if let ExprKind::Variable(number) = &mut expr.kind
                && let Some(place) = program.parameters.get(*number)
            {
                *number = *place;
            }
            Ok(Descend::Yes)
        })?;
        bound.push(world.planned(query));
    }
    let mut bound = bound.into_iter();
    let (version, path) = (world.catalog.version, world.path());
    program.parts(&mut |part| {
        if let Part::Sql(sql) = part
            && let Some(query) = bound.next()
        {
            let against = Against { version, path: path.clone().into(), shapes: Vec::new(), variables: Vec::new() };
            sql.known.put(&Arc::new(BoundSql { query, against }));
        }
    });
    Ok(())
}

/// The program of a function, with its SQL bound; that of a trigger's function for rows of this type.
pub(crate) fn surveyed(world: &mut World<'_>, function: Oid, row: Option<Typed>) -> Result<Arc<Program>> {
    let Some(function) = world.catalog.functions.get(&function) else {
        return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, "there is no such function"));
    };
    let mut function = function.clone();
    if function.language == Language::Sql {
        let statements = function.body.trim_end().trim_end_matches(';');
        // There a name is a column first.
        let body = format!("#variable_conflict use_column BEGIN {statements}\n;\nEND").into();
        function = Arc::new(UserFunction { language: Language::PlPgSql, body, ..(*function).clone() });
    }
    match prepare(world, &function, row)? {
        Ready::Plpgsql(program) => {
            survey(world, &program);
            if let Some(statements) = &function.atomic {
                put_stored(world, &program, statements)?;
            }
            Ok(program)
        }
        Ready::Sql(_) => Err(SqlError::unsupported("a body that is not in PL/pgSQL")),
    }
}

/// Binds what can be bound.
fn survey(world: &mut World<'_>, program: &Program) {
    let path: Arc<[Oid]> = world.path().into();
    let mut surveyor = Surveyor { world, program, path, shapes: FxHashMap::default() };
    surveyor.block(&program.block);
}

struct Surveyor<'s, 'a> {
    world: &'s mut World<'a>,
    program: &'s Program,
    path: Arc<[Oid]>,
    /// The shapes of records, as far as the body has said.
    shapes: FxHashMap<usize, Arc<RecordShape>>,
}

impl Surveyor<'_, '_> {
    fn block(&mut self, block: &Block) {
        for declaration in &block.declarations {
            declaration.default.iter().for_each(|default| self.expression(default));
            if let Some(cursor) = &self.program.variables[declaration.place].cursor {
                self.sql(&cursor.query);
            }
        }
        self.statements(&block.body);
        for handler in block.handlers.iter().flat_map(|handlers| &handlers.list) {
            self.statements(&handler.body);
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(&statement.kind));
    }

    fn statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Block(block) => self.block(block),
            StatementKind::Assign { target, value } => {
                self.expression(value);
                self.target(target);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expression(condition);
                    self.statements(body);
                }
                self.statements(otherwise);
            }
            StatementKind::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|operand| self.expression(&operand.value));
                for (values, body) in branches {
                    self.expressions(values);
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
            | StatementKind::ReturnNext(value) => value.iter().for_each(|value| self.expression(value)),
            StatementKind::ReturnQuery(rows) => drop(self.rows(rows)),
            StatementKind::Raise(raise) => {
                if let Some(Raised::Message(_, arguments)) = &raise.what {
                    self.expressions(arguments);
                }
                raise.options.iter().for_each(|(_, value)| self.expression(value));
            }
            StatementKind::Assert { condition, message } => {
                self.expression(condition);
                message.iter().for_each(|message| self.expression(message));
            }
            StatementKind::Perform(sql) => drop(self.sql(sql)),
            StatementKind::Execute { command, into } => {
                self.dynamic(command);
                into.iter().for_each(|into| self.targets(&into.targets));
            }
            StatementKind::Sql { sql, into } => self.into(sql, into.as_ref()),
            StatementKind::Open { of, .. } => match of {
                Opened::Bound(arguments) => arguments.iter().for_each(|(_, value)| self.expression(value)),
                Opened::Rows(rows) => drop(self.rows(rows)),
            },
            StatementKind::Fetch { count, into, .. } => {
                count.iter().for_each(|count| self.expression(count));
                into.iter().for_each(|targets| self.targets(targets));
            }
            StatementKind::Diagnostics { items, .. } => items.iter().for_each(|(target, _)| self.target(target)),
            StatementKind::Call { call, scope, known, .. } => {
                let bound = self.bind(scope, |binder| binder.procedure_call(call));
                match bound {
                    Ok(((procedure, args), _)) => known.put(&Arc::new(BoundCall { procedure, args })),
                    Err(error) => known.refuse(&error),
                }
            }
            StatementKind::Utility { .. }
            | StatementKind::Null
            | StatementKind::Close(_)
            | StatementKind::Commit { .. }
            | StatementKind::Rollback { .. } => {}
        }
    }

    fn into(&mut self, sql: &Sql, into: Option<&Into>) {
        let columns = self.sql(sql);
        let Some(into) = into else { return };
        self.fill(&into.targets, columns.as_deref());
        self.targets(&into.targets);
    }

    fn over(&mut self, over: &Over) {
        match over {
            Over::Forever => {}
            Over::While(condition) => self.expression(condition),
            Over::Range { from, to, step, .. } => {
                self.expression(from);
                self.expression(to);
                step.iter().for_each(|step| self.expression(step));
            }
            Over::Rows { targets, rows } => {
                let columns = self.rows(rows);
                self.fill(targets, columns.as_deref());
            }
            Over::Cursor { place, cursor, arguments } => {
                arguments.iter().for_each(|(_, value)| self.expression(value));
                let declared = self.program.variables[*cursor].cursor.clone();
                let columns = declared.and_then(|declared| self.sql(&declared.query));
                self.fill_record(*place, columns.as_deref());
            }
            Over::Array { array, .. } => self.expression(array),
        }
    }

    fn rows(&mut self, rows: &Rows) -> Option<Vec<Output>> {
        match rows {
            Rows::Query(sql) => self.sql(sql),
            Rows::Execute(command) => {
                self.dynamic(command);
                None
            }
        }
    }

    fn dynamic(&mut self, command: &Dynamic) {
        self.expression(&command.command);
        self.expressions(&command.using);
    }

    fn targets(&mut self, targets: &[Target]) {
        targets.iter().for_each(|target| self.target(target));
    }

    fn target(&mut self, target: &Target) {
        for step in &target.steps {
            if let Step::Index(index) = step {
                self.expression(index);
            }
        }
    }

    /// A record that is filled from these columns has their shape from here on.
    fn fill(&mut self, targets: &[Target], columns: Option<&[Output]>) {
        if let [target] = targets
            && target.steps.is_empty()
        {
            self.fill_record(target.place, columns);
        }
    }

    fn fill_record(&mut self, place: usize, columns: Option<&[Output]>) {
        if self.program.variables[place].typed.ty != Type::RECORD {
            return;
        }
        match columns {
            Some(columns) => {
                let fields = columns.iter().map(|column| (column.name.clone(), column.typed)).collect();
                self.shapes.insert(place, Arc::new(RecordShape { ty: Type::RECORD, fields }));
            }
            None => drop(self.shapes.remove(&place)),
        }
    }

    fn expressions(&mut self, list: &[Expression]) {
        list.iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &Expression) {
        let bound = self.bind(&expression.scope, |binder| match &expression.syntax {
            ExpressionKind::Simple(expr) => binder.value(expr, Clause::Select),
            ExpressionKind::Query(query) => {
                binder.value(&crate::parse::ast::Expr::Subquery(query.clone()), Clause::Select)
            }
        });
        match bound {
            Ok((expr, against)) => {
                let expr = self.world.planned_expression(expr);
                expression.known.put(&Arc::new(BoundExpression::new(expr, against)));
            }
            Err(error) => expression.known.refuse(&error),
        }
    }

    /// The columns of what was bound.
    fn sql(&mut self, sql: &Sql) -> Option<Vec<Output>> {
        let bound = self.bind(&sql.scope, |binder| binder.statement(&sql.syntax));
        let (query, against) = bound.inspect_err(|error| sql.known.refuse(error)).ok()?;
        let columns = query.columns.clone();
        let query = self.world.planned(query);
        sql.known.put(&Arc::new(BoundSql { query, against }));
        Some(columns)
    }

    fn bind<T>(&self, scope: &Scope, bind: impl FnOnce(&mut Binder<'_>) -> Result<T>) -> Result<(T, Against)> {
        let shapes = |place: usize| self.shapes.get(&place).cloned();
        let visible = Visible {
            scope,
            program: &self.program.variables,
            conflict: self.program.conflict,
            shapes: &shapes,
            used: Default::default(),
            named: Default::default(),
        };
        let types: Vec<Type> =
            self.program.parameters.iter().map(|place| self.program.variables[*place].typed.ty).collect();
        let mut binder =
            Binder::new(&*self.world, &self.path).with_params(Params::fixed(&types)).with_variables(&visible);
        let bound = bind(&mut binder)?;
        let version = self.world.catalog.version;
        let (shapes, variables) = (visible.used.take(), visible.named.take());
        Ok((bound, Against { version, path: self.path.clone(), shapes, variables }))
    }
}
