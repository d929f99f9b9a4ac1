//! Functions in SQL: their statements run one after the other, the last one's rows are the result.

use std::cell::RefCell;
use std::sync::Arc;

use crate::bind::{Binder, Conflict, Params, Variable, Variables};
use crate::catalog::{Oid, ParameterMode, Returns, StoredQuery, UserFunction, Volatility};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::Run;
use crate::ir::{Output, Plan, Query, current};
use crate::parse::{self, Statement};
use crate::plpgsql::bound::{Against, BoundSql, Known};
use crate::plpgsql::call::within_call;
use crate::plpgsql::machine::convert;
use crate::storage::World;
use crate::storage::site::Site;
use crate::types::{Datum, RecordShape, Type, Typed, cast, names};

/// The statements of a function.
#[derive(Debug)]
pub struct SqlProgram {
    statements: Vec<Part>,
    inputs: Vec<(Arc<str>, Typed)>,
    name: Arc<str>,
    /// The statements as they were bound when the function was made, of `BEGIN ATOMIC … END`.
    atomic: Option<Arc<[StoredQuery]>>,
}

#[derive(Debug)]
struct Part {
    text: Arc<str>,
    statement: Statement,
    /// Which of the statements it is.
    number: usize,
    known: Known<BoundSql>,
}

/// Parses a function's body.
pub(super) fn program(function: &UserFunction) -> Result<SqlProgram> {
    let parts = parse::script(&function.body).map_err(SqlError::without_position)?.into_iter().enumerate().map(
        |(number, (place, statement))| Part {
            text: function.body[place].into(),
            statement,
            number,
            known: Known::default(),
        },
    );
    let inputs = function.parameters.iter().filter(|parameter| {
        matches!(parameter.mode, ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic)
    });
    let inputs = inputs.map(|parameter| (parameter.name.clone().unwrap_or_default(), parameter.typed)).collect();
    let atomic = function.atomic.clone();
    Ok(SqlProgram { statements: parts.collect(), inputs, name: function.name.clone(), atomic })
}

/// The parameters by name; columns come first.
struct Parameters<'a>(&'a SqlProgram);

impl Variables for Parameters<'_> {
    fn find(&self, name: &[&str]) -> Option<Variable> {
        let name = match name {
            [name] => name,
            [function, name] if **function == *self.0.name => name,
            _ => return None,
        };
        let slot = self.0.inputs.iter().position(|(known, _)| !known.is_empty() && **known == **name)?;
        Some(Variable { slot, typed: self.0.inputs[slot].1, shape: None })
    }

    fn conflict(&self) -> Conflict {
        Conflict::Column
    }
}

fn bind(world: &mut World<'_>, program: &SqlProgram, part: &Part) -> Result<Option<Arc<BoundSql>>> {
    let Statement::Sql(syntax) = &part.statement else { return Ok(None) };
    let path: Arc<[Oid]> = world.path().into();
    let version = world.catalog.version;
    if let Some(known) = part.known.get()
        && known.against.version == version
        && known.against.path == path
    {
        return Ok(Some(known));
    }
    let query = match program.atomic.as_ref().and_then(|statements| statements.get(part.number)) {
        Some(stored) => current::query(stored, &world.catalog, &mut 0)?,
        None => {
            let (types, parameters) = (types(program), Parameters(program));
            let mut binder = Binder::new(&*world, &path).with_params(Params::fixed(&types)).with_variables(&parameters);
            binder.statement(syntax)?
        }
    };
    let query = world.planned(query);
    let bound =
        Arc::new(BoundSql { query, against: Against { version, path, shapes: Vec::new(), variables: Vec::new() } });
    part.known.put(&bound);
    Ok(Some(bound))
}

fn types(program: &SqlProgram) -> Vec<Type> {
    program.inputs.iter().map(|(_, typed)| typed.ty).collect()
}

/// The statements of `BEGIN ATOMIC … END` or `RETURN …`, bound to be kept.
pub(crate) fn stored_body(world: &mut World<'_>, function: &UserFunction) -> Result<Vec<StoredQuery>> {
    let program = program(function)?;
    let path = world.path();
    let mut stored = Vec::with_capacity(program.statements.len());
    for part in &program.statements {
        let Statement::Sql(syntax) = &part.statement else {
            let message = "this statement is not yet supported in unquoted SQL function body";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        let (types, parameters) = (types(&program), Parameters(&program));
        let mut binder =
            Binder::new(&*world, &path).storing().with_params(Params::fixed(&types)).with_variables(&parameters);
        let query = binder.statement(syntax)?;
        stored.push(StoredQuery::new(query, binder.cte_count()));
    }
    Ok(stored)
}

/// Checks what a function that is being made refers to, and what it returns.
pub(super) fn check(world: &mut World<'_>, function: &UserFunction, program: &SqlProgram) -> Result<()> {
    let mut last: Option<Vec<Output>> = None;
    for part in &program.statements {
        last = match &part.statement {
            Statement::Commit { .. } | Statement::Rollback { .. } | Statement::Begin { .. } => {
                return Err(SqlError::unsupported("the end of a transaction in a function in SQL"));
            }
            Statement::Sql(_) => {
                let bound = bind(world, program, part).map_err(SqlError::without_position)?;
                bound.and_then(|bound| gives_rows(&bound.query).then(|| bound.query.columns.clone()))
            }
            // What is made here cannot be looked up before it is there.
            _ => return Ok(()),
        };
    }
    let result = result_shape(world, function, last.as_deref()).map(drop);
    result.map_err(|error| error.within(format!("SQL function \"{}\"", function.name)))
}

fn gives_rows(query: &Query) -> bool {
    !query.columns.is_empty() || !matches!(query.plan.innermost(), Plan::Change(_))
}

/// The types of the columns that a function returns.
enum Wanted {
    /// Nothing: void, a procedure without OUT parameters.
    Nothing,
    /// One value of this type.
    Value(Typed),
    /// A row of this shape.
    Row(Arc<RecordShape>),
    /// A row of whatever the caller says.
    Any,
}

fn wanted(world: &World<'_>, function: &UserFunction) -> Wanted {
    let outs = function
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.mode, ParameterMode::Out | ParameterMode::InOut | ParameterMode::Table));
    let outs: Vec<(Arc<str>, Typed)> =
        outs.map(|parameter| (parameter.name.clone().unwrap_or_default(), parameter.typed)).collect();
    match (&function.returns, outs.as_slice()) {
        (_, [(_, only)]) if !function.procedure => Wanted::Value(*only),
        (_, [_, ..]) => Wanted::Row(Arc::new(RecordShape { ty: Type::RECORD, fields: outs })),
        (Returns::One(typed) | Returns::Set(typed), []) => match typed.ty {
            Type::VOID => Wanted::Nothing,
            Type::RECORD => Wanted::Any,
            ty => match world.catalog.user_type(ty).map(|user| &user.kind) {
                Some(crate::catalog::UserTypeKind::Composite(fields)) => {
                    Wanted::Row(Arc::new(RecordShape { ty, fields: fields.clone() }))
                }
                _ => Wanted::Value(*typed),
            },
        },
        _ => Wanted::Nothing,
    }
}

/// What the last statement's columns are to become; an error if they cannot.
fn result_shape(world: &World<'_>, function: &UserFunction, columns: Option<&[Output]>) -> Result<Wanted> {
    let wanted = wanted(world, function);
    let returns = match &function.returns {
        Returns::One(typed) | Returns::Set(typed) => names::display(typed.ty, &world.catalog),
        _ => "record".to_owned(),
    };
    let mismatch = |detail: String| {
        let message = format!("return type mismatch in function declared to return {returns}");
        Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message).detail(detail))
    };
    if matches!(wanted, Wanted::Nothing) {
        return Ok(wanted);
    }
    let Some(columns) = columns else {
        let detail = "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.";
        return mismatch(detail.to_owned());
    };
    let fits = |from: Typed, to: Typed| {
        cast::context(from.ty, to.ty, &world.catalog).is_some_and(|context| context != cast::CastContext::Explicit)
    };
    match &wanted {
        Wanted::Value(typed) => {
            if columns.len() != 1 {
                return mismatch("Final statement must return exactly one column.".to_owned());
            }
            if !fits(columns[0].typed, *typed) {
                let actual = names::display(columns[0].typed.ty, &world.catalog);
                return mismatch(format!("Actual return type is {actual}."));
            }
        }
        Wanted::Row(shape) if !is_whole(columns, shape) => {
            if columns.len() != shape.fields.len() {
                let few = columns.len() < shape.fields.len();
                let word = if few { "few" } else { "many" };
                return mismatch(format!("Final statement returns too {word} columns."));
            }
            for (n, (column, (_, typed))) in columns.iter().zip(&shape.fields).enumerate() {
                if !fits(column.typed, *typed) {
                    let shown = |ty| names::display(ty, &world.catalog);
                    return mismatch(format!(
                        "Final statement returns {} instead of {} at column {}.",
                        shown(column.typed.ty),
                        shown(typed.ty),
                        n + 1
                    ));
                }
            }
        }
        _ => {}
    }
    Ok(wanted)
}

/// Whether the only column is the row itself.
fn is_whole(columns: &[Output], shape: &RecordShape) -> bool {
    matches!(columns, [only] if only.typed.ty == shape.ty && shape.ty != Type::RECORD)
}

/// The rows of the last statement.
struct Last {
    columns: Vec<Output>,
    rows: Vec<Vec<Datum>>,
}

fn run(world: &mut World<'_>, function: &UserFunction, program: &SqlProgram, args: Vec<Datum>) -> Result<Option<Last>> {
    let number = RefCell::new(0);
    let result = within_call(world, Some(function), args.clone(), args, |world| {
        let mut last = None;
        for part in &program.statements {
            *number.borrow_mut() += 1;
            let depth = world.sites.len();
            world.sites.push(Site::Sql(function.name.clone(), *number.borrow()));
            let ran = run_part(world, function, program, part);
            world.sites.truncate(depth);
            last = ran?;
        }
        Ok(last)
    });
    result.map_err(|error| {
        let context = format!("SQL function \"{}\" statement {}", function.name, number.borrow());
        error.without_position().within(context)
    })
}

fn run_part(world: &mut World<'_>, function: &UserFunction, program: &SqlProgram, part: &Part) -> Result<Option<Last>> {
    world.check()?;
    let volatile = function.volatility == Volatility::Volatile;
    let Some(bound) = bind(world, program, part)? else {
        if !volatile {
            let message = "a command that changes something is not allowed in a non-volatile function";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        world.run_utility(&part.text, &part.statement)?;
        return Ok(None);
    };
    let change = crate::plpgsql::machine::change_of(&bound.query);
    if let (Some(word), false) = (change, volatile) {
        let message = format!("{word} is not allowed in a non-volatile function");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    if function.procedure && world.frames.len() == 1 {
        world.pause()?;
    }
    if volatile {
        world.begin_query(&part.text, &bound.query.plan)?;
    }
    let rows = Run::new().rows(world, &bound.query)?;
    Ok(gives_rows(&bound.query).then(|| Last { columns: bound.query.columns.clone(), rows }))
}

/// Calls a function that returns one value.
pub(super) fn call(
    world: &mut World<'_>,
    function: &UserFunction,
    program: &SqlProgram,
    args: Vec<Datum>,
) -> Result<Datum> {
    let last = run(world, function, program, args)?;
    let wanted = result_shape(world, function, last.as_ref().map(|last| &last.columns[..]))?;
    let Some(last) = last else { return Ok(Datum::Null) };
    let Some(row) = last.rows.into_iter().next() else { return Ok(Datum::Null) };
    match &wanted {
        Wanted::Nothing => Ok(Datum::Null),
        Wanted::Value(typed) => {
            convert(world, row.into_iter().next().unwrap_or_default(), last.columns[0].typed, *typed)
        }
        Wanted::Row(shape) if is_whole(&last.columns, shape) => Ok(row.into_iter().next().unwrap_or_default()),
        Wanted::Row(shape) => Ok(Datum::record(shape.clone(), converted(world, row, &last.columns, shape)?)),
        Wanted::Any => {
            let fields = last.columns.iter().map(|column| (column.name.clone(), column.typed)).collect();
            Ok(Datum::record(Arc::new(RecordShape { ty: Type::RECORD, fields }), row))
        }
    }
}

fn converted(world: &mut World<'_>, row: Vec<Datum>, columns: &[Output], shape: &RecordShape) -> Result<Vec<Datum>> {
    let values = row.into_iter().zip(columns).zip(&shape.fields);
    values.map(|((value, column), (_, typed))| convert(world, value, column.typed, *typed)).collect()
}

/// Calls a function that returns rows.
pub(super) fn call_rows(
    world: &mut World<'_>,
    function: &UserFunction,
    program: &SqlProgram,
    args: Vec<Datum>,
) -> Result<Vec<Vec<Datum>>> {
    let last = run(world, function, program, args)?;
    let wanted = result_shape(world, function, last.as_ref().map(|last| &last.columns[..]))?;
    let Some(last) = last else { return Ok(Vec::new()) };
    match &wanted {
        Wanted::Nothing => Ok(Vec::new()),
        Wanted::Any => {
            world.returned = last.columns.iter().map(|column| column.typed).collect();
            Ok(last.rows)
        }
        Wanted::Value(typed) => {
            let from = last.columns[0].typed;
            let value =
                |row: Vec<Datum>| Ok(vec![convert(world, row.into_iter().next().unwrap_or_default(), from, *typed)?]);
            last.rows.into_iter().map(value).collect()
        }
        Wanted::Row(shape) if is_whole(&last.columns, shape) => {
            let width = shape.fields.len();
            let fields = |row: Vec<Datum>| match row.into_iter().next() {
                Some(Datum::Record(record)) => record.fields.clone(),
                _ => vec![Datum::Null; width],
            };
            Ok(last.rows.into_iter().map(fields).collect())
        }
        Wanted::Row(shape) => {
            let row = |row: Vec<Datum>| converted(world, row, &last.columns, shape);
            last.rows.into_iter().map(row).collect()
        }
    }
}

/// Calls a procedure: the values of its OUT parameters.
pub(super) fn call_procedure(
    world: &mut World<'_>,
    function: &UserFunction,
    program: &SqlProgram,
    args: Vec<Datum>,
) -> Result<Vec<Datum>> {
    let last = run(world, function, program, args)?;
    let wanted = wanted(world, function);
    match (wanted, last) {
        (Wanted::Row(shape), Some(last)) => {
            let row = last.rows.into_iter().next().unwrap_or_else(|| vec![Datum::Null; shape.fields.len()]);
            converted(world, row, &last.columns, &shape)
        }
        (Wanted::Row(shape), None) => Ok(vec![Datum::Null; shape.fields.len()]),
        _ => Ok(Vec::new()),
    }
}
