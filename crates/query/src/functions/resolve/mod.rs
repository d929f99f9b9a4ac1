//! Which function or operator a call means, as PostgreSQL's chapter on type conversion says.
//!
//! [`function`] and [`operator`] look for candidates ([`candidates`]), prefer an exact match, drop what the arguments
//! cannot become, and choose among the rest ([`select`]). Polymorphic types are worked out last ([`polymorphic`]).
//! [`common_type`] is the rule of UNION, CASE, VALUES, ARRAY, COALESCE.

mod candidates;
mod common;
mod messages;
mod polymorphic;
mod select;

use std::ops::Range;
use std::sync::Arc;

use crate::catalog::{Catalog, Oid, ParameterMode, Returns, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::{Function, extension, kinds, known};
use crate::types::{Datum, Type};

pub use common::{common_type, common_type_of};

use candidates::Candidate;

/// Where names are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// The schemas of the search path, in order; `pg_catalog` comes first unless it is among them.
    pub path: &'a [Oid],
}

/// A call as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The schema, if it is named.
    pub schema: Option<&'a str>,
    /// The function's name, folded.
    pub name: &'a str,
    /// The types of the arguments; literals without a type and parameters not known yet are `UNKNOWN`. For an aggregate
    /// WITHIN GROUP, the direct arguments and then those of its ORDER BY.
    pub args: &'a [Type],
    /// The names of arguments in `name => value` notation, by argument; may be shorter than `args`.
    pub names: &'a [Option<&'a str>],
    /// The last argument is written `VARIADIC array`.
    pub variadic: bool,
    /// CALL: a procedure is meant.
    pub procedure: bool,
}

impl<'a> Call<'a> {
    /// The plain call `name(args)`.
    pub fn new(name: &'a str, args: &'a [Type]) -> Call<'a> {
        Call { schema: None, name, args, names: &[], variadic: false, procedure: false }
    }
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A built-in function.
    Builtin(&'static Function),
    /// A user's function or procedure.
    User(Arc<UserFunction>),
    /// `typename(x)`: the explicit cast of its argument.
    Cast(Type),
}

/// What a parameter gets.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The given argument with this index, converted to this type (`ANY`: as it is).
    Given {
        /// Which one.
        index: usize,
        /// To what it is converted.
        ty: Type,
    },
    /// These given arguments, each converted to `element`, as one array.
    Gathered {
        /// Which ones.
        indices: Range<usize>,
        /// To what each is converted.
        element: Type,
        /// The type of the array.
        array: Type,
    },
    /// The default of a built-in function.
    Constant {
        /// The value.
        value: Datum,
        /// Its type.
        ty: Type,
    },
    /// The default of the parameter with this index in [`UserFunction::parameters`].
    Default(usize),
}

/// A call that found its function.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The function.
    pub callee: Callee,
    /// What its (input) parameters get, in their order.
    pub arguments: Vec<Argument>,
    /// The type of the result, of one row where it returns many.
    pub returns: Type,
}

/// Finds the function that a call means.
pub fn function(call: &Call<'_>, names: Names<'_>) -> Result<Resolved> {
    let found = candidates::functions(call, names)?;
    if let Some(exact) = found.iter().find(|candidate| is_exact(candidate, call.args)) {
        return finish(exact, call, names.catalog);
    }
    if let Some(cast) = cast_call(call, names) {
        return Ok(cast);
    }
    let mut fitting = fitting(found, call.args, names.catalog);
    let best = match fitting.len() {
        0 if is_known_elsewhere(call, names.catalog) => {
            return Err(messages::unsupported_function(call, names.catalog));
        }
        0 => return Err(messages::no_function(call, names.catalog)),
        1 => Some(fitting.remove(0)),
        _ => select::select(fitting, call.args, names.catalog),
    };
    match best {
        Some(best) if !best.ambiguous => finish(&best, call, names.catalog),
        _ => Err(messages::many_functions(call, names.catalog)),
    }
}

/// Finds the operator that `left symbol right` means; without `left` it is a prefix operator.
///
/// The operators of an extension are there where the search path finds its schema.
pub fn operator(symbol: &str, left: Option<Type>, right: Type, names: Names<'_>) -> Result<Resolved> {
    let catalog = names.catalog;
    let both = [left.unwrap_or(right), right];
    let args: &[Type] = if left.is_some() { &both } else { &both[1..] };
    let ours: Vec<&'static Function> =
        super::operators(symbol).iter().copied().chain(extension::operators(symbol, names)).collect();
    if let Some(exact) = exact_operator(&ours, args, catalog) {
        return finish_operator(exact, args, catalog);
    }
    let mut fitting = fitting(candidates::operators(&ours, args.len()), args, catalog);
    let best = match fitting.len() {
        0 if fits_known(known::operators(symbol), args, catalog) => {
            return Err(messages::unsupported_operator(symbol, args, catalog));
        }
        0 => return Err(messages::no_operator(symbol, args, catalog)),
        1 => Some(fitting.remove(0)),
        _ => select::select(fitting, args, catalog),
    };
    match best.map(|candidate| candidate.callee) {
        Some(Callee::Builtin(function)) => finish_operator(function, args, catalog),
        _ => Err(messages::many_operators(symbol, args, catalog)),
    }
}

/// Whether PostgreSQL has a function for this call: then it is we who lack it.
fn is_known_elsewhere(call: &Call<'_>, catalog: &Catalog) -> bool {
    let in_catalog = matches!(call.schema, None | Some("pg_catalog"));
    in_catalog && !call.procedure && fits_known(known::functions(call.name), call.args, catalog)
}

fn fits_known(known: &[known::Known], args: &[Type], catalog: &Catalog) -> bool {
    known.iter().any(|known| {
        let required = known.args.len() - known.defaults();
        let fixed = if known.is_variadic() { known.args.len() - 1 } else { known.args.len() };
        let count_fits = args.len() >= required && (args.len() <= known.args.len() || known.is_variadic());
        count_fits && can_become(&args[..args.len().min(fixed)], &known.args, catalog)
    })
}

fn is_exact(candidate: &Candidate, args: &[Type]) -> bool {
    !candidate.ambiguous && candidate.args == args && !args.contains(&Type::UNKNOWN)
}

/// Those whose parameters the arguments can become without being asked.
fn fitting(candidates: Vec<Candidate>, args: &[Type], catalog: &Catalog) -> Vec<Candidate> {
    candidates.into_iter().filter(|candidate| can_become(args, &candidate.args, catalog)).collect()
}

/// Whether arguments of these types can be given to parameters of those.
fn can_become(args: &[Type], parameters: &[Type], catalog: &Catalog) -> bool {
    args.iter().zip(parameters).all(|(from, to)| polymorphic::is(*to) || kinds::implicit(*from, *to, catalog))
        && polymorphic::consistent(args, parameters, catalog)
}

/// One unknown operand is taken to be of the other's type; a domain then counts as its base type.
fn exact_operator(known: &[&'static Function], args: &[Type], catalog: &Catalog) -> Option<&'static Function> {
    let find = |args: &[Type]| known.iter().copied().find(|operator| operator.args == args);
    let &[left, right] = args else { return find(args) };
    if (left == Type::UNKNOWN) == (right == Type::UNKNOWN) {
        return find(args);
    }
    let ty = if left == Type::UNKNOWN { right } else { left };
    let base = kinds::base(ty, catalog);
    find(&[ty, ty]).or_else(|| find(&[base, base]))
}

/// `int4(x)`, `text(x)`, `date(x)`: a cast, if the type is known and the value can become it.
fn cast_call(call: &Call<'_>, names: Names<'_>) -> Option<Resolved> {
    let &[from] = call.args else { return None };
    if call.variadic || call.procedure || call.names.iter().any(Option::is_some) {
        return None;
    }
    let to = kinds::named(call.schema, call.name, names)?;
    kinds::explicit(from, to, names.catalog).then(|| Resolved {
        callee: Callee::Cast(to),
        arguments: vec![Argument::Given { index: 0, ty: from }],
        returns: to,
    })
}

fn finish_operator(function: &'static Function, args: &[Type], catalog: &Catalog) -> Result<Resolved> {
    let (types, returns) = polymorphic::apply(function.args, args, function.returns, catalog)?;
    let arguments = types.into_iter().enumerate().map(|(index, ty)| Argument::Given { index, ty }).collect();
    Ok(Resolved { callee: Callee::Builtin(function), arguments, returns })
}

/// Works out polymorphic types, gathers VARIADIC arguments and fills in defaults.
fn finish(best: &Candidate, call: &Call<'_>, catalog: &Catalog) -> Result<Resolved> {
    let (types, returns) = polymorphic::apply(&best.args, call.args, declared_result(&best.callee), catalog)?;
    let parameters = best.parameter_types();
    let mut arguments = Vec::with_capacity(parameters.len());
    for (place, parameter) in parameters.iter().enumerate() {
        arguments.push(match best.places.iter().position(|given| *given == place) {
            Some(index) if best.gather_from == Some(place) => {
                let element = types[index];
                let array = polymorphic::array_over(element, catalog)?;
                Argument::Gathered { indices: index..call.args.len(), element, array }
            }
            Some(index) => Argument::Given { index, ty: types[index] },
            None => best.default(place, *parameter),
        });
    }
    if best.takes_any {
        let first = arguments.len();
        arguments.extend((first..call.args.len()).map(|index| Argument::Given { index, ty: types[index] }));
    }
    let callee = match &best.callee {
        Callee::User(function) => Callee::User(specialised(function, &best.args, call.args, catalog)?),
        other => other.clone(),
    };
    Ok(Resolved { callee, arguments, returns })
}

/// A user's polymorphic function as it is in one call: with the types that the polymorphic ones stand for.
fn specialised(
    function: &Arc<UserFunction>,
    declared: &[Type],
    args: &[Type],
    catalog: &Catalog,
) -> Result<Arc<UserFunction>> {
    let mut types: Vec<Type> = function.parameters.iter().map(|parameter| parameter.typed.ty).collect();
    if let Returns::One(typed) | Returns::Set(typed) = function.returns {
        types.push(typed.ty);
    }
    if !types.iter().any(|ty| polymorphic::is(*ty)) {
        return Ok(function.clone());
    }
    let mut special = UserFunction::clone(function);
    let mut stand = polymorphic::standing(declared, args, &types, catalog)?.into_iter();
    for (parameter, ty) in special.parameters.iter_mut().zip(&mut stand) {
        if ty != parameter.typed.ty {
            parameter.typed = ty.into();
        }
    }
    if let (Returns::One(typed) | Returns::Set(typed), Some(ty)) = (&mut special.returns, stand.next())
        && typed.ty != ty
    {
        *typed = ty.into();
    }
    Ok(Arc::new(special))
}

/// A polymorphic function as if it were called with ints, to look whether its body makes sense.
pub fn assuming_integers(function: &UserFunction, catalog: &Catalog) -> Result<Arc<UserFunction>> {
    let inputs: Vec<Type> = function.parameters.iter().map(|parameter| parameter.typed.ty).collect();
    let assumed = |ty: &Type| match kinds::display(*ty, catalog).as_str() {
        "anyarray" | "anycompatiblearray" => Type::INT4_ARRAY,
        _ if polymorphic::is(*ty) => Type::INT4,
        _ => *ty,
    };
    let args: Vec<Type> = inputs.iter().map(assumed).collect();
    specialised(&Arc::new(function.clone()), &inputs, &args, catalog)
}

fn declared_result(callee: &Callee) -> Type {
    match callee {
        Callee::Builtin(function) => function.returns,
        Callee::Cast(ty) => *ty,
        Callee::User(function) => match &function.returns {
            Returns::One(typed) | Returns::Set(typed) => typed.ty,
            Returns::Table => table_result(function),
            Returns::Nothing => Type::VOID,
            Returns::Trigger => Type::TRIGGER,
        },
    }
}

/// `RETURNS TABLE (a int)` returns ints, with several columns records.
fn table_result(function: &UserFunction) -> Type {
    let mut columns = function.parameters.iter().filter(|parameter| parameter.mode == ParameterMode::Table);
    match (columns.next(), columns.next()) {
        (Some(only), None) => only.typed.ty,
        _ => Type::RECORD,
    }
}

/// An error of types that do not go together.
fn mismatch(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}
