//! Calling functions and procedures, running DO: frames, settings, what a function keeps from its caller.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::catalog::{Language, Oid, Parameter, ParameterMode, Returns, UserFunction, Volatility};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, Output};
use crate::plpgsql::bound::{Program, Scope};
use crate::plpgsql::compile::{self, Purpose};
use crate::plpgsql::language_sql::{self, SqlProgram};
use crate::plpgsql::machine::{Flow, Machine};
use crate::plpgsql::parse;
use crate::storage::World;
use crate::types::{Datum, Type, Typed, kind, names};

/// How many programs a connection keeps.
const KEPT: usize = 512;

/// The programs of functions, as long as their functions and the catalog are the same.
#[derive(Clone, Default, Debug)]
pub(crate) struct Programs {
    kept: FxHashMap<(Oid, Type), Kept>,
}

impl Programs {
    /// Keeps those of another connection, too.
    pub(crate) fn add(&mut self, others: Programs) {
        self.kept.extend(others.kept);
    }
}

#[derive(Clone, Debug)]
struct Kept {
    function: Arc<UserFunction>,
    version: u64,
    program: Ready,
}

/// A program in one of the languages.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    Plpgsql(Arc<Program>),
    Sql(Arc<SqlProgram>),
}

/// Makes what runs of a function; `row` is the row type of a trigger's table.
pub(super) fn prepare(world: &mut World<'_>, function: &Arc<UserFunction>, row: Option<Typed>) -> Result<Ready> {
    let key = (function.oid, row.map_or(Type(0), |row| row.ty));
    if let Some(kept) = world.session.programs.kept.get(&key)
        && kept.version == world.catalog.version
        && Arc::ptr_eq(&kept.function, function)
    {
        return Ok(kept.program.clone());
    }
    let program = make(world, function, row)?;
    let programs = &mut world.session.programs.kept;
    if programs.len() >= KEPT {
        programs.clear();
    }
    let kept = Kept { function: function.clone(), version: world.catalog.version, program: program.clone() };
    programs.insert(key, kept);
    Ok(program)
}

fn make(world: &mut World<'_>, function: &UserFunction, row: Option<Typed>) -> Result<Ready> {
    match function.language {
        Language::Sql => Ok(Ready::Sql(Arc::new(language_sql::program(function)?))),
        Language::PlPgSql => {
            let named = |error: SqlError| compiled(error.without_position(), &function.name);
            if row.is_some() && !function.parameters.is_empty() {
                let message = "trigger functions cannot have declared arguments";
                let hint = "The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.";
                let error = SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message).hint(hint);
                return Err(named(error.within(parse::near_line(1))));
            }
            let body = parse::body(&function.body).map_err(named)?;
            let purpose = match row {
                Some(row) => Purpose::Trigger(function, row),
                None => Purpose::Function(function),
            };
            Ok(Ready::Plpgsql(Arc::new(compile::program(world, &body, &purpose).map_err(named)?)))
        }
    }
}

/// Names the function in the context of an error that was found while its body was read.
fn compiled(error: SqlError, name: &str) -> SqlError {
    match error.fields().context.clone() {
        Some(line) if line.starts_with(parse::NEAR_LINE) => {
            error.without_last_context().within(format!("compilation of PL/pgSQL function \"{name}\" {line}"))
        }
        _ => error,
    }
}

/// There is no such language.
pub(crate) fn no_language(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("language \"{name}\" does not exist"))
}

/// Checks a function that is being made: its syntax, and in SQL what it refers to.
pub(crate) fn check(world: &mut World<'_>, function: &UserFunction) -> Result<()> {
    let polymorphic = is_polymorphic(world, function)?;
    let setting = crate::settings::show(&world.session.settings, "check_function_bodies");
    if setting.is_ok_and(|on| on == "off") {
        return Ok(());
    }
    let row = (function.returns == Returns::Trigger).then_some(Typed::from(Type::RECORD));
    let special = match polymorphic {
        true => Some(crate::functions::resolve::assuming_integers(function, &world.catalog)?),
        false => None,
    };
    match make(world, special.as_deref().unwrap_or(function), row)? {
        Ready::Plpgsql(_) => Ok(()),
        // What it refers to depends on the types that it will be called with.
        Ready::Sql(_) if polymorphic => Ok(()),
        Ready::Sql(program) => language_sql::check(world, function, &program),
    }
}

/// Whether a signature has types that stand for others; what comes out has to follow from what goes in.
fn is_polymorphic(world: &World<'_>, function: &UserFunction) -> Result<bool> {
    let goes_in = |parameter: &&Parameter| !matches!(parameter.mode, ParameterMode::Out | ParameterMode::Table);
    let (ins, outs): (Vec<&Parameter>, Vec<&Parameter>) = function.parameters.iter().partition(goes_in);
    let mut results: Vec<Type> = outs.iter().map(|parameter| parameter.typed.ty).collect();
    if let Returns::One(typed) | Returns::Set(typed) = function.returns {
        results.push(typed.ty);
    }
    let mut found = false;
    for (family, members) in FAMILIES {
        let name = |ty: &Type| names::display(*ty, &world.catalog);
        let is_member = |ty: &Type| kind::is_polymorphic(*ty) && members.contains(&name(ty).as_str());
        let takes = ins.iter().any(|parameter| is_member(&parameter.typed.ty));
        if let Some(result) = results.iter().find(|ty| is_member(ty)).filter(|_| !takes) {
            let message = "cannot determine result data type";
            let detail = format!("A result of type {} requires at least one input of type {family}.", name(result));
            return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message).detail(detail));
        }
        found |= takes;
    }
    let covered = |name: &str| FAMILIES.iter().any(|(_, members)| members.contains(&name));
    for ty in function.parameters.iter().map(|parameter| parameter.typed.ty).filter(|ty| kind::is_polymorphic(*ty)) {
        let name = names::display(ty, &world.catalog);
        if !covered(&name) {
            return Err(SqlError::unsupported(format!("a function with parameters of type {name}")));
        }
    }
    Ok(found)
}

/// The polymorphic types that say something about each other.
const FAMILIES: [(&str, &[&str]); 2] = [
    (
        "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
        &["anyelement", "anyarray", "anynonarray", "anyenum"],
    ),
    (
        "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange",
        &["anycompatible", "anycompatiblearray", "anycompatiblenonarray"],
    ),
];

/// Calls a function that returns one value.
pub(crate) fn call(world: &mut World<'_>, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Datum> {
    match prepare(world, function, None)? {
        Ready::Sql(program) => language_sql::call(world, function, &program, args),
        Ready::Plpgsql(program) => invoke(world, &program, Some(function), args, false, |machine| {
            let flow = machine.block(&machine.program.block)?;
            machine.finish(flow == Flow::Return)
        }),
    }
}

/// Calls a function that returns rows: the columns of each.
pub(crate) fn call_rows(
    world: &mut World<'_>,
    function: &Arc<UserFunction>,
    args: Vec<Datum>,
) -> Result<Vec<Vec<Datum>>> {
    match prepare(world, function, None)? {
        Ready::Sql(program) => language_sql::call_rows(world, function, &program, args),
        Ready::Plpgsql(program) => invoke(world, &program, Some(function), args, false, |machine| {
            machine.block(&machine.program.block)?;
            Ok(std::mem::take(&mut machine.rows))
        }),
    }
}

/// Calls a procedure with the arguments of CALL, those of OUT parameters included: the values of its OUT parameters, if
/// it has any.
pub(super) fn procedure(
    world: &mut World<'_>,
    function: &Arc<UserFunction>,
    args: Vec<Datum>,
    may_commit: bool,
) -> Result<Option<Vec<Datum>>> {
    let inputs = called_parameters(function).zip(args).filter(|(parameter, _)| parameter.mode != ParameterMode::Out);
    let inputs: Vec<Datum> = inputs.map(|(_, value)| value).collect();
    let has_outs = out_parameters(function).next().is_some();
    match prepare(world, function, None)? {
        Ready::Sql(program) => {
            let row = language_sql::call_procedure(world, function, &program, inputs)?;
            Ok(has_outs.then_some(row))
        }
        Ready::Plpgsql(program) => {
            let may_commit = may_commit && function.settings.is_empty();
            invoke(world, &program, Some(function), inputs, may_commit, |machine| {
                machine.block(&machine.program.block)?;
                Ok(has_outs.then(|| machine.out_values()))
            })
        }
    }
}

/// The parameters that the arguments of CALL are for.
pub(super) fn called_parameters(function: &UserFunction) -> impl Iterator<Item = &Parameter> {
    function.parameters.iter().filter(|parameter| parameter.mode != ParameterMode::Table)
}

fn out_parameters(function: &UserFunction) -> impl Iterator<Item = &Parameter> {
    let out = |parameter: &&Parameter| matches!(parameter.mode, ParameterMode::Out | ParameterMode::InOut);
    function.parameters.iter().filter(out)
}

/// CALL
pub(crate) fn run_call(world: &mut World<'_>, call: &crate::parse::ast::Function) -> Result<crate::client::Outcome> {
    use crate::client::Outcome;
    let path = world.path();
    let (function, args) = crate::bind::Binder::new(&*world, &path).procedure_call(call)?;
    if args.iter().any(|arg| arg.any(&mut |part| matches!(part.kind, crate::ir::ExprKind::Subquery { .. }))) {
        let message = "cannot use subquery in CALL argument";
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let mut values = Vec::with_capacity(args.len());
    for arg in &args {
        values.push(crate::exec::Run::new().eval(world, arg, &crate::exec::Tuple::default())?);
    }
    let may_commit = at_top(world);
    let row = procedure(world, &function, values, may_commit)?;
    match row {
        None => Ok(Outcome::Done("CALL".to_owned())),
        Some(row) => Ok(Outcome::Rows { columns: out_columns(&function), rows: vec![row], tag: "CALL".to_owned() }),
    }
}

/// The columns of the row that CALL returns, if the procedure has OUT parameters.
pub(crate) fn call_columns(world: &mut World<'_>, call: &crate::parse::ast::Function) -> Result<Option<Arc<[Output]>>> {
    let path = world.path();
    let (function, _) = crate::bind::Binder::new(&*world, &path).procedure_call(call)?;
    Ok(out_parameters(&function).next().is_some().then(|| out_columns(&function)))
}

fn out_columns(function: &UserFunction) -> Arc<[Output]> {
    let column = |(n, parameter): (usize, &Parameter)| Output {
        name: parameter.name.clone().unwrap_or_else(|| format!("column{}", n + 1).into()),
        typed: parameter.typed,
        origin: None,
        collation: 0,
    };
    out_parameters(function).enumerate().map(column).collect()
}

/// DO
pub(crate) fn run_do(world: &mut World<'_>, language: &str, body: &str) -> Result<()> {
    if language != "plpgsql" {
        let message = match language {
            "sql" | "c" | "internal" => format!("language \"{language}\" does not support inline code execution"),
            _ => return Err(no_language(language)),
        };
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let named = |error: SqlError| compiled(error.without_position(), "inline_code_block");
    let body = parse::body(body).map_err(named)?;
    let program = compile::program(world, &body, &Purpose::Block).map_err(named)?;
    let may_commit = at_top(world);
    invoke(world, &program, None, Vec::new(), may_commit, |machine| machine.block(&machine.program.block).map(drop))
}

/// Whether nothing is around that a COMMIT would end: a block of the client, another function.
fn at_top(world: &World<'_>) -> bool {
    let implicit = world.session.transaction.as_ref().is_some_and(|running| running.is_implicit());
    implicit && world.frames.is_empty()
}

/// Runs a body in a frame of its own. What the statement around has seen so far is put aside and comes back.
pub(super) fn invoke<T>(
    world: &mut World<'_>,
    program: &Program,
    function: Option<&UserFunction>,
    args: Vec<Datum>,
    may_commit: bool,
    run: impl FnOnce(&mut Machine<'_, '_>) -> Result<T>,
) -> Result<T> {
    let mut frame = vec![Datum::Null; program.variables.len()];
    for (place, value) in program.parameters.iter().zip(&args) {
        frame[*place] = value.clone();
    }
    frame[program.found] = Datum::Bool(false);
    within_call(world, function, frame, args, |world| {
        let mut machine = Machine::new(world, program, function, may_commit);
        run(&mut machine).map_err(|error| error.within(machine.context()))
    })
}

/// Runs something in a frame: one level deeper, with the function's settings, its arguments as `$1`, `$2`, ….
pub(super) fn within_call<T>(
    world: &mut World<'_>,
    function: Option<&UserFunction>,
    frame: Vec<Datum>,
    args: Vec<Datum>,
    run: impl FnOnce(&mut World<'_>) -> Result<T>,
) -> Result<T> {
    world.check_stack()?;
    let volatile = function.is_none_or(|function| function.volatility == Volatility::Volatile);
    let around = world.around.len();
    if volatile {
        world.put_aside();
    }
    let params = std::mem::replace(&mut world.params, args);
    let frames = world.frames.len();
    world.frames.push(frame);
    let result = with_settings(world, function, run);
    world.frames.truncate(frames);
    world.params = params;
    if volatile {
        world.around.truncate(around + 1);
        world.take_up();
    }
    result
}

fn with_settings<T>(
    world: &mut World<'_>,
    function: Option<&UserFunction>,
    run: impl FnOnce(&mut World<'_>) -> Result<T>,
) -> Result<T> {
    let settings = function.map_or(&[][..], |function| &function.settings[..]);
    if settings.is_empty() {
        return run(world);
    }
    let before = world.session.settings.clone();
    let result = (|| {
        for (name, value) in settings {
            world.session.set(name, Some(value), false)?;
        }
        run(world)
    })();
    world.session.settings = before;
    result
}

impl Machine<'_, '_> {
    /// The procedure of a CALL, and its arguments.
    pub(super) fn bound_call(
        &mut self,
        scope: &Arc<Scope>,
        call: &crate::parse::ast::Function,
    ) -> Result<(Arc<UserFunction>, Vec<Expr>)> {
        let (version, path) = self.seen();
        self.bind(scope, version, &path, |binder| binder.procedure_call(call)).map(|(bound, _)| bound)
    }
}
