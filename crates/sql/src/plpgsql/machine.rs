//! What a running body has: its variables, where it stands, what it returns; evaluating expressions and running SQL.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::bind::{Binder, Clause, Params};
use crate::budget::{self, Charge};
use crate::catalog::{Catalog, Oid, UserFunction, Volatility};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::functions::Settings;
use crate::ir::{self, Output};
use crate::plpgsql::alone::Inner;
use crate::plpgsql::assign::WeightChange;
use crate::plpgsql::ast::ExpressionKind;
use crate::plpgsql::bound::{Against, BoundExpression, BoundSql, Expression, Program, Scope, Sql, Visible};
use crate::storage::World;
use crate::storage::site::{Position, Site};
use crate::types::{Datum, RecordShape, Type, Typed};

/// A running body.
pub(super) struct Machine<'m, 'a> {
    pub(super) world: &'m mut World<'a>,
    pub(super) program: &'m Program,
    pub(super) function: Option<&'m UserFunction>,
    /// Where it stands, for error contexts.
    pub(super) at: Position,
    /// What RETURN gave.
    pub(super) result: Option<(Datum, Typed)>,
    /// What RETURN NEXT and RETURN QUERY gave.
    pub(super) rows: Vec<Vec<Datum>>,
    /// ROW_COUNT
    pub(super) row_count: i64,
    /// The errors that are being handled, innermost last.
    pub(super) handled: Vec<SqlError>,
    /// Whether COMMIT and ROLLBACK are allowed.
    pub(super) may_commit: bool,
    /// How many blocks with handlers are around.
    pub(super) guarded: usize,
    /// What names are looked up in.
    world_seen: Option<WorldSeen>,
    /// The memory of its large variables, by place.
    charges: FxHashMap<usize, Charge>,
    /// The memory of the rows that it returns, and of its messages.
    pub(super) kept: Charge,
}

struct WorldSeen {
    catalog: Arc<Catalog>,
    settings: Arc<Settings>,
    path: Arc<[Oid]>,
}

/// How a statement ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Next,
    Exit(Option<String>),
    Continue(Option<String>),
    Return,
}

/// What a query or a change gave.
pub(super) struct Answer {
    pub(super) columns: Vec<Output>,
    pub(super) rows: Vec<Vec<Datum>>,
    /// How many rows a change changed; `None` for a query.
    pub(super) changed: Option<u64>,
    /// The word of the change.
    pub(super) word: Option<&'static str>,
}

impl<'m, 'a> Machine<'m, 'a> {
    pub(super) fn new(
        world: &'m mut World<'a>,
        program: &'m Program,
        function: Option<&'m UserFunction>,
        may_commit: bool,
    ) -> Machine<'m, 'a> {
        Machine {
            world,
            program,
            function,
            at: Position { line: 0, doing: "during function entry" },
            result: None,
            rows: Vec::new(),
            row_count: 0,
            handled: Vec::new(),
            may_commit,
            guarded: 0,
            world_seen: None,
            charges: FxHashMap::default(),
            kept: Charge::default(),
        }
    }

    /// The line of an error's context that says where this body stands.
    pub(super) fn context(&self) -> String {
        self.at.within(&self.program.signature)
    }

    /// The same, and where those stand that have called it.
    pub(super) fn whole_context(&self) -> String {
        let mut lines = vec![self.context()];
        for site in self.world.sites.iter().rev() {
            site.lines(&mut lines);
        }
        lines.join("\n")
    }

    /// Runs something that may call functions, which want to know where this body stands.
    pub(super) fn at_site<T>(&mut self, sql: Option<&Arc<str>>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let depth = self.world.sites.len();
        let site = Site::Body { signature: self.program.signature.clone(), at: self.at, sql: sql.cloned() };
        self.world.sites.push(site);
        let result = run(self);
        self.world.sites.truncate(depth);
        result
    }

    pub(super) fn is_volatile(&self) -> bool {
        self.function.is_none_or(|function| function.volatility == Volatility::Volatile)
    }

    /// The value of a variable.
    pub(super) fn get(&self, place: usize) -> Datum {
        self.frame()[place].clone()
    }

    pub(super) fn frame(&self) -> &[Datum] {
        self.world.frames.last().expect("a body runs in a frame")
    }

    /// Sets a variable as it is. Parameters are also `$1`, `$2`, ….
    pub(super) fn put(&mut self, place: usize, value: Datum) {
        if let Some(parameter) = self.parameter(place) {
            *parameter = value.clone();
        }
        if value.is_large() {
            let charged = self.charges.entry(place).or_default().set(value.weight());
            charged.unwrap_or_else(budget::give_up);
        } else if !self.charges.is_empty() {
            self.charges.remove(&place);
        }
        let frame = self.world.frames.last_mut().expect("a body runs in a frame");
        frame[place] = value;
    }

    /// Takes a variable's value away, to be changed and put back by [`Machine::put_changed`].
    pub(super) fn take(&mut self, place: usize) -> Datum {
        if let Some(parameter) = self.parameter(place) {
            *parameter = Datum::Null;
        }
        let frame = self.world.frames.last_mut().expect("a body runs in a frame");
        std::mem::take(&mut frame[place])
    }

    /// Puts back a value that was taken away, of which a part has changed: what the rest of it weighs is known.
    pub(super) fn put_changed(&mut self, place: usize, value: Datum, change: WeightChange) {
        match self.charges.get_mut(&place) {
            Some(charge) if value.is_large() => {
                charge.take_back(change.removed);
                charge.add(change.added).unwrap_or_else(budget::give_up);
                if let Some(parameter) = self.parameter(place) {
                    *parameter = value.clone();
                }
                let frame = self.world.frames.last_mut().expect("a body runs in a frame");
                frame[place] = value;
            }
            _ => self.put(place, value),
        }
    }

    /// What `$1`, `$2`, … is, if the variable is a parameter.
    fn parameter(&mut self, place: usize) -> Option<&mut Datum> {
        let number = self.program.parameters.iter().position(|parameter| *parameter == place)?;
        self.world.params.get_mut(number)
    }

    pub(super) fn put_found(&mut self, found: bool) {
        self.put(self.program.found, Datum::Bool(found));
    }

    /// Against what SQL is bound now.
    pub(super) fn seen(&mut self) -> (u64, Arc<[Oid]>) {
        if let Some(seen) = &self.world_seen
            && Arc::ptr_eq(&seen.catalog, &self.world.catalog)
            && Arc::ptr_eq(&seen.settings, &self.world.session.settings)
        {
            return (seen.catalog.version, seen.path.clone());
        }
        let path: Arc<[Oid]> = self.world.path().into();
        let catalog = self.world.catalog.clone();
        let version = catalog.version;
        let settings = self.world.session.settings.clone();
        self.world_seen = Some(WorldSeen { catalog, settings, path: path.clone() });
        (version, path)
    }

    fn still(&self, against: &Against, version: u64, path: &Arc<[Oid]>) -> bool {
        let same_shape =
            |(place, shape): &(usize, Option<Arc<RecordShape>>)| match (shape, shape_of(&self.frame()[*place])) {
                (None, None) => true,
                (Some(one), Some(other)) => Arc::ptr_eq(one, &other) || **one == *other,
                _ => false,
            };
        against.version == version
            && (Arc::ptr_eq(&against.path, path) || against.path == *path)
            && against.shapes.iter().all(same_shape)
    }

    pub(super) fn bind<T>(
        &mut self,
        scope: &Scope,
        version: u64,
        path: &Arc<[Oid]>,
        bind: impl FnOnce(&mut Binder<'_>) -> Result<T>,
    ) -> Result<(T, Against)> {
        let frame = self.world.frames.last().expect("a body runs in a frame");
        let shapes = |place: usize| shape_of(&frame[place]);
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
        let mut binder = Binder::new(&*self.world, path).with_params(Params::fixed(&types)).with_variables(&visible);
        let bound = bind(&mut binder)?;
        let against =
            Against { version, path: path.clone(), shapes: visible.used.take(), variables: visible.named.take() };
        Ok((bound, against))
    }

    fn bound_expression(&mut self, expression: &Expression) -> Result<Arc<BoundExpression>> {
        let (version, path) = self.seen();
        if let Some(known) = expression.known.get()
            && self.still(&known.against, version, &path)
        {
            return Ok(known);
        }
        let (expr, against) = self.bind(&expression.scope, version, &path, |binder| match &expression.syntax {
            ExpressionKind::Simple(expr) => binder.value(expr, Clause::Select),
            ExpressionKind::Query(query) => {
                binder.value(&crate::parse::ast::Expr::Subquery(query.clone()), Clause::Select)
            }
        })?;
        let expr = self.world.planned_expression(expr);
        let bound = Arc::new(BoundExpression::new(expr, against));
        expression.known.put(&bound);
        Ok(bound)
    }

    fn bound_sql(&mut self, sql: &Sql) -> Result<Arc<BoundSql>> {
        let (version, path) = self.seen();
        if let Some(known) = sql.known.get()
            && self.still(&known.against, version, &path)
        {
            return Ok(known);
        }
        let (query, against) = self.bind(&sql.scope, version, &path, |binder| binder.statement(&sql.syntax))?;
        let query = self.world.planned(query);
        let bound = Arc::new(BoundSql { query, against });
        sql.known.put(&bound);
        Ok(bound)
    }

    /// The value of an expression, and its type.
    pub(super) fn eval(&mut self, expression: &Expression) -> Result<(Datum, Typed)> {
        self.world.check()?;
        let within = |error: SqlError| sql_context(error, || format!("SQL expression \"{}\"", expression.text));
        let bound = self.bound_expression(expression).map_err(within)?;
        if bound.looks {
            self.note_block(&expression.scope, &Inner::Expression(&expression.text), &bound.against.variables);
            self.new_statement(&expression.text)?;
        }
        let value = match bound.looks {
            true => self.at_site(None, |machine| Run::new().eval(machine.world, &bound.expr, &Tuple::default())),
            false => Run::new().eval(self.world, &bound.expr, &Tuple::default()),
        };
        let value = if bound.planned { value.map_err(within)? } else { value.map_err(SqlError::without_position)? };
        Ok((value, bound.expr.typed))
    }

    /// The value of an expression, converted to a type.
    pub(super) fn eval_as(&mut self, expression: &Expression, typed: Typed) -> Result<Datum> {
        let (value, from) = self.eval(expression)?;
        self.convert(value, from, typed)
    }

    /// Whether a condition is true.
    pub(super) fn is_true(&mut self, condition: &Expression) -> Result<bool> {
        Ok(matches!(self.eval_as(condition, Type::BOOL.into())?, Datum::Bool(true)))
    }

    /// A value as a text, for messages; `None` for NULL.
    pub(super) fn eval_text(&mut self, expression: &Expression) -> Result<Option<String>> {
        let (value, typed) = self.eval(expression)?;
        if value.is_null() {
            return Ok(None);
        }
        Ok(Some(crate::types::text::output(&value, typed.ty, &*self.world)))
    }

    /// Whether no statement is around this body but its CALL or DO, which reads nothing itself.
    pub(super) fn is_by_itself(&self) -> bool {
        self.function.is_none_or(|function| function.procedure) && self.world.frames.len() == 1
    }

    /// What follows is a statement of its own, unless the function promises not to look beyond its caller's.
    fn new_statement(&mut self, text: &Arc<str>) -> Result<()> {
        if self.is_by_itself() {
            self.world.pause()?;
        }
        if self.is_volatile() {
            self.world.begin_statement(text)?;
        }
        Ok(())
    }

    /// Runs a query or a change.
    pub(super) fn run(&mut self, sql: &Sql) -> Result<Answer> {
        let within = |error: SqlError| sql_context(error, || format!("SQL statement \"{}\"", sql.text));
        let bound = self.bound_sql(sql).map_err(within)?;
        let is_silent = change_of(&bound.query).is_some() && bound.query.columns.is_empty();
        let inner = if is_silent { Inner::Change(&sql.text) } else { Inner::Rows(&sql.text) };
        self.note_block(&sql.scope, &inner, &bound.against.variables);
        self.run_query(&sql.text, &bound.query).map_err(within)
    }

    /// Runs what was bound.
    pub(super) fn run_query(&mut self, text: &Arc<str>, query: &ir::Query) -> Result<Answer> {
        self.world.check()?;
        let change = change_of(query);
        if let (Some(word), false) = (change, self.is_volatile()) {
            let message = format!("{word} is not allowed in a non-volatile function");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        if self.is_by_itself() {
            self.world.pause()?;
        }
        if self.is_volatile() {
            self.world.begin_query(text, &query.plan)?;
        }
        let mut run = Run::new();
        let rows = self.at_site(Some(text), |machine| run.rows(machine.world, query))?;
        let changed = change.map(|_| run.changed);
        Ok(Answer { columns: query.columns.clone(), rows, changed, word: change })
    }

    /// Converts a value as an assignment does; where SQL has no conversion, by way of its text.
    pub(super) fn convert(&mut self, value: Datum, from: Typed, to: Typed) -> Result<Datum> {
        if from.ty == to.ty && to.modifier < 0 && to.ty.0 < crate::catalog::FIRST_USER_OID {
            return Ok(value);
        }
        if to.ty == Type::RECORD {
            return Ok(value);
        }
        convert(self.world, value, from, to)
    }
}

/// Converts a value as an assignment does; where SQL has no conversion, by way of its text.
pub(super) fn convert(world: &mut World<'_>, value: Datum, from: Typed, to: Typed) -> Result<Datum> {
    use crate::types::{cast, kind, text};
    let explicit = matches!(cast::context(from.ty, to.ty, &world.catalog), None | Some(cast::CastContext::Explicit));
    let value = if value.is_null() {
        value
    } else if explicit && !matches!(value, Datum::Record(_)) {
        let shown = text::output(&value, from.ty, &*world);
        cast::constrain(text::input(&shown, kind::base(to, &world.catalog), &*world)?, to)?
    } else {
        cast::cast(value, from.ty, to, false, world)?
    };
    crate::exec::check_domains(world, &value, to.ty)?;
    Ok(value)
}

/// The word of the change that a statement is.
pub(super) fn change_of(query: &ir::Query) -> Option<&'static str> {
    match query.plan.innermost() {
        ir::Plan::Change(change) => Some(match **change {
            ir::Change::Insert(_) => "INSERT",
            ir::Change::Update(_) => "UPDATE",
            ir::Change::Delete(_) => "DELETE",
            ir::Change::Merge(_) => "MERGE",
        }),
        _ => None,
    }
}

/// The shape of a record's value.
pub(super) fn shape_of(value: &Datum) -> Option<Arc<RecordShape>> {
    match value {
        Datum::Record(record) => Some(record.shape.clone()),
        _ => None,
    }
}

/// An error inside of SQL: its place is one in that text, not in the client's statement.
pub(super) fn sql_context(error: SqlError, context: impl FnOnce() -> String) -> SqlError {
    // What is wrong with a record is found while running, without a place.
    let of_record = error.fields().message.starts_with("record \"");
    match error.fields().position {
        Some(_) if !of_record => error.without_position(),
        _ => error.without_position().within(context()),
    }
}
