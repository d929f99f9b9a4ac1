//! The functions that a call could mean by its name and the number of its arguments.

use std::sync::Arc;

use crate::catalog::{INFORMATION_SCHEMA, Oid, PG_CATALOG, Parameter, ParameterMode, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::resolve::{Argument, Call, Callee, Names};
use crate::functions::{Function, extension, kinds, named, registry, skew};
use crate::types::{Datum, Type};

/// One function, seen from a call.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub callee: Callee,
    /// The declared type of each given argument, VARIADIC ones spread.
    pub args: Vec<Type>,
    /// The parameter of each given argument.
    pub places: Vec<usize>,
    /// VARIADIC arguments from this parameter on become one array.
    pub gather_from: Option<usize>,
    /// Takes any number of arguments of any types.
    pub takes_any: bool,
    /// How many defaults it needs.
    pub defaults: usize,
    /// Another one fits exactly as well.
    pub ambiguous: bool,
}

impl Candidate {
    fn plain(callee: Callee, args: Vec<Type>) -> Candidate {
        let places = (0..args.len()).collect();
        Candidate { callee, args, places, gather_from: None, takes_any: false, defaults: 0, ambiguous: false }
    }

    /// The declared types of the input parameters, one of any number of arguments left out.
    pub fn parameter_types(&self) -> Vec<Type> {
        let mut types: Vec<Type> = match &self.callee {
            Callee::Builtin(function) => function.args.to_vec(),
            Callee::User(function) => inputs(function, true).map(|(_, parameter)| parameter.typed.ty).collect(),
            Callee::Cast(_) => Vec::new(),
        };
        if self.takes_any {
            types.pop();
        }
        types
    }

    /// What an input parameter gets when nothing is given.
    pub fn default(&self, place: usize, ty: Type) -> Argument {
        match &self.callee {
            Callee::Builtin(function) => {
                let first = function.args.len() - function.defaults.len();
                Argument::Constant { value: function.defaults[place - first].datum(), ty }
            }
            Callee::User(function) => {
                Argument::Default(inputs(function, true).nth(place).map_or(place, |(index, _)| index))
            }
            Callee::Cast(_) => Argument::Constant { value: Datum::Null, ty },
        }
    }
}

/// What a function looks like from outside, whoever wrote it.
struct Shape<'a> {
    callee: Callee,
    types: Vec<Type>,
    names: Vec<Option<&'a str>>,
    defaults: usize,
    variadic: bool,
}

/// The input parameters of a user's function, with their index among all. A call of a procedure has its OUT parameters
/// written too.
fn inputs(function: &UserFunction, call: bool) -> impl Iterator<Item = (usize, &Parameter)> {
    function.parameters.iter().enumerate().filter(move |(_, parameter)| match parameter.mode {
        ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic => true,
        ParameterMode::Out => call && function.procedure,
        ParameterMode::Table => false,
    })
}

/// The candidates for a call, those of schemas that come later on the path and are hidden by earlier ones left out.
pub(super) fn functions(call: &Call<'_>, names: Names<'_>) -> Result<Vec<Candidate>> {
    let mut found = Vec::new();
    for schema in schemas(call, names)? {
        for shape in shapes(schema, call, names) {
            if let Some(candidate) = fit(shape, call, names) {
                admit(&mut found, candidate);
            }
        }
    }
    Ok(found)
}

/// The operators with this number of operands.
pub(super) fn operators(known: &[&'static Function], count: usize) -> Vec<Candidate> {
    let fitting = known.iter().filter(|operator| operator.args.len() == count);
    fitting.map(|operator| Candidate::plain(Callee::Builtin(operator), operator.args.to_vec())).collect()
}

/// Keeps one candidate for each list of argument types: one that is not variadic, one that needs fewer defaults, the
/// first on the path.
fn admit(found: &mut Vec<Candidate>, candidate: Candidate) {
    let Some(same) = found.iter_mut().find(|known| known.args == candidate.args) else {
        found.push(candidate);
        return;
    };
    let spread = |candidate: &Candidate| candidate.gather_from.is_some() || candidate.takes_any;
    match (spread(same), spread(&candidate)) {
        (true, false) => *same = candidate,
        (false, true) => {}
        _ if candidate.defaults < same.defaults => *same = candidate,
        _ if candidate.defaults > 0 && candidate.defaults == same.defaults => same.ambiguous = true,
        _ => {}
    }
}

/// Stands for the schema `skew`, which is in no catalog.
const SKEW: Oid = 0;

fn schemas(call: &Call<'_>, names: Names<'_>) -> Result<Vec<Oid>> {
    match call.schema {
        Some("skew") => Ok(vec![SKEW]),
        Some(schema) => match kinds::schema_named(schema, names) {
            Some(found) => Ok(vec![found]),
            None => Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist"))),
        },
        // A function of the temporary schema is only found under its full name.
        None => {
            let is_temporary = |oid: &Oid| names.catalog.schemas.get(oid).is_some_and(|schema| schema.temporary);
            let path = names.path.iter().copied().filter(|oid| !is_temporary(oid));
            let implied = (!names.path.contains(&PG_CATALOG)).then_some(PG_CATALOG);
            Ok(implied.into_iter().chain(path).collect())
        }
    }
}

fn shapes<'a>(schema: Oid, call: &Call<'a>, names: Names<'a>) -> Vec<Shape<'a>> {
    let builtins: &[&'static Function] = match schema {
        _ if call.procedure => &[],
        SKEW => skew(call.name),
        PG_CATALOG => named(call.name),
        INFORMATION_SCHEMA => registry::information(call.name),
        _ => &[],
    };
    let users = names
        .catalog
        .functions
        .values()
        .filter(|user| user.schema == schema && &*user.name == call.name && user.procedure == call.procedure);
    let spread: &[&'static Function] =
        if call.variadic && schema == PG_CATALOG { registry::spread(call.name) } else { &[] };
    let installed = extension::functions(schema, call.name, names.catalog).filter(|_| !call.procedure);
    let builtins: Vec<&'static Function> = builtins.iter().chain(spread).copied().chain(installed).collect();
    let builtins = builtins.into_iter().map(|function| -> Shape<'a> { builtin_shape(function) });
    builtins.chain(users.map(|user| user_shape(user, call.procedure))).collect()
}

fn builtin_shape(function: &'static Function) -> Shape<'static> {
    Shape {
        callee: Callee::Builtin(function),
        types: function.args.to_vec(),
        names: function.names.iter().map(|name| Some(*name)).collect(),
        defaults: function.defaults.len(),
        variadic: function.variadic,
    }
}

fn user_shape(function: &Arc<UserFunction>, call: bool) -> Shape<'_> {
    let parameters: Vec<&Parameter> = inputs(function, call).map(|(_, parameter)| parameter).collect();
    Shape {
        callee: Callee::User(function.clone()),
        types: parameters.iter().map(|parameter| parameter.typed.ty).collect(),
        names: parameters.iter().map(|parameter| parameter.name.as_deref()).collect(),
        defaults: parameters.iter().rev().take_while(|parameter| parameter.default.is_some()).count(),
        variadic: parameters.last().is_some_and(|parameter| parameter.mode == ParameterMode::Variadic),
    }
}

/// The function seen from the call, if the number (and names) of the arguments are right.
fn fit(shape: Shape<'_>, call: &Call<'_>, names: Names<'_>) -> Option<Candidate> {
    let (given, declared) = (call.args.len(), shape.types.len());
    if let Some(first_named) = call.names.iter().position(Option::is_some) {
        return fit_named(shape, call, first_named);
    }
    if shape.variadic && !call.variadic {
        return fit_variadic(shape, given, names);
    }
    if call.variadic && (!shape.variadic || given != declared || shape.types.last() == Some(&Type::ANY)) {
        return None;
    }
    if given > declared || given + shape.defaults < declared {
        return None;
    }
    let mut candidate = Candidate::plain(shape.callee, shape.types[..given].to_vec());
    candidate.defaults = declared - given;
    Some(candidate)
}

/// The last parameter takes one or more arguments.
fn fit_variadic(shape: Shape<'_>, given: usize, names: Names<'_>) -> Option<Candidate> {
    let fixed = shape.types.len() - 1;
    let last = shape.types[fixed];
    if given <= fixed {
        return None;
    }
    let takes_any = last == Type::ANY;
    let element = if takes_any { Type::ANY } else { kinds::variadic_element(last, names.catalog)? };
    let mut args = shape.types[..fixed].to_vec();
    args.resize(given, element);
    let mut candidate = Candidate::plain(shape.callee, args);
    candidate.takes_any = takes_any;
    candidate.gather_from = (!takes_any).then_some(fixed);
    Some(candidate)
}

/// `f(1, name => 2)`: every name is a parameter that nothing else was given for, and what is missing has a default.
fn fit_named(shape: Shape<'_>, call: &Call<'_>, positional: usize) -> Option<Candidate> {
    let (given, declared) = (call.args.len(), shape.types.len());
    if given > declared || shape.variadic || call.variadic {
        return None;
    }
    let mut places: Vec<usize> = (0..positional).collect();
    for name in &call.names[positional..] {
        let place = shape.names.iter().position(|known| known == name)?;
        if places.contains(&place) {
            return None;
        }
        places.push(place);
    }
    let required = declared - shape.defaults;
    if (0..required).any(|place| !places.contains(&place)) {
        return None;
    }
    let args = places.iter().map(|place| shape.types[*place]).collect();
    Some(Candidate { places, defaults: declared - given, ..Candidate::plain(shape.callee, args) })
}
